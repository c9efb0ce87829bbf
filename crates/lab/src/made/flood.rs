//! A certificate flooded with signatures, as on the key servers in 2019.

use std::io::{self, Write};

use super::key::{Draft, Key, Subject, forge};
use super::packet::{Tag, packet};
use super::seeded_random::SeededRandom;

/// The issuer that the flood's signatures name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FloodIssuer {
    /// A different key for each, none of which exists
    Unknown,
    // Each signature has to be verified.
    /// The certificate itself
    Itself,
}

const USER_ID: &str = "Flooded <flooded@example.org>";

/// A certificate with one user ID, one good self-signature, and any number of well-formed signatures that
/// verify under no key.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Flood {
    /// How many signatures
    pub signatures: u64,
    /// Who they say they are by
    #[arg(long, value_enum, default_value_t = FloodIssuer::Unknown)]
    pub by: FloodIssuer,
    /// Another number makes other keys
    #[arg(long, default_value_t = 1)]
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
        let draft = Draft::new(0x13, key.created, &[]);
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
        let mut random = SeededRandom::new(self.seed, number, "flood");
        let issuer = match self.by {
            FloodIssuer::Itself => key.fingerprint,
            FloodIssuer::Unknown => {
                *random.bytes().first_chunk().expect("a fingerprint has fewer than 32 bytes")
            }
        };
        // One second apart, from 2021 on.
        let draft = Draft::new(0x10, 1_609_459_200 + number, &[]);
        forge(&issuer, Subject::UserId(key, USER_ID), &draft, &mut random)
    }
}
