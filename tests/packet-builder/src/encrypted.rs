//! Encrypted messages. Every cipher here is AES; the damage is what tests are about.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::cipher::{AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::rsa::{Pkcs1PublicEncryptingKey, PublicEncryptingKey};
use aws_lc_rs::signature::RsaPublicKeyComponents;

use crate::{Hash, Key, Packet, mpi};

/// The number of AES-256 (RFC 9580, 9.3).
const AES256: u8 = 9;

/// A session key for AES-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionKey(pub [u8; 32]);

impl SessionKey {
    /// Encrypts with cipher feedback and an initialization vector of zeros.
    pub fn cfb(self, plaintext: &[u8]) -> Vec<u8> {
        self.cfb_from([0; 16], plaintext)
    }

    fn cfb_from(self, vector: [u8; 16], plaintext: &[u8]) -> Vec<u8> {
        let key = UnboundCipherKey::new(&AES_256, &self.0).and_then(EncryptingKey::cfb128);
        let key = key.expect("32 bytes are a key");
        let mut data = plaintext.to_vec();
        let context = EncryptionContext::Iv128(FixedLength::from(vector));
        key.less_safe_encrypt(&mut data, context).expect("any length can be encrypted");
        data
    }

    /// Makes a symmetrically encrypted data packet without any protection (RFC 9580, 5.7).
    pub fn sed(self, plaintext: &[u8]) -> Packet {
        let prefix = self.cfb(&random_prefix());
        // After the prefix the shift register is filled with ciphertext anew.
        let vector = std::array::from_fn(|place| prefix[place + 2]);
        Packet::new(9, [prefix, self.cfb_from(vector, plaintext)].concat())
    }
}

/// The 18 bytes in front of the plaintext, of which two are repeated; always the same here.
fn random_prefix() -> Vec<u8> {
    let random: Vec<u8> = (0x41..0x51).collect();
    [&random[..], &random[14..]].concat()
}

/// What stands in the place of the modification detection code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mdc {
    /// The right one.
    Right,
    /// One with a bit turned.
    Wrong,
    /// Nothing.
    Missing,
}

/// Encrypted data with a modification detection code (RFC 9580, 5.13.1), with which anything can be done before it is
/// made a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seipd1 {
    /// The ciphertext, prefix and code included.
    pub ciphertext: Vec<u8>,
}

impl Seipd1 {
    /// Encrypts packets.
    pub fn new(key: SessionKey, plaintext: &[u8], mdc: Mdc) -> Seipd1 {
        let mut data = [random_prefix(), plaintext.to_vec()].concat();
        if mdc != Mdc::Missing {
            data.extend_from_slice(&[0xD3, 0x14]);
            let mut digest = Hash::SHA1.digest(&data);
            digest[0] ^= u8::from(mdc == Mdc::Wrong);
            data.extend(digest);
        }
        Seipd1 { ciphertext: key.cfb(&data) }
    }

    /// Makes the packet.
    pub fn packet(&self) -> Packet {
        Packet::new(18, [&[1][..], &self.ciphertext].concat())
    }
}

/// The mode of authenticated encryption that this crate writes: GCM, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aead(pub u8);

impl Aead {
    /// Galois/Counter mode.
    pub const GCM: Aead = Aead(3);
}

/// Encrypted data in authenticated chunks (RFC 9580, 5.13.2); a test can drop, repeat, exchange and change them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seipd2 {
    /// The number of the mode that the header names.
    pub aead: Aead,
    /// A chunk has `1 << (chunk_size + 6)` bytes.
    pub chunk_size: u8,
    /// The salt.
    pub salt: [u8; 32],
    /// The chunks, each with its tag.
    pub chunks: Vec<Vec<u8>>,
    /// The tag at the end, over the length of all; empty for a message cut off.
    pub last_tag: Vec<u8>,
}

impl Seipd2 {
    /// Encrypts packets.
    pub fn new(key: SessionKey, plaintext: &[u8], chunk_size: u8) -> Seipd2 {
        let salt = [0x77; 32];
        let header = [0xD2, 2, AES256, Aead::GCM.0, chunk_size];
        let derived = expand::<36>(&salt, &key.0, &header);
        let (key, vector) = derived.split_at(32);
        let seal = |number: u64, chunk: &[u8], ad: &[u8]| {
            let mut nonce = [0; 12];
            nonce[..4].copy_from_slice(&vector[..4]);
            nonce[4..].copy_from_slice(&number.to_be_bytes());
            gcm(key, nonce, ad, chunk)
        };
        let size = 1_usize << (chunk_size + 6);
        let chunks: Vec<_> =
            (0..).zip(plaintext.chunks(size)).map(|(number, chunk)| seal(number, chunk, &header)).collect();
        let length = (plaintext.len() as u64).to_be_bytes();
        let last_tag = seal(chunks.len() as u64, &[], &[&header[..], &length].concat());
        Seipd2 { aead: Aead::GCM, chunk_size, salt, chunks, last_tag }
    }

    /// Makes the packet.
    pub fn packet(&self) -> Packet {
        let header = [&[2, AES256, self.aead.0, self.chunk_size][..], &self.salt].concat();
        Packet::new(18, [header, self.chunks.concat(), self.last_tag.clone()].concat())
    }
}

/// Makes a packet that gives a session key to those who know the password: version 4 for SEIPD version 1 and data
/// without protection, version 6 for SEIPD version 2 (RFC 9580, 5.3).
///
/// # Panics
///
/// If the version is another one.
pub fn password_packet(version: u8, password: &str, key: SessionKey) -> Packet {
    let salt = [0x5C; 8];
    // 65,536 bytes are digested.
    let specifier = [&[3, Hash::SHA256.0][..], &salt, &[0x60]].concat();
    let repeated: Vec<u8> = salt.iter().chain(password.as_bytes()).copied().cycle().take(65_536).collect();
    let derived = Hash::SHA256.digest(&repeated);
    let body = match version {
        4 => {
            let derived = SessionKey(std::array::from_fn(|place| derived[place]));
            [&[4, AES256][..], &specifier, &derived.cfb(&[&[AES256][..], &key.0].concat())].concat()
        }
        6 => {
            let info = [0xC3, 6, AES256, Aead::GCM.0];
            let derived = expand::<32>(&[], &derived, &info);
            let nonce = [0x21; 12];
            let sealed = gcm(&derived, nonce, &info, &key.0);
            let length = specifier.len() as u8;
            let count = 3 + length + nonce.len() as u8;
            let head = [6, count, AES256, Aead::GCM.0, length];
            [&head[..], &specifier, &nonce, &sealed].concat()
        }
        other => panic!("version {other} is not written"),
    };
    Packet::new(3, body)
}

/// Makes a version 3 packet that gives a session key to the owner of an RSA key (RFC 9580, 5.1).
///
/// # Panics
///
/// If it is no RSA key.
pub fn recipient_packet(recipient: &Key, key: SessionKey) -> Packet {
    let (n, e) = recipient.rsa_public();
    let public: PublicEncryptingKey =
        RsaPublicKeyComponents { n, e }.try_into().expect("an RSA key that can encrypt");
    let public = Pkcs1PublicEncryptingKey::new(public).expect("an RSA key that can encrypt");
    let sum = key.0.iter().fold(0_u16, |sum, &byte| sum.wrapping_add(byte.into()));
    let plain = [&[AES256][..], &key.0, &sum.to_be_bytes()].concat();
    let mut cipher = vec![0; public.ciphertext_size()];
    let cipher = public.encrypt(&plain, &mut cipher).expect("a session key is short");
    Packet::new(1, [&[3][..], &recipient.key_id(), &[recipient.algorithm], &mpi(cipher)].concat())
}

fn gcm(key: &[u8], nonce: [u8; 12], ad: &[u8], plaintext: &[u8]) -> Vec<u8> {
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).expect("32 bytes are a key"));
    let mut data = plaintext.to_vec();
    let nonce = Nonce::assume_unique_for_key(nonce);
    key.seal_in_place_append_tag(nonce, Aad::from(ad), &mut data).expect("chunks are short");
    data
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// Derives bytes with HKDF and SHA-256.
fn expand<const N: usize>(salt: &[u8], key: &[u8], info: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    let derived = Salt::new(HKDF_SHA256, salt).extract(key);
    let filled = derived.expand(&[info], Length(N)).and_then(|derived| derived.fill(&mut out));
    filled.expect("a few bytes can be derived");
    out
}
