//! The algorithm preferences of a certificate.

use crate::algorithm::Version;
use sign::{Features, Subpacket};
use verify::HashAlgorithm;

/// The preferences of a certificate's owner, the best first; algorithms by their numbers in RFC 9580, 9.3 to 9.6.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preferences {
    /// Ciphers.
    pub ciphers: Vec<u8>,
    /// Hash algorithms.
    pub hashes: Vec<HashAlgorithm>,
    /// Compression algorithms.
    pub compressions: Vec<u8>,
    /// AEAD modes. Version 6 certificates name each mode with every preferred AES cipher (RFC 9580); version 4
    /// certificates have the subpacket of LibrePGP.
    pub aead: Vec<u8>,
    /// What version 4 certificates announce that the owner's programs read; version 6 certificates announce both
    /// versions of SEIPD if this names the first.
    pub features: Features,
    /// Whether a key server may accept changes from others than the owner.
    pub keyserver_modify: bool,
}

impl Preferences {
    /// Returns the preferences of GnuPG 2.2.
    pub fn gnupg() -> Self {
        Self {
            ciphers: vec![9, 8, 7, 2],
            hashes: [10, 9, 8, 11, 2].map(HashAlgorithm).to_vec(),
            compressions: vec![2, 3, 1],
            aead: Vec::new(),
            features: Features::SEIPD_V1,
            keyserver_modify: false,
        }
    }

    /// Returns the preferences for RFC 9580: AES in OCB mode, SHA-2.
    pub fn rfc9580() -> Self {
        Self {
            ciphers: vec![9, 7],
            hashes: [10, 8].map(HashAlgorithm).to_vec(),
            compressions: Vec::new(),
            aead: vec![2],
            features: Features::SEIPD_V1,
            keyserver_modify: false,
        }
    }

    /// Returns the default preferences of certificates of a version.
    pub fn of_version(version: Version) -> Self {
        match version {
            Version::V4 | Version::V5 => Self::gnupg(),
            Version::V6 => Self::rfc9580(),
        }
    }

    /// Returns the subpackets of a self-signature, in GnuPG's order.
    pub fn subpackets(&self, version: Version) -> Vec<Subpacket> {
        let mut subpackets = Vec::new();
        let Self { ciphers, hashes, compressions, aead, .. } = self;
        if version != Version::V6 && !aead.is_empty() {
            subpackets.push(Subpacket::AeadPreferences(aead.clone()));
        }
        if !ciphers.is_empty() {
            subpackets.push(Subpacket::CipherPreferences(ciphers.clone()));
        }
        if !hashes.is_empty() {
            subpackets.push(Subpacket::HashPreferences(hashes.clone()));
        }
        if !compressions.is_empty() {
            subpackets.push(Subpacket::CompressionPreferences(compressions.clone()));
        }
        let suites = ciphersuites(ciphers, aead);
        if version == Version::V6 && !suites.is_empty() {
            subpackets.push(Subpacket::Ciphersuites(suites));
        }
        let features = self.features(version);
        if features != Features::default() {
            subpackets.push(Subpacket::Features(features));
        }
        if version != Version::V6 && !self.keyserver_modify {
            subpackets.push(Subpacket::KeyserverPreferences(0x80));
        }
        subpackets
    }

    fn features(&self, version: Version) -> Features {
        match version {
            Version::V6 => self.features.with(Features::SEIPD_V2, self.features.contains(Features::SEIPD_V1)),
            Version::V4 | Version::V5 => self.features,
        }
    }
}

/// Returns the pairs of a cipher and a mode. AEAD modes need ciphers with blocks of 16 bytes; only AES is named.
fn ciphersuites(ciphers: &[u8], modes: &[u8]) -> Vec<(u8, u8)> {
    let aes = ciphers.iter().filter(|cipher| (7..=9).contains(*cipher));
    aes.flat_map(|&cipher| modes.iter().map(move |&mode| (cipher, mode))).collect()
}
