//! `keyhoard key revoke`.

use engine::store::Fingerprint;

use super::editing::EditedKey;
use super::reason::KeyReason;
use crate::exit::Outcome;
use crate::expiry::fingerprint;
use crate::question::Confirmation;
use crate::session::Session;

/// The arguments of `keyhoard key revoke`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key revoke ann@example.org --reason superseded --comment 'see my new key'
  keyhoard key revoke ann@example.org --subkey 0123456789ABCDEF0123456789ABCDEF01234567 --yes

A revocation that others have received cannot be taken back.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    key: EditedKey,

    /// Revoke only this subkey.
    #[arg(long, value_name = "FINGERPRINT", value_parser = fingerprint)]
    subkey: Option<Fingerprint>,

    #[command(flatten)]
    reason: KeyReason,

    #[command(flatten)]
    confirmation: Confirmation,
}

/// Asks for confirmation and revokes.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let editing = arguments.key.editing(session)?;
    let subkey = arguments.subkey.as_ref();
    let question = format!("Revoke {} for good?", subkey.unwrap_or(&editing.key));
    if !arguments.confirmation.is_given("revoking a key", question)? {
        session.note("nothing was revoked");
        return Ok(Outcome::Nothing);
    }
    let reason = arguments.reason.reason();
    let revoked = editing.edit(|editor, key| editor.revoke(key, subkey, reason))?;
    editing.print_revoked(session, "revoked", revoked)
}
