//! Changing a keyring file of GnuPG's: its certificates are copied into a database of their own, which commands change;
//! then the whole file is written, under GnuPG's lock.
//!
//! What did not change stays byte for byte: certificates that only GnuPG reads, X.509 certificates in a keybox, blobs of
//! unknown kinds, trust packets. The former file is kept under the same name with `~`.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cert::certificate::Certificate;
use cert::clean::{CleanOptions, rebuild};
use cert::keybox::{self, blobs};
use cert::split::{Piece, Splitter};
use cert::{Fingerprint, Timestamp};
use store::{Detail, Selection, Store};
use tempfile::{NamedTempFile, TempDir};

use crate::dot_lock::DotLock;
use crate::import::{ImportOptions, import};
use crate::{Error, Result, database};

/// What a keyring file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyringFormat {
    /// Packets, one certificate after the other.
    Packets,
    /// A keybox.
    Keybox,
}

/// A part of a file, with the certificate that it holds, if it can be read.
type Part = (Vec<u8>, Option<Fingerprint>);

/// A keyring file whose certificates are being changed.
pub struct KeyringCopy {
    path: PathBuf,
    format: KeyringFormat,
    parts: Vec<Part>,
    before: HashMap<Fingerprint, Vec<u8>>,
    store: Box<dyn Store>,
    now: Timestamp,
    /// Why it could not be locked, if nothing can be written beside the file.
    lock: io::Result<DotLock>,
    _directory: TempDir,
}

impl KeyringCopy {
    /// Locks and reads a file; one that does not exist is empty, and becomes one of the format `new`. Where nothing can be
    /// written, it is read without a lock, and [not committed](KeyringCopy::check_writable).
    ///
    /// # Errors
    ///
    /// [`Error::File`] with what the system says, and if the file is armored; the temporary database's errors.
    pub fn open(path: &Path, new: KeyringFormat, now: Timestamp) -> Result<Self> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        let lock = match DotLock::take(path) {
            Err(error) if !is_unwritable(&error) => return Err(failed(error)),
            lock => lock,
        };
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(failed)?,
        };
        let format = match bytes.as_slice() {
            [] => new,
            bytes if keybox::is_keybox(bytes) => KeyringFormat::Keybox,
            _ => KeyringFormat::Packets,
        };
        let parts = match format {
            KeyringFormat::Packets => packet_parts(&bytes).map_err(failed)?,
            KeyringFormat::Keybox => keybox_parts(&bytes),
        };
        let directory = TempDir::new().map_err(failed)?;
        let store = database::create(&directory.path().join("keyring.db"))?;
        let options = ImportOptions {
            clean: CleanOptions {
                keep_local: true,
                accept_unsigned_user_ids: true,
                ..CleanOptions::default()
            },
            ..ImportOptions::default()
        };
        import(store.as_ref(), packets(&parts, format).as_slice(), &options, now, &mut |_| {})?;
        let before = certificates(store.as_ref())?.into_iter().map(|(key, bytes, _)| (key, bytes)).collect();
        let path = path.to_owned();
        Ok(Self { path, format, parts, before, store, now, lock, _directory: directory })
    }

    /// Returns the database with the certificates.
    pub fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    /// Says whether the file can be written.
    ///
    /// # Errors
    ///
    /// [`Error::File`] with the reason why it could not be locked.
    pub fn check_writable(&self) -> Result<()> {
        match &self.lock {
            Ok(_) => Ok(()),
            Err(error) => {
                let source = io::Error::new(error.kind(), error.to_string());
                Err(Error::File { path: self.path.clone(), source })
            }
        }
    }

    /// Writes the file, if a certificate was added, changed or removed. What is changed after that can be committed again.
    ///
    /// # Errors
    ///
    /// [`Error::File`] with what the system says, also for a certificate that a keybox cannot hold.
    pub fn commit(&mut self) -> Result<()> {
        let mut now: HashMap<Fingerprint, (Vec<u8>, Certificate)> = HashMap::new();
        let mut order = Vec::new();
        for (key, bytes, certificate) in certificates(self.store.as_ref())? {
            order.push(key);
            now.insert(key, (bytes, certificate));
        }
        let is_same =
            |(key, (bytes, _)): (&Fingerprint, &(Vec<u8>, Certificate))| self.before.get(key) == Some(bytes);
        if now.len() == self.before.len() && now.iter().all(is_same) && self.path.exists() {
            return Ok(());
        }
        self.check_writable()?;
        let failed = |source| Error::File { path: self.path.clone(), source };
        let parts = self.parts_now(&now, &order).map_err(failed)?;
        let content: Vec<u8> = parts.iter().flat_map(|(bytes, _)| bytes).copied().collect();
        replace(&self.path, &content, self.format).map_err(failed)?;
        self.parts = parts;
        self.before = now.into_iter().map(|(key, (bytes, _))| (key, bytes)).collect();
        Ok(())
    }

    /// Returns the parts of the file with the certificates as they are `now`, new ones at the end in this `order`.
    fn parts_now(
        &self,
        now: &HashMap<Fingerprint, (Vec<u8>, Certificate)>,
        order: &[Fingerprint],
    ) -> io::Result<Vec<Part>> {
        let mut parts = Vec::new();
        if self.format == KeyringFormat::Keybox && self.parts.is_empty() {
            parts.push((keybox::header(self.now), None));
        }
        for (bytes, holds) in &self.parts {
            // What could not be read stays.
            let known = holds.and_then(|key| Some((key, self.before.get(&key)?)));
            match known.map(|(key, before)| (key, before, now.get(&key))) {
                Some((_, _, None)) => {}
                Some((key, before, Some((bytes, certificate)))) if before != bytes => {
                    parts.push((self.written(certificate)?, Some(key)));
                }
                _ => parts.push((bytes.clone(), *holds)),
            }
        }
        for key in order.iter().filter(|key| !self.before.contains_key(key)) {
            parts.push((self.written(&now[key].1)?, Some(*key)));
        }
        Ok(parts)
    }

    fn written(&self, certificate: &Certificate) -> io::Result<Vec<u8>> {
        match self.format {
            KeyringFormat::Packets => Ok(certificate.bytes.clone()),
            KeyringFormat::Keybox => keybox::blob(certificate, self.now)
                .ok_or_else(|| io::Error::other("a keybox holds keys of version 4 only")),
        }
    }
}

fn is_unwritable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Writes a new file beside the old one, keeps the old one with `~`, and puts the new one into its place.
pub(crate) fn replace(path: &Path, content: &[u8], format: KeyringFormat) -> io::Result<()> {
    const PRIVATE: u32 = 0o600;
    let directory = path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(content)?;
    let mode = match fs::metadata(path) {
        Ok(metadata) => Some(metadata.permissions().mode()),
        Err(_) if format == KeyringFormat::Packets => Some(PRIVATE),
        Err(_) => None,
    };
    match mode {
        Some(mode) => fs::set_permissions(file.path(), Permissions::from_mode(mode))?,
        None => fs::set_permissions(file.path(), ordinary(directory)?)?,
    }
    file.as_file().sync_all()?;
    if path.exists() {
        let mut backup = OsString::from(path);
        backup.push("~");
        let backup = PathBuf::from(backup);
        let _ = fs::remove_file(&backup);
        // The file itself is there at every moment.
        fs::hard_link(path, &backup).or_else(|_| fs::copy(path, &backup).map(drop))?;
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Returns the permissions that the umask leaves to a new file.
fn ordinary(directory: &Path) -> io::Result<Permissions> {
    const ORDINARY: u32 = 0o666;
    let probe = tempfile::Builder::new().make_in(directory, |path| {
        OpenOptions::new().write(true).create_new(true).mode(ORDINARY).open(path)
    })?;
    Ok(probe.as_file().metadata()?.permissions())
}

/// The certificates of a database: primary key, all bytes, and what gpg would have of it.
fn certificates(store: &dyn Store) -> Result<Vec<(Fingerprint, Vec<u8>, Certificate)>> {
    let mut found = Vec::new();
    store.snapshot()?.visit(Selection::All, Detail::Bytes, &mut |record| {
        if let (Some(facts), Some(bytes)) = (record.facts, record.bytes) {
            let whole = Certificate { facts, bytes };
            let shown = whole.without_superseded();
            found.push((record.fingerprint, whole.bytes, shown));
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Splits a file of packets at its primary keys; what is before the first one is a part too.
fn packet_parts(bytes: &[u8]) -> io::Result<Vec<Part>> {
    if bytes.first().is_some_and(|byte| byte & 0x80 == 0) {
        return Err(io::Error::other("it is not a binary keyring and cannot be changed: write a new one"));
    }
    let mut starts: Vec<(usize, Option<Fingerprint>)> = vec![(0, None)];
    for piece in Splitter::new(bytes) {
        if let Ok(Piece::Certificate(raw)) = piece {
            let key =
                rebuild(&raw.bytes, &[]).ok().map(|certificate| certificate.facts.primary().fingerprint);
            starts.push((raw.position as usize, key));
        }
    }
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([bytes.len()]);
    let parts = starts.iter().zip(ends);
    let parts = parts.map(|((start, key), end)| (bytes[*start..end].to_vec(), *key));
    Ok(parts.filter(|(bytes, _)| !bytes.is_empty()).collect())
}

/// Splits a keybox into its blobs, each with the certificate that it holds, if it can be read.
pub(crate) fn keybox_parts(bytes: &[u8]) -> Vec<Part> {
    let key = |blob: &[u8]| {
        let keyblock = keybox::keyblock(blob)?;
        match Splitter::new(keyblock.as_slice()).next()? {
            Ok(Piece::Certificate(raw)) => Some(rebuild(&raw.bytes, &[]).ok()?.facts.primary().fingerprint),
            _ => None,
        }
    };
    blobs(bytes).map(|blob| (blob.to_vec(), key(blob))).collect()
}

/// Returns the packets of the certificates in the parts.
fn packets(parts: &[Part], format: KeyringFormat) -> Vec<u8> {
    let readable = parts.iter().filter(|(_, key)| key.is_some());
    readable
        .flat_map(|(bytes, _)| match format {
            KeyringFormat::Packets => bytes.clone(),
            KeyringFormat::Keybox => keybox::keyblock(bytes).unwrap_or_default(),
        })
        .collect()
}
