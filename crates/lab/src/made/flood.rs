//! A flooded certificate, as vandals made them on the key servers in 2019.

use std::io::{self, Write};

use super::dice::Dice;
use super::key::{Draft, Hash, Key, Subject, forge};
use super::packet::{Tag, packet};

/// Who the flood's signatures say they are by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloodIssuer {
    /// A different key for each, none of which exists.
    Unknown,
    /// The certificate itself: each has to be verified to be found bad.
    Itself,
}

const USER_ID: &str = "Flooded <flooded@example.org>";

/// A certificate with one user ID, one good self-signature, and any number of well-formed signatures that
/// verify under no key.
#[derive(Clone, Copy, Debug)]
pub struct Flood {
    /// How many of those.
    pub signatures: u64,
    /// Who they say they are by.
    pub issuer: FloodIssuer,
    /// What chooses the keys and the values.
    pub seed: u64,
}

impl Flood {
    /// Writes the certificate as binary packets.
    ///
    /// # Errors
    ///
    /// Those of `output`.
    pub fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let key = Key::new(self.seed, 0);
        let mut bytes = Vec::new();
        packet(&mut bytes, Tag::PublicKey, &key.body);
        packet(&mut bytes, Tag::UserId, USER_ID.as_bytes());
        let draft = Draft { kind: 0x13, made: key.created, hash: Hash::Sha256, more: &[] };
        packet(&mut bytes, Tag::Signature, &key.sign(Subject::UserId(&key, USER_ID), &draft));
        for number in 0..self.signatures {
            output.write_all(&bytes)?;
            bytes.clear();
            packet(&mut bytes, Tag::Signature, &self.signature(&key, number));
        }
        output.write_all(&bytes)?;
        output.flush()
    }

    fn signature(&self, key: &Key, number: u64) -> Vec<u8> {
        let mut dice = Dice::new(self.seed, number, "flood");
        let issuer = match self.issuer {
            FloodIssuer::Itself => key.fingerprint,
            FloodIssuer::Unknown => {
                *dice.bytes().first_chunk().expect("a fingerprint is shorter than a throw of the dice")
            }
        };
        // From 2021 on, a second apart.
        let draft = Draft { kind: 0x10, made: 1_609_459_200 + number, hash: Hash::Sha256, more: &[] };
        forge(&issuer, Subject::UserId(key, USER_ID), &draft, &mut dice)
    }
}
