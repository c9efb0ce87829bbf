//! The keyrings of Debian's package `debian-keyring`.

use std::path::{Path, PathBuf};

/// One of Debian's keyrings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyring {
    /// Debian developers: 905 certificates, 48,787 signatures, 28.5 MB.
    Developers,
    /// Debian maintainers; one user ID in it is not UTF-8.
    Maintainers,
    /// Debian members who do not upload: the smallest.
    Nonupload,
}

impl Keyring {
    /// The three, in the order in which the reference homes import them.
    pub const ALL: [Keyring; 3] = [Keyring::Developers, Keyring::Maintainers, Keyring::Nonupload];

    /// Returns the keyring's file.
    pub fn path(self) -> PathBuf {
        let name = match self {
            Keyring::Developers => "debian-keyring.gpg",
            Keyring::Maintainers => "debian-maintainers.gpg",
            Keyring::Nonupload => "debian-nonupload.gpg",
        };
        Path::new("/usr/share/keyrings").join(name)
    }

    /// Returns the keyring's bytes.
    pub fn bytes(self) -> Vec<u8> {
        std::fs::read(self.path()).expect("Debian's package debian-keyring is installed (scripts/setup)")
    }
}

/// Returns the file with the keys of Alice and Bob, the secret ones too, as gpg 2.2.40 made them in January 2026.
pub fn alice_and_bob() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("all/testdata/alice-and-bob.pgp")
}
