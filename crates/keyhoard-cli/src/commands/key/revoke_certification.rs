//! `keyhoard key revoke-certification`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use engine::cert::facts::RevocationReason;
use engine::edit::CertifiedIdentity;

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

    /// The key that certified them [default: the only one with a secret key].
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
    let by = editing.certifier(arguments.by.as_ref())?;
    let target = editing.target()?;
    for wanted in &arguments.user_id {
        target.user_id(wanted.as_bytes())?;
    }
    let chosen = |identity: &CertifiedIdentity| {
        let is_it = |wanted: &OsString| identity.user_id() == Some(wanted.as_bytes());
        arguments.user_id.is_empty() || arguments.user_id.iter().any(is_it)
    };
    let reason = arguments.comment.reason(RevocationReason::UNSPECIFIED);
    let revoked = editing.edit(|editor, key| editor.revoke_certification(key, &by, &chosen, reason))?;
    if revoked.identities.is_empty() && revoked.already.is_empty() {
        session.warn(format_args!("{}: no such certification by {by}", editing.key));
        return Ok(Outcome::Nothing);
    }
    editing.print(session, "certification revoked", revoked.edited)
}
