//! Key packets.

use crate::secret::{RsaNumbers, Secret, ed25519_public, p256_public};
use crate::{Hash, Packet, mpi};

/// When keys and signatures are made unless a test says otherwise: 2024-01-01.
pub const MADE: u32 = 1_704_067_200;

const ED25519_LEGACY_CURVE: &[u8] = &[0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x0F, 0x01];
const P256_CURVE: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07];
const RSA2048: &[u8] = include_bytes!("../testdata/rsa2048.der");
const RSA4096: &[u8] = include_bytes!("../testdata/rsa4096.der");
const P256: &[u8] = include_bytes!("../testdata/p256.der");

/// A key: its public fields, and mostly what signs with it.
#[derive(Clone, Debug)]
pub struct Key {
    /// 4, or 6.
    pub version: u8,
    /// When it was made, in seconds since 1970.
    pub created: u32,
    /// The public-key algorithm (RFC 9580, 9.1).
    pub algorithm: u8,
    /// The public fields of that algorithm.
    pub material: Vec<u8>,
    secret: Secret,
}

impl Key {
    /// Makes a version 4 Ed25519 key (EdDSALegacy), always the same one for a name.
    pub fn ed25519(name: &str) -> Key {
        let seed = seed(name);
        let point = [&[0x40][..], &ed25519_public(&seed)].concat();
        let material = [&[ED25519_LEGACY_CURVE.len() as u8][..], ED25519_LEGACY_CURVE, &mpi(&point)].concat();
        Key { version: 4, created: MADE, algorithm: 22, material, secret: Secret::Ed25519(seed) }
    }

    /// Makes a version 6 Ed25519 key, always the same one for a name.
    pub fn ed25519_v6(name: &str) -> Key {
        let seed = seed(name);
        let material = ed25519_public(&seed);
        Key { version: 6, created: MADE, algorithm: 27, material, secret: Secret::Ed25519(seed) }
    }

    /// Returns an RSA key of 2048 bits, the same one each time.
    pub fn rsa2048() -> Key {
        Key::rsa(RSA2048)
    }

    /// Returns an RSA key of 4096 bits, the same one each time.
    pub fn rsa4096() -> Key {
        Key::rsa(RSA4096)
    }

    fn rsa(der: &'static [u8]) -> Key {
        let material = RsaNumbers::of(der).public();
        Key { version: 4, created: MADE, algorithm: 1, material, secret: Secret::Rsa(der) }
    }

    /// Returns an ECDSA key on P-256, the same one each time.
    pub fn p256() -> Key {
        let material = [&[P256_CURVE.len() as u8][..], P256_CURVE, &mpi(&p256_public(P256))].concat();
        Key { version: 4, created: MADE, algorithm: 19, material, secret: Secret::P256(P256) }
    }

    /// Makes a version 4 key of any public fields, which makes forged signatures only.
    pub fn of_material(algorithm: u8, material: impl Into<Vec<u8>>) -> Key {
        Key { version: 4, created: MADE, algorithm, material: material.into(), secret: Secret::None }
    }

    /// Reads a version 4 key packet's content, which makes forged signatures only.
    ///
    /// # Panics
    ///
    /// If it is shorter than the fields that all keys have.
    pub fn of_body(body: &[u8]) -> Key {
        let created = u32::from_be_bytes([body[1], body[2], body[3], body[4]]);
        Key { version: body[0], created, ..Key::of_material(body[5], &body[6..]) }
    }

    /// Returns the key as made at another time, which makes another fingerprint.
    pub fn created(mut self, created: u32) -> Key {
        self.created = created;
        self
    }

    /// Returns the content of the key packet.
    pub fn body(&self) -> Vec<u8> {
        let mut body = vec![self.version];
        body.extend_from_slice(&self.created.to_be_bytes());
        body.push(self.algorithm);
        if self.version >= 5 {
            body.extend_from_slice(&(self.material.len() as u32).to_be_bytes());
        }
        body.extend_from_slice(&self.material);
        body
    }

    /// Returns a public-key packet.
    pub fn packet(&self) -> Packet {
        Packet::new(6, self.body())
    }

    /// Returns a public-subkey packet.
    pub fn subkey_packet(&self) -> Packet {
        Packet::new(14, self.body())
    }

    /// Returns a secret-key packet (`tag` 5) or secret-subkey packet (7), not locked.
    ///
    /// # Panics
    ///
    /// If there is no secret part, or it is an ECDSA key's.
    pub fn secret_packet(&self, tag: u8) -> Packet {
        let fields = match &self.secret {
            Secret::Ed25519(seed) if self.version == 6 => seed.to_vec(),
            Secret::Ed25519(seed) => mpi(seed),
            Secret::Rsa(der) => RsaNumbers::of(der).secret(),
            Secret::P256(_) | Secret::None => panic!("a secret part that can be written"),
        };
        let mut body = self.body();
        body.push(0);
        body.extend_from_slice(&fields);
        if self.version < 6 {
            let sum = fields.iter().fold(0_u16, |sum, &byte| sum.wrapping_add(byte.into()));
            body.extend_from_slice(&sum.to_be_bytes());
        }
        Packet::new(tag, body)
    }

    /// Returns what signatures over the key digest (RFC 9580, 5.2.4).
    pub fn digested(&self) -> Vec<u8> {
        let body = self.body();
        match self.version {
            0..5 => [&[0x99][..], &(body.len() as u16).to_be_bytes(), &body].concat(),
            5 => [&[0x9A][..], &(body.len() as u32).to_be_bytes(), &body].concat(),
            _ => [&[0x9B][..], &(body.len() as u32).to_be_bytes(), &body].concat(),
        }
    }

    /// Returns the fingerprint.
    pub fn fingerprint(&self) -> Vec<u8> {
        let hash = if self.version >= 5 { Hash::SHA256 } else { Hash::SHA1 };
        hash.digest(&self.digested())
    }

    /// Returns the fingerprint in upper-case hexadecimal.
    pub fn fingerprint_text(&self) -> String {
        self.fingerprint().iter().map(|byte| format!("{byte:02X}")).collect()
    }

    /// Returns the key ID.
    pub fn key_id(&self) -> [u8; 8] {
        let fingerprint = self.fingerprint();
        let place = if self.version >= 5 { 0 } else { fingerprint.len() - 8 };
        std::array::from_fn(|number| fingerprint[place + number])
    }

    /// Returns the fields of a real signature over `data`.
    pub(crate) fn sign(&self, hash: Hash, data: &[u8]) -> Vec<u8> {
        self.secret.sign(self.algorithm == 27, hash, data)
    }

    /// Returns the modulus and the exponent of an RSA key.
    pub(crate) fn rsa_public(&self) -> (&[u8], &[u8]) {
        let (number, rest) = split_mpi(&self.material);
        (number, split_mpi(rest).0)
    }
}

fn split_mpi(fields: &[u8]) -> (&[u8], &[u8]) {
    let length = usize::from(u16::from_be_bytes([fields[0], fields[1]])).div_ceil(8);
    fields[2..].split_at(length)
}

fn seed(name: &str) -> [u8; 32] {
    let digest = Hash::SHA256.digest(name.as_bytes());
    std::array::from_fn(|place| digest[place])
}
