//! GnuPG's secret keys: used where they are, through its agent, or copied without it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agent::key_file::{self, Form};
use agent::{AllKeys, Certificates, PublicKey, key_form};
use cert::packet::{Packets, Tag};
use cert::{Fingerprint, Keygrip};
use secret::file::FileKeys;
use secret::{Ask, Name, Role, SecretKey, SecretKeys as _, StoredKey};
use zeroize::Zeroizing;

use super::detail::{Detail, DetailKind, DetailOutcome};
use super::secring::secring;
use super::source::{KEYS_OF_AGENT, MigrationSource, homes};
use crate::agent_keys::KnownCertificates;
use crate::causes;

/// What is done with GnuPG's secret keys.
pub enum Handling<'a> {
    /// They stay where they are: those of the agent that belongs to the database are used there.
    InPlace,
    /// It is said which would be used in place: those in the directory of that agent, which is not asked.
    WouldUse,
    /// They are copied into files beside the database; passphrases are asked for.
    Copy(&'a mut dyn Ask),
    /// It is said what would be copied.
    WouldCopy,
}

/// Copies the secret keys in the GnuPG home directories that sources are in, or says which can be used where they are.
///
/// `location` is the database that has their certificates, `keys` its secret keys. A key that cannot be copied is reported
/// and does not stop the others.
pub fn secret_keys(
    sources: &[MigrationSource],
    location: &Path,
    keys: &AllKeys,
    handling: &mut Handling<'_>,
) -> Vec<Detail> {
    let certificates = KnownCertificates::new(location, Vec::new());
    let agent = keys.agent();
    // If the agent cannot be asked, its keys cannot be used.
    let in_agent = match handling {
        Handling::InPlace => agent.and_then(|agent| agent.list().ok()).unwrap_or_default(),
        _ => Vec::new(),
    };
    let of_agent = agent.and_then(|agent| fs::canonicalize(agent.agent().key_directory()).ok());
    let mut take = Take { certificates: &certificates, in_agent, of_agent, files: keys.files(), handling };
    homes(sources)
        .iter()
        .flat_map(|home| {
            let mut details = take.directory(&home.join(KEYS_OF_AGENT));
            if let Some(source) = secring(home) {
                details.extend(take.secring(&source.path));
            }
            details
        })
        .collect()
}

struct Take<'a, 'h> {
    certificates: &'a KnownCertificates,
    /// The keys that the agent has, if it was asked.
    in_agent: Vec<StoredKey>,
    /// The directory of the agent's files.
    of_agent: Option<PathBuf>,
    files: &'a FileKeys,
    handling: &'a mut Handling<'h>,
}

impl Take<'_, '_> {
    /// Takes the keys in the agent's directory, a file each, called by its keygrip.
    fn directory(&mut self, directory: &Path) -> Vec<Detail> {
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => return vec![unreadable(directory, &error)],
        };
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|suffix| suffix == "key"));
        files.sort_unstable();
        files.iter().flat_map(|file| self.file(directory, file)).collect()
    }

    fn file(&mut self, directory: &Path, file: &Path) -> Vec<Detail> {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let detail = |kind, name: &str, outcome| Detail {
            kind,
            name: name.to_owned(),
            path: directory.to_owned(),
            outcome,
        };
        let failed = |reason: &str| {
            vec![detail(DetailKind::SecretKey, &stem, DetailOutcome::Failed(reason.to_owned()))]
        };
        let Some(keygrip) = keygrip(&stem) else { return failed("its file name is not a keygrip") };
        let key = match key_file::read(file) {
            Ok(Some(key)) => key,
            Ok(None) => return failed("its file is damaged, or of a form that is not known"),
            Err(error) => return failed(&format!("its file cannot be read: {error}")),
        };
        let form = key_file::form(&key);
        let kind =
            if matches!(form, Form::Card { .. }) { DetailKind::CardKey } else { DetailKind::SecretKey };
        let known = match self.certificates.with_keygrips(&[keygrip]) {
            Ok(known) => known,
            Err(error) => return failed(&causes(&error)),
        };
        if known.is_empty() {
            let reason = "no certificate here has it yet; it may be a key of ssh or of gpgsm";
            return vec![detail(kind, &stem, DetailOutcome::Left(reason.to_owned()))];
        }
        let each = known.into_iter().map(|known| {
            let outcome = match &form {
                Form::Card { serial } => self.on_card(&known.fingerprint, directory, serial),
                _ => self.outcome(&known.fingerprint, directory, |take, public, ask| {
                    take.store(&key_form::read(&key, public, ask)?)
                }),
            };
            detail(kind, &known.fingerprint.to_string(), outcome)
        });
        each.collect()
    }

    fn on_card(&self, key: &Fingerprint, directory: &Path, serial: &[u8]) -> DetailOutcome {
        let is_in_agent = match self.handling {
            Handling::InPlace => self.is_in_agent(key),
            _ => self.is_of_agent(directory),
        };
        if is_in_agent {
            return DetailOutcome::InPlace;
        }
        let serial: String = serial.iter().map(|byte| format!("{byte:02X}")).collect();
        DetailOutcome::Left(format!(
            "it is on the card {serial}, which only the agent of its home directory uses"
        ))
    }

    /// Takes the keys of GnuPG before 2.1, locked as they are.
    fn secring(&mut self, file: &Path) -> Vec<Detail> {
        let bytes = match fs::read(file).map(Zeroizing::new) {
            Ok(bytes) => bytes,
            Err(error) => return vec![unreadable(file, &error)],
        };
        let mut details = Vec::new();
        for packet in Packets::new(&bytes) {
            let packet = match packet {
                Ok(packet) => packet,
                Err(error) => {
                    details.push(unreadable(file, &error));
                    break;
                }
            };
            let role = match packet.tag {
                Tag::SECRET_KEY => Role::Primary,
                Tag::SECRET_SUBKEY => Role::Subkey,
                _ => continue,
            };
            let (name, outcome) = match SecretKey::parse(role, packet.body) {
                Ok(key) if !key.protection().has_secret() => continue,
                Ok(key) => {
                    let fingerprint = key.fingerprint();
                    let outcome = self.outcome(&fingerprint, file, |take, _, _| take.store(&key));
                    (fingerprint.to_string(), outcome)
                }
                Err(error) => (String::new(), DetailOutcome::Failed(causes(&error))),
            };
            details.push(Detail { kind: DetailKind::SecretKey, name, path: file.to_owned(), outcome });
        }
        details
    }

    fn store(&self, key: &SecretKey) -> secret::Result<()> {
        self.files.store(key).map(drop)
    }

    /// Decides what becomes of a key in a directory or file, and copies it with `copy` if it is to be copied.
    fn outcome(
        &mut self,
        key: &Fingerprint,
        place: &Path,
        copy: impl FnOnce(&Self, &PublicKey, &mut dyn Ask) -> secret::Result<()>,
    ) -> DetailOutcome {
        match self.files.find(&Name::Fingerprint(*key)) {
            Ok(Some(stored)) if stored.protection.has_secret() => return DetailOutcome::Here,
            Err(error) => return DetailOutcome::Failed(causes(&error)),
            _ => {}
        }
        let public = match self.certificates.with_fingerprint(key) {
            Ok(Some(public)) => public,
            Ok(None) => return DetailOutcome::Left("no certificate here has it".to_owned()),
            Err(error) => return DetailOutcome::Failed(causes(&error)),
        };
        let not_copied = || DetailOutcome::Left("copying was not requested".to_owned());
        match std::mem::replace(self.handling, Handling::InPlace) {
            Handling::InPlace if self.is_in_agent(key) => DetailOutcome::InPlace,
            Handling::InPlace => not_copied(),
            Handling::WouldUse => {
                *self.handling = Handling::WouldUse;
                if self.is_of_agent(place) { DetailOutcome::InPlace } else { not_copied() }
            }
            Handling::WouldCopy => {
                *self.handling = Handling::WouldCopy;
                DetailOutcome::Taken
            }
            Handling::Copy(ask) => {
                let copied = copy(self, &public, ask);
                *self.handling = Handling::Copy(ask);
                copied.map_or_else(|error| DetailOutcome::Failed(causes(&error)), |()| DetailOutcome::Taken)
            }
        }
    }

    fn is_in_agent(&self, key: &Fingerprint) -> bool {
        self.in_agent.iter().any(|stored| stored.fingerprint == *key)
    }

    /// Says whether a directory is that of the agent's files.
    fn is_of_agent(&self, directory: &Path) -> bool {
        fs::canonicalize(directory).is_ok_and(|directory| self.of_agent.as_ref() == Some(&directory))
    }
}

fn unreadable(path: &Path, error: &dyn std::error::Error) -> Detail {
    let outcome = DetailOutcome::Failed(format!("it cannot be read: {}", causes(error)));
    Detail { kind: DetailKind::SecretKey, name: String::new(), path: path.to_owned(), outcome }
}

/// Reads the name of a file without its suffix.
fn keygrip(name: &str) -> Option<Keygrip> {
    let (pairs, odd) = name.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| Some((digit(*high)? << 4 | digit(*low)?) as u8);
    let bytes: Vec<u8> = pairs.iter().map(byte).collect::<Option<_>>()?;
    odd.is_empty().then(|| bytes.try_into().ok().map(Keygrip)).flatten()
}
