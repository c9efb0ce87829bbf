//! Which certificates have a secret key here or with GnuPG, and which secret keys have no certificate.

use std::ops::ControlFlow;
use std::path::{self, Path, PathBuf};

use cert::{Facts, Fingerprint, Keygrip};
use secret::StoredKey;
use secret::file::FileKeys;
use store::{CertId, Detail, ReadCertificates, Selection};

use crate::{Result, causes, database};

/// The secret keys beside a database, and the directories in which GnuPG's agent keeps others, one file for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretKeys {
    own: FileKeys,
    directories: Vec<PathBuf>,
}

impl SecretKeys {
    /// Looks beside the database, and for the default database also in GnuPG's default home (`GNUPGHOME`, else
    /// `~/.gnupg`).
    pub fn near(location: &Path) -> Self {
        let database = &database::local(location);
        let mut homes: Vec<PathBuf> = database.parent().map(Path::to_owned).into_iter().collect();
        if database::default_path().is_ok_and(|default| default == location) {
            homes.extend(database::gnupg_home());
        }
        let own = FileKeys::beside(database);
        Self { own, directories: homes.into_iter().map(|home| home.join("private-keys-v1.d")).collect() }
    }

    /// Returns the file of the first of a certificate's keys whose secret part is here.
    pub fn of(&self, certificate: &Facts) -> Option<PathBuf> {
        let own = certificate.keys().map(|key| self.own.file(&key.fingerprint)).find(|file| file.exists());
        own.or_else(|| {
            certificate.keys().filter_map(|key| key.keygrip).find_map(|keygrip| self.file(keygrip))
        })
    }

    /// Returns those of a certificate's keys whose secret parts are here.
    pub fn all_of(&self, certificate: &Facts) -> Vec<Keygrip> {
        let keys = certificate.keys().filter_map(|key| Some((key.fingerprint, key.keygrip?)));
        let here = keys.filter(|(fingerprint, keygrip)| {
            self.own.file(fingerprint).exists() || self.file(*keygrip).is_some()
        });
        here.map(|(_, keygrip)| keygrip).collect()
    }

    fn file(&self, keygrip: Keygrip) -> Option<PathBuf> {
        let files = self.directories.iter().map(|directory| directory.join(format!("{keygrip}.key")));
        files.into_iter().find(|file| file.exists())
    }
}

/// Returns the secret keys beside a database, which notes that the keys stored from now on are its own.
pub(crate) fn beside(location: &Path) -> FileKeys {
    FileKeys::beside(&database::local(location)).serving(place(location))
}

/// Returns the place of a database as it is noted beside the secret keys: a path that does not depend on the working
/// directory, or a URL without its password.
fn place(location: &Path) -> String {
    match database::is_server(location) {
        true => database::shown(location),
        false => path::absolute(location).unwrap_or_else(|_| location.to_owned()).display().to_string(),
    }
}

/// The certificate that a key belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The certificate.
    pub id: CertId,
    /// Its primary key.
    pub primary: Fingerprint,
    /// Its first user ID.
    pub name: Option<Vec<u8>>,
}

/// Finds the certificate with a key, to name it: the one whose primary key it is, else the first one that has it as a
/// subkey.
///
/// # Errors
///
/// The database's errors.
pub fn owner_of(snapshot: &dyn ReadCertificates, key: &Fingerprint) -> Result<Option<Owner>> {
    let hits = snapshot.keys_by_id(key.key_id())?;
    let ids: Vec<CertId> = match snapshot.by_fingerprint(&[*key])?[0] {
        Some(id) => vec![id],
        None => hits.iter().filter(|hit| hit.fingerprint == *key).map(|hit| hit.cert).take(1).collect(),
    };
    let mut owner = None;
    snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
        let Some(facts) = &record.facts else { return ControlFlow::Continue(()) };
        if !facts.keys().any(|stored_key| stored_key.fingerprint == *key) {
            return ControlFlow::Continue(());
        }
        let name = facts.user_ids().next().map(<[u8]>::to_vec);
        owner = Some(Owner { id: record.id, primary: record.fingerprint, name });
        ControlFlow::Break(())
    })?;
    Ok(owner)
}

/// Returns the primary keys of the certificates that have a secret key, with their numbers. Anybody's certificate can claim
/// an encryption subkey: of several that have it, those count whose primary key is among the secret keys, too; all of them
/// if it is none of them.
///
/// # Errors
///
/// The database's errors.
pub fn owners_of(
    snapshot: &dyn ReadCertificates,
    key: &Fingerprint,
    stored: &[StoredKey],
) -> Result<Vec<(CertId, Fingerprint)>> {
    let hits = snapshot.keys_by_id(key.key_id())?;
    let mut ids: Vec<CertId> =
        hits.iter().filter(|hit| hit.fingerprint == *key).map(|hit| hit.cert).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut owners = Vec::new();
    snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
        owners.push((record.id, record.fingerprint));
        ControlFlow::Continue(())
    })?;
    let is_here =
        |(_, primary): &(CertId, Fingerprint)| stored.iter().any(|stored| stored.fingerprint == *primary);
    if owners.iter().any(is_here) {
        owners.retain(is_here);
    }
    Ok(owners)
}

/// A problem of the secret keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A secret key that no certificate here has.
    #[error("{}: no certificate in this database has the secret key {key}", .file.display())]
    Orphan {
        /// The key.
        key: Fingerprint,
        /// Its file.
        file: PathBuf,
    },
    /// A secret key whose certificate is in other databases, which this directory serves as well; nothing is wrong.
    #[error("{}: the certificate of the secret key {key} is in another database: {}", .file.display(), .databases.join(", "))]
    Elsewhere {
        /// The key.
        key: Fingerprint,
        /// Its file.
        file: PathBuf,
        /// The places of the databases.
        databases: Vec<String>,
    },
    /// A file or directory that cannot be used; says why.
    #[error("{0}")]
    Unusable(String),
}

/// Returns the secret keys beside a database that no certificate in it has; [`examine`] reports those that cannot be
/// read.
///
/// # Errors
///
/// The database's errors.
pub fn orphans(snapshot: &dyn ReadCertificates, keys: &FileKeys) -> Result<Vec<Fingerprint>> {
    let found = examine(snapshot, keys)?.into_iter();
    let orphan = |problem| match problem {
        Problem::Orphan { key, .. } => Some(key),
        Problem::Elsewhere { .. } | Problem::Unusable(_) => None,
    };
    Ok(found.filter_map(orphan).collect())
}

/// Examines the secret keys beside a database; no secret is read.
///
/// # Errors
///
/// The database's errors.
pub fn examine(snapshot: &dyn ReadCertificates, keys: &FileKeys) -> Result<Vec<Problem>> {
    let heads = match keys.heads() {
        Ok(heads) => heads,
        Err(error) => return Ok(vec![Problem::Unusable(causes(&error))]),
    };
    let mut found = Vec::new();
    for head in heads {
        match head {
            Err(error) => found.push(Problem::Unusable(causes(&error))),
            Ok(stored_key) if owner_of(snapshot, &stored_key.fingerprint)?.is_none() => {
                found.push(without_certificate(keys, stored_key.fingerprint)?);
            }
            Ok(_) => {}
        }
    }
    Ok(found)
}

/// Says of a key that no certificate here has whether it belongs to other databases.
fn without_certificate(keys: &FileKeys, key: Fingerprint) -> Result<Problem> {
    let file = keys.file(&key);
    let mut databases = keys.databases_of(&key)?;
    databases.retain(|place| Some(place.as_str()) != keys.database());
    Ok(match databases.is_empty() {
        true => Problem::Orphan { key, file },
        false => Problem::Elsewhere { key, file, databases },
    })
}
