//! GnuPG home directories.

use std::fs::{self, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::{Builder, TempDir};

use crate::Gnupg;

/// The settings of the oracle: no trust computations, so that listings depend on certificates and clock alone.
const GPG_CONF: &str = "trust-model always\nno-auto-check-trustdb\n";

/// A GnuPG home directory, removed with the value. Both programs take it with `--homedir`; `gpg-keyhoard`
/// keeps its database in it, unless a server does.
#[derive(Debug)]
pub struct Home {
    directory: TempDir,
    /// Where its database is on a server.
    url: Option<String>,
    path: PathBuf,
}

impl Home {
    /// Makes a home that holds nothing but the oracle's `gpg.conf`.
    pub fn new() -> Home {
        Home::with_conf(GPG_CONF)
    }

    /// Makes a home that holds nothing but this `gpg.conf`.
    pub fn with_conf(conf: &str) -> Home {
        let directory =
            Builder::new().prefix("keyhoard-test-").permissions(Permissions::from_mode(0o700)).tempdir();
        let directory = directory.expect("a directory for temporary files");
        fs::write(directory.path().join("gpg.conf"), conf).expect("a new directory is writable");
        let path = directory.path().to_owned();
        Home { directory, url: None, path }
    }

    /// Puts the database on a server. `gpg-keyhoard` looks for it there in GnuPG's default home only, so that is what
    /// this home becomes.
    pub(crate) fn with_database_at(self, url: String) -> Home {
        let path = self.directory.path().join(".gnupg");
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        made.and_then(|()| fs::rename(self.path().join("gpg.conf"), path.join("gpg.conf")))
            .expect("a new directory is writable");
        Home { url: Some(url), path, ..self }
    }

    /// Makes a copy of the files of an existing home.
    pub fn copy_of(existing: &Path) -> Home {
        let home = Home::new();
        for entry in fs::read_dir(existing).expect("the home to copy exists") {
            let entry = entry.expect("the home to copy is readable");
            if entry.file_type().expect("the home to copy is readable").is_file() {
                fs::copy(entry.path(), home.path().join(entry.file_name())).expect("enough space for a copy");
            }
        }
        home
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the home directory of the user whose GnuPG home this is.
    pub(crate) fn of_user(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the place of the database that `gpg-keyhoard` keeps here, or a server's URL.
    pub fn database(&self) -> PathBuf {
        match &self.url {
            Some(url) => PathBuf::from(url),
            None => self.path().join("keyhoard.db"),
        }
    }

    /// Says whether the database was made.
    pub fn has_database(&self) -> bool {
        let Some((_, schema)) = self.url.as_ref().and_then(|url| url.split_once("schema=")) else {
            return self.database().exists();
        };
        let sql = format!("SELECT count(*) FROM pg_namespace WHERE nspname = '{schema}'");
        crate::server().psql(&sql).expect("the server answers") != "0"
    }

    /// Writes a file into the home and returns its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, content).expect("the home is writable");
        path
    }

    /// Stops the agent that gpg may have started here; it would notice that its home is gone, but only after a while.
    pub fn kill_agent(&self) {
        kill_agent(self.path());
    }

    /// Takes the permission to write away from the directory and everything in it, or gives it back.
    pub fn set_writable(&self, writable: bool) {
        let (file, directory) = if writable { (0o600, 0o700) } else { (0o400, 0o500) };
        for entry in fs::read_dir(self.path()).expect("the home is readable") {
            let path = entry.expect("the home is readable").path();
            fs::set_permissions(path, Permissions::from_mode(file)).expect("the home is the test's own");
        }
        fs::set_permissions(self.path(), Permissions::from_mode(directory))
            .expect("the home is the test's own");
    }
}

/// Stops the agent of a home, if there is one.
pub(crate) fn kill_agent(home: &Path) {
    let _ = Command::new(Gnupg::V2_2.program("gpgconf"))
        .arg("--homedir")
        .arg(home)
        .args(["--kill", "all"])
        .status();
}

impl Default for Home {
    fn default() -> Home {
        Home::new()
    }
}
