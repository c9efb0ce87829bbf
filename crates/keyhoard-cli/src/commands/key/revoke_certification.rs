//! `keyhoard key revoke-certification`.

use std::ffi::OsString;

use engine::cert::facts::RevocationReason;

use super::editing::{Comment, Editing};
use crate::exit::Outcome;
use crate::passphrase_options::PassphraseOptions;
use crate::session::Session;

/// The arguments of `keyhoard key revoke-certification`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key revoke-certification ben@example.org
  keyhoard key revoke-certification --user-id 'Ben <ben@old.example>' ben@example.org")]
pub(crate) struct Arguments {
    /// The key whose user IDs and photographs were certified.
    #[arg(value_name = "KEY")]
    key: OsString,

    /// The key that certified them [default: your only one that can, or default-key of config.toml].
    #[arg(long, value_name = "KEY")]
    by: Option<OsString>,

    /// Revoke only the certification of this user ID, given in full; can be given several times.
    #[arg(long, value_name = "USER-ID")]
    user_id: Vec<OsString>,

    #[command(flatten)]
    comment: Comment,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

/// Revokes certifications.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let editing = Editing::begin(session, &arguments.key, &arguments.passphrase)?;
    let by = editing.certifier(session, arguments.by.as_ref())?;
    let chosen = editing.chosen(&arguments.user_id)?;
    let reason = arguments.comment.reason(RevocationReason::UNSPECIFIED);
    let revoked = editing.edit(|editor, key| editor.revoke_certification(key, &by, &chosen, reason))?;
    if revoked.identities.is_empty() && revoked.already.is_empty() {
        session.warn(format_args!("{}: no such certification by {by}", editing.key));
        return Ok(Outcome::Nothing);
    }
    editing.print(session, "certification revoked", revoked.edited)
}
