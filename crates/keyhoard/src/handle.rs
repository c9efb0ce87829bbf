//! What every part of the crate works on: the opened database, the secret keys, the clock.

use std::fmt;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use engine::cert::Timestamp;
use engine::cert::effective::PacketView;
use engine::permissions::{exposed_database, secret_keys_beside};
use engine::secret::file::FileKeys;
use engine::secret::{MemoryKeys, SecretKeys};
use engine::store::{Snapshot, Store};
use engine::validity::{Sources, TrustSettings};

use crate::passphrase::Passphrases;
use crate::time::to_timestamp;
use crate::{Error, Location, Result};

/// Returns the current time.
pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Where secret keys are.
pub(crate) enum SecretPlace {
    /// In the directory that belongs to a database's file.
    Beside(PathBuf),
    Directory(PathBuf),
    /// In files, beside the database or in a directory of their own, and in the agent of a GnuPG home directory.
    #[cfg(feature = "agent")]
    WithAgent {
        files: Option<PathBuf>,
        database: PathBuf,
        home: PathBuf,
    },
    Memory(MemoryKeys),
    /// There are none, and none can be stored.
    Nowhere,
}

/// An opened database with all that belongs to it.
pub(crate) struct Handle {
    pub(crate) location: Location,
    /// Taken out only when it is dropped.
    pub(crate) store: Option<Box<dyn Store>>,
    pub(crate) secrets: SecretPlace,
    pub(crate) clock: Clock,
    pub(crate) passphrases: Passphrases,
    /// Whose rules certificates are judged by.
    pub(crate) view: PacketView,
    /// What the journal names as the command.
    pub(crate) program: String,
    /// The process that opened it.
    pub(crate) opener: u32,
    /// Whether readers and a writer need not wait for each other, once that was seen.
    pub(crate) is_concurrent: AtomicBool,
    /// Where they must: held for reading by readers, for writing by the writer.
    pub(crate) gate: RwLock<()>,
}

impl Handle {
    /// Returns the current time.
    pub(crate) fn now(&self) -> Timestamp {
        to_timestamp((self.clock)())
    }

    /// Returns how validity is computed.
    pub(crate) fn trust(&self, now: Timestamp) -> TrustSettings {
        TrustSettings::new(now, self.view)
    }

    /// Fails in a process that was forked after the database was opened.
    pub(crate) fn check_process(&self) -> Result<()> {
        if self.opener == process::id() { Ok(()) } else { Err(Error::Forked { opener: self.opener }) }
    }

    fn store(&self) -> Result<&dyn Store> {
        self.check_process()?;
        Ok(self.store.as_deref().expect("it is taken out by drop only"))
    }

    /// Says whether readers need not wait for a writer; once that is so it stays so.
    fn is_concurrent(&self, store: &dyn Store) -> Result<bool> {
        if !self.is_concurrent.load(Ordering::Relaxed) && store.supports_concurrent_readers()? {
            self.is_concurrent.store(true, Ordering::Relaxed);
        }
        Ok(self.is_concurrent.load(Ordering::Relaxed))
    }

    /// Reads a snapshot. `read` must not read or write otherwise: a writer may wait for it.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&dyn Snapshot) -> Result<T>) -> Result<T> {
        let store = self.store()?;
        let _guard = match self.is_concurrent(store)? {
            true => None,
            false => Some(self.gate.read().unwrap_or_else(PoisonError::into_inner)),
        };
        read(store.snapshot()?.as_ref())
    }

    /// Writes, alone where the database asks for that.
    pub(crate) fn write<T>(&self, write: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        let store = self.store()?;
        let _guard = match self.is_concurrent(store)? {
            true => None,
            false => Some(self.gate.write().unwrap_or_else(PoisonError::into_inner)),
        };
        write(store)
    }

    /// Uses the secret keys; where there is no place for any, nothing is found.
    pub(crate) fn with_secrets<T>(
        &self,
        work: impl FnOnce(&(dyn SecretKeys + Sync)) -> Result<T>,
    ) -> Result<T> {
        self.check_process()?;
        match &self.secrets {
            SecretPlace::Beside(database) => work(&secret_keys_beside(database)?),
            SecretPlace::Directory(directory) => work(&FileKeys::new(directory)),
            #[cfg(feature = "agent")]
            SecretPlace::WithAgent { files, database, home } => {
                let files = match files {
                    Some(directory) => FileKeys::new(directory),
                    None => secret_keys_beside(database)?,
                };
                let agent = engine::agent_keys::agent_of(home).without_start();
                work(&engine::agent_keys::with_agent(files, database, agent))
            }
            SecretPlace::Memory(keys) => work(keys),
            SecretPlace::Nowhere => work(&MemoryKeys::default()),
        }
    }

    /// Refuses to store secret keys beside a database that others can change: they could not be used afterwards.
    pub(crate) fn check_place_of_secrets(&self) -> Result<()> {
        let exposed = match &self.secrets {
            SecretPlace::Beside(database) => exposed_database(database),
            #[cfg(feature = "agent")]
            SecretPlace::WithAgent { files: None, database, .. } => exposed_database(database),
            _ => Vec::new(),
        };
        exposed.into_iter().next().map_or(Ok(()), |exposed| Err(engine::Error::from(exposed).into()))
    }

    /// Says whether secret keys can be stored.
    pub(crate) fn has_secrets(&self) -> bool {
        !matches!(self.secrets, SecretPlace::Nowhere)
    }
}

/// Returns a snapshot as what validity is computed from.
pub(crate) fn sources(snapshot: &dyn Snapshot) -> Sources<'_> {
    Sources { certificates: vec![snapshot], owner_trust: snapshot.trust(), verdict_store: None }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SQLite's connections must not even be closed in a process that inherited them.
        if self.opener != process::id() {
            std::mem::forget(self.store.take());
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyhoard").field("location", &self.location).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Keyhoard, OwnerTrust, Passphrase, SubkeyUse};

    /// Returns a handle as a fork of the process that opened it has it.
    fn inherited(directory: &std::path::Path) -> Keyhoard {
        let path = directory.join("keys.db");
        let handle = Handle {
            location: Location::File(path.clone()),
            store: None,
            secrets: SecretPlace::Beside(path),
            clock: Arc::new(SystemTime::now),
            passphrases: Passphrases::default(),
            view: PacketView::Full,
            program: "test".to_owned(),
            opener: process::id() + 1,
            is_concurrent: AtomicBool::new(false),
            gate: RwLock::new(()),
        };
        Keyhoard::of(handle)
    }

    #[test]
    fn in_a_fork_everything_that_reads_or_writes_fails_and_touches_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let own = Keyhoard::in_memory().expect("a database");
        let ann = own.generate("Ann <ann@example.org>").create().expect("a key");
        let text = ann.armored().expect("text");
        let signature = own.sign().with(&ann).detached(&b"text"[..]).expect("signs");
        let mut signed = Vec::new();
        own.sign().with(&ann).inline(&b"text"[..], &mut signed).expect("signs");
        let message = own.encrypt().password("secret").bytes("text").expect("encrypts");

        let kh = inherited(directory.path());
        let password = || Passphrase::from("secret");
        let failures = [
            kh.import(text.as_bytes()).err(),
            kh.certs().by_email("ann@example.org").err(),
            kh.certs().by_fingerprint(ann.fingerprint()).err(),
            kh.certs().search("ann").err(),
            kh.certs().count().err(),
            kh.certs().export([&ann]).err(),
            kh.encrypt().to(&ann).bytes("text").err(),
            kh.encrypt().password(password()).bytes("text").err(),
            kh.decrypt().bytes(&message).err(),
            kh.decrypt().password(password()).bytes(&message).err(),
            kh.decrypt().recipients(&message[..]).err(),
            kh.sign().with(&ann).detached(&b"text"[..]).err(),
            kh.sign().by("ann@example.org").cleartext("text").err(),
            kh.verify().detached(&signature[..], &b"text"[..]).err(),
            kh.verify().message(&signed[..]).err(),
            kh.verify().many([()], |()| Ok((&signature[..], &b"text"[..]))).err(),
            kh.generate("Ben <ben@example.org>").create().err(),
            kh.add_subkey(&ann, SubkeyUse::Sign).create().err(),
            kh.certify(&ann, &ann).create().err(),
            kh.delete(&ann).err(),
            kh.owner_trust(&ann).err(),
            kh.set_owner_trust(&ann, OwnerTrust::Full).err(),
            kh.keys().list().err(),
            kh.keys().of(&ann).err(),
            kh.keys().unlocks(&ann, password()).err(),
            kh.keys().relock(&ann, password(), password()).err(),
            kh.keys().export(&ann).err(),
            kh.keys().delete(&ann).err(),
            kh.journal(1).err(),
            kh.undo(None).err(),
            kh.transaction(|_| Ok::<(), Error>(())).err(),
        ];
        for (number, failure) in failures.iter().enumerate() {
            assert_eq!(failure.as_ref().map(Error::code), Some("forked"), "number {number}");
        }
        assert_eq!(directory.path().read_dir().expect("a directory").count(), 0);
    }
}
