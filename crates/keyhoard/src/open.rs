//! Opening a database.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, RwLock};
use std::time::SystemTime;

use engine::cert::effective::PacketView;
use engine::secret::MemoryKeys;
use engine::store::Store;
use engine::store::postgres::{Address, PostgresStore};
use engine::store::sqlite::SqliteStore;

use crate::handle::{Clock, Handle, SecretPlace};
use crate::passphrase::Passphrases;
use crate::{Error, Keyhoard, Location, Passphrase, PassphraseRequest, Result};

/// How a database is opened; [`Keyhoard::options`] returns the defaults.
#[must_use = "nothing is opened before open() is called"]
pub struct OpenOptions {
    must_exist: bool,
    clock: Clock,
    secret_keys: Option<PathBuf>,
    gnupg_home: Option<PathBuf>,
    passphrases: Passphrases,
    view: PacketView,
    program: String,
}

impl OpenOptions {
    pub(crate) fn new() -> Self {
        Self {
            must_exist: false,
            clock: Arc::new(SystemTime::now),
            secret_keys: None,
            gnupg_home: None,
            passphrases: Passphrases::default(),
            view: PacketView::Full,
            program: "keyhoard (library)".to_owned(),
        }
    }

    /// Fails with the code `missing` where there is no database, instead of making one.
    pub fn must_exist(self) -> Self {
        Self { must_exist: true, ..self }
    }

    /// Takes the time from this closure instead of the system: for tests, and to look at another moment.
    pub fn clock(self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Uses the secret keys in this directory; else those in `secret-keys` beside a file, and none with a server.
    pub fn secret_keys(self, directory: impl AsRef<Path>) -> Self {
        Self { secret_keys: Some(directory.as_ref().to_owned()), ..self }
    }

    /// Uses the secret keys of the gpg-agent of this GnuPG home directory too, such as `~/.gnupg` (feature `agent`). It has to
    /// run: none is started. Its pinentry asks for passphrases; the agent is told of the terminal and the display that the
    /// environment names. The database has to be a file.
    #[cfg(feature = "agent")]
    pub fn gnupg_home(self, directory: impl AsRef<Path>) -> Self {
        Self { gnupg_home: Some(directory.as_ref().to_owned()), ..self }
    }

    /// Asks this closure for the passphrases of locked keys; without one, locked keys stay locked.
    pub fn passphrases(
        self,
        answer: impl Fn(&PassphraseRequest) -> Option<Passphrase> + Send + Sync + 'static,
    ) -> Self {
        Self { passphrases: Passphrases::new(answer), ..self }
    }

    /// Judges certificates and signatures as GnuPG does, instead of by RFC 9580: keys of any size encrypt and sign, also those
    /// that are too small to be safe, and what a certificate is now counts, not what it was when it signed. For programs that
    /// worked with gpg and have such keys.
    pub fn gnupg_rules(self) -> Self {
        Self { view: PacketView::Gnupg, ..self }
    }

    /// Names this program in the journal.
    pub fn program(self, name: impl Into<String>) -> Self {
        Self { program: name.into(), ..self }
    }

    /// Opens the database; makes it if it is not there and need not be.
    ///
    /// # Errors
    ///
    /// `missing`, `database`; `incomplete` if an agent's keys are to be used with a database that is no file.
    pub fn open(self, location: impl Into<Location>) -> Result<Keyhoard> {
        let location = location.into();
        let store = self.store(&location)?;
        let secrets = self.secrets(&location)?;
        Ok(Keyhoard::of(Handle {
            location,
            store: Some(store),
            secrets,
            clock: self.clock,
            passphrases: self.passphrases,
            view: self.view,
            program: self.program,
            opener: process::id(),
            is_concurrent: AtomicBool::new(false),
            gate: RwLock::new(()),
        }))
    }

    fn secrets(&self, location: &Location) -> Result<SecretPlace> {
        let files = match (&self.secret_keys, location) {
            (Some(directory), _) => SecretPlace::Directory(directory.clone()),
            (None, Location::File(path)) => SecretPlace::Beside(path.clone()),
            (None, Location::Memory) => SecretPlace::Memory(MemoryKeys::default()),
            (None, Location::Server(_)) => SecretPlace::Nowhere,
        };
        match (&self.gnupg_home, location) {
            (None, _) => Ok(files),
            #[cfg(feature = "agent")]
            (Some(home), Location::File(database)) => Ok(SecretPlace::WithAgent {
                files: self.secret_keys.clone(),
                database: database.clone(),
                home: home.clone(),
            }),
            (Some(_), _) => Err(Error::Incomplete("an agent's keys are used with a database in a file only")),
        }
    }

    fn store(&self, location: &Location) -> Result<Box<dyn Store>> {
        Ok(match (location, self.must_exist) {
            (Location::Memory, _) => Box::new(SqliteStore::in_memory()?),
            (Location::File(path), true) => Box::new(SqliteStore::open(path)?),
            (Location::File(path), false) => Box::new(SqliteStore::create(path)?),
            (Location::Server(url), true) => Box::new(PostgresStore::open(Address::parse_alone(url)?)?),
            (Location::Server(url), false) => Box::new(PostgresStore::create(Address::parse_alone(url)?, 0)?),
        })
    }
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenOptions").field("must_exist", &self.must_exist).finish_non_exhaustive()
    }
}

impl Keyhoard {
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
}
