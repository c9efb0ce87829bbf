//! What every program of OpenPGP's can be asked to write messages with.

use crate::Gnupg;

/// The ciphers of messages with a check of integrity (RFC 9580, 9.3), by GnuPG's names.
pub const CIPHERS: [&str; 11] = [
    "IDEA",
    "3DES",
    "CAST5",
    "BLOWFISH",
    "AES",
    "AES192",
    "AES256",
    "TWOFISH",
    "CAMELLIA128",
    "CAMELLIA192",
    "CAMELLIA256",
];

/// The compressions (RFC 9580, 9.4).
pub const COMPRESSIONS: [&str; 4] = ["none", "zip", "zlib", "bzip2"];

/// Returns the option without which the usual gpg refuses to encrypt with some of [`CIPHERS`].
pub fn old_ciphers() -> &'static [&'static str] {
    match Gnupg::usual() {
        Gnupg::V2_2 => &[],
        Gnupg::V2_4 => &["--allow-old-cipher-algos"],
    }
}
