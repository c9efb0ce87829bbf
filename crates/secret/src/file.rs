//! A store of secret keys with one file for each key.
//!
//! A file is named by the fingerprint, which identifies one key packet, with the creation time and the parameters that
//! decrypting session keys needs. A keygrip identifies only key material, which several packets may share, and not
//! every algorithm has one.
//!
//! The directory has mode 0700 and the files 0600. A writer holds the directory's lock (`flock`), writes a temporary
//! file, syncs and renames it and syncs the directory, so that changes are atomic and durable. Readers need no lock.

mod databases;
#[cfg(unix)]
mod directory;
#[cfg(not(unix))]
mod portable_directory;
mod record;

use std::path::{Path, PathBuf};

use cert::{Facts, Fingerprint};

use crate::keys::{Name, SecretKeys, Stored, StoredKey, replaces};
use crate::{Ask, Error, OpenKey, Passphrase, Question, Result, SecretKey};
use directory::Directory;
#[cfg(not(unix))]
use portable_directory as directory;

/// The name of the directory beside a database.
pub const DIRECTORY: &str = "secret-keys";

/// The extension of the files.
const SUFFIX: &str = ".key";

/// The secret keys in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileKeys {
    path: PathBuf,
    /// The database that the certificates of new keys are in, if that is known.
    database: Option<String>,
}

impl FileKeys {
    /// Uses a directory, which is created when the first key is stored.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { path: directory.into(), database: None }
    }

    /// Uses the directory beside a database.
    pub fn beside(database: &Path) -> Self {
        Self::new(database.with_file_name(DIRECTORY))
    }

    /// Notes of keys that are stored from now on that this database has their certificates.
    pub fn serving(self, database: impl Into<String>) -> Self {
        Self { database: Some(database.into()), ..self }
    }

    /// Returns the database that keys are stored for, if that is known.
    pub fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    /// Returns the databases that had the certificate of a key when it was stored.
    ///
    /// # Errors
    ///
    /// Those of reading the directory.
    pub fn databases_of(&self, key: &Fingerprint) -> Result<Vec<String>> {
        let Some(directory) = Directory::open(&self.path)? else { return Ok(Vec::new()) };
        let key = key.to_string();
        let lines = databases::read(&directory)?.into_iter();
        Ok(lines.filter(|(named, _)| *named == key).map(|(_, place)| place).collect())
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a key's file, which need not exist.
    pub fn file(&self, key: &Fingerprint) -> PathBuf {
        self.path.join(file_name(key))
    }

    /// Reads the header of every file; for each file returns the key, or why it cannot be read.
    ///
    /// # Errors
    ///
    /// Those of reading the directory.
    pub fn heads(&self) -> Result<Vec<Result<StoredKey>>> {
        let Some(directory) = Directory::open(&self.path)? else { return Ok(Vec::new()) };
        let names = key_files(&directory)?;
        // Another process may have deleted a file meanwhile.
        Ok(names.iter().filter_map(|name| self.read_stored(&directory, name).transpose()).collect())
    }

    fn read_stored(&self, directory: &Directory, name: &str) -> Result<Option<StoredKey>> {
        let Some(mut file) = directory.read(name)? else { return Ok(None) };
        let stored = record::head(&mut file).map_err(|fault| self.fault(name, fault))?;
        self.verify_name(name, &stored.fingerprint)?;
        Ok(Some(stored))
    }

    fn read_key(&self, directory: &Directory, key: &Fingerprint) -> Result<Option<SecretKey>> {
        let name = file_name(key);
        let Some(mut file) = directory.read(&name)? else { return Ok(None) };
        let secret = record::read(&mut file).map_err(|fault| self.fault(&name, fault))?;
        self.verify_name(&name, &secret.fingerprint())?;
        Ok(Some(secret))
    }

    /// Verifies that the key is the one that the file's name says.
    fn verify_name(&self, name: &str, key: &Fingerprint) -> Result<()> {
        if name == file_name(key) {
            return Ok(());
        }
        let what = "holds another key than its name says".to_owned();
        Err(self.fault(name, record::Fault::Content(what)))
    }

    fn fault(&self, name: &str, fault: record::Fault) -> Error {
        let path = self.path.join(name);
        match fault {
            record::Fault::Io(error) => Error::Io { path, error },
            record::Fault::Content(what) => {
                let what = format!(
                    "{what}; take the file from a backup, or move it elsewhere and import the key from a backup"
                );
                Error::File { path, what }
            }
        }
    }

    /// Finds the keys with a name. For a keygrip, placeholders come last.
    fn named_by(&self, name: &Name) -> Result<Vec<StoredKey>> {
        match name {
            Name::Fingerprint(key) => {
                let Some(directory) = Directory::open(&self.path)? else { return Ok(Vec::new()) };
                Ok(self.read_stored(&directory, &file_name(key))?.into_iter().collect())
            }
            Name::Keygrip(keygrip) => {
                let mut found: Vec<StoredKey> = self
                    .heads()?
                    .into_iter()
                    .flatten()
                    .filter(|stored| stored.keygrip == Some(*keygrip))
                    .collect();
                found.sort_by_key(|stored| !stored.protection.has_secret());
                Ok(found)
            }
        }
    }
}

impl SecretKeys for FileKeys {
    fn list(&self) -> Result<Vec<StoredKey>> {
        let mut heads = self.heads()?.into_iter().collect::<Result<Vec<StoredKey>>>()?;
        heads.sort_by_key(|stored| stored.fingerprint);
        Ok(heads)
    }

    fn of_certificate(&self, certificate: &Facts) -> Result<Vec<StoredKey>> {
        let Some(directory) = Directory::open(&self.path)? else { return Ok(Vec::new()) };
        let mut keys: Vec<Fingerprint> = certificate.keys().map(|key| key.fingerprint).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.iter().filter_map(|key| self.read_stored(&directory, &file_name(key)).transpose()).collect()
    }

    /// Reads the header where the file's name does not say which version the key has.
    fn names(&self) -> Result<Vec<Name>> {
        let Some(directory) = Directory::open(&self.path)? else { return Ok(Vec::new()) };
        let named = |file: &String| match version_4(file) {
            Some(key) => Ok(Some(Name::Fingerprint(key))),
            None => Ok(self.read_stored(&directory, file)?.map(|stored| stored.fingerprint.into())),
        };
        key_files(&directory)?.iter().filter_map(|file| named(file).transpose()).collect()
    }

    fn find(&self, name: &Name) -> Result<Option<StoredKey>> {
        Ok(self.named_by(name)?.into_iter().next())
    }

    fn open(&self, name: &Name, ask: &mut dyn Ask) -> Result<Box<dyn OpenKey>> {
        Ok(Box::new(self.export(name, ask)?.unlock_asking(ask)?))
    }

    fn store(&self, key: &SecretKey) -> Result<Stored> {
        let stored = self.store_all(&[key])?;
        Ok(stored.into_iter().next().expect("one answer for each key"))
    }

    /// Syncs the directory once. Keys before one that fails stay stored.
    fn store_all(&self, keys: &[&SecretKey]) -> Result<Vec<Stored>> {
        let directory = Directory::create(&self.path)?;
        let lock = directory.lock()?;
        let stored = keys.iter().map(|key| {
            let name = file_name(&key.fingerprint());
            let stored = self.read_stored(&directory, &name)?;
            let stored = match stored.as_ref().map(|stored| &stored.protection) {
                None => Stored::New,
                Some(stored) if replaces(key.protection(), stored) => Stored::InsteadOfStub,
                Some(_) => return Ok(Stored::Kept),
            };
            lock.write(&name, &record::write(key))?;
            Ok(stored)
        });
        let stored: Result<Vec<Stored>> = stored.collect();
        if let (Ok(_), Some(database)) = (&stored, &self.database) {
            databases::add(&directory, &lock, keys.iter().map(|key| key.fingerprint()), database)?;
        }
        lock.sync()?;
        stored
    }

    fn delete(&self, name: &Name) -> Result<bool> {
        let Some(directory) = Directory::open(&self.path)? else { return Ok(false) };
        let lock = directory.lock()?;
        // By the name of the file, so that a damaged file can be deleted.
        let files: Vec<String> = match name {
            Name::Fingerprint(key) => vec![file_name(key)],
            Name::Keygrip(_) => {
                self.named_by(name)?.iter().map(|stored| file_name(&stored.fingerprint)).collect()
            }
        };
        let mut deleted = false;
        for file in files {
            deleted |= lock.remove(&file)?;
        }
        lock.sync()?;
        Ok(deleted)
    }

    fn export(&self, name: &Name, _ask: &mut dyn Ask) -> Result<SecretKey> {
        let missing = || Error::Missing { key: name.to_string() };
        let stored = self.find(name)?.ok_or_else(missing)?;
        let directory = Directory::open(&self.path)?.ok_or_else(missing)?;
        self.read_key(&directory, &stored.fingerprint)?.ok_or_else(missing)
    }

    fn relock(
        &self,
        name: &Name,
        ask: &mut dyn Ask,
        renew: &mut dyn FnMut(&Question<'_>) -> Result<Passphrase>,
    ) -> Result<()> {
        let old = self.export(name, ask)?;
        let unlocked = old.unlock_asking(ask)?;
        let new = unlocked.locked_anew(&renew(&Question::New { key: &old.name() })?)?;
        let directory = Directory::create(&self.path)?;
        let lock = directory.lock()?;
        let key = old.fingerprint();
        let now = self.read_key(&directory, &key)?;
        if now.is_none_or(|now| *now.body() != *old.body()) {
            let what = "was changed by another program meanwhile".to_owned();
            return Err(Error::File { path: self.file(&key), what });
        }
        lock.write(&file_name(&key), &record::write(&new))?;
        lock.sync()
    }
}

fn file_name(key: &Fingerprint) -> String {
    format!("{key}{SUFFIX}")
}

/// Returns the names of the files with keys, in order.
fn key_files(directory: &Directory) -> Result<Vec<String>> {
    let mut names = directory.names()?;
    names.retain(|name| name.ends_with(SUFFIX));
    names.sort_unstable();
    Ok(names)
}

/// Returns the version 4 fingerprint that a file is named by.
fn version_4(file: &str) -> Option<Fingerprint> {
    let (pairs, rest) = file.strip_suffix(SUFFIX)?.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Vec<u8> = pairs.iter().filter(|_| rest.is_empty()).map(byte).collect::<Option<_>>()?;
    Fingerprint::new(4, &bytes)
}
