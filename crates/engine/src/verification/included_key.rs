//! The key in a signature: the certificate of its signer, for recipients that do not have it (GnuPG's `--include-key-block`).

use std::path::Path;

use cert::Fingerprint;
use cert::clean::rebuild;
use cert::split::{Piece, Splitter};
use cert::subpacket::{Kind, Subpackets};
use message::DataSignature;

use crate::keyring_file::KeyringFile;

/// The most bytes of a key in a signature: as many as the subpackets of a version 4 signature can have.
const MAX_KEY_BLOCK: usize = 0xffff;

/// The certificate in the hashed subpackets of a signature: bytes of others, of which only this one signature is checked
/// with it.
#[derive(Debug)]
pub struct IncludedKey {
    keyring: KeyringFile,
    bytes: Vec<u8>,
    primary: Fingerprint,
}

impl IncludedKey {
    /// Returns the certificate in a signature, as in GnuPG the first one there, if it has the key that the signature names
    /// by its hashed fingerprint; a key ID alone does not name it.
    pub fn of(signature: &DataSignature) -> Option<Self> {
        let parsed = signature.parsed()?;
        let (_, block) = Subpackets::new(parsed.hashed).first(Kind::KEY_BLOCK)?.split_first()?;
        let block = Some(block).filter(|block| block.len() < MAX_KEY_BLOCK)?;
        let mut pieces = Splitter::new(block);
        let Piece::Certificate(raw) = pieces.next()?.ok()? else { return None };
        // Of a damaged certificate the packets before the damage come first.
        pieces.next().transpose().ok()?;
        let certificate = rebuild(&raw.bytes, &[]).ok()?;
        let issuer = parsed.issuer().fingerprint?;
        certificate.facts.keys().find(|key| key.fingerprint == issuer)?;
        let primary = certificate.facts.primary().fingerprint;
        let keyring = KeyringFile::of(Path::new(""), vec![certificate]);
        Some(Self { keyring, bytes: raw.bytes, primary })
    }

    /// Returns a keyring with this certificate alone.
    pub fn keyring(&self) -> &KeyringFile {
        &self.keyring
    }

    /// Returns the certificate's packets.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the fingerprint of the primary key.
    pub fn primary(&self) -> Fingerprint {
        self.primary
    }
}
