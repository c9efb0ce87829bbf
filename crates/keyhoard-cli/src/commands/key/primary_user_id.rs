//! `keyhoard key primary-user-id`.

use super::editing::EditedUserId;
use crate::exit::Outcome;
use crate::session::Session;

/// The arguments of `keyhoard key primary-user-id`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key primary-user-id ann@example.org 'Ann <ann@new.example>'")]
pub(crate) struct Arguments {
    #[command(flatten)]
    user_id: EditedUserId,
}

/// Makes a user ID the primary one.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let editing = arguments.user_id.key.editing(session)?;
    let user_id = arguments.user_id.bytes();
    let edited = editing.edit(|editor, key| editor.set_primary_user_id(key, user_id))?;
    editing.print(session, "primary user ID set", edited)
}
