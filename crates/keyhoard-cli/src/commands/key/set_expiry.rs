//! `keyhoard key set-expiry`.

use engine::edit::ExpiryTarget;
use engine::store::Fingerprint;

use super::editing::EditedKey;
use crate::exit::Outcome;
use crate::expiry::{Expiry, fingerprint};
use crate::session::Session;

/// The arguments of `keyhoard key set-expiry`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key set-expiry ann@example.org 2y
  keyhoard key set-expiry ann@example.org 2030-01-01 --subkeys
  keyhoard key set-expiry ann@example.org never --subkey 0123456789ABCDEF0123456789ABCDEF01234567

WHEN is a number of days (d), weeks (w), months of 30 days (m) or years of 365 days (y) from now, a day like 2030-01-01, \
or never.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    key: EditedKey,

    /// When it expires.
    #[arg(value_name = "WHEN")]
    end: Expiry,

    /// Set it for all subkeys that are neither revoked nor expired, and not for the primary key.
    #[arg(long, conflicts_with = "subkey")]
    subkeys: bool,

    /// Set it for this subkey, and not for the primary key; can be given several times.
    #[arg(long, value_name = "FINGERPRINT", value_parser = fingerprint)]
    subkey: Vec<Fingerprint>,
}

/// Sets the expiration time of keys.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let editing = arguments.key.editing(session)?;
    let target = match arguments.subkey.as_slice() {
        [] if arguments.subkeys => ExpiryTarget::Subkeys,
        [] => ExpiryTarget::Primary,
        subkeys => ExpiryTarget::These(subkeys.to_vec()),
    };
    let end = editing.future(arguments.end)?;
    let edited = editing.edit(|editor, key| editor.set_expiry(key, &target, end))?;
    editing.print(session, "expiry set", edited)
}
