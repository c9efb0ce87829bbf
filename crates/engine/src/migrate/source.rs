//! Certificate stores of other programs: what they are and where they usually are.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cert::keybox;
use store::{Migration, Timestamp};

use super::stamp::{newer, stamp};
use super::{cert_d, tofu_db, trust_db};
use crate::database::{SQLITE_HEADER, data_directory, gnupg_home, variable};
use crate::{Error, Result};

/// How much of a file tells what it is.
const BEGINNING: u64 = 32;
/// GnuPG's key files in its home directory, in the order in which they came into use.
const IN_HOME: [&str; 3] = ["pubring.gpg", "pubring.kbx", "public-keys.d/pubring.db"];
/// What else GnuPG remembers there.
const MEMORIES: [&str; 2] = ["trustdb.gpg", "tofu.db"];

/// What else is taken over with these, but neither certificates nor trust.
const BESIDE: [&str; 3] = [KEYS_OF_AGENT, "openpgp-revocs.d", SETTINGS];
/// Where GnuPG's agent keeps secret keys in a home directory, a file for each.
pub(super) const KEYS_OF_AGENT: &str = "private-keys-v1.d";
/// GnuPG's configuration.
const SETTINGS: &str = "gpg.conf";

/// What kind of store it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file of packets, such as GnuPG's `pubring.gpg`.
    Keyring,
    /// A keybox, GnuPG's `pubring.kbx`.
    Keybox,
    /// The database of GnuPG's keyboxd, `pubring.db`.
    Keyboxd,
    /// GnuPG's `trustdb.gpg`, for the owner trust in it.
    TrustDb,
    /// What GnuPG remembers of trust on first use, `tofu.db`.
    TofuDb,
    /// A shared certificate directory, `pgp.cert.d`.
    CertD,
    /// The secret keys of GnuPG's agent, `private-keys-v1.d`.
    SecretKeys,
    /// GnuPG's revocation certificates, `openpgp-revocs.d`.
    Revocations,
    /// GnuPG's `gpg.conf`.
    Settings,
}

impl Kind {
    /// Says whether it holds neither certificates nor trust: secret keys, revocation certificates, settings.
    pub fn is_beside(self) -> bool {
        matches!(self, Self::SecretKeys | Self::Revocations | Self::Settings)
    }

    fn of_name(path: &Path) -> Option<Self> {
        const KINDS: [Kind; 3] = [Kind::SecretKeys, Kind::Revocations, Kind::Settings];
        let index = BESIDE.iter().position(|name| path.file_name().is_some_and(|found| found == *name))?;
        (path.is_dir() == (KINDS[index] != Self::Settings)).then_some(KINDS[index])
    }
}

/// A store that can be taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationSource {
    /// Its file or directory, by its absolute name.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
}

impl MigrationSource {
    /// Finds out what a file or directory is.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if it cannot be read, [`Error::NoSource`] for a directory that is no certificate directory.
    pub fn recognise(path: &Path) -> Result<Self> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        let path = &fs::canonicalize(path).map_err(failed)?;
        let kind = if let Some(kind) = Kind::of_name(path) {
            kind
        } else if path.is_dir() {
            cert_d::is_cert_d(path).then_some(Kind::CertD).ok_or(Error::NoSource { path: path.clone() })?
        } else {
            let mut beginning = Vec::new();
            let file = File::open(path).map_err(failed)?;
            file.take(BEGINNING).read_to_end(&mut beginning).map_err(failed)?;
            match &beginning {
                _ if beginning.starts_with(SQLITE_HEADER) && tofu_db::is_tofu_db(path) => Kind::TofuDb,
                _ if beginning.starts_with(SQLITE_HEADER) => Kind::Keyboxd,
                _ if trust_db::is_trust_db(&beginning) => Kind::TrustDb,
                _ if keybox::is_keybox(&beginning) => Kind::Keybox,
                _ => Kind::Keyring,
            }
        };
        Ok(Self { path: path.clone(), kind })
    }

    /// Returns what is to be remembered of the source, to notice later that it has changed.
    pub(super) fn as_it_is(&self, done: Option<Timestamp>) -> Result<Migration> {
        let failed = |source| Error::File { path: self.path.clone(), source };
        let (modified, size) = match self.kind {
            Kind::CertD => cert_d::stamp_of(&self.path).map_err(failed)?,
            Kind::SecretKeys | Kind::Revocations => files_stamp(&self.path).map_err(failed)?,
            Kind::Keyboxd => {
                // SQLite's log may be newer than the file.
                let log = fs::metadata(log_of(&self.path)).ok();
                let file = fs::metadata(&self.path).map_err(failed)?;
                std::iter::once(&file).chain(&log).map(stamp).fold((0, 0), newer)
            }
            Kind::TrustDb => trust_db::stamp(&self.path)?,
            Kind::Keyring | Kind::Keybox | Kind::TofuDb | Kind::Settings => {
                stamp(&fs::metadata(&self.path).map_err(failed)?)
            }
        };
        Ok(Migration { path: self.path.clone(), modified, size, done })
    }

    /// Returns the GnuPG home directory that it is in; `None` for a certificate directory.
    pub(super) fn home(&self) -> Option<&Path> {
        let directory = self.path.parent().filter(|_| self.kind != Kind::CertD)?;
        if directory.ends_with("public-keys.d") { directory.parent() } else { Some(directory) }
    }
}

/// Returns when a file of a directory changed last, in nanoseconds since 1970, and the size of all of them together.
fn files_stamp(directory: &Path) -> io::Result<(i64, u64)> {
    let files = fs::read_dir(directory)?.flatten().filter_map(|entry| fs::metadata(entry.path()).ok());
    Ok(files.filter(Metadata::is_file).map(|file| stamp(&file)).fold((0, 0), newer))
}

/// Returns GnuPG's key files in a home directory.
pub fn keyrings_in_home(home: &Path) -> Vec<MigrationSource> {
    existing(home, &IN_HOME)
}

/// Returns GnuPG's key files in a home directory, and what else it remembers there.
pub fn in_home(home: &Path) -> Vec<MigrationSource> {
    let mut sources = keyrings_in_home(home);
    sources.extend(existing(home, &MEMORIES));
    sources
}

/// Returns what is taken over of a home directory: with its keys also secret keys, revocation certificates and settings.
fn all_in_home(home: &Path) -> Vec<MigrationSource> {
    let mut sources = in_home(home);
    if !sources.is_empty() {
        sources.extend(existing(home, &BESIDE));
    }
    sources
}

fn existing(home: &Path, names: &[&str]) -> Vec<MigrationSource> {
    let files = names.iter().map(|name| home.join(name));
    files
        .filter_map(|file| MigrationSource::recognise(&file).ok())
        .filter(|source| !is_empty(source))
        .collect()
}

/// Returns the GnuPG home directories that sources are in.
pub(super) fn homes(sources: &[MigrationSource]) -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> =
        sources.iter().filter_map(MigrationSource::home).map(Path::to_owned).collect();
    homes.sort_unstable();
    homes.dedup();
    homes
}

/// Returns what can be taken over at a place that a user names: a GnuPG home directory, or a single store.
///
/// # Errors
///
/// Those of [`MigrationSource::recognise`].
pub fn within(path: &Path) -> Result<Vec<MigrationSource>> {
    let sources = all_in_home(path);
    if sources.is_empty() { Ok(vec![MigrationSource::recognise(path)?]) } else { Ok(sources) }
}

/// Returns what is found at the usual places: GnuPG's home directory (`GNUPGHOME`, else `~/.gnupg`) and the shared
/// certificate directory (`PGP_CERT_D`, else `pgp.cert.d` in the XDG data directory).
pub fn usual() -> Vec<MigrationSource> {
    let cert_d = variable("PGP_CERT_D").or_else(|| Some(data_directory()?.join("pgp.cert.d")));
    let mut sources = gnupg_home().map(|home| all_in_home(&home)).unwrap_or_default();
    sources.extend(cert_d.and_then(|path| MigrationSource::recognise(&path).ok()));
    sources
}

/// GnuPG makes an empty file of the kind it uses wherever there is none, and empty directories.
fn is_empty(source: &MigrationSource) -> bool {
    const HEADER_ONLY: u64 = 32;
    if source.kind.is_beside() {
        return source.kind != Kind::Settings
            && fs::read_dir(&source.path).is_ok_and(|mut entries| entries.next().is_none());
    }
    fs::metadata(&source.path).is_ok_and(|file| file.is_file() && file.len() <= HEADER_ONLY)
}

/// Returns the place of SQLite's write-ahead log.
pub(super) fn log_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}
