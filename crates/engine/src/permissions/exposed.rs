//! What somebody else can change.

use std::path::PathBuf;

/// What somebody else than this user and the superuser can change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exposed {
    /// It belongs to somebody else.
    #[error("{path}: belongs to user {owner} (mode {mode:04o}), who can change it; `chown {user} {path}` makes it yours", path = .path.display())]
    Foreign {
        /// The file or directory.
        path: PathBuf,
        /// The number of the user whose it is.
        owner: u32,
        /// The number of the user who runs this program.
        user: u32,
        /// Its mode.
        mode: u32,
    },
    /// Its group or everybody may write to it.
    #[error("{path}: others can change it (mode {mode:04o}); `chmod go-w {path}` keeps them from it", path = .path.display())]
    Writable {
        /// The file or directory.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// A directory in which others can make files, though not replace those of this user.
    #[error("{path}: others can add files to this directory (mode {mode:04o}); use a directory of your own", path = .path.display())]
    Shared {
        /// The directory.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
}
