//! `keyhoard key add-user-id`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::editing::EditedKey;
use crate::exit::Outcome;
use crate::session::Session;

/// The arguments of `keyhoard key add-user-id`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key add-user-id ann@example.org 'Ann <ann@new.example>'

The new user ID gets the key flags, expiry date and preferences of the primary user ID.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    key: EditedKey,

    /// The new user ID.
    #[arg(value_name = "USER-ID")]
    user_id: OsString,
}

/// Adds a user ID.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let editing = arguments.key.editing(session)?;
    let user_id = arguments.user_id.as_bytes();
    let edited = editing.edit(|editor, key| editor.add_user_id(key, user_id, None))?;
    editing.print(session, "user ID added", edited)
}
