//! `--quick-revoke-sig`.

use engine::cert::facts::RevocationReason;
use engine::edit::CertifiedIdentity;

use super::EditKeys;
use super::certify::matches_user_id;
use crate::clock;
use crate::code::Code;
use crate::failure::{CodedFailure, Failure};
use crate::settings::Settings;
use crate::streams::Streams;

/// Revokes the certifications of another key by one of the user's keys.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let [name, by, user_ids @ ..] = arguments else {
        streams.usage("--quick-revoke-sig USER-ID SIG-USER-ID [userids]");
        return Ok(());
    };
    let mut edit_keys = EditKeys::open(settings, streams)?;
    if let Err(failure) = revoke(&mut edit_keys, name, by, user_ids) {
        let CodedFailure { code, value } = failure.coded()?;
        streams.error(format_args!("revoking the key signature failed: {code}"));
        streams.status_error("keyedit.revoke.sig", value);
    }
    Ok(())
}

/// Revokes the certifications, and reports those that were revoked before.
fn revoke(edit_keys: &mut EditKeys<'_>, name: &[u8], by: &[u8], user_ids: &[Vec<u8>]) -> Result<(), Failure> {
    let key = edit_keys.find(name, false)?;
    let by = edit_keys.certifier(by)?.ok_or_else(|| Failure::bare(Code::NO_SECRET_KEY))?;
    edit_keys.streams.considered(&by);
    let chosen = |identity: &CertifiedIdentity| {
        let is_wanted = |user_id: &[u8]| user_ids.iter().any(|wanted| matches_user_id(user_id, wanted));
        user_ids.is_empty() || identity.user_id().is_some_and(is_wanted)
    };
    let reason = RevocationReason::new(RevocationReason::UNSPECIFIED);
    let withdrawn = edit_keys
        .edit("--quick-revoke-sig", &by, |editor| editor.revoke_certification(&key, &by, &chosen, reason));
    let EditKeys { settings, streams, .. } = edit_keys;
    match withdrawn {
        Ok(withdrawn) => {
            for revocation in withdrawn.already.iter().filter(|_| !settings.quiet) {
                let day = clock::day_string(revocation.created);
                let issuer = revocation.issuer.key_id;
                streams.info(format_args!("sig by {issuer} already revoked at {day}"));
            }
            let none = withdrawn.identities.is_empty() && withdrawn.already.is_empty();
            if none && settings.verbose > 0 {
                streams.info("Not signed by you.");
            }
            Ok(())
        }
        Err(failure) => {
            let failure = failure.coded()?;
            if failure.is_of_signer() {
                streams.error(format_args!("signing failed: {}", failure.code));
            }
            Err(failure.into())
        }
    }
}
