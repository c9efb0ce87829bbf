//! `keyhoard key revoke`.

use std::ffi::OsString;

use keyhoard::store::Fingerprint;

use super::editing::Editing;
use super::expiry::fingerprint;
use super::reason::KeyReason;
use super::revoke_user_id::tell_revoked;
use crate::exit::Outcome;
use crate::passphrase_options::PassphraseOptions;
use crate::question::confirmed;
use crate::session::Session;

/// The arguments of `keyhoard key revoke`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key revoke ann@example.org --reason superseded --comment 'see my new key'
  keyhoard key revoke ann@example.org --subkey 0123456789ABCDEF0123456789ABCDEF01234567 --yes

Nothing takes a revocation back that others have.")]
pub(crate) struct Arguments {
    /// The key.
    #[arg(value_name = "KEY")]
    key: OsString,

    /// Revoke only this subkey.
    #[arg(long, value_name = "FINGERPRINT", value_parser = fingerprint)]
    subkey: Option<Fingerprint>,

    #[command(flatten)]
    reason: KeyReason,

    /// Do not ask.
    #[arg(long, short)]
    yes: bool,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

/// Asks, and revokes.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let editing = Editing::begin(session)?;
    let key = editing.key(&arguments.key)?;
    let subkey = arguments.subkey.as_ref();
    let question = format!("Revoke {} for good?", subkey.unwrap_or(&key));
    if !arguments.yes && !confirmed("revoking a key", question)? {
        session.note("nothing was revoked");
        return Ok(Outcome::Nothing);
    }
    let reason = arguments.reason.reason();
    let revoked =
        editing.edit(session, &arguments.passphrase, |editor| editor.revoke(&key, subkey, reason))?;
    tell_revoked(session, &key, "revoked", revoked)
}
