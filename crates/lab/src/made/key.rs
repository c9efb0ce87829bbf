//! Keys computed from a seed, and their signatures.

use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};

use super::packet::{mpi, subpacket};
use super::seeded_random::SeededRandom;

/// The earliest creation time of made keys: 2010-01-01.
const FIRST_DAY: u64 = 1_262_304_000;
/// The latest creation time, in days after the earliest; before the clock of every test.
const DAYS: u64 = 15 * 365;
pub(super) const DAY: u64 = 86_400;

/// A version 4 Ed25519 key with its secret.
#[derive(Debug)]
pub(super) struct Key {
    pair: Ed25519KeyPair,
    /// The creation time, in seconds since 1970.
    pub(super) created: u64,
    pub(super) body: Vec<u8>,
    pub(super) fingerprint: [u8; 20],
}

/// The subject of a signature (RFC 9580 section 5.2.4).
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject<'a> {
    Key(&'a Key),
    UserId(&'a Key, &'a str),
    Attribute(&'a Key, &'a [u8]),
    Subkey(&'a Key, &'a Key),
}

/// The hash algorithm of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Sha1,
    Sha256,
}

/// The fields of a version 4 signature without its value (RFC 9580 section 5.2.3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft<'a> {
    /// The signature type (RFC 9580 section 5.2.1).
    pub(super) kind: u8,
    /// The creation time, in seconds since 1970.
    pub(super) created: u64,
    pub(super) hash: Hash,
    /// Subpackets of the hashed area after the issuer fingerprint and the creation time.
    pub(super) subpackets: &'a [u8],
}

impl Key {
    /// Makes the primary key of the certificate with this number.
    pub(super) fn new(seed: u64, number: u64) -> Key {
        let mut random = SeededRandom::new(seed, number, "primary key");
        let secret = random.bytes();
        Key::of(&secret, FIRST_DAY + random.below(DAYS * DAY))
    }

    /// Makes a subkey of the certificate with this number, as old as its primary key.
    pub(super) fn subkey(seed: u64, number: u64, created: u64) -> Key {
        Key::of(&SeededRandom::new(seed, number, "subkey").bytes(), created)
    }

    fn of(secret: &[u8; 32], created: u64) -> Key {
        let pair = Ed25519KeyPair::from_seed_unchecked(secret).expect("every 32 bytes are a seed");
        let body = key_body(created, pair.public_key().as_ref());
        let fingerprint = fingerprint(&body);
        Key { pair, created, body, fingerprint }
    }

    /// Returns the fingerprint in upper-case hexadecimal.
    pub(super) fn fingerprint_text(&self) -> String {
        self.fingerprint.iter().map(|byte| format!("{byte:02X}")).collect()
    }

    /// Makes a signature; returns the packet's body.
    pub(super) fn sign(&self, subject: Subject<'_>, draft: &Draft<'_>) -> Vec<u8> {
        let head = draft.head(&self.fingerprint);
        let digest = subject.digest(&head, draft.hash);
        close(head, &self.fingerprint, &digest, self.pair.sign(&digest).as_ref())
    }
}

/// Makes a well-formed signature with a random value. The first two bytes of its digest are right, so that only
/// verification shows that it is bad.
pub(super) fn forge(
    issuer: &[u8; 20],
    subject: Subject<'_>,
    draft: &Draft<'_>,
    random: &mut SeededRandom,
) -> Vec<u8> {
    let head = draft.head(issuer);
    let digest = subject.digest(&head, draft.hash);
    close(head, issuer, &digest, &[random.bytes(), random.bytes()].concat())
}

impl<'a> Draft<'a> {
    /// Returns the fields of a signature with SHA-256.
    pub(super) fn new(kind: u8, created: u64, subpackets: &'a [u8]) -> Self {
        Draft { kind, created, hash: Hash::Sha256, subpackets }
    }

    /// Returns the signature up to the end of its hashed area.
    fn head(&self, issuer: &[u8; 20]) -> Vec<u8> {
        let mut hashed = Vec::with_capacity(64);
        let mut fingerprint = vec![4];
        fingerprint.extend_from_slice(issuer);
        subpacket(&mut hashed, 33, &fingerprint);
        subpacket(&mut hashed, 2, &(self.created as u32).to_be_bytes());
        hashed.extend_from_slice(self.subpackets);
        let hash = match self.hash {
            Hash::Sha1 => 2,
            Hash::Sha256 => 8,
        };
        let mut head = vec![4, self.kind, 22, hash];
        head.extend_from_slice(&(hashed.len() as u16).to_be_bytes());
        head.extend_from_slice(&hashed);
        head
    }
}

impl Subject<'_> {
    /// Returns the digest that a signature on this subject signs.
    fn digest(self, head: &[u8], hash: Hash) -> Vec<u8> {
        let mut context = Context::new(match hash {
            Hash::Sha1 => &SHA1_FOR_LEGACY_USE_ONLY,
            Hash::Sha256 => &SHA256,
        });
        let (Subject::Key(key)
        | Subject::UserId(key, _)
        | Subject::Attribute(key, _)
        | Subject::Subkey(key, _)) = self;
        hash_key(&mut context, &key.body);
        match self {
            Subject::Key(_) => {}
            Subject::UserId(_, user_id) => hash_component(&mut context, 0xB4, user_id.as_bytes()),
            Subject::Attribute(_, attribute) => hash_component(&mut context, 0xD1, attribute),
            Subject::Subkey(_, subkey) => hash_key(&mut context, &subkey.body),
        }
        context.update(head);
        context.update(&[4, 0xFF]);
        context.update(&(head.len() as u32).to_be_bytes());
        context.finish().as_ref().to_vec()
    }
}

fn hash_key(context: &mut Context, body: &[u8]) {
    context.update(&[0x99]);
    context.update(&(body.len() as u16).to_be_bytes());
    context.update(body);
}

fn hash_component(context: &mut Context, prefix: u8, bytes: &[u8]) {
    context.update(&[prefix]);
    context.update(&(bytes.len() as u32).to_be_bytes());
    context.update(bytes);
}

/// Completes a signature: the unhashed area (the issuer's key ID), the first bytes of the digest, and the value.
fn close(head: Vec<u8>, issuer: &[u8; 20], digest: &[u8], value: &[u8]) -> Vec<u8> {
    let mut signature = head;
    let mut unhashed = Vec::new();
    subpacket(&mut unhashed, 16, &issuer[12..]);
    signature.extend_from_slice(&(unhashed.len() as u16).to_be_bytes());
    signature.extend_from_slice(&unhashed);
    signature.extend_from_slice(&digest[..2]);
    let (r, s) = value.split_at(32);
    mpi(&mut signature, r);
    mpi(&mut signature, s);
    signature
}

/// Returns the body of a version 4 public key: EdDSA on Ed25519, the point in GnuPG's native form (0x40 in
/// front).
fn key_body(created: u64, public: &[u8]) -> Vec<u8> {
    const ED25519: [u8; 10] = [9, 0x2B, 6, 1, 4, 1, 0xDA, 0x47, 0x0F, 1];
    let mut body = vec![4];
    body.extend_from_slice(&(created as u32).to_be_bytes());
    body.push(22);
    body.extend_from_slice(&ED25519);
    let mut point = vec![0x40];
    point.extend_from_slice(public);
    mpi(&mut body, &point);
    body
}

/// Hashes a version 4 key's fingerprint (RFC 9580 section 5.5.4.2).
fn fingerprint(body: &[u8]) -> [u8; 20] {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    hash_key(&mut context, body);
    context.finish().as_ref().try_into().expect("SHA-1 has 20 bytes")
}
