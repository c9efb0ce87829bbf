//! Made keyrings: any number of valid certificates, the same for the same seed.
//!
//! Each certificate is a version 4 Ed25519 primary key (RFC 9580 section 5.5.2.1, in the form that GnuPG 2.2
//! reads), two user IDs with self-signatures, and certifications by up to five other keys of the same keyring.
//! Every key follows from the seed and the certificate's number, so nothing needs to be kept: a
//! certification's issuer is made again where it signs.

mod certificate;
mod dice;
mod flood;
mod in_order;
mod key;
mod packet;
mod person;
mod rivals;
mod web;

use std::io::{self, Write};

pub use certificate::Certificate;
pub use flood::{Flood, FloodIssuer};
pub use rivals::Rivals;
pub use web::Web;

/// What determines a made keyring, to the byte.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// How many certificates.
    pub certificates: u64,
    /// What chooses keys, names and who certifies whom.
    pub seed: u64,
}

impl Recipe {
    /// Returns the certificate with this number, counted from 0.
    ///
    /// # Panics
    ///
    /// If the keyring has no such certificate.
    pub fn certificate(&self, number: u64) -> Certificate {
        assert!(number < self.certificates, "certificate {number} of {}", self.certificates);
        Certificate::new(self.seed, number, self.certificates)
    }

    /// Writes the keyring as binary packets, using every core.
    ///
    /// # Errors
    ///
    /// Those of `output`.
    pub fn write(&self, output: &mut impl Write) -> io::Result<()> {
        in_order::write(self.certificates, |number| self.certificate(number).bytes(), output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyring(certificates: u64, seed: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        Recipe { certificates, seed }.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn the_same_seed_makes_the_same_keyring() {
        assert_eq!(keyring(20, 7), keyring(20, 7));
    }

    #[test]
    fn another_seed_makes_another_keyring() {
        assert_ne!(keyring(20, 7), keyring(20, 8));
    }

    #[test]
    fn the_certificates_come_in_the_order_of_their_numbers() {
        let recipe = Recipe { certificates: in_order::BATCH * 3 + 5, seed: 1 };
        let mut bytes = Vec::new();
        recipe.write(&mut bytes).unwrap();
        let expected: Vec<u8> =
            (0..recipe.certificates).flat_map(|number| recipe.certificate(number).bytes()).collect();
        assert!(bytes == expected);
    }

    #[test]
    fn every_certificate_has_a_mail_address_of_its_own() {
        let recipe = Recipe { certificates: 5000, seed: 1 };
        let mut mails: Vec<_> = (0..5000).map(|number| recipe.certificate(number).mail()).collect();
        mails.sort_unstable();
        mails.dedup();
        assert_eq!(mails.len(), 5000);
    }
}
