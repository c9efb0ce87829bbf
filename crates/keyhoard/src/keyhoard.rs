//! The opened database.

use std::io::Read;
use std::sync::Arc;
use std::time::SystemTime;

use engine::import::{ImportEvent, ImportOptions, import};

use crate::handle::Handle;
use crate::imported::{Imported, Unread};
use crate::time::{from_timestamp, to_timestamp};
use crate::{Location, Result};

/// A database of certificates, with the secret keys that belong to it.
///
/// A clone is the same opened database. Threads may share it. In a process that was forked after it was opened everything
/// that reads or writes fails with the code `forked`, and nothing of the database or the secret keys is touched.
#[derive(Clone, Debug)]
pub struct Keyhoard {
    pub(crate) handle: Arc<Handle>,
}

impl Keyhoard {
    pub(crate) fn of(handle: Handle) -> Self {
        Self { handle: Arc::new(handle) }
    }

    /// Returns where the database is.
    pub fn location(&self) -> &Location {
        &self.handle.location
    }

    /// Returns the current time, by the clock that it was opened with.
    pub fn now(&self) -> SystemTime {
        from_timestamp(to_timestamp((self.handle.clock)()))
    }

    /// Imports certificates, with or without armor, and the secret keys that come with them.
    ///
    /// Damaged certificates are counted, not errors. Many are written in several transactions, under one entry of the
    /// journal; [`Keyhoard::transaction`] writes all or nothing.
    ///
    /// # Errors
    ///
    /// `malformed` if there is no certificate in it, with the position of what is there instead; `io` if reading fails, after
    /// what came before was imported; `database`, `locked`; `secret-key` if a secret key could not be stored.
    pub fn import(&self, input: impl Read + Send) -> Result<Imported> {
        self.import_as(input, false)
    }

    /// Imports certificates as [`Keyhoard::import`] does, from an input that never makes the import wait, such as a
    /// file: that takes less time.
    ///
    /// # Errors
    ///
    /// Those of [`Keyhoard::import`].
    pub fn import_file(&self, path: impl AsRef<std::path::Path>) -> Result<Imported> {
        let file = std::fs::File::open(path)?;
        let is_file = file.metadata()?.is_file();
        self.import_as(file, is_file)
    }

    fn import_as(&self, input: impl Read + Send, from_files: bool) -> Result<Imported> {
        let handle = &self.handle;
        handle.with_secrets(|secrets| {
            let options = ImportOptions {
                command: handle.program.clone(),
                secret_keys: handle.has_secrets().then_some(secrets),
                from_files,
                ..ImportOptions::default()
            };
            let mut unread = Unread::default();
            let mut note = |event: ImportEvent<'_>| {
                if let ImportEvent::Refused { position, reason, .. } = event {
                    unread.note(position, reason);
                }
            };
            let summary =
                handle.write(|store| Ok(import(store, input, &options, handle.now(), &mut note)?))?;
            Imported::of(&summary, unread)
        })
    }
}
