//! Shared certificate directories (the Internet-Draft "Shared OpenPGP Certificate Directory").
//!
//! A certificate is a file named by its fingerprint in lower case, of which the first two digits are a directory;
//! `trust-root` is one more certificate.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use super::stamp::{newer, stamp};

/// The certificate with which a user certifies for this directory only.
const TRUST_ROOT: &str = "trust-root";
/// Digits of a fingerprint after the first two: version 4, and version 6.
const REST: [usize; 2] = [38, 62];

/// Says whether a directory looks like one.
pub(super) fn is_cert_d(directory: &Path) -> bool {
    directory.join(TRUST_ROOT).is_file()
        || entries(directory).is_ok_and(|mut entries| entries.any(|entry| is_prefix(&entry)))
}

/// Lists the certificates' files in the order of their fingerprints, the trust root first.
pub(super) fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> =
        Some(directory.join(TRUST_ROOT)).filter(|file| file.is_file()).into_iter().collect();
    let mut prefixes: Vec<PathBuf> =
        entries(directory)?.filter(is_prefix).map(|entry| entry.path()).collect();
    prefixes.sort();
    for prefix in prefixes {
        let mut certificates: Vec<PathBuf> =
            entries(&prefix)?.filter(is_certificate).map(|entry| entry.path()).collect();
        certificates.sort();
        files.extend(certificates);
    }
    Ok(files)
}

/// Returns when a certificate changed last, in nanoseconds since 1970, and the size of all of them together.
pub(super) fn stamp_of(directory: &Path) -> io::Result<(i64, u64)> {
    let files = files(directory)?;
    let stamps = files.iter().filter_map(|file| fs::metadata(file).ok()).map(|file| stamp(&file));
    Ok(stamps.fold((0, 0), newer))
}

fn entries(directory: &Path) -> io::Result<impl Iterator<Item = DirEntry>> {
    Ok(fs::read_dir(directory)?.flatten())
}

fn is_prefix(entry: &DirEntry) -> bool {
    is_hex(entry, &[2]) && entry.path().is_dir()
}

fn is_certificate(entry: &DirEntry) -> bool {
    is_hex(entry, &REST) && entry.path().is_file()
}

fn is_hex(entry: &DirEntry, lengths: &[usize]) -> bool {
    let name = entry.file_name();
    let name = name.as_encoded_bytes();
    lengths.contains(&name.len()) && name.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
