//! `keyhoard key revoke-certification`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use keyhoard::edit::{CertifiedIdentity, Reason, ReasonCode};

use super::editing::{Editing, tell};
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

    /// Take the certification of this user ID back only, given whole; can be given several times.
    #[arg(long, value_name = "USER-ID")]
    user_id: Vec<OsString>,

    /// A remark that everybody can read.
    #[arg(long, value_name = "TEXT", default_value = "")]
    comment: String,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

/// Takes certifications back.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let editing = Editing::begin(session)?;
    let key = editing.key(&arguments.key)?;
    let by = editing.certifier(arguments.by.as_ref())?;
    let target = editing.target(session, &key)?;
    for wanted in &arguments.user_id {
        target.user_id(wanted.as_bytes())?;
    }
    let chosen = |identity: &CertifiedIdentity| {
        let is_it = |wanted: &OsString| identity.user_id() == Some(wanted.as_bytes());
        arguments.user_id.is_empty() || arguments.user_id.iter().any(is_it)
    };
    let reason = Reason { code: ReasonCode::Unspecified, comment: arguments.comment.clone() };
    let withdrawn = editing.edit(session, &arguments.passphrase, |editor| {
        editor.revoke_certification(&key, &by, &chosen, reason)
    })?;
    if withdrawn.identities.is_empty() && withdrawn.already.is_empty() {
        session.warn(format_args!("{key}: {by} has certified none of this"));
        return Ok(Outcome::Nothing);
    }
    tell(session, &key, "certification revoked", withdrawn.edited)
}
