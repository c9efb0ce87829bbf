//! `keyhoard key passphrase`: changes, sets or removes the passphrase of secret keys.

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::PathBuf;

use engine::passphrase::{PassphraseSource, Passphrases};
use engine::secret::{Ask, Error, Name, Passphrase, Protection, SecretKeys};
use engine::secret_transfer::secret_keys_of;
use engine::store::Fingerprint;
use serde_json::json;

use crate::commands::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::passphrase_options::{PassphraseOptions, owner};
use crate::printable::counted;
use crate::session::Session;

/// The arguments of `keyhoard key passphrase`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key passphrase me@example.org
  keyhoard key passphrase --remove me@example.org
  keyhoard key passphrase --passphrase-file old --new-passphrase-file new me@example.org

All secret keys of a certificate get the same passphrase, each by itself: if the program is interrupted, some have the \
old one. Keys of version 4 are locked so that gpg can read them, keys of version 6 with Argon2.")]
pub(crate) struct Arguments {
    /// The certificates of the secret keys.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<OsString>,

    /// Remove the passphrase.
    #[arg(long)]
    remove: bool,

    /// Take the first line of this file as the new passphrase, instead of asking for it.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "remove")]
    new_passphrase_file: Option<PathBuf>,

    /// Take the first line of this file descriptor as the new passphrase.
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["remove", "new_passphrase_file"])]
    new_passphrase_fd: Option<RawFd>,

    #[command(flatten)]
    current: PassphraseOptions,
}

impl Arguments {
    /// Returns where the new passphrase comes from.
    fn new_source(&self) -> engine::Result<PassphraseSource> {
        Ok(match (&self.new_passphrase_file, self.new_passphrase_fd) {
            _ if self.remove => PassphraseSource::Given(Passphrase::new(b"")),
            (Some(path), _) => PassphraseSource::File(path.clone()),
            (None, Some(number)) => PassphraseSource::Descriptor(number),
            (None, None) => self.current.source_of_questions()?,
        })
    }
}

/// Changes the passphrases.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let keys = session.secret_keys()?;
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let named = NamedCertificates::find(session, snapshot.as_ref(), &arguments.names)?;
    let stored = secret_keys_of(snapshot.as_ref(), named.selection(), &keys)?;
    let locked = stored
        .iter()
        .filter(|stored| !matches!(stored.protection, Protection::Dummy | Protection::Card { .. }));
    let locked: Vec<Fingerprint> = locked.map(|stored| stored.fingerprint).collect();
    if locked.is_empty() {
        session.warn("the named certificates have no secret key here");
    }
    if !named.complete || locked.is_empty() {
        session.note("nothing was changed");
        return Ok(Outcome::Nothing);
    }
    let owner = |key: &Fingerprint| owner(snapshot.as_ref(), key);
    let mut current = Passphrases::new(arguments.current.source()?, owner);
    let mut new_passphrases = Passphrases::new(arguments.new_source()?, owner);
    // It is asked for once for all keys.
    let mut new: Option<Passphrase> = None;
    for key in &locked {
        keys.relock(&Name::from(*key), &mut current, &mut |question| {
            if new.is_none() {
                new = new_passphrases.passphrase(question)?;
            }
            new.clone().ok_or_else(|| Error::Asking("there is no new passphrase".to_owned()))
        })?;
    }
    print_changed(session, &locked)?;
    Ok(Outcome::Done)
}

fn print_changed(session: &mut Session, keys: &[Fingerprint]) -> anyhow::Result<()> {
    if session.output.is_json() {
        let changed: Vec<String> = keys.iter().map(Fingerprint::to_string).collect();
        session.output.json(&json!({ "changed": changed }))?;
    } else {
        session.note(format_args!("the passphrase of {} was changed", counted(keys.len(), "secret key")));
    }
    Ok(())
}
