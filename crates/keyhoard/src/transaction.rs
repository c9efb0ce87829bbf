//! Several changes as one.

use std::fmt;
use std::io::Read;

use engine::import::{ImportOptions, import_within};
use engine::owner_trust::Assignment;
use engine::store::{self, Removal, Store};

use crate::handle::Handle;
use crate::imported::{Imported, Unread};
use crate::{Cert, Error, Keyhoard, OwnerTrust, Result};

/// A transaction: what is done with it happens together or not at all.
pub struct Transaction<'t> {
    handle: &'t Handle,
    transaction: Box<dyn store::Transaction + 't>,
}

impl<'t> Transaction<'t> {
    pub(crate) fn begin(handle: &'t Handle, store: &'t dyn Store) -> Result<Self> {
        let transaction = store.begin(&handle.program, None, handle.now())?;
        Ok(Self { handle, transaction })
    }

    /// Does the work, and commits unless it fails.
    pub(crate) fn run<T, E: From<Error>>(
        mut self,
        work: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> Result<std::result::Result<T, E>> {
        let done = work(&mut self);
        if done.is_ok() {
            self.transaction.finish_journal_if_changed()?;
            self.transaction.commit()?;
        }
        Ok(done)
    }

    /// Imports certificates; secret keys that come with them are left out.
    ///
    /// # Errors
    ///
    /// `malformed` as in [`Keyhoard::import`], which leaves the transaction as it was; `database` and `io`, after which it is
    /// to fail.
    pub fn import(&mut self, input: impl Read + Send) -> Result<Imported> {
        let options = ImportOptions::default();
        let mut unread = Unread::default();
        let mut note = |position, reason: &_| unread.note(position, reason);
        let now = self.handle.now();
        let summary = import_within(self.transaction.as_mut(), input, &options, now, &mut note)?;
        Imported::of(&summary, unread)
    }

    /// Deletes a certificate, which an undo of the transaction brings back.
    ///
    /// # Errors
    ///
    /// `database`.
    pub fn delete(&mut self, cert: &Cert) -> Result<()> {
        Ok(self.transaction.remove(&[cert.id], Removal::Undoable)?)
    }

    /// Says how far the user trusts a certificate's owner to certify others.
    ///
    /// # Errors
    ///
    /// `database`.
    pub fn set_owner_trust(&mut self, cert: &Cert, trust: OwnerTrust) -> Result<()> {
        let primary = cert.fingerprint();
        let before = self.transaction.snapshot()?.owner_trust(&primary)?;
        let given = Assignment::new(primary, trust, before);
        Ok(self.transaction.set_owner_trust(&given.key, given.trust)?)
    }
}

impl fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").field("entry", &self.transaction.journal().0).finish_non_exhaustive()
    }
}

impl Keyhoard {
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
