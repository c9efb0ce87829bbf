//! One made certificate.

use super::key::{DAY, Draft, Key, Subject};
use super::packet::{Tag, packet, subpacket};
use super::person::Person;
use super::seeded_random::SeededRandom;

/// Every certificate has fewer certifiers than this.
const CERTIFICATION_BOUND: u64 = 6;

/// One certificate of a made keyring.
#[derive(Debug)]
pub struct Certificate {
    seed: u64,
    number: u64,
    /// How many certificates the keyring has.
    count: u64,
    key: Key,
    person: Person,
}

impl Certificate {
    /// Makes the certificate with this number, of a keyring with `count` certificates.
    pub(super) fn new(seed: u64, number: u64, count: u64) -> Certificate {
        Certificate { seed, number, count, key: Key::new(seed, number), person: Person::new(seed, number) }
    }

    /// Returns the fingerprint in upper-case hexadecimal.
    pub fn fingerprint(&self) -> String {
        self.key.fingerprint_text()
    }

    /// Returns the long key ID in upper-case hexadecimal.
    pub fn key_id(&self) -> String {
        self.fingerprint().split_off(24)
    }

    /// Returns the mail address of the first user ID. No other certificate of the keyring has it.
    pub fn mail(&self) -> String {
        self.person.mail()
    }

    /// Returns the surname, of which there are 64,000.
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
            packet(&mut output, Tag::Signature, &self_signature(&self.key, user_id, position == 0));
            // All certifiers certify the first user ID, every second one both.
            for certifier in certifiers.iter().step_by(position + 1) {
                packet(&mut output, Tag::Signature, &certification(certifier, &self.key, user_id));
            }
        }
        output
    }

    /// Returns the keys that certify this certificate: up to five different ones, not its own.
    fn certifiers(&self) -> Vec<Key> {
        let mut random = SeededRandom::new(self.seed, self.number, "certifiers");
        let count = random.below(CERTIFICATION_BOUND);
        let mut numbers: Vec<u64> = (0..count).map(|_| random.below(self.count)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.retain(|&number| number != self.number);
        numbers.into_iter().map(|number| Key::new(self.seed, number)).collect()
    }
}

/// Makes a self-signature on a user ID.
fn self_signature(key: &Key, user_id: &str, is_primary: bool) -> Vec<u8> {
    let more = preferences(is_primary);
    key.sign(Subject::UserId(key, user_id), &Draft::new(0x13, key.created, &more))
}

/// Makes a certification by another key, a day after the younger of the two was made.
fn certification(certifier: &Key, key: &Key, user_id: &str) -> Vec<u8> {
    let made = key.created.max(certifier.created) + DAY;
    certifier.sign(Subject::UserId(key, user_id), &Draft::new(0x10, made, &[]))
}

/// Returns the subpackets of a self-signature of GnuPG 2.2: key flags (certify, sign), preferred ciphers, hash
/// algorithms and compressions, features (modification detection), and the primary user ID flag.
fn preferences(is_primary: bool) -> Vec<u8> {
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
