//! Which secret keys GnuPG holds: for a warning before a certificate is deleted.

use std::env;
use std::path::{Path, PathBuf};

use cert::{Facts, Keygrip};

use crate::database;

/// Directories in which GnuPG's agent keeps secret keys, one file for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretKeys {
    directories: Vec<PathBuf>,
}

impl SecretKeys {
    /// Looks beside the database, and for the database that everybody uses by default also in GnuPG's default home
    /// (`GNUPGHOME`, else `~/.gnupg`).
    pub fn near(database: &Path) -> Self {
        let mut homes: Vec<PathBuf> = database.parent().map(Path::to_owned).into_iter().collect();
        if database::default_path().is_ok_and(|default| default == database) {
            let named = env::var_os("GNUPGHOME").filter(|home| !home.is_empty()).map(PathBuf::from);
            homes.extend(named.or_else(|| env::home_dir().map(|home| home.join(".gnupg"))));
        }
        Self { directories: homes.into_iter().map(|home| home.join("private-keys-v1.d")).collect() }
    }

    /// Returns the file of the first of a certificate's keys whose secret part is here.
    pub fn of(&self, certificate: &Facts) -> Option<PathBuf> {
        certificate.keys().filter_map(|key| key.keygrip).find_map(|keygrip| self.file(keygrip))
    }

    /// Returns those of a certificate's keys whose secret parts are here.
    pub fn all_of(&self, certificate: &Facts) -> Vec<Keygrip> {
        let keygrips = certificate.keys().filter_map(|key| key.keygrip);
        keygrips.filter(|&keygrip| self.file(keygrip).is_some()).collect()
    }

    fn file(&self, keygrip: Keygrip) -> Option<PathBuf> {
        let files = self.directories.iter().map(|directory| directory.join(format!("{keygrip}.key")));
        files.into_iter().find(|file| file.exists())
    }
}
