//! The parts of messages that are not encrypted.

use std::io::Write;

use crate::{Hash, Key, MADE, Packet, Signature};

/// Literal data (RFC 9580, 5.9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// `b` binary, `t` or `u` text.
    pub format: u8,
    /// The file name, up to 255 bytes.
    pub name: Vec<u8>,
    /// The file's date.
    pub date: u32,
    /// The data.
    pub body: Vec<u8>,
}

impl Literal {
    /// Makes binary data without a name.
    pub fn new(body: impl AsRef<[u8]>) -> Literal {
        Literal { format: b'b', name: Vec::new(), date: MADE, body: body.as_ref().to_vec() }
    }

    /// Makes binary data with a name.
    pub fn named(name: impl AsRef<[u8]>, body: impl AsRef<[u8]>) -> Literal {
        Literal { name: name.as_ref().to_vec(), ..Literal::new(body) }
    }

    /// Makes the packet.
    pub fn packet(&self) -> Packet {
        let header =
            [&[self.format, self.name.len() as u8][..], &self.name, &self.date.to_be_bytes()].concat();
        Packet::new(11, [header, self.body.clone()].concat())
    }
}

/// A one-pass signature packet (RFC 9580, 5.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnePass {
    /// 3, or 6.
    pub version: u8,
    /// The type of the signature.
    pub kind: u8,
    /// Its hash algorithm.
    pub hash: Hash,
    /// Its public-key algorithm.
    pub algorithm: u8,
    /// Key ID (version 3) or fingerprint (version 6) of who signs.
    pub issuer: Vec<u8>,
    /// The salt of version 6.
    pub salt: Vec<u8>,
    /// Whether the next packet is what is signed; otherwise another one-pass signature packet follows.
    pub last: bool,
}

impl OnePass {
    /// Makes the packet's fields for a signature by `signer`.
    pub fn of(signature: &Signature, signer: &Key) -> OnePass {
        let is_v6 = signature.version == 6;
        OnePass {
            version: if is_v6 { 6 } else { 3 },
            kind: signature.kind,
            hash: signature.hash,
            algorithm: signature.algorithm.unwrap_or(signer.algorithm),
            issuer: if is_v6 { signer.fingerprint() } else { signer.key_id().to_vec() },
            salt: signature.salt.clone(),
            last: true,
        }
    }

    /// Makes the packet.
    pub fn packet(&self) -> Packet {
        let mut body = vec![self.version, self.kind, self.hash.0, self.algorithm];
        if self.version == 6 {
            body.push(self.salt.len() as u8);
            body.extend_from_slice(&self.salt);
        }
        body.extend_from_slice(&self.issuer);
        body.push(self.last.into());
        Packet::new(4, body)
    }
}

/// Compressed data (RFC 9580, 5.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// 0 none, 1 ZIP, 2 ZLIB, 3 BZip2; others are written as they come.
    pub algorithm: u8,
    /// The packets in it.
    pub content: Vec<u8>,
}

impl Compressed {
    /// Makes the packet.
    pub fn packet(&self) -> Packet {
        let mut body = vec![self.algorithm];
        body.extend(match self.algorithm {
            1 => finish(
                flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best()),
                |encoder| encoder.finish(),
                &self.content,
            ),
            2 => finish(
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best()),
                |encoder| encoder.finish(),
                &self.content,
            ),
            3 => finish(
                bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best()),
                |encoder| encoder.finish(),
                &self.content,
            ),
            _ => self.content.clone(),
        });
        Packet::new(8, body)
    }
}

fn finish<W: Write>(
    mut encoder: W,
    end: impl FnOnce(W) -> std::io::Result<Vec<u8>>,
    content: &[u8],
) -> Vec<u8> {
    encoder.write_all(content).and_then(|()| end(encoder)).expect("memory takes everything")
}
