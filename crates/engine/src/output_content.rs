//! The content of an output file, and what happens to an existing file of the same name.

/// What is written, which decides who may read the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Certificates, messages, signatures, plaintext: a new file has the mode that the umask leaves, a replaced one the
    /// mode that it had. It is not written through a symbolic link to a file of somebody else.
    Ordinary,
    /// Secret keys and revocations: the file has mode 0600, whatever the umask is and whatever mode a replaced file had. It
    /// is not written through a symbolic link that somebody else made or to a file of somebody else, nor into a named
    /// pipe of somebody else. (Files of the superuser are nobody else's.)
    Secret,
}

/// What happens to an existing regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and that is an error ([`std::io::ErrorKind::AlreadyExists`]).
    Kept,
    /// It is replaced, once the new one is complete.
    Replaced,
}
