//! `keyhoard key revoke-user-id`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use keyhoard::edit::{Edited, Reason, ReasonCode, Revoked};

use super::editing::{Editing, tell};
use crate::exit::Outcome;
use crate::passphrase_options::PassphraseOptions;
use crate::session::Session;

/// The arguments of `keyhoard key revoke-user-id`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key revoke-user-id ann@example.org 'Ann <ann@old.example>'
  keyhoard key revoke-user-id --comment 'I have left' ann@example.org 'Ann <ann@old.example>'")]
pub(crate) struct Arguments {
    /// The key.
    #[arg(value_name = "KEY")]
    key: OsString,

    /// The user ID, all of it.
    #[arg(value_name = "USER-ID")]
    user_id: OsString,

    /// A remark that everybody can read.
    #[arg(long, value_name = "TEXT", default_value = "")]
    comment: String,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

/// Revokes a user ID.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let editing = Editing::begin(session)?;
    let key = editing.key(&arguments.key)?;
    let user_id = arguments.user_id.as_bytes();
    let reason = Reason { code: ReasonCode::UserIdInvalid, comment: arguments.comment.clone() };
    let revoked = editing
        .edit(session, &arguments.passphrase, |editor| editor.revoke_user_id(&key, user_id, reason))?;
    tell_revoked(session, &key, "user ID revoked", revoked)
}

/// Says what became of a revocation.
pub(super) fn tell_revoked(
    session: &mut Session,
    key: &keyhoard::store::Fingerprint,
    what: &str,
    revoked: Revoked,
) -> anyhow::Result<Outcome> {
    match revoked {
        Revoked::Now { edited, .. } => tell(session, key, what, edited),
        Revoked::Already => tell(session, key, what, Edited::default()),
    }
}
