//! Signature packets.

use crate::{Hash, Key, MADE, Packet, Subpacket};

/// A signature before it is made: [`Signature::sign`] makes the packet.
#[derive(Clone, Debug)]
pub struct Signature {
    /// 4, or 6.
    pub version: u8,
    /// The type (RFC 9580, 5.2.1): 0x00 binary, 0x01 text, 0x10 to 0x13 certification, 0x18 subkey binding...
    pub kind: u8,
    /// The hash algorithm.
    pub hash: Hash,
    /// The algorithm that the signature names, if another one than the key's.
    pub algorithm: Option<u8>,
    /// The subpackets that are signed. Where they are none of type 2 and 33, [`Signature::sign`] adds nothing.
    pub hashed: Vec<Subpacket>,
    /// The subpackets that anybody can change.
    pub unhashed: Vec<Subpacket>,
    /// The salt of version 6.
    pub salt: Vec<u8>,
    /// The first two bytes of the digest, as the packet has them.
    pub prefix: Prefix,
    /// The signature itself.
    pub value: Value,
    /// Whether the issuer is added to the subpackets when it is signed: fingerprint hashed, key ID unhashed (version 4).
    pub names_issuer: bool,
}

/// The first two bytes of the digest in the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// Those of the real digest.
    Right,
    /// These.
    Is([u8; 2]),
}

/// The signature proper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Made by the key.
    Real,
    /// Made by the key, with the last bit turned.
    Damaged,
    /// Well formed for the key's algorithm and as long as a real one, but made of this number. Costs no signing.
    Forged(u64),
    /// These fields.
    Is(Vec<u8>),
}

/// What a signature is made over (RFC 9580, 5.2.4).
#[derive(Clone, Copy, Debug)]
pub enum Signed<'a> {
    /// These bytes as they are: documents, and whatever else.
    Bytes(&'a [u8]),
    /// Text, whose lines are digested with CR LF.
    Text(&'a [u8]),
    /// A key: direct-key signatures and revocations.
    Key(&'a Key),
    /// A user ID of a key.
    UserId(&'a Key, &'a [u8]),
    /// A user attribute of a key: the packet's content.
    Attribute(&'a Key, &'a [u8]),
    /// A subkey of a key: bindings, back-signatures, revocations.
    Subkey(&'a Key, &'a Key),
}

impl Signed<'_> {
    fn digested(&self) -> Vec<u8> {
        let named = |key: &Key, first: u8, name: &[u8]| {
            [&key.digested()[..], &[first], &(name.len() as u32).to_be_bytes(), name].concat()
        };
        match self {
            Signed::Bytes(bytes) => bytes.to_vec(),
            Signed::Text(text) => with_line_ends(text),
            Signed::Key(key) => key.digested(),
            Signed::UserId(key, name) => named(key, 0xB4, name),
            Signed::Attribute(key, attribute) => named(key, 0xD1, attribute),
            Signed::Subkey(key, subkey) => [key.digested(), subkey.digested()].concat(),
        }
    }
}

/// Returns the text with CR LF at each line's end.
fn with_line_ends(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (place, &byte) in text.iter().enumerate() {
        if byte == b'\n' && (place == 0 || text[place - 1] != b'\r') {
            out.push(b'\r');
        }
        out.push(byte);
    }
    out
}

impl Signature {
    /// Makes a version 4 signature of a type, with SHA-256, made when keys are made.
    pub fn new(kind: u8) -> Signature {
        Signature {
            version: 4,
            kind,
            hash: Hash::SHA256,
            algorithm: None,
            hashed: vec![Subpacket::created(MADE)],
            unhashed: Vec::new(),
            salt: Vec::new(),
            prefix: Prefix::Right,
            value: Value::Real,
            names_issuer: true,
        }
    }

    /// Makes a version 6 signature of a type, with SHA-256 and a salt.
    pub fn v6(kind: u8) -> Signature {
        Signature { version: 6, salt: vec![0x5A; Hash::SHA256.salt_length()], ..Signature::new(kind) }
    }

    /// Makes a signature of the version that fits a key.
    pub fn by(key: &Key, kind: u8) -> Signature {
        if key.version == 6 { Signature::v6(kind) } else { Signature::new(kind) }
    }

    /// Returns the signature made at another time.
    pub fn at(mut self, time: u32) -> Signature {
        self.hashed.retain(|subpacket| subpacket.tag != 2);
        self.hashed.insert(0, Subpacket::created(time));
        self
    }

    /// Returns the signature with one more hashed subpacket.
    pub fn with(mut self, subpacket: Subpacket) -> Signature {
        self.hashed.push(subpacket);
        self
    }

    /// Returns the signature with another hash algorithm.
    pub fn hash(mut self, hash: Hash) -> Signature {
        self.hash = hash;
        self
    }

    /// Returns the signature with a value that is forged from a number.
    pub fn forged(mut self, number: u64) -> Signature {
        self.value = Value::Forged(number);
        self
    }

    /// Makes the packet.
    pub fn sign(&self, signer: &Key, signed: &Signed<'_>) -> Packet {
        let (mut hashed, mut unhashed) = (self.hashed.clone(), self.unhashed.clone());
        if self.names_issuer {
            hashed.push(Subpacket::fingerprint(signer));
            if self.version == 4 {
                unhashed.push(Subpacket::issuer(signer));
            }
        }
        let algorithm = self.algorithm.unwrap_or(signer.algorithm);
        let mut body = vec![self.version, self.kind, algorithm, self.hash.0];
        body.extend(self.area(&hashed));
        let trailer = [&[self.version, 0xFF][..], &(body.len() as u32).to_be_bytes()].concat();
        let data = [&self.salt[..], &signed.digested(), &body, &trailer].concat();
        body.extend(self.area(&unhashed));
        body.extend(match self.prefix {
            Prefix::Right => self.hash.digest(&data)[..2].to_vec(),
            Prefix::Is(prefix) => prefix.to_vec(),
        });
        if self.version >= 6 {
            body.push(self.salt.len() as u8);
            body.extend_from_slice(&self.salt);
        }
        body.extend(self.value_over(signer, &data));
        Packet::new(2, body)
    }

    fn area(&self, subpackets: &[Subpacket]) -> Vec<u8> {
        let content: Vec<u8> = subpackets.iter().flat_map(Subpacket::bytes).collect();
        let length = content.len() as u32;
        let start = if self.version >= 6 { 0 } else { 2 };
        [&length.to_be_bytes()[start..], &content].concat()
    }

    fn value_over(&self, signer: &Key, data: &[u8]) -> Vec<u8> {
        match &self.value {
            Value::Real => signer.sign(self.hash, data),
            Value::Is(fields) => fields.clone(),
            Value::Forged(number) => forged(signer, *number),
            Value::Damaged => {
                let mut fields = signer.sign(self.hash, data);
                if let Some(last) = fields.last_mut() {
                    *last ^= 1;
                }
                fields
            }
        }
    }
}

/// Returns fields that look like a signature by `signer`.
fn forged(signer: &Key, number: u64) -> Vec<u8> {
    let filled = |length: usize, first: u8| {
        let mut bytes = vec![0x33; length];
        bytes[0] = first;
        bytes[length - 8..].copy_from_slice(&number.to_be_bytes());
        bytes
    };
    match signer.algorithm {
        1 | 3 => crate::mpi(&filled(signer.rsa_public().0.len(), 0x40)),
        27 => filled(64, 0x11),
        // The group of DSA keys whose numbers have 256 bits or more; curves of 256 bits.
        _ => [crate::mpi(&filled(32, 0x11)), crate::mpi(&filled(32, 0x11))].concat(),
    }
}
