//! Starts the agent as gpg does.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::{Error, Result};

/// How long gpg waits for a new agent.
const STARTING: Duration = Duration::from_secs(5);

/// How long another program's new agent may take to answer after this one's has found its socket.
const FAILED: Duration = Duration::from_millis(200);

/// Starts the agent of a home directory, and connects to it.
///
/// In the program's name a `|` may precede an argument for it. Two programs may start one at once: the second agent finds
/// the first one's socket and ends.
pub(crate) fn started(program: &Path, home: &Path, socket: &Path) -> Result<Connection> {
    let failed = |reason: String| Error::Start { program: program.to_owned(), reason };
    let mut words = program.as_os_str().as_bytes().splitn(2, |byte| *byte == b'|').map(OsStr::from_bytes);
    let status = Command::new(words.next().unwrap_or_default())
        .arg("--homedir")
        .arg(home)
        .arg("--use-standard-socket")
        .args(words)
        .arg("--daemon")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| failed(error.to_string()))?;
    // One that ends at once found another's socket, or does not work.
    let deadline = Instant::now() + if status.success() { STARTING } else { FAILED };
    loop {
        match Connection::open(socket) {
            Err(Error::Io(error)) if is_absent(&error) && Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(10));
            }
            Err(Error::Io(_)) => return Err(failed(format!("it does not answer ({status})"))),
            opened => return opened,
        }
    }
}

/// Says whether an error of connecting means that nobody listens.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// Returns the path of the agent's program: in a directory of `PATH`, else where distributions have it.
pub(crate) fn program() -> Option<PathBuf> {
    const NAME: &str = "gpg-agent";
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/bin", "/usr/local/bin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(usual)
        .map(|directory| directory.join(NAME))
        .find(|file| file.is_file())
}
