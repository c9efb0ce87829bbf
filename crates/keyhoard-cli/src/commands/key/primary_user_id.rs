//! `keyhoard key primary-user-id`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::editing::{Editing, tell};
use crate::exit::Outcome;
use crate::passphrase_options::PassphraseOptions;
use crate::session::Session;

/// The arguments of `keyhoard key primary-user-id`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key primary-user-id ann@example.org 'Ann <ann@new.example>'")]
pub(crate) struct Arguments {
    /// The key.
    #[arg(value_name = "KEY")]
    key: OsString,

    /// The user ID, all of it.
    #[arg(value_name = "USER-ID")]
    user_id: OsString,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

/// Makes a user ID the primary one.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let editing = Editing::begin(session)?;
    let key = editing.key(&arguments.key)?;
    let user_id = arguments.user_id.as_bytes();
    let edited =
        editing.edit(session, &arguments.passphrase, |editor| editor.set_primary_user_id(&key, user_id))?;
    tell(session, &key, "primary user ID set", edited)
}
