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

/// A keyring file whose certificates are being changed.
pub struct KeyringCopy {
    path: PathBuf,
    format: KeyringFormat,
    /// The parts of the file in order, each with the certificate that it holds, if it can be read.
    parts: Vec<(Vec<u8>, Option<Fingerprint>)>,
    before: HashMap<Fingerprint, Vec<u8>>,
    store: Box<dyn Store>,
    now: Timestamp,
    _lock: DotLock,
    _directory: TempDir,
}

impl KeyringCopy {
    /// Locks and reads a file; one that does not exist is empty, and becomes one of the format `new`.
    ///
    /// # Errors
    ///
    /// [`Error::File`] with what the system says, and if the file is armored; the temporary database's errors.
    pub fn open(path: &Path, new: KeyringFormat, now: Timestamp) -> Result<Self> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        let lock = DotLock::take(path).map_err(failed)?;
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
        Ok(Self { path, format, parts, before, store, now, _lock: lock, _directory: directory })
    }

    /// Returns the database with the certificates.
    pub fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    /// Writes the file, if a certificate was added or changed.
    ///
    /// # Errors
    ///
    /// [`Error::File`] with what the system says, also for a certificate that a keybox cannot hold.
    pub fn commit(self) -> Result<()> {
        let failed = |source| Error::File { path: self.path.clone(), source };
        let mut changed: Vec<(Fingerprint, Certificate)> = certificates(self.store.as_ref())?
            .into_iter()
            .filter(|(key, bytes, _)| self.before.get(key) != Some(bytes))
            .map(|(key, _, certificate)| (key, certificate))
            .collect();
        if changed.is_empty() && self.path.exists() {
            return Ok(());
        }
        let mut content = Vec::new();
        if self.format == KeyringFormat::Keybox && self.parts.is_empty() {
            content.extend(keybox::header(self.now));
        }
        for (bytes, holds) in &self.parts {
            match changed.iter().position(|(key, _)| Some(*key) == *holds) {
                Some(index) => content.extend(self.written(&changed.remove(index).1).map_err(failed)?),
                None => content.extend(bytes),
            }
        }
        for (_, certificate) in &changed {
            content.extend(self.written(certificate).map_err(failed)?);
        }
        replace(&self.path, &content, self.format).map_err(failed)
    }

    fn written(&self, certificate: &Certificate) -> io::Result<Vec<u8>> {
        match self.format {
            KeyringFormat::Packets => Ok(certificate.bytes.clone()),
            KeyringFormat::Keybox => keybox::blob(certificate, self.now)
                .ok_or_else(|| io::Error::other("a keybox holds keys of version 4 only")),
        }
    }
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
fn packet_parts(bytes: &[u8]) -> io::Result<Vec<(Vec<u8>, Option<Fingerprint>)>> {
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
pub(crate) fn keybox_parts(bytes: &[u8]) -> Vec<(Vec<u8>, Option<Fingerprint>)> {
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
fn packets(parts: &[(Vec<u8>, Option<Fingerprint>)], format: KeyringFormat) -> Vec<u8> {
    let readable = parts.iter().filter(|(_, key)| key.is_some());
    readable
        .flat_map(|(bytes, _)| match format {
            KeyringFormat::Packets => bytes.clone(),
            KeyringFormat::Keybox => keybox::keyblock(bytes).unwrap_or_default(),
        })
        .collect()
}
