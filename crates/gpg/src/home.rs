//! GnuPG's home directory, and the database that belongs to it.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use engine::secret_keys::SecretKeys as AgentKeys;
use rustix::process::geteuid;

/// The last part of the name of GnuPG's default home directory; only a directory of this name is created.
const DEFAULT_NAME: &str = ".gnupg";

/// A GnuPG home directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Home {
    directory: PathBuf,
    is_default: bool,
}

impl Home {
    /// Finds the home directory: the one given, else `GNUPGHOME`, else `~/.gnupg`.
    pub(crate) fn find(given: Option<&[u8]>) -> Self {
        let variable = env::var_os("GNUPGHOME").filter(|value| !value.is_empty());
        let given = given.map(OsStr::from_bytes).filter(|given| !given.is_empty());
        let standard = user_home().join(DEFAULT_NAME);
        match given.or(variable.as_deref()) {
            None => Self { directory: standard, is_default: true },
            Some(name) => {
                let directory = absolute(name);
                let is_default = same_directory(&directory, &standard);
                Self { directory, is_default }
            }
        }
    }

    /// Returns the directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Says whether it is GnuPG's default home, however it was named.
    pub(crate) fn is_default(&self) -> bool {
        self.is_default
    }

    /// Returns the path of the database: inside the directory, or for GnuPG's default home, however it was named, the
    /// default path that all of Keyhoard shares.
    ///
    /// # Errors
    ///
    /// [`engine::Error::NoHome`] if the default path is unknown.
    pub(crate) fn database(&self) -> engine::Result<PathBuf> {
        match self.is_default {
            true => engine::database::default_path(),
            false => Ok(engine::database::in_home(&self.directory)),
        }
    }

    /// Returns where GnuPG's agent keeps the secret keys of this home directory.
    pub(crate) fn agent_keys(&self) -> AgentKeys {
        AgentKeys::near(&engine::database::in_home(&self.directory))
    }

    /// Says whether the database can exist or be created: gpg creates no directory of another name than the default
    /// one's, and a default home's database is elsewhere.
    pub(crate) fn is_usable(&self) -> bool {
        self.is_default || self.directory.exists() || self.directory.ends_with(DEFAULT_NAME)
    }

    /// Creates the directory if it is missing and called like the default one, as gpg does; returns whether it did.
    ///
    /// # Errors
    ///
    /// The system's error; "no such file or directory" for a missing directory of another name.
    pub(crate) fn create_if_missing(&self) -> io::Result<bool> {
        if self.directory.exists() {
            return Ok(false);
        }
        if !self.directory.ends_with(DEFAULT_NAME) {
            return Err(io::Error::from_raw_os_error(libc::ENOENT));
        }
        DirBuilder::new().mode(0o700).create(&self.directory)?;
        Ok(true)
    }

    /// Says what is wrong with the directory's owner or mode; nothing, if it does not exist.
    pub(crate) fn check(&self) -> Option<&'static str> {
        let found = fs::metadata(&self.directory).ok()?;
        if found.uid() != geteuid().as_raw() {
            Some("ownership")
        } else if found.mode() & 0o077 != 0 {
            Some("permissions")
        } else {
            None
        }
    }

    /// Expands a keyring's name: a name without a slash is relative to the home directory.
    pub(crate) fn resolve(&self, name: &[u8]) -> PathBuf {
        match name.contains(&b'/') {
            true => expanded(OsStr::from_bytes(name)),
            false => self.directory.join(OsStr::from_bytes(name)),
        }
    }
}

/// Makes a name absolute, without a slash at its end.
fn absolute(name: &OsStr) -> PathBuf {
    env::current_dir().unwrap_or_default().join(expanded(name)).components().collect()
}

/// Replaces `~` at the beginning of a name by the user's home.
fn expanded(name: &OsStr) -> PathBuf {
    match name.as_bytes() {
        b"~" => user_home(),
        [b'~', b'/', rest @ ..] => user_home().join(OsStr::from_bytes(rest)),
        _ => PathBuf::from(name),
    }
}

fn user_home() -> PathBuf {
    env::home_dir().unwrap_or_default()
}

fn same_directory(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    one == other || matches!((real(one), real(other)), (Some(one), Some(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyring_without_a_slash_stands_in_the_home_directory() {
        let home = Home { directory: "/h".into(), is_default: false };
        assert_eq!(home.resolve(b"pubring.gpg"), Path::new("/h/pubring.gpg"));
        assert_eq!(home.resolve(b"/x/ring.gpg"), Path::new("/x/ring.gpg"));
        assert_eq!(home.resolve(b"./ring.gpg"), Path::new("./ring.gpg"));
    }

    #[test]
    fn the_default_home_shares_a_database_and_another_has_its_own() {
        let standard = Home::find(Some(b"~/.gnupg/"));
        assert!(standard.is_default);
        let other = Home::find(Some(b"/some/where/"));
        assert!(!other.is_default);
        assert_eq!(other.database().expect("a place"), Path::new("/some/where/keyhoard.db"));
    }

    #[test]
    fn only_a_directory_called_like_the_default_one_is_created() {
        let missing = Home { directory: "/nonexistent/home".into(), is_default: false };
        assert_eq!(missing.create_if_missing().expect_err("not created").raw_os_error(), Some(libc::ENOENT));
    }
}
