//! Webs of trust: keyrings with a case for every rule of the trust models.
//!
//! The time of a web is [`Web::NOW`]; expiration times are before or after it. Some user IDs have
//! no self-signature; gpg imports them with `--allow-non-selfsigned-uid`.

mod certificate;
mod certification;
mod parameters;

use std::io::{self, Write};

use super::in_order;
use certificate::Certificate;
use certification::Certification;
pub use parameters::Web;

impl Web {
    /// Writes the certificates as binary packets, using all cores.
    ///
    /// # Errors
    ///
    /// Those of `output`.
    pub fn write(&self, output: &mut impl Write) -> io::Result<()> {
        in_order::write(self.keys, |number| self.certificate(number), output)
    }

    /// Returns the certificate with this number as binary packets.
    fn certificate(&self, number: u64) -> Vec<u8> {
        let certificate = Certificate::new(self, number);
        let certifications = Certification::all_on(&certificate).into_iter();
        let signatures = certifications.map(|one| (one.component, one.signature(&certificate)));
        certificate.bytes(&signatures.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(web: Web) -> Vec<u8> {
        let mut bytes = Vec::new();
        web.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn the_same_seed_makes_the_same_web_and_another_one_another() {
        assert_eq!(written(Web::small(3)), written(Web::small(3)));
        assert_eq!(Web::small(3).owner_trust(), Web::small(3).owner_trust());
        assert_ne!(written(Web::small(3)), written(Web { seed: 4, ..Web::small(3) }));
    }
}
