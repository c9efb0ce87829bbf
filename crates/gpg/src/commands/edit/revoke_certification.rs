//! `--quick-revoke-sig`.

use keyhoard::edit::{CertifiedIdentity, Reason, ReasonCode};

use super::EditKeys;
use super::certify::fits;
use crate::clock;
use crate::code::Code;
use crate::commands::Session;

/// Takes back what one of the user's keys certified of another key.
pub(in crate::commands) fn run(session: &mut Session<'_>) -> anyhow::Result<()> {
    let [name, by, user_ids @ ..] = session.arguments.as_slice() else {
        session.usage("--quick-revoke-sig USER-ID SIG-USER-ID [userids]");
        return Ok(());
    };
    let (name, by, user_ids) = (name.clone(), by.clone(), user_ids.to_vec());
    let mut desk = EditKeys::open(session)?;
    if let Some((code, value)) = revoke(session, &mut desk, &name, &by, &user_ids)? {
        session.streams.error(format_args!("revoking the key signature failed: {code}"));
        session.streams.status_error("keyedit.revoke.sig", value);
    }
    Ok(())
}

/// Revokes, and returns what failed.
fn revoke(
    session: &mut Session<'_>,
    desk: &mut EditKeys,
    name: &[u8],
    by: &[u8],
    user_ids: &[Vec<u8>],
) -> anyhow::Result<Option<(Code, u32)>> {
    let key = match desk.find(session, name, false)? {
        Ok(key) => key,
        Err(code) => return Ok(Some((code, code.with_gpg()))),
    };
    let Some(by) = desk.certifier(session, by)? else {
        return Ok(Some((Code::NoSecretKey, Code::NoSecretKey.bare())));
    };
    session.considered(&by);
    let chosen = |identity: &CertifiedIdentity| {
        let is_wanted = |user_id: &[u8]| user_ids.iter().any(|wanted| fits(user_id, wanted));
        user_ids.is_empty() || identity.user_id().is_some_and(is_wanted)
    };
    let reason = Reason::of(ReasonCode::Unspecified);
    let withdrawn = desk.edit(session, "--quick-revoke-sig", &by, |editor| {
        editor.revoke_certification(&key, &by, &chosen, reason)
    })?;
    match withdrawn {
        Ok(withdrawn) => {
            for revocation in withdrawn.already.iter().filter(|_| !session.settings.quiet) {
                let day = clock::day_string(revocation.created);
                let maker = revocation.issuer.key_id;
                session.streams.info(format_args!("sig by {maker} already revoked at {day}"));
            }
            let none = withdrawn.identities.is_empty() && withdrawn.already.is_empty();
            if none && session.settings.verbose > 0 {
                session.streams.info("Not signed by you.");
            }
            Ok(None)
        }
        Err(failure) => {
            if failure.signing {
                session.streams.error(format_args!("signing failed: {}", failure.code));
            }
            Ok(Some((failure.code, failure.value)))
        }
    }
}
