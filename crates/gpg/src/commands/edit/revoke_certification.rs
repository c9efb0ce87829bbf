//! `--quick-revoke-sig`.

use keyhoard::edit::{CertifiedIdentity, Reason, ReasonCode};

use super::EditKeys;
use super::certify::fits;
use crate::clock;
use crate::code::Code;
use crate::settings::Settings;
use crate::streams::Streams;

/// Takes back what one of the user's keys certified of another key.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let [name, by, user_ids @ ..] = arguments else {
        streams.usage("--quick-revoke-sig USER-ID SIG-USER-ID [userids]");
        return Ok(());
    };
    let (name, by, user_ids) = (name.clone(), by.clone(), user_ids.to_vec());
    let mut desk = EditKeys::open(settings, streams)?;
    if let Some((code, value)) = revoke(settings, streams, &mut desk, &name, &by, &user_ids)? {
        streams.error(format_args!("revoking the key signature failed: {code}"));
        streams.status_error("keyedit.revoke.sig", value);
    }
    Ok(())
}

/// Revokes, and returns what failed.
fn revoke(
    settings: &Settings,
    streams: &mut Streams,
    desk: &mut EditKeys,
    name: &[u8],
    by: &[u8],
    user_ids: &[Vec<u8>],
) -> anyhow::Result<Option<(Code, u32)>> {
    let key = match desk.find(streams, name, false)? {
        Ok(key) => key,
        Err(code) => return Ok(Some((code, code.with_gpg()))),
    };
    let Some(by) = desk.certifier(settings, by)? else {
        return Ok(Some((Code::NoSecretKey, Code::NoSecretKey.bare())));
    };
    streams.considered(&by);
    let chosen = |identity: &CertifiedIdentity| {
        let is_wanted = |user_id: &[u8]| user_ids.iter().any(|wanted| fits(user_id, wanted));
        user_ids.is_empty() || identity.user_id().is_some_and(is_wanted)
    };
    let reason = Reason::of(ReasonCode::Unspecified);
    let withdrawn = desk.edit(settings, streams, "--quick-revoke-sig", &by, |editor| {
        editor.revoke_certification(&key, &by, &chosen, reason)
    })?;
    match withdrawn {
        Ok(withdrawn) => {
            for revocation in withdrawn.already.iter().filter(|_| !settings.quiet) {
                let day = clock::day_string(revocation.created);
                let maker = revocation.issuer.key_id;
                streams.info(format_args!("sig by {maker} already revoked at {day}"));
            }
            let none = withdrawn.identities.is_empty() && withdrawn.already.is_empty();
            if none && settings.verbose > 0 {
                streams.info("Not signed by you.");
            }
            Ok(None)
        }
        Err(failure) => {
            if failure.signing {
                streams.error(format_args!("signing failed: {}", failure.code));
            }
            Ok(Some((failure.code, failure.value)))
        }
    }
}
