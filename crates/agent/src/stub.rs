//! The agent's files that say on which card a key is (GnuPG's agent/keyformat.txt: a shadowed private key).

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use crate::key_file::{self, Form};

/// A file of the agent that says on which card a key is; it holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stub {
    path: PathBuf,
    content: Vec<u8>,
}

impl Stub {
    /// Reads a file; `None` if there is none or it is no stub.
    pub(crate) fn read(path: PathBuf) -> Option<Self> {
        let key = key_file::read(&path).ok().flatten()?;
        let content = matches!(key_file::form(&key), Form::Card { .. }).then(|| fs::read(&path).ok())??;
        Some(Self { path, content })
    }

    /// Writes the file as it was read, in the place of what is there now.
    ///
    /// # Errors
    ///
    /// The system's errors.
    pub fn write_back(&self) -> io::Result<()> {
        let part = self.path.with_extension("key.part");
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
        let written = file.write_all(&self.content).and_then(|()| file.sync_all());
        let done = written.and_then(|()| fs::rename(&part, &self.path));
        done.inspect_err(|_| drop(fs::remove_file(&part)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_is_written_back_as_it_was_and_a_key_is_no_stub() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("0102.key");
        let stub = b"(20:shadowed-private-key(3:rsa(1:n1:\x03)(1:e1:\x03)(8:shadowed5:t1-v1(2:\xd2\x769:OPENPGP.1))))";
        fs::write(&path, stub).expect("written");
        let read = Stub::read(path.clone()).expect("a stub");
        fs::write(&path, b"(11:private-key(3:rsa(1:n1:\x03)(1:e1:\x03)(1:d1:\x03)))").expect("written");
        assert_eq!(Stub::read(path.clone()), None);
        read.write_back().expect("written back");
        assert_eq!(fs::read(&path).expect("a file"), stub);
        assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1);
    }
}
