//! The opened database.

use std::io::Read;
use std::sync::Arc;
use std::time::SystemTime;

use engine::import::{ImportOptions, import};
use engine::store::Store;

use crate::handle::Handle;
use crate::imported::Imported;
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
    /// `database`, `locked`; `secret-key` if a secret key could not be stored.
    pub fn import(&self, input: impl Read + Send) -> Result<Imported> {
        self.import_as(input, false)
    }

    /// Imports certificates as [`Keyhoard::import`] does, from an input that never makes the import wait, such as a
    /// file: that takes less time.
    ///
    /// # Errors
    ///
    /// Those of [`Keyhoard::import`], and `io`.
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
            let import = |store: &dyn Store| Ok(import(store, input, &options, handle.now(), &mut |_| {})?);
            Ok(Imported::of(&handle.write(import)?))
        })
    }
}
