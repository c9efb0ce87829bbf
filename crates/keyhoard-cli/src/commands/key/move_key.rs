//! `keyhoard key move`: moves secret keys between files and gpg-agent.

use std::ffi::OsString;

use engine::key_move::{Destination, Moved, lost_attributes, move_key};
use engine::passphrase::Passphrases;
use engine::secret::StoredKey;
use engine::secret_transfer::secret_keys_of;
use serde_json::json;

use crate::commands::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::passphrase_options::{PassphraseOptions, owner};
use crate::session::Session;

/// The arguments of `keyhoard key move`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key move --to agent me@example.org
  keyhoard key move --to file me@example.org

A key is copied, its copy signs or decrypts something, and only then the original is deleted. If the command is interrupted, \
the key is at both places, and the same command completes the move. A key that another key packet, ssh or gpgsm uses stays \
with the agent, too. Keys on cards cannot be moved. gpg-agent asks for passphrases with its pinentry.")]
pub(crate) struct Arguments {
    /// The certificates whose secret keys are moved.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<OsString>,

    /// Where they are to be.
    #[arg(long, value_name = "PLACE")]
    to: SecretKeyStore,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

/// A place of secret keys.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SecretKeyStore {
    /// gpg-agent, so that gpg uses them.
    Agent,
    /// Files beside the database.
    File,
}

/// Moves the secret keys of certificates.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let keys = session.secret_keys()?;
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let named = NamedCertificates::find(session, snapshot.as_ref(), &arguments.names)?;
    let stored_keys = secret_keys_of(snapshot.as_ref(), named.selection(), &keys)?;
    if stored_keys.is_empty() {
        session.warn("the named certificates have no secret key here");
    }
    if !named.complete || stored_keys.is_empty() {
        session.note("nothing was moved");
        return Ok(Outcome::Nothing);
    }
    let to = match arguments.to {
        SecretKeyStore::Agent => Destination::Agent,
        SecretKeyStore::File => Destination::File,
    };
    let mut ask = Passphrases::new(arguments.passphrase.source()?, |key| owner(snapshot.as_ref(), key));
    let mut all_moved = true;
    for stored in &stored_keys {
        if to == Destination::File {
            warn_of_lost(session, stored, &lost_attributes(&keys, stored)?);
        }
        let moved = move_key(snapshot.as_ref(), &keys, stored, to, &mut ask)?;
        all_moved &= matches!(moved, Moved::Done | Moved::Already);
        report(session, stored, &moved)?;
    }
    Ok(Outcome::done_if(all_moved))
}

/// Tells what the agent's file says of a key that is not kept in files here.
fn warn_of_lost(session: &Session, stored: &StoredKey, lost: &[String]) {
    if !lost.is_empty() {
        let (key, lost) = (stored.fingerprint, lost.join(", "));
        session.warn(format_args!("{key}: what gpg-agent notes of it is not kept in files: {lost}"));
    }
}

fn report(session: &mut Session, stored: &StoredKey, moved: &Moved) -> anyhow::Result<()> {
    let key = stored.fingerprint;
    let (word, text) = match moved {
        Moved::Done => ("moved", "moved".to_owned()),
        Moved::Already => ("already", "was there already".to_owned()),
        Moved::Copied(uses) => {
            let uses: Vec<String> = uses.iter().map(ToString::to_string).collect();
            ("copied", format!("copied; it stays with the agent as well, since {}", uses.join(" and ")))
        }
        Moved::OnCard => ("on_card", "is on a card, and was not moved".to_owned()),
        Moved::NoSecret => ("no_secret", "has no secret part here".to_owned()),
    };
    if session.output.is_json() {
        session.output.json(&json!({ "fingerprint": key.to_string(), "outcome": word }))?;
    } else {
        session.note(format_args!("{key}: {text}"));
    }
    Ok(())
}
