//! Keyrings for tests.

use std::io::Write;

use cert::{Fingerprint, Timestamp};
use packet_builder::Key;

use crate::keyring_file::KeyringFile;

/// Karl named Rita as his revoker, and she revoked his key on 2024-06-01.
pub(crate) const KARL: &[u8] = include_bytes!("testdata/designated-revoker-karl.asc");
pub(crate) const RITA: &[u8] = include_bytes!("testdata/designated-revoker-rita.asc");

/// After everything was made.
pub(crate) const NEW_YEAR_2025: Timestamp = Timestamp(1_735_689_600);

/// Reads a file that is made of these parts.
pub(crate) fn keyring(parts: &[&[u8]]) -> KeyringFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    parts.iter().for_each(|part| file.write_all(part).expect("the file takes everything"));
    KeyringFile::read(file.path()).expect("a keyring")
}

/// Returns the fingerprint of a key that a test made.
pub(crate) fn fingerprint(key: &Key) -> Fingerprint {
    Fingerprint::new(4, &key.fingerprint()).expect("a fingerprint")
}
