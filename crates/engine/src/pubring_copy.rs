//! A copy of the database's certificates as GnuPG's `pubring.kbx` in a home directory, for programs that read or copy that
//! file.
//!
//! The database remembers how the file was when it was written or read last. If another program has changed it since, its
//! certificates are taken over before it is written again, so that nothing in it is lost. X.509 certificates and what cannot
//! be read stay in the file byte for byte. What another program has removed from it is written again.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cert::certificate::Certificate;
use cert::{Timestamp, keybox};
use store::{Detail, Selection, Store};

use crate::dot_lock::DotLock;
use crate::gnupg_home::{KEYBOX, blob};
use crate::keyring_copy::{KeyringFormat, keybox_parts, replace};
use crate::migrate::{self, Kind, MigrateOptions, MigrationSource};
use crate::{Error, Result};

/// The file in a home directory, and the database that it is a copy of.
pub struct PubringCopy<'a> {
    store: &'a dyn Store,
    path: PathBuf,
    now: Timestamp,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Certificates that GnuPG cannot read, which were left out.
    pub left_out: u64,
}

impl<'a> PubringCopy<'a> {
    /// Returns the copy of a database in a home directory.
    pub fn new(store: &'a dyn Store, home: &Path, now: Timestamp) -> Self {
        Self { store, path: home.join(KEYBOX), now }
    }

    /// Takes over the certificates of the file if another program has changed it, or put it there; returns how many it has.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the file cannot be read or locked, or is no keybox; the database's errors.
    pub fn take_over(&self) -> Result<Option<u64>> {
        if self.changed()?.is_none() {
            return Ok(None);
        }
        let _lock = self.lock()?;
        self.take_over_locked()
    }

    /// Writes the certificates of the database into the file, under GnuPG's lock, if they differ from those that it has.
    ///
    /// # Errors
    ///
    /// The same; then the file is as it was.
    pub fn write(&self) -> Result<Written> {
        let _lock = self.lock()?;
        self.take_over_locked()?;
        let before = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|source| self.failed(source))?,
        };
        let (content, left_out) = self.content(&before)?;
        if content != before {
            replace(&self.path, &content, KeyringFormat::Keybox).map_err(|source| self.failed(source))?;
            let command = "gpg-keyhoard (write-pubring)";
            migrate::remember(self.store, &MigrationSource::recognise(&self.path)?, command, self.now)?;
        }
        Ok(Written { left_out })
    }

    fn lock(&self) -> Result<DotLock> {
        DotLock::take(&self.path).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::File { path: self.path.clone(), source }
    }

    /// Returns the file, if it is there and not as the database remembers it.
    fn changed(&self) -> Result<Option<MigrationSource>> {
        if fs::metadata(&self.path).is_ok_and(|file| file.len() > 0) {
            let source = MigrationSource::recognise(&self.path)?;
            if source.kind != Kind::Keybox {
                return Err(self.failed(io::Error::other("it is no keybox")));
            }
            return Ok((!migrate::is_taken_over(self.store.snapshot()?.as_ref(), &source)?).then_some(source));
        }
        Ok(None)
    }

    fn take_over_locked(&self) -> Result<Option<u64>> {
        let Some(source) = self.changed()? else { return Ok(None) };
        let options =
            MigrateOptions { command: "gpg-keyhoard (pubring.kbx taken over)".to_owned(), dry_run: false };
        let summary = migrate::migrate(self.store, &[source], &options, self.now, &mut |_| {})?;
        Ok(Some(summary.read))
    }

    /// Returns the content of the new file, and how many certificates are left out. A certificate that has not changed keeps
    /// its blob.
    fn content(&self, before: &[u8]) -> Result<(Vec<u8>, u64)> {
        let mut content = if before.is_empty() { keybox::header(self.now) } else { Vec::new() };
        let mut blobs: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
        for (bytes, key) in keybox_parts(before) {
            match keybox::keyblock(&bytes).filter(|_| key.is_some()) {
                Some(keyblock) => drop(blobs.insert(keyblock, bytes)),
                None => content.extend(bytes),
            }
        }
        let mut left_out = 0;
        self.store.snapshot()?.visit(Selection::All, Detail::Bytes, &mut |record| {
            if let (Some(facts), Some(bytes)) = (record.facts, record.bytes) {
                let shown = Certificate { facts, bytes }.without_superseded();
                match blobs.remove(&shown.bytes).map_or_else(|| blob(&shown, self.now), Ok) {
                    Ok(blob) => content.extend(blob),
                    Err(_) => left_out += 1,
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok((content, left_out))
    }
}
