//! Keys that follow from a seed, and the signatures they make.

use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};

use super::dice::Dice;
use super::packet::{mpi, subpacket};

/// The first of the days on which made keys were made: 2010-01-01.
const FIRST_DAY: u64 = 1_262_304_000;
/// They were made within fifteen years, so that all are older than any test's clock.
const DAYS: u64 = 15 * 365;
pub(super) const DAY: u64 = 86_400;

/// A version 4 Ed25519 key with its secret.
#[derive(Debug)]
pub(super) struct Key {
    pair: Ed25519KeyPair,
    /// When it was made, in seconds since 1970.
    pub(super) created: u64,
    pub(super) body: Vec<u8>,
    pub(super) fingerprint: [u8; 20],
}

/// What a signature is on (RFC 9580 section 5.2.4).
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject<'a> {
    Key(&'a Key),
    UserId(&'a Key, &'a str),
    Attribute(&'a Key, &'a [u8]),
    Subkey(&'a Key, &'a Key),
}

/// The hash of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Sha1,
    Sha256,
}

/// A version 4 signature up to its value (RFC 9580 section 5.2.3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft<'a> {
    /// The signature type (RFC 9580 section 5.2.1).
    pub(super) kind: u8,
    /// Seconds since 1970.
    pub(super) made: u64,
    pub(super) hash: Hash,
    /// Subpackets of the hashed area behind issuer fingerprint and creation time.
    pub(super) more: &'a [u8],
}

impl Key {
    /// Makes the primary key of the certificate with this number.
    pub(super) fn new(seed: u64, number: u64) -> Key {
        let mut dice = Dice::new(seed, number, "primary key");
        let secret = dice.bytes();
        Key::of(&secret, FIRST_DAY + dice.below(DAYS * DAY))
    }

    /// Makes a subkey of the certificate with this number, as old as its primary key.
    pub(super) fn subkey(seed: u64, number: u64, created: u64) -> Key {
        Key::of(&Dice::new(seed, number, "subkey").bytes(), created)
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

/// Makes a well-formed signature whose value is chance. Its first two digest bytes are right: telling that it is
/// bad takes the whole verification.
pub(super) fn forge(issuer: &[u8; 20], subject: Subject<'_>, draft: &Draft<'_>, dice: &mut Dice) -> Vec<u8> {
    let head = draft.head(issuer);
    let digest = subject.digest(&head, draft.hash);
    close(head, issuer, &digest, &[dice.bytes(), dice.bytes()].concat())
}

impl Draft<'_> {
    /// Returns the signature up to the end of its hashed area.
    fn head(&self, issuer: &[u8; 20]) -> Vec<u8> {
        let mut hashed = Vec::with_capacity(64);
        let mut fingerprint = vec![4];
        fingerprint.extend_from_slice(issuer);
        subpacket(&mut hashed, 33, &fingerprint);
        subpacket(&mut hashed, 2, &(self.made as u32).to_be_bytes());
        hashed.extend_from_slice(self.more);
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
    /// Hashes what a signature on this signs.
    fn digest(self, head: &[u8], hash: Hash) -> Vec<u8> {
        let mut context = Context::new(match hash {
            Hash::Sha1 => &SHA1_FOR_LEGACY_USE_ONLY,
            Hash::Sha256 => &SHA256,
        });
        match self {
            Subject::Key(key) => hash_key(&mut context, key),
            Subject::UserId(key, user_id) => {
                hash_key(&mut context, key);
                hash_component(&mut context, 0xB4, user_id.as_bytes());
            }
            Subject::Attribute(key, attribute) => {
                hash_key(&mut context, key);
                hash_component(&mut context, 0xD1, attribute);
            }
            Subject::Subkey(key, subkey) => {
                hash_key(&mut context, key);
                hash_key(&mut context, subkey);
            }
        }
        context.update(head);
        context.update(&[4, 0xFF]);
        context.update(&(head.len() as u32).to_be_bytes());
        context.finish().as_ref().to_vec()
    }
}

fn hash_key(context: &mut Context, key: &Key) {
    context.update(&[0x99]);
    context.update(&(key.body.len() as u16).to_be_bytes());
    context.update(&key.body);
}

fn hash_component(context: &mut Context, prefix: u8, bytes: &[u8]) {
    context.update(&[prefix]);
    context.update(&(bytes.len() as u32).to_be_bytes());
    context.update(bytes);
}

/// Appends the unhashed area (the issuer's key ID), the digest's first bytes and the signature's value.
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
    let mut hashed = vec![0x99];
    hashed.extend_from_slice(&(body.len() as u16).to_be_bytes());
    hashed.extend_from_slice(body);
    let digest = digest(&SHA1_FOR_LEGACY_USE_ONLY, &hashed);
    digest.as_ref().try_into().expect("SHA-1 has 20 bytes")
}
