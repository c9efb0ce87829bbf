//! Keyrings for trust on first use: keys that share mail addresses, some of them owned by the same person.

use std::io::{self, Write};

use super::Web;
use super::in_order;
use super::key::{DAY, Draft, Key, Subject, forge};
use super::packet::{Tag, packet, subpacket};
use super::seeded_random::SeededRandom;

/// The parameters of such a keyring, which determine every byte of it. Its time is [`Web::NOW`].
///
/// The last user ID of each key has a shared address; the others have not. (If another user ID followed the shared one,
/// GnuPG 2.2 would not see a conflict, whatever the certifications.) Keys 0 and 1 certify others, and are meant for
/// ultimate trust.
#[derive(Clone, Copy, Debug)]
pub struct SharedAddresses {
    /// The number of keys, at least two.
    pub keys: u64,
    /// The number of shared addresses.
    pub addresses: u64,
    /// Whether to add forged certifications: by all keys with the same address, and by keys 0 and 1.
    pub forged: bool,
    /// The seed of everything else.
    pub seed: u64,
}

/// The status of a user ID or a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Valid,
    Expired,
    Revoked,
}

/// A key of the keyring.
struct SharingKey {
    keyring: SharedAddresses,
    number: u64,
    key: Key,
    user_ids: Vec<String>,
    /// The statuses of the key and of its last user ID.
    statuses: [Status; 2],
}

/// The number of keys, from 0 on, that are meant for ultimate trust.
const CERTIFIERS: u64 = 2;

impl SharedAddresses {
    /// Writes the certificates as binary packets, using every core.
    ///
    /// # Errors
    ///
    /// Those of `output`.
    pub fn write(&self, output: &mut impl Write) -> io::Result<()> {
        in_order::write(self.keys, |number| SharingKey::new(self, number).bytes(), output)
    }

    /// Returns the fingerprint of the key with this number in upper-case hexadecimal.
    pub fn fingerprint(&self, number: u64) -> String {
        Key::new(self.seed, number).fingerprint_text()
    }

    /// Chooses the shared address of a key; half of the pairs (2n, 2n + 1) have the same one.
    fn address_of(&self, number: u64) -> u64 {
        let together = SeededRandom::new(self.seed, number / 2, "together").once_in(2);
        let chooser = if together { number | 1 } else { number };
        SeededRandom::new(self.seed, chooser, "shared address").below(self.addresses)
    }

    /// Chooses whether one key certifies another one with the same address. Only pairs certify each other: GnuPG's
    /// result for longer chains depends on the order in which it sees them.
    fn certifies(&self, one: u64, other: u64) -> bool {
        let is_pair = one / 2 == other / 2;
        let both = is_pair && SeededRandom::new(self.seed, one / 2, "cross-signatures").once_in(2);
        let mut random = SeededRandom::new(self.seed, one << 32 | other, "certification");
        both || ((is_pair || one < other) && random.once_in(if one < CERTIFIERS { 3 } else { 6 }))
    }
}

impl SharingKey {
    fn new(keyring: &SharedAddresses, number: u64) -> SharingKey {
        let mut random = SeededRandom::new(keyring.seed, number, "rival");
        let mut status = || match random.below(12) {
            0 => Status::Revoked,
            1 => Status::Expired,
            _ => Status::Valid,
        };
        let statuses = [status(), status()];
        let own = (0..random.below(3)).map(|position| format!("Own <own.{number}.{position}@example.org>"));
        let mut user_ids: Vec<String> = own.collect();
        let address = keyring.address_of(number);
        user_ids.push(match (address % 4, random.below(3)) {
            (0, 0) => format!("RIVAL {address}"),
            (0, _) => format!("Rival {address}"),
            (_, 0) => format!("rival.{address}@example.org"),
            (_, 1) => format!("Rival <Rival.{address}@Example.ORG>"),
            (_, _) => format!("Number {number} <rival.{address}@example.org>"),
        });
        SharingKey { keyring: *keyring, number, key: Key::new(keyring.seed, number), user_ids, statuses }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut output = Vec::with_capacity(4096);
        packet(&mut output, Tag::PublicKey, &self.key.body);
        if self.statuses[0] == Status::Revoked {
            let revocation = self.draft(0x20, &[]);
            packet(&mut output, Tag::Signature, &self.key.sign(Subject::Key(&self.key), &revocation));
        }
        for (position, user_id) in self.user_ids.iter().enumerate() {
            packet(&mut output, Tag::UserId, user_id.as_bytes());
            let is_shared = position + 1 == self.user_ids.len();
            let subject = Subject::UserId(&self.key, user_id);
            let mut sign = |key: &Key, kind, more: &[u8]| {
                packet(&mut output, Tag::Signature, &key.sign(subject, &self.draft(kind, more)));
            };
            sign(&self.key, 0x13, &self.preferences(is_shared));
            if is_shared && self.statuses[1] == Status::Revoked {
                sign(&self.key, 0x30, &[]);
            }
            for other in (0..self.keyring.keys).filter(|&other| self.is_certified_by(other, is_shared)) {
                let kind = 0x10 + (other % 4) as u8;
                sign(&Key::new(self.keyring.seed, other), kind, &[]);
            }
            if self.keyring.forged {
                self.forge_certifications(subject, &mut output);
            }
        }
        output
    }

    /// Chooses whether a key certifies a user ID.
    fn is_certified_by(&self, other: u64, is_shared: bool) -> bool {
        let SharingKey { keyring, number, .. } = self;
        if other == *number {
            return false;
        }
        let mut random = SeededRandom::new(keyring.seed, number << 32 | other, "by whom");
        match is_shared && keyring.address_of(other) == keyring.address_of(*number) {
            true => keyring.certifies(other, *number),
            false => random.once_in(if other < CERTIFIERS { 4 } else { 40 }),
        }
    }

    /// Appends forged certifications by the keys with the same address, and by keys 0 and 1.
    fn forge_certifications(&self, subject: Subject<'_>, output: &mut Vec<u8>) {
        let SharingKey { keyring, number, .. } = self;
        for other in (0..keyring.keys).filter(|other| other != number) {
            if other < CERTIFIERS || keyring.address_of(other) == keyring.address_of(*number) {
                let mut random = SeededRandom::new(keyring.seed, number << 32 | other, "forgery");
                let issuer = Key::new(keyring.seed, other).fingerprint;
                packet(output, Tag::Signature, &forge(&issuer, subject, &self.draft(0x10, &[]), &mut random));
            }
        }
    }

    /// Returns the fields of a signature, made a day before [`Web::NOW`], after all keys.
    fn draft<'d>(&self, kind: u8, more: &'d [u8]) -> Draft<'d> {
        let made = if kind == 0x13 { self.key.created } else { Web::NOW - DAY };
        Draft::new(kind, made, more)
    }

    fn preferences(&self, is_shared: bool) -> Vec<u8> {
        let mut area = Vec::new();
        subpacket(&mut area, 27, &[0x03]);
        if self.statuses[0] == Status::Expired {
            subpacket(&mut area, 9, &(DAY as u32).to_be_bytes());
        }
        if is_shared && self.statuses[1] == Status::Expired {
            subpacket(&mut area, 3, &(2 * DAY as u32).to_be_bytes());
        }
        area
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_keyring_and_forgeries_only_add_to_it() {
        let written = |keyring: SharedAddresses| {
            let mut bytes = Vec::new();
            keyring.write(&mut bytes).unwrap();
            bytes
        };
        let keyring = SharedAddresses { keys: 12, addresses: 4, forged: false, seed: 5 };
        assert_eq!(written(keyring), written(keyring));
        assert!(written(SharedAddresses { forged: true, ..keyring }).len() > written(keyring).len());
    }
}
