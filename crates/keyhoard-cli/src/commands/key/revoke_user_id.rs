//! `keyhoard key revoke-user-id`.

use engine::cert::facts::RevocationReason;

use super::editing::{Comment, EditedUserId};
use crate::exit::Outcome;
use crate::session::Session;

/// The arguments of `keyhoard key revoke-user-id`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key revoke-user-id ann@example.org 'Ann <ann@old.example>'
  keyhoard key revoke-user-id --comment 'I have left' ann@example.org 'Ann <ann@old.example>'")]
pub(crate) struct Arguments {
    #[command(flatten)]
    user_id: EditedUserId,

    #[command(flatten)]
    comment: Comment,
}

/// Revokes a user ID.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let editing = arguments.user_id.key.editing(session)?;
    let user_id = arguments.user_id.bytes();
    let reason = arguments.comment.reason(RevocationReason::USER_ID_INVALID);
    let revoked = editing.edit(|editor, key| editor.revoke_user_id(key, user_id, reason))?;
    editing.print_revoked(session, "user ID revoked", revoked)
}
