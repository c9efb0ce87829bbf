//! One made certificate.

use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};

use super::Recipe;
use super::dice::Dice;
use super::packet::{Tag, mpi, packet, subpacket};
use super::person::Person;

/// The first of the days on which made keys were made: 2010-01-01.
const FIRST_DAY: u64 = 1_262_304_000;
/// They were made within fifteen years, so that all are older than any test's clock.
const DAYS: u64 = 15 * 365;
const DAY: u64 = 86_400;

/// Everybody certifies at most this many others.
const MOST_CERTIFICATIONS: u64 = 6;

/// One certificate of a made keyring.
#[derive(Debug)]
pub struct Certificate {
    recipe: Recipe,
    number: u64,
    key: Key,
    person: Person,
}

impl Certificate {
    pub(super) fn new(recipe: &Recipe, number: u64) -> Certificate {
        Certificate {
            recipe: *recipe,
            number,
            key: Key::new(recipe.seed, number),
            person: Person::new(recipe.seed, number),
        }
    }

    /// Returns the fingerprint in upper-case hexadecimal.
    pub fn fingerprint(&self) -> String {
        self.key.fingerprint.iter().map(|byte| format!("{byte:02X}")).collect()
    }

    /// Returns the long key ID in upper-case hexadecimal.
    pub fn key_id(&self) -> String {
        self.fingerprint().split_off(24)
    }

    /// Returns the mail address of the first user ID. No other certificate of the keyring has it.
    pub fn mail(&self) -> String {
        self.person.mail()
    }

    /// Returns the surname, which about one in 64,000 other people have too.
    pub fn surname(&self) -> &str {
        &self.person.surname
    }

    /// Returns the certificate as binary packets.
    pub fn bytes(&self) -> Vec<u8> {
        let mut output = Vec::with_capacity(1024);
        packet(&mut output, Tag::PublicKey, &self.key.body);
        let certifiers = self.certifiers();
        for (position, user_id) in self.person.user_ids().iter().enumerate() {
            packet(&mut output, Tag::UserId, user_id.as_bytes());
            let preferences = self_signature(position == 0);
            packet(&mut output, Tag::Signature, &self.key.certify(&self.key, user_id, 0x13, 0, &preferences));
            // Those who certify do so on the first user ID, every second of them on both.
            for certifier in certifiers.iter().step_by(position + 1) {
                packet(&mut output, Tag::Signature, &certifier.certify(&self.key, user_id, 0x10, DAY, &[]));
            }
        }
        output
    }

    /// Returns the keys that certify this certificate: none to five different ones, never its own.
    fn certifiers(&self) -> Vec<Key> {
        let mut dice = Dice::new(self.recipe.seed, self.number, "certifiers");
        let count = dice.below(MOST_CERTIFICATIONS);
        let mut numbers: Vec<u64> = (0..count).map(|_| dice.below(self.recipe.certificates)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.retain(|&number| number != self.number);
        numbers.into_iter().map(|number| Key::new(self.recipe.seed, number)).collect()
    }
}

/// Returns the subpackets of a self-signature as GnuPG 2.2 makes it: key flags (certify, sign), preferred
/// ciphers, digests and compressions, features (modification detection), and which user ID is the primary one.
fn self_signature(is_primary: bool) -> Vec<u8> {
    let mut area = Vec::new();
    subpacket(&mut area, 27, &[0x03]);
    subpacket(&mut area, 11, &[9, 8, 7, 2]);
    subpacket(&mut area, 21, &[10, 9, 8, 11, 2]);
    subpacket(&mut area, 22, &[2, 3, 1]);
    subpacket(&mut area, 30, &[0x01]);
    if is_primary {
        subpacket(&mut area, 25, &[1]);
    }
    area
}

/// A primary key with its secret.
#[derive(Debug)]
pub(super) struct Key {
    pair: Ed25519KeyPair,
    created: u64,
    pub(super) body: Vec<u8>,
    pub(super) fingerprint: [u8; 20],
}

impl Key {
    /// Makes the key of the certificate with this number.
    pub(super) fn new(seed: u64, number: u64) -> Key {
        let mut dice = Dice::new(seed, number, "primary key");
        let pair = Ed25519KeyPair::from_seed_unchecked(&dice.bytes()).expect("every 32 bytes are a seed");
        let created = FIRST_DAY + dice.below(DAYS * DAY);
        let body = key_body(created, pair.public_key().as_ref());
        let fingerprint = fingerprint(&body);
        Key { pair, created, body, fingerprint }
    }

    /// Makes a version 4 signature on a user ID of `subject`, made `later` seconds after the younger of the two
    /// keys, with `more` subpackets in the hashed area (RFC 9580 sections 5.2.3 and 5.2.4).
    pub(super) fn certify(&self, subject: &Key, user_id: &str, kind: u8, later: u64, more: &[u8]) -> Vec<u8> {
        let made = (self.created.max(subject.created) + later) as u32;
        let mut signature = signature_head(kind, &self.fingerprint, made, more);
        let digest = Key::digest(subject, user_id, &signature);
        let value = self.pair.sign(&digest);
        close(&mut signature, &self.fingerprint, &digest, value.as_ref());
        signature
    }

    /// Hashes what a signature on a user ID signs.
    pub(super) fn digest(subject: &Key, user_id: &str, head: &[u8]) -> Vec<u8> {
        let mut context = Context::new(&SHA256);
        context.update(&[0x99]);
        context.update(&(subject.body.len() as u16).to_be_bytes());
        context.update(&subject.body);
        context.update(&[0xB4]);
        context.update(&(user_id.len() as u32).to_be_bytes());
        context.update(user_id.as_bytes());
        context.update(head);
        context.update(&[4, 0xFF]);
        context.update(&(head.len() as u32).to_be_bytes());
        context.finish().as_ref().to_vec()
    }
}

/// Appends the unhashed area (the issuer's key ID), the digest's first bytes and the signature's value.
pub(super) fn close(signature: &mut Vec<u8>, issuer: &[u8; 20], digest: &[u8], value: &[u8]) {
    let mut unhashed = Vec::new();
    subpacket(&mut unhashed, 16, &issuer[12..]);
    signature.extend_from_slice(&(unhashed.len() as u16).to_be_bytes());
    signature.extend_from_slice(&unhashed);
    signature.extend_from_slice(&digest[..2]);
    let (r, s) = value.split_at(32);
    mpi(signature, r);
    mpi(signature, s);
}

/// Returns a signature up to the end of its hashed area: EdDSA, SHA-256, issuer fingerprint, creation time.
pub(super) fn signature_head(kind: u8, issuer: &[u8; 20], made: u32, more: &[u8]) -> Vec<u8> {
    let mut hashed = Vec::with_capacity(64);
    let mut fingerprint = vec![4];
    fingerprint.extend_from_slice(issuer);
    subpacket(&mut hashed, 33, &fingerprint);
    subpacket(&mut hashed, 2, &made.to_be_bytes());
    hashed.extend_from_slice(more);
    let mut head = vec![4, kind, 22, 8];
    head.extend_from_slice(&(hashed.len() as u16).to_be_bytes());
    head.extend_from_slice(&hashed);
    head
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
