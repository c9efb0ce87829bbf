//! Keyrings for trust on first use: keys that came with the same addresses, some of them one person's, some not.

use std::io::{self, Write};

use super::Web;
use super::dice::Dice;
use super::in_order;
use super::key::{DAY, Draft, Hash, Key, Subject, forge};
use super::packet::{Tag, packet, subpacket};

/// What determines such a keyring, to the byte; its clock shows [`Web::NOW`].
///
/// The last user ID of each key is one that other keys have as well, those before it are its own. (GnuPG 2.2 takes keys
/// for one person's where another user ID follows, whoever certified them.) Keys 0 and 1 are for somebody to trust
/// ultimately: they certify others.
#[derive(Clone, Copy, Debug)]
pub struct Rivals {
    /// How many keys, at least two.
    pub keys: u64,
    /// How many addresses they share.
    pub addresses: u64,
    /// Whether everybody seems to have certified everybody with the same address, and keys 0 and 1 everybody.
    pub forged: bool,
    /// What chooses everything else.
    pub seed: u64,
}

/// What became of a user ID or a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Holds,
    Expired,
    Revoked,
}

/// A key of the keyring.
struct Rival {
    rivals: Rivals,
    number: u64,
    key: Key,
    user_ids: Vec<String>,
    /// Of the key, and of its last user ID.
    fates: [Fate; 2],
}

/// The keys that certify others as if they were somebody's own.
const CERTIFIERS: u64 = 2;

impl Rivals {
    /// Writes the certificates as binary packets, using every core.
    ///
    /// # Errors
    ///
    /// Those of `output`.
    pub fn write(&self, output: &mut impl Write) -> io::Result<()> {
        in_order::write(self.keys, |number| Rival::new(self, number).bytes(), output)
    }

    /// Returns the fingerprint of the key with this number in upper-case hexadecimal.
    pub fn fingerprint(&self, number: u64) -> String {
        Key::new(self.seed, number).fingerprint_text()
    }

    /// Chooses which address a key shares; half of the pairs have the same one.
    fn address_of(&self, number: u64) -> u64 {
        let together = Dice::new(self.seed, number / 2, "together").once_in(2);
        let chooser = if together { number | 1 } else { number };
        Dice::new(self.seed, chooser, "shared address").below(self.addresses)
    }

    /// Chooses whether one key certifies another that has the same address. Only pairs certify each other: what GnuPG
    /// makes of longer chains depends on which links it knew when it met the ends.
    fn certifies(&self, one: u64, other: u64) -> bool {
        let is_pair = one / 2 == other / 2;
        let both = is_pair && Dice::new(self.seed, one / 2, "cross-signatures").once_in(2);
        let mut dice = Dice::new(self.seed, one << 32 | other, "certification");
        both || ((is_pair || one < other) && dice.once_in(if one < CERTIFIERS { 3 } else { 6 }))
    }
}

impl Rival {
    fn new(rivals: &Rivals, number: u64) -> Rival {
        let mut dice = Dice::new(rivals.seed, number, "rival");
        let mut fate = || match dice.below(12) {
            0 => Fate::Revoked,
            1 => Fate::Expired,
            _ => Fate::Holds,
        };
        let fates = [fate(), fate()];
        let own = (0..dice.below(3)).map(|position| format!("Own <own.{number}.{position}@example.org>"));
        let mut user_ids: Vec<String> = own.collect();
        let address = rivals.address_of(number);
        user_ids.push(match (address % 4, dice.below(3)) {
            (0, 0) => format!("RIVAL {address}"),
            (0, _) => format!("Rival {address}"),
            (_, 0) => format!("rival.{address}@example.org"),
            (_, 1) => format!("Rival <Rival.{address}@Example.ORG>"),
            (_, _) => format!("Number {number} <rival.{address}@example.org>"),
        });
        Rival { rivals: *rivals, number, key: Key::new(rivals.seed, number), user_ids, fates }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut output = Vec::with_capacity(4096);
        packet(&mut output, Tag::PublicKey, &self.key.body);
        if self.fates[0] == Fate::Revoked {
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
            if is_shared && self.fates[1] == Fate::Revoked {
                sign(&self.key, 0x30, &[]);
            }
            for other in (0..self.rivals.keys).filter(|&other| self.is_certified_by(other, is_shared)) {
                let kind = 0x10 + (other % 4) as u8;
                sign(&Key::new(self.rivals.seed, other), kind, &[]);
            }
            if self.rivals.forged {
                self.forge_certifications(subject, &mut output);
            }
        }
        output
    }

    /// Chooses who certifies a user ID.
    fn is_certified_by(&self, other: u64, is_shared: bool) -> bool {
        let Rival { rivals, number, .. } = self;
        if other == *number {
            return false;
        }
        let mut dice = Dice::new(rivals.seed, number << 32 | other, "by whom");
        match is_shared && rivals.address_of(other) == rivals.address_of(*number) {
            true => rivals.certifies(other, *number),
            false => dice.once_in(if other < CERTIFIERS { 4 } else { 40 }),
        }
    }

    /// Appends certifications by everybody who matters that nobody made.
    fn forge_certifications(&self, subject: Subject<'_>, output: &mut Vec<u8>) {
        let Rival { rivals, number, .. } = self;
        for other in (0..rivals.keys).filter(|other| other != number) {
            if other < CERTIFIERS || rivals.address_of(other) == rivals.address_of(*number) {
                let mut dice = Dice::new(rivals.seed, number << 32 | other, "forgery");
                let issuer = Key::new(rivals.seed, other).fingerprint;
                packet(output, Tag::Signature, &forge(&issuer, subject, &self.draft(0x10, &[]), &mut dice));
            }
        }
    }

    /// Returns a signature's beginning; a day before the clock, so that all keys are older.
    fn draft<'d>(&self, kind: u8, more: &'d [u8]) -> Draft<'d> {
        let made = if kind == 0x13 { self.key.created } else { Web::NOW - DAY };
        Draft { kind, made, hash: Hash::Sha256, more }
    }

    fn preferences(&self, is_shared: bool) -> Vec<u8> {
        let mut area = Vec::new();
        subpacket(&mut area, 27, &[0x03]);
        if self.fates[0] == Fate::Expired {
            subpacket(&mut area, 9, &(DAY as u32).to_be_bytes());
        }
        if is_shared && self.fates[1] == Fate::Expired {
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
        let written = |rivals: Rivals| {
            let mut bytes = Vec::new();
            rivals.write(&mut bytes).unwrap();
            bytes
        };
        let rivals = Rivals { keys: 12, addresses: 4, forged: false, seed: 5 };
        assert_eq!(written(rivals), written(rivals));
        assert!(written(Rivals { forged: true, ..rivals }).len() > written(rivals).len());
    }
}
