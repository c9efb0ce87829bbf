//! Made keyrings: any number of valid certificates, reproducible from a seed.
//!
//! Each certificate is a version 4 Ed25519 primary key (RFC 9580 section 5.5.2.1, in the form that GnuPG 2.2 reads),
//! two user IDs with self-signatures, and certifications by up to five other keys of the same keyring. Every key is
//! computed from the seed and the certificate's number, so nothing is stored: the issuer of a certification is computed
//! again.

mod certificate;
mod flood;
mod in_order;
mod key;
mod packet;
mod person;
mod seeded_random;
mod shared_addresses;
mod web;

use std::io::{self, Write};

pub use certificate::Certificate;
pub use flood::{Flood, FloodIssuer};
pub use shared_addresses::SharedAddresses;
pub use web::Web;

/// The parameters of a made keyring, which determine every byte of it.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct MadeKeyring {
    /// How many certificates
    pub certificates: u64,
    /// Another number makes other keys
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl MadeKeyring {
    /// Returns the certificate with this number, counted from 0.
    ///
    /// # Panics
    ///
    /// If the keyring has no such certificate.
    pub fn certificate(&self, number: u64) -> Certificate {
        assert!(number < self.certificates, "certificate {number} of {}", self.certificates);
        Certificate::new(self.seed, number, self.certificates)
    }

    /// Writes the keyring as binary packets, using all cores.
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
        MadeKeyring { certificates, seed }.write(&mut bytes).unwrap();
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
        let keyring = MadeKeyring { certificates: in_order::BATCH * 3 + 5, seed: 1 };
        let mut bytes = Vec::new();
        keyring.write(&mut bytes).unwrap();
        let expected: Vec<u8> =
            (0..keyring.certificates).flat_map(|number| keyring.certificate(number).bytes()).collect();
        assert!(bytes == expected);
    }

    #[test]
    fn every_certificate_has_a_mail_address_of_its_own() {
        let keyring = MadeKeyring { certificates: 5000, seed: 1 };
        let mut mails: Vec<_> = (0..5000).map(|number| keyring.certificate(number).mail()).collect();
        mails.sort_unstable();
        mails.dedup();
        assert_eq!(mails.len(), 5000);
    }
}
