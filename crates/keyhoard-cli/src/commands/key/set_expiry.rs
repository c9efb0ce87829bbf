//! `keyhoard key set-expiry`.

use std::ffi::OsString;

use anyhow::bail;
use keyhoard::edit::ExpiryTarget;
use keyhoard::store::Fingerprint;

use super::editing::{Editing, tell};
use super::expiry::{Expiry, fingerprint};
use crate::exit::Outcome;
use crate::passphrase_options::PassphraseOptions;
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
    /// The key.
    #[arg(value_name = "KEY")]
    key: OsString,

    /// When it ends.
    #[arg(value_name = "WHEN")]
    end: Expiry,

    /// Set it for all subkeys that are neither revoked nor expired, and not for the primary key.
    #[arg(long, conflicts_with = "subkey")]
    subkeys: bool,

    /// Set it for this subkey, and not for the primary key; can be given several times.
    #[arg(long, value_name = "FINGERPRINT", value_parser = fingerprint)]
    subkey: Vec<Fingerprint>,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

/// Sets when keys end.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let editing = Editing::begin(session)?;
    let key = editing.key(&arguments.key)?;
    let which = match arguments.subkey.as_slice() {
        [] if arguments.subkeys => ExpiryTarget::Subkeys,
        [] => ExpiryTarget::Primary,
        subkeys => ExpiryTarget::These(subkeys.to_vec()),
    };
    let end = arguments.end.after(session.now);
    if end.is_some_and(|end| end <= session.now) {
        bail!("this end has passed already");
    }
    let edited =
        editing.edit(session, &arguments.passphrase, |editor| editor.set_expiry(&key, &which, end))?;
    tell(session, &key, "expiry set", edited)
}
