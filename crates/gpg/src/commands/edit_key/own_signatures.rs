//! Renewing self-signatures, for all commands that change them.

use engine::edit::{Alteration, CertifiedIdentity};

use super::session::Session;

/// Renews self-signatures, and reports a failure.
pub(super) fn renew(
    session: &mut Session<'_>,
    changes: Vec<(CertifiedIdentity, Vec<Alteration>)>,
) -> anyhow::Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    match session.edit_own(|editor, key| editor.renew_identities(key, changes)) {
        Ok(_) => {
            session.modified = true;
            session.redisplay = true;
            Ok(())
        }
        Err(failure) => session.update_failed("update_keysig_packet", failure),
    }
}
