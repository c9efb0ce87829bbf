//! `--quick-set-expire`.

use engine::cert::Timestamp;
use engine::edit::ExpiryTarget;
use engine::foreign_text::shown;
use engine::store::Fingerprint;

use super::{EditKeys, fingerprint};
use crate::code::Code;
use crate::failure::Failure;
use crate::interval;
use crate::settings::Settings;
use crate::streams::Streams;

/// Sets when a key or its subkeys expire.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let [name, end, subkeys @ ..] = arguments else {
        // As gpg spells it.
        streams.usage("--quick-set-exipre FINGERPRINT EXPIRE [SUBKEY-FPRS]");
        return Ok(());
    };
    let mut edit_keys = EditKeys::open(settings, streams)?;
    let found = edit_keys.find_by_primary(name);
    let outcome = found.and_then(|key| set(&mut edit_keys, &key, end, subkeys));
    if let Err(failure) = outcome {
        streams.status_error("set_expire", failure.coded()?.value);
    }
    Ok(())
}

/// Sets the expiration time, and reports a failure.
fn set(
    edit_keys: &mut EditKeys<'_>,
    key: &Fingerprint,
    end: &[u8],
    subkeys: &[Vec<u8>],
) -> Result<(), Failure> {
    let now = edit_keys.settings.now;
    let Some(seconds) = interval::validity(end, now) else {
        edit_keys.streams.error(format_args!("'{}' is not a valid expiration time", shown(end)));
        return Err(Code::INVALID_VALUE.into());
    };
    let end = (seconds != 0).then(|| Timestamp(now.0.wrapping_add(seconds)));
    let which = match subkeys {
        [] => ExpiryTarget::Primary,
        [all] if all == b"*" => ExpiryTarget::Subkeys,
        named => ExpiryTarget::These(subkeys_named(edit_keys, key, named)?),
    };
    let edited = edit_keys.edit("--quick-set-expire", key, |editor| editor.set_expiry(key, &which, end));
    let Err(failure) = edited else { return Ok(()) };
    let failure = failure.coded()?;
    match failure.code {
        Code::CERTIFICATE_REVOKED => edit_keys.streams.error("Key is revoked."),
        code => edit_keys.streams.error(format_args!("make_keysig_packet failed: {code}")),
    }
    Err(failure.into())
}

/// Reads the fingerprints of subkeys, and reports those that are not found; fails with the first failure.
fn subkeys_named(
    edit_keys: &mut EditKeys<'_>,
    key: &Fingerprint,
    named: &[Vec<u8>],
) -> Result<Vec<Fingerprint>, Failure> {
    let target = edit_keys.edit("--quick-set-expire", key, |editor| editor.target(key))?;
    let living = target.subkeys().filter(|subkey| subkey.state.revoked.is_none());
    let here: Vec<Fingerprint> = living.map(|subkey| subkey.facts.fingerprint).collect();
    let mut keys = Vec::new();
    let mut failed = None;
    for name in named {
        let code = match fingerprint(name) {
            Some(wanted) => {
                if let Some(key) = here.iter().find(|key| key.has_digits_of(&wanted)) {
                    keys.push(*key);
                    continue;
                }
                edit_keys.streams.error(format_args!("subkey \"{}\" not found", shown(name)));
                Code::NOT_FOUND
            }
            None => {
                edit_keys.streams.error(format_args!("\"{}\" is not a proper fingerprint", shown(name)));
                Code::INVALID_NAME
            }
        };
        failed = failed.or(Some(code));
    }
    failed.map_or(Ok(keys), |code| Err(code.into()))
}
