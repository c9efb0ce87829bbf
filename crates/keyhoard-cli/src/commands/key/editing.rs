//! What all edits have in common: the key that is named, who asks for its passphrase, and what is said in the end.

use std::ffi::{OsStr, OsString};

use anyhow::{Context, bail};
use keyhoard::edit::{Edited, Editor, Target};
use keyhoard::passphrase::Passphrases;
use keyhoard::store::{Fingerprint, JournalId, Selection, Store};
use secret::SecretKeys;
use secret::file::FileKeys;
use serde::Serialize;

use crate::commands::{Named, fingerprints};
use crate::exit::{NotHere, Outcome};
use crate::passphrase_options::{PassphraseOptions, owner};
use crate::session::{Session, command_line};

/// The database and the secret keys of one edit.
pub(super) struct Editing {
    pub(super) store: Box<dyn Store>,
    keys: FileKeys,
}

impl Editing {
    /// Opens the database.
    pub(super) fn begin(session: &Session) -> anyhow::Result<Self> {
        Ok(Self { store: session.open()?, keys: session.secret_keys()? })
    }

    /// Finds the one certificate that a name stands for.
    pub(super) fn key(&self, name: &OsStr) -> anyhow::Result<Fingerprint> {
        let snapshot = self.store.snapshot()?;
        let id = Named::one(snapshot.as_ref(), name)?;
        let found = fingerprints(snapshot.as_ref(), Selection::Ids(&[id]))?;
        found.first().copied().context("the certificate has just gone")
    }

    /// Finds the key that certifies: the one named, else the only one with a secret key.
    pub(super) fn certifier(&self, named: Option<&OsString>) -> anyhow::Result<Fingerprint> {
        if let Some(name) = named {
            return self.key(name);
        }
        let held = self.keys.list()?;
        let primaries: Vec<Fingerprint> = held
            .iter()
            .filter(|held| held.role == secret::Role::Primary && held.protection.has_secret())
            .map(|held| held.fingerprint)
            .collect();
        match primaries[..] {
            [only] => Ok(only),
            [] => Err(NotHere::usable("there is no secret key to certify with").into()),
            _ => bail!("there are {} secret keys; say which one certifies with --by", primaries.len()),
        }
    }

    /// Lets an edit happen, asking for passphrases as the options say.
    pub(super) fn edit<T>(
        &self,
        session: &Session,
        options: &PassphraseOptions,
        edit: impl FnOnce(&mut Editor<'_>) -> keyhoard::Result<T>,
    ) -> anyhow::Result<T> {
        let owner = |key: &Fingerprint| owner(self.store.snapshot().ok()?.as_ref(), key);
        let mut ask = Passphrases::new(options.source()?, owner);
        let mut editor = Editor::new(self.store.as_ref(), &self.keys, &mut ask, command_line(), session.now);
        Ok(edit(&mut editor)?)
    }

    /// Reads a certificate before it is changed.
    pub(super) fn target(&self, session: &Session, key: &Fingerprint) -> anyhow::Result<Target> {
        let mut nobody = secret::ask::Nobody;
        let editor = Editor::new(self.store.as_ref(), &self.keys, &mut nobody, String::new(), session.now);
        Ok(editor.target(key)?)
    }
}

/// Says what was done to a key.
pub(super) fn tell(
    session: &mut Session,
    key: &Fingerprint,
    what: &str,
    edited: Edited,
) -> anyhow::Result<Outcome> {
    let entry = edited.journal.map(|JournalId(entry)| entry);
    if session.output.is_json() {
        session.output.json(&EditedJson {
            fingerprint: key.to_string(),
            signatures: edited.signatures,
            entry,
        })?;
    } else {
        match entry {
            Some(entry) => {
                session.note(format_args!("{key}: {what}; `keyhoard undo {entry}` takes that back"))
            }
            None => session.note(format_args!("{key}: nothing had to be changed")),
        }
    }
    Ok(Outcome::Done)
}

/// What an edit did, as `docs/json.md` describes it.
#[derive(Serialize)]
struct EditedJson {
    fingerprint: String,
    signatures: usize,
    entry: Option<i64>,
}
