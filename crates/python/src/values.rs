//! What methods of the database return, beside certificates and verdicts.

use std::time::SystemTime;

use pyo3::prelude::*;

/// The sums over an import.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct Imported {
    /// Certificates in the input.
    processed: u64,
    /// Certificates that were not here.
    new: u64,
    /// Certificates that brought something.
    changed: u64,
    /// Certificates that brought nothing.
    unchanged: u64,
    /// Certificates that could not be read, or have no user ID that anything vouches for.
    refused: u64,
    /// Secret keys that were not here.
    secret_keys: u64,
    /// The entry of the journal, if anything was written.
    entry: Option<i64>,
}

/// An entry of the journal.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct JournalEntry {
    /// Its number.
    id: i64,
    /// When it began.
    time: SystemTime,
    /// What it was: a command line, or the name that a program gave when it opened the database.
    command: String,
    /// Certificates that were added.
    added: u64,
    /// Certificates that got more packets.
    merged: u64,
    /// Certificates that were removed.
    removed: u64,
    /// The entry that undid this one.
    undone_by: Option<i64>,
    /// The entry that this one undid.
    undoes: Option<i64>,
}

/// What an undo did.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct Undone {
    /// The entry that was taken back.
    entry: i64,
    /// Certificates that went.
    removed: u64,
    /// Certificates that lost packets.
    shrunk: u64,
    /// Certificates that came back.
    restored: u64,
    /// Certificates from which not everything was taken back, such as revocations.
    kept: u64,
}

/// A secret key, without its secret.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct SecretKey {
    /// The fingerprint of the primary key or subkey.
    fingerprint: String,
    /// Whether it is a primary key.
    is_primary: bool,
    /// Whether a passphrase locks it.
    is_locked: bool,
    /// Whether the secret is here, and not only a note of where it is.
    is_here: bool,
}

impl Imported {
    pub(crate) fn of(imported: keyhoard::Imported) -> Self {
        let keyhoard::Imported { processed, new, changed, unchanged, refused, secret_keys, entry, .. } =
            imported;
        Self { processed, new, changed, unchanged, refused, secret_keys, entry }
    }
}

#[pymethods]
impl Imported {
    fn __repr__(&self) -> String {
        let Self { processed, new, changed, unchanged, refused, .. } = self;
        format!(
            "<Imported {processed}: {new} new, {changed} changed, {unchanged} unchanged, {refused} refused>"
        )
    }
}

impl JournalEntry {
    pub(crate) fn of(entry: keyhoard::JournalEntry) -> Self {
        let keyhoard::JournalEntry { id, time, command, added, merged, removed, undone_by, undoes, .. } =
            entry;
        Self { id, time, command, added, merged, removed, undone_by, undoes }
    }
}

#[pymethods]
impl JournalEntry {
    fn __repr__(&self) -> String {
        let Self { id, command, added, merged, removed, .. } = self;
        format!("<JournalEntry {id} {command:?}: {added} added, {merged} merged, {removed} removed>")
    }
}

impl Undone {
    pub(crate) fn of(undone: keyhoard::Undone) -> Self {
        let keyhoard::Undone { entry, removed, shrunk, restored, kept, .. } = undone;
        Self { entry, removed, shrunk, restored, kept }
    }
}

#[pymethods]
impl Undone {
    fn __repr__(&self) -> String {
        let Self { entry, removed, shrunk, restored, kept } = self;
        format!("<Undone {entry}: {removed} removed, {shrunk} shrunk, {restored} restored, {kept} kept>")
    }
}

impl SecretKey {
    pub(crate) fn of(key: keyhoard::SecretKey) -> Self {
        let keyhoard::SecretKey { fingerprint, is_primary, is_locked, is_here, .. } = key;
        Self { fingerprint: fingerprint.to_string(), is_primary, is_locked, is_here }
    }
}

#[pymethods]
impl SecretKey {
    fn __repr__(&self) -> String {
        format!("<SecretKey {}{}>", self.fingerprint, if self.is_locked { " (locked)" } else { "" })
    }
}
