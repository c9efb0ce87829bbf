//! Secret keys in gpg-agent beside those in files, for the certificates of a database and of keyring files.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agent::{Agent, AgentKeys, AllKeys, Certificates, KnownKey, PublicKey};
use cert::certificate::Certificate;
use cert::facts::ComponentKind;
use cert::{Facts, Fingerprint, Keygrip};
use secret::Role;
use secret::file::FileKeys;
use store::{CertId, Detail, Query, ReadCertificates, Selection, Store};

use crate::keyring_file::KeyringFile;
use crate::permissions::{exposed_with_directory, refuse_exposed, secret_keys_beside};
use crate::{Result, causes, database};

/// Returns the secret keys in the files beside a database, and in an agent.
///
/// # Errors
///
/// [`Error::Exposed`](crate::Error::Exposed) if there are secret keys, and somebody else can change the database.
pub fn all_keys(location: &Path, agent: Option<Agent>) -> Result<AllKeys> {
    all_keys_and_keyrings(location, Vec::new(), agent)
}

/// Returns the same secret keys, and those in the agent of certificates in keyring files. A file that somebody else can change
/// is left out.
///
/// # Errors
///
/// As there.
pub fn all_keys_and_keyrings(
    location: &Path,
    mut keyrings: Vec<PathBuf>,
    agent: Option<Agent>,
) -> Result<AllKeys> {
    if agent.as_ref().is_some_and(|agent| agent.key_directory().exists()) {
        refuse_exposed(location)?;
    }
    let files = secret_keys_beside(location)?;
    Ok(match agent {
        Some(agent) => {
            keyrings.retain(|path| exposed_with_directory(path).is_empty());
            joined(files, KnownCertificates::new(location, keyrings), agent)
        }
        None => AllKeys::new(files, None),
    })
}

/// Joins secret keys in files and those of an agent that belong to a database's certificates.
pub fn with_agent(files: FileKeys, location: &Path, agent: Agent) -> AllKeys {
    joined(files, KnownCertificates::new(location, Vec::new()), agent)
}

fn joined(files: FileKeys, certificates: KnownCertificates, agent: Agent) -> AllKeys {
    AllKeys::new(files, Some(AgentKeys::new(agent, Arc::new(certificates))))
}

/// Returns the agent of a GnuPG home directory, whose socket is elsewhere if that is `~/.gnupg`.
pub fn agent_of(home: &Path) -> Agent {
    let is_standard = database::home().is_some_and(|user| user.join(".gnupg") == home);
    Agent::of_home(home, is_standard)
}

/// Returns the agent whose keys are used with a database: that of the home directory which the database is in, and for
/// the default database that of GnuPG's default home; `None` if there is no such home.
pub fn agent_near(location: &Path) -> Option<Agent> {
    let is_home = |directory: &Path| directory.join("private-keys-v1.d").is_dir();
    let file = database::local(location);
    if let Some(home) = file.parent().filter(|home| is_home(home)) {
        return Some(Agent::of_home(home, false));
    }
    let is_default = database::default_path().is_ok_and(|default| default == location);
    let home = database::gnupg_home().filter(|home| is_default && home.is_dir())?;
    Some(agent_of(&home))
}

/// The certificates of a database and of keyring files, which are opened when they are first needed.
pub(crate) struct KnownCertificates {
    location: PathBuf,
    keyrings: Vec<PathBuf>,
    opened: Mutex<Option<OpenedCertificates>>,
}

struct OpenedCertificates {
    store: Box<dyn Store>,
    keyrings: Vec<KeyringFile>,
}

impl KnownCertificates {
    pub(crate) fn new(location: &Path, keyrings: Vec<PathBuf>) -> Self {
        Self { location: location.to_owned(), keyrings, opened: Mutex::new(None) }
    }

    /// Reads the database and then each file, until `read` finds what it looks for.
    fn read<T>(
        &self,
        mut read: impl FnMut(&dyn ReadCertificates) -> Result<Option<T>>,
    ) -> secret::Result<Option<T>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let mut read = || {
            let OpenedCertificates { store, keyrings } = match &mut *opened {
                Some(opened) => opened,
                empty => empty.insert(self.open()?),
            };
            let mut found = read(store.snapshot()?.as_ref())?;
            for keyring in keyrings {
                if found.is_none() {
                    found = read(keyring.snapshot().as_ref())?;
                }
            }
            Ok(found)
        };
        read().map_err(|error: crate::Error| secret::Error::Certificates(causes(&error)))
    }

    fn open(&self) -> Result<OpenedCertificates> {
        let store = match database::open(&self.location) {
            Err(crate::Error::Store(store::Error::Missing { path })) => database::empty(&path),
            opened => opened?,
        };
        let keyrings = self.keyrings.iter().map(|path| KeyringFile::read(path));
        Ok(OpenedCertificates { store, keyrings: keyrings.collect::<Result<_>>()? })
    }
}

impl Certificates for KnownCertificates {
    fn with_keygrips(&self, keygrips: &[Keygrip]) -> secret::Result<Vec<KnownKey>> {
        let mut known: Vec<KnownKey> = Vec::new();
        self.read(|snapshot| {
            let mut ids = Vec::new();
            for keygrip in keygrips {
                ids.extend(snapshot.find(&Query::Keygrip(*keygrip))?);
            }
            ids.sort_unstable();
            ids.dedup();
            snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
                for key in record.facts.iter().flat_map(|facts| known_keys(facts, keygrips)) {
                    if known.iter().all(|known| known.fingerprint != key.fingerprint) {
                        known.push(key);
                    }
                }
                ControlFlow::Continue(())
            })?;
            Ok(None::<()>)
        })?;
        Ok(known)
    }

    fn with_fingerprint(&self, fingerprint: &Fingerprint) -> secret::Result<Option<PublicKey>> {
        self.read(|snapshot| {
            let ids: Vec<CertId> = match snapshot.by_fingerprint(&[*fingerprint])?[0] {
                Some(id) => vec![id],
                None => snapshot.find(&Query::Fingerprint(*fingerprint))?,
            };
            let mut public = None;
            snapshot.visit(Selection::Ids(&ids), Detail::Bytes, &mut |record| {
                if let (Some(facts), Some(bytes)) = (record.facts, record.bytes) {
                    public = public_key(&Certificate { facts, bytes }, fingerprint);
                }
                if public.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            Ok(public)
        })
    }
}

/// Returns those of a certificate's keys that have one of these keygrips.
fn known_keys(facts: &Facts, keygrips: &[Keygrip]) -> Vec<KnownKey> {
    let primary = facts.primary().fingerprint;
    let known = facts.keys().filter_map(|key| {
        let keygrip = key.keygrip.filter(|keygrip| keygrips.contains(keygrip))?;
        let role = if key.fingerprint == primary { Role::Primary } else { Role::Subkey };
        Some(KnownKey { fingerprint: key.fingerprint, keygrip, role })
    });
    known.collect()
}

fn public_key(certificate: &Certificate, fingerprint: &Fingerprint) -> Option<PublicKey> {
    let facts = &certificate.facts;
    let component = facts.components.iter().find(
        |component| matches!(&component.kind, ComponentKind::Key(key) if key.fingerprint == *fingerprint),
    )?;
    let primary = facts.primary().fingerprint;
    Some(PublicKey {
        role: if primary == *fingerprint { Role::Primary } else { Role::Subkey },
        body: certificate.body(component.span)?.to_vec(),
        primary,
        user_id: facts.user_ids().next().unwrap_or_default().to_vec(),
    })
}
