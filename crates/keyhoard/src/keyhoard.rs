//! The opened database.

use std::io::Read;
use std::sync::Arc;
use std::time::SystemTime;

use engine::delete::delete;
use engine::import::{ImportOptions, import};
use engine::owner_trust::{Assignment, assign};
use engine::store::Store;
use engine::undo::{UndoOptions, undo};

use crate::certs::Certs;
use crate::decrypt::Decrypt;
use crate::encrypt::Encrypt;
use crate::generate::Generate;
use crate::handle::Handle;
use crate::imported::Imported;
use crate::journal::{JournalEntry, Undone, read_journal};
use crate::keys::Keys;
use crate::open::OpenOptions;
use crate::sign::Sign;
use crate::time::{from_timestamp, to_timestamp};
use crate::transaction::Transaction;
use crate::verify::Verify;
use crate::{Cert, Error, Location, OwnerTrust, Result};

/// A database of certificates, with the secret keys that belong to it.
///
/// A clone is the same opened database. Threads may share it. In a process that was forked after it was opened every
/// method fails with the code `forked`, and nothing of the database is touched.
#[derive(Clone, Debug)]
pub struct Keyhoard {
    pub(crate) handle: Arc<Handle>,
}

impl Keyhoard {
    pub(crate) fn of(handle: Handle) -> Self {
        Self { handle: Arc::new(handle) }
    }

    /// Opens the database at a path or URL, and makes it if it is not there.
    ///
    /// # Errors
    ///
    /// Those of [`OpenOptions::open`].
    pub fn open(location: impl Into<Location>) -> Result<Self> {
        Self::options().open(location)
    }

    /// Makes an empty database in memory; its secret keys are in memory too.
    ///
    /// # Errors
    ///
    /// `database`, without memory.
    pub fn in_memory() -> Result<Self> {
        Self::open(Location::Memory)
    }

    /// Returns the options with which a database can be opened.
    pub fn options() -> OpenOptions {
        OpenOptions::new()
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

    /// Looks certificates up.
    pub fn certs(&self) -> Certs<'_> {
        Certs { keyhoard: self }
    }

    /// Deletes a certificate, which [`Keyhoard::undo`] brings back; secret keys stay.
    ///
    /// # Errors
    ///
    /// `database`, `locked`.
    pub fn delete(&self, cert: &Cert) -> Result<()> {
        let handle = &self.handle;
        handle.write(|store| Ok(delete(store, &[cert.id], &handle.program, handle.now()).map(drop)?))
    }

    /// Says how far the user trusts a certificate's owner to certify others; [`OwnerTrust::Ultimate`] says that it is
    /// the user's own.
    ///
    /// # Errors
    ///
    /// `database`, `locked`.
    pub fn set_owner_trust(&self, cert: &Cert, trust: OwnerTrust) -> Result<()> {
        let handle = &self.handle;
        let primary = cert.fingerprint();
        let before = handle.read(|snapshot| Ok(snapshot.owner_trust(&primary)?))?;
        let given = Assignment::new(primary, trust, before);
        handle.write(|store| Ok(assign(store, &[given], &handle.program, handle.now())?))
    }

    /// Returns how far the user trusts a certificate's owner to certify others.
    ///
    /// # Errors
    ///
    /// `database`.
    pub fn owner_trust(&self, cert: &Cert) -> Result<OwnerTrust> {
        let assigned = self.handle.read(|snapshot| Ok(snapshot.owner_trust(&cert.fingerprint())?))?;
        Ok(assigned.map_or(OwnerTrust::Unknown, |assigned| OwnerTrust::from_number(assigned.value())))
    }

    /// Encrypts.
    pub fn encrypt(&self) -> Encrypt<'_> {
        Encrypt::new(self)
    }

    /// Decrypts, and verifies the signatures in the message.
    pub fn decrypt(&self) -> Decrypt<'_> {
        Decrypt::new(self)
    }

    /// Signs.
    pub fn sign(&self) -> Sign<'_> {
        Sign::new(self)
    }

    /// Verifies signatures.
    pub fn verify(&self) -> Verify<'_> {
        Verify::new(self)
    }

    /// Makes a key with this first user ID, such as `Ann <ann@example.org>`.
    pub fn generate(&self, user_id: impl Into<String>) -> Generate<'_> {
        Generate::new(self, user_id.into())
    }

    /// Returns the secret keys.
    pub fn keys(&self) -> Keys<'_> {
        Keys { keyhoard: self }
    }

    /// Returns the latest entries of the journal, newest first.
    ///
    /// # Errors
    ///
    /// `database`.
    pub fn journal(&self, limit: usize) -> Result<Vec<JournalEntry>> {
        self.handle.read(|snapshot| read_journal(snapshot, limit))
    }

    /// Takes back what an entry of the journal did, else the last one that is not undone.
    ///
    /// # Errors
    ///
    /// `undo` says what prevents it.
    pub fn undo(&self, entry: Option<i64>) -> Result<Undone> {
        let handle = &self.handle;
        let entry = entry.map(engine::store::JournalId);
        let options = UndoOptions { command: handle.program.clone(), ..UndoOptions::default() };
        let undo = |store: &dyn Store| Ok(undo(store, entry, &options, handle.now(), &mut |_| {})?);
        Ok(Undone::of(&handle.write(undo)?))
    }

    /// Changes the database in one transaction: everything that `work` does, or nothing if it fails.
    ///
    /// Nobody else can write meanwhile, and in memory nobody can read: this `Keyhoard` must not be used in `work`.
    ///
    /// # Errors
    ///
    /// That of `work`; `database`, `locked`.
    pub fn transaction<T, E: From<Error>>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.handle.write(|store| Transaction::begin(&self.handle, store)?.run(work))?
    }
}
