//! Files and directories that somebody else could change.
//!
//! A user who can write to a database can change owner trust, and a user who can write to its directory can replace it.
//! Commands warn of that, and do not use secret keys in such a directory.

mod exposed;

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use secret::file::FileKeys;

use crate::output_file::directory;
use crate::{Error, Result, database, secret_keys};

pub use exposed::Exposed;

/// The mode bits that let others than the owner write.
#[cfg(unix)]
const WRITABLE: u32 = 0o022;
/// In a directory with this bit nobody can delete or rename files of others.
#[cfg(unix)]
const STICKY: u32 = 0o1000;

/// Says who else can change a file or directory, if it exists. Directories above it are not checked.
#[cfg(unix)]
pub fn exposed(path: &Path) -> Option<Exposed> {
    let found = fs::metadata(path).ok()?;
    let (owner, user, mode) = (found.uid(), rustix::process::geteuid().as_raw(), found.mode() & 0o7777);
    let path = path.to_owned();
    if !found.is_file() && !found.is_dir() {
        None
    } else if owner != user && owner != 0 {
        Some(Exposed::Foreign { path, owner, user, mode })
    } else if mode & WRITABLE == 0 || (found.is_dir() && mode & STICKY != 0) {
        None
    } else {
        Some(Exposed::Writable { path, mode })
    }
}

/// Systems without modes of files tell nothing here.
#[cfg(not(unix))]
pub fn exposed(_: &Path) -> Option<Exposed> {
    None
}

/// Says whether a directory is one like `/tmp`: everybody can create files, and nobody can delete those of others.
#[cfg(unix)]
fn shared(directory: &Path) -> Option<Exposed> {
    let found = fs::metadata(directory).ok()?;
    let mode = found.mode() & 0o7777;
    let is_shared = found.is_dir() && mode & WRITABLE != 0 && mode & STICKY != 0;
    is_shared.then(|| Exposed::Shared { path: directory.to_owned(), mode })
}

#[cfg(not(unix))]
fn shared(_: &Path) -> Option<Exposed> {
    None
}

/// Says who else can change a file or replace it.
pub fn exposed_with_directory(path: &Path) -> Vec<Exposed> {
    // A link can be replaced in its directory, and the file in its own.
    let real = fs::canonicalize(path).ok();
    let mut directories: Vec<&Path> =
        [Some(path), real.as_deref()].into_iter().flatten().map(directory).collect();
    directories.dedup();
    [path].into_iter().chain(directories).filter_map(exposed).collect()
}

/// Says who else can change a database and the files beside it; of a server's database, the files beside the default
/// one.
///
/// In a directory like `/tmp` others can create the files from which SQLite recovers transactions.
pub fn exposed_database(location: &Path) -> Vec<Exposed> {
    let file = database::local(location);
    let mut exposed = exposed_with_directory(&file);
    if let Some(real) = fs::canonicalize(&file).ok().filter(|real| real.is_file()) {
        exposed.extend(shared(directory(&real)));
    }
    exposed
}

/// Returns the secret keys beside a database.
///
/// # Errors
///
/// [`Error::Exposed`] if there are secret keys, and somebody else can change the database or its directory: they could
/// decide whose key a message is encrypted to, and which key signs.
pub fn secret_keys_beside(location: &Path) -> Result<FileKeys> {
    let keys = secret_keys::beside(location);
    if keys.path().exists() {
        // Opening the directory checks its own mode.
        refuse(exposed_database(location))?;
    }
    Ok(keys)
}

/// Refuses a database that somebody else can change: they could decide which secret key is used.
///
/// # Errors
///
/// [`Error::Exposed`].
#[cfg(feature = "agent")]
pub(crate) fn refuse_exposed(location: &Path) -> Result<()> {
    refuse(exposed_database(location))
}

/// Reads a file of the user's configuration; `None` if it is not there.
///
/// # Errors
///
/// [`Error::Exposed`] if somebody else can change it, [`Error::File`] if it cannot be read.
pub(crate) fn configuration(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => {
            refuse(exposed_with_directory(path))?;
            Ok(Some(text))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::File { path: path.to_owned(), source }),
    }
}

fn refuse(exposed: Vec<Exposed>) -> Result<()> {
    exposed.into_iter().next().map_or(Ok(()), |exposed| Err(exposed.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is this user's");
    }

    #[test]
    fn what_the_group_or_others_may_write_to_is_exposed_and_what_they_may_read_is_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("a");
        assert_eq!(exposed(&file), None, "nothing is there");
        fs::write(&file, "").expect("a file");
        for (mode, is_exposed) in [(0o600, false), (0o644, false), (0o660, true), (0o646, true)] {
            set(&file, mode);
            let expected = is_exposed.then(|| Exposed::Writable { path: file.clone(), mode });
            assert_eq!(exposed(&file), expected);
        }
    }

    #[test]
    fn what_is_said_names_the_file_the_mode_and_the_command_that_mends_it() {
        let said = Exposed::Writable { path: "/x/keyhoard.db".into(), mode: 0o666 }.to_string();
        assert!(said.contains("/x/keyhoard.db") && said.contains("0666"), "{said}");
        assert!(said.contains("`chmod go-w /x/keyhoard.db`"), "{said}");
    }

    #[test]
    fn a_file_is_exposed_by_its_directory_too() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("a");
        fs::write(&file, "").expect("a file");
        set(&file, 0o600);
        assert_eq!(exposed_with_directory(&file), []);
        set(directory.path(), 0o770);
        let path = directory.path().to_owned();
        assert_eq!(exposed_with_directory(&file), [Exposed::Writable { path: path.clone(), mode: 0o770 }]);
        set(directory.path(), 0o1777);
        assert_eq!(exposed_with_directory(&file), []);
        let path = fs::canonicalize(path).expect("a directory");
        assert_eq!(exposed_database(&file), [Exposed::Shared { path, mode: 0o1777 }]);
    }

    #[test]
    fn secret_keys_are_not_used_where_others_can_change_the_database() {
        let directory = tempfile::tempdir().expect("a directory");
        let database = directory.path().join("keyhoard.db");
        fs::write(&database, "").expect("a file");
        set(&database, 0o666);
        assert!(secret_keys_beside(&database).is_ok(), "there are none");
        fs::create_dir(directory.path().join(secret::file::DIRECTORY)).expect("a directory");
        assert!(matches!(secret_keys_beside(&database), Err(Error::Exposed(Exposed::Writable { .. }))));
        set(&database, 0o600);
        assert!(secret_keys_beside(&database).is_ok());
    }

    #[test]
    fn configuration_that_others_can_change_is_not_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("config.toml");
        assert!(matches!(configuration(&file), Ok(None)));
        fs::write(&file, "text").expect("a file");
        set(&file, 0o644);
        assert_eq!(configuration(&file).expect("text").as_deref(), Some("text"));
        set(&file, 0o646);
        assert!(matches!(configuration(&file), Err(Error::Exposed(_))));
    }
}
