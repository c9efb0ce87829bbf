//! `--quick-set-expire`.

use keyhoard::cert::Timestamp;
use keyhoard::edit::ExpiryTarget;
use keyhoard::foreign_text::shown;
use keyhoard::store::Fingerprint;

use super::{EditKeys, fingerprint};
use crate::code::Code;
use crate::interval;
use crate::settings::Settings;
use crate::streams::Streams;

/// Sets when a key ends, or its subkeys.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let [name, end, subkeys @ ..] = arguments else {
        // As gpg spells it.
        streams.usage("--quick-set-exipre FINGERPRINT EXPIRE [SUBKEY-FPRS]");
        return Ok(());
    };
    let (name, end, subkeys) = (name.clone(), end.clone(), subkeys.to_vec());
    let mut desk = EditKeys::open(settings, streams)?;
    let failed = match desk.find_by_primary(streams, &name)? {
        Err(value) => Some(value),
        Ok(key) => set(settings, streams, &mut desk, &key, &end, &subkeys)?.err(),
    };
    if let Some(value) = failed {
        streams.status_error("set_expire", value);
    }
    Ok(())
}

/// Sets it; returns the code of what failed, which has been told.
fn set(
    settings: &Settings,
    streams: &mut Streams,
    desk: &mut EditKeys,
    key: &Fingerprint,
    end: &[u8],
    subkeys: &[Vec<u8>],
) -> anyhow::Result<Result<(), u32>> {
    let now = settings.now;
    let Some(seconds) = interval::validity(end, now) else {
        streams.error(format_args!("'{}' is not a valid expiration time", shown(end)));
        return Ok(Err(Code::InvalidValue.with_gpg()));
    };
    let end = (seconds != 0).then(|| Timestamp(now.0.wrapping_add(seconds)));
    let which = match subkeys {
        [] => ExpiryTarget::Primary,
        [all] if all == b"*" => ExpiryTarget::Subkeys,
        named => match these(settings, streams, desk, key, named)? {
            Ok(keys) => ExpiryTarget::These(keys),
            Err(value) => return Ok(Err(value)),
        },
    };
    let edited = desk
        .edit(settings, streams, "--quick-set-expire", key, |editor| editor.set_expiry(key, &which, end))?;
    Ok(match edited {
        Ok(_) => Ok(()),
        Err(failure) if failure.code == Code::CertificateRevoked => {
            streams.error("Key is revoked.");
            Err(failure.value)
        }
        Err(failure) => {
            streams.error(format_args!("make_keysig_packet failed: {}", failure.code));
            Err(failure.value)
        }
    })
}

/// Reads which subkeys are meant, and tells those that are none; returns the first code.
fn these(
    settings: &Settings,
    streams: &mut Streams,
    desk: &mut EditKeys,
    key: &Fingerprint,
    named: &[Vec<u8>],
) -> anyhow::Result<Result<Vec<Fingerprint>, u32>> {
    let here: Vec<Fingerprint> =
        match desk.edit(settings, streams, "--quick-set-expire", key, |editor| editor.target(key))? {
            Ok(target) => {
                let living = target.subkeys().filter(|subkey| subkey.state.revoked.is_none());
                living.map(|subkey| subkey.facts.fingerprint).collect()
            }
            Err(failure) => return Ok(Err(failure.value)),
        };
    let mut keys = Vec::new();
    let mut failed = None;
    for name in named {
        let code = match fingerprint(name) {
            Some(wanted) if here.contains(&wanted) => {
                keys.push(wanted);
                continue;
            }
            Some(_) => {
                streams.error(format_args!("subkey \"{}\" not found", shown(name)));
                Code::NotFound
            }
            None => {
                streams.error(format_args!("\"{}\" is not a proper fingerprint", shown(name)));
                Code::InvalidName
            }
        };
        failed = failed.or(Some(code.with_gpg()));
    }
    Ok(match failed {
        Some(value) => Err(value),
        None => Ok(keys),
    })
}
