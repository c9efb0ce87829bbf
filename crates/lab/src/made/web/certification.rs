//! Certifications of a certificate's user IDs in a web.

use super::certificate::{Certificate, expires_after, part_of};
use super::parameters::Web;
use crate::made::key::{DAY, Draft, Hash, Key, forge};
use crate::made::packet::subpacket;
use crate::made::seeded_random::SeededRandom;

/// Regular expressions of trust signatures: made by programs, made by hand, and invalid.
const EXPRESSIONS: [&[u8]; 13] = [
    b"<[^>]+[@.]example\\.org>$\0",
    b"<[^>]+[@.]example\\.org>$\0",
    b"<[^>]+[@.]example\\.net>$\0",
    b"<[^>]+[@.]EXAMPLE\\.COM>$\0",
    b"example.org\0",
    b"WORK.example\0",
    b"[jpeg image\0",
    b".\0",
    b"^A\0",
    b"a|b\0",
    b"nobody@nowhere\0",
    b"example\\\0",
    b"\0",
];

/// The frequencies of cases in a web.
struct Frequencies {
    /// One certification in so many has the same issuer as the one before.
    repetition: u64,
    /// One certification in so many is a trust signature.
    trust: u64,
}

impl Frequencies {
    fn of(web: &Web) -> Frequencies {
        let mut random = SeededRandom::new(web.seed, 0, "habits");
        Frequencies { repetition: random.one_of(&[2, 4, 8]), trust: random.one_of(&[2, 4, 8]) }
    }
}

/// One signature by another key.
pub(super) struct Certification {
    pub(super) component: usize,
    issuer: u64,
    signer: Signer,
    kind: u8,
    created: u64,
    hash: Hash,
    subpackets: Vec<u8>,
}

/// Which key made a signature.
#[derive(Clone, Copy)]
enum Signer {
    Primary,
    Subkey,
    Forger,
}

impl Certification {
    /// Returns the certifications of this certificate, in packet order.
    pub(super) fn all_on(certificate: &Certificate) -> Vec<Certification> {
        let Certificate { web, number, .. } = certificate;
        let mut random = SeededRandom::new(web.seed, *number, "certifications");
        let frequencies = Frequencies::of(web);
        let mut issuer = None;
        let of_key_0 = (*number == 1).then(|| Certification::plain(0, certificate));
        let random_ones = (0..random.below(2 * web.certifications + 1)).map(|_| {
            let repeats = random.once_in(frequencies.repetition);
            let one = issuer.filter(|_| repeats).unwrap_or_else(|| choose_issuer(web, *number, &mut random));
            issuer = Some(one);
            Certification::by(one, certificate, &frequencies, &mut random)
        });
        of_key_0.into_iter().chain(random_ones).collect()
    }

    /// Returns an ordinary certification of the first user ID.
    fn plain(issuer: u64, certificate: &Certificate) -> Certification {
        let key = Key::new(certificate.web.seed, issuer);
        let created = certificate.key.created.max(key.created);
        Certification {
            component: 0,
            issuer,
            signer: Signer::Primary,
            kind: 0x13,
            created,
            hash: Hash::Sha256,
            subpackets: Vec::new(),
        }
    }

    fn by(
        issuer: u64,
        certificate: &Certificate,
        frequencies: &Frequencies,
        random: &mut SeededRandom,
    ) -> Certification {
        let key = Key::new(certificate.web.seed, issuer);
        let signer = match random.below(50) {
            0 | 1 => Signer::Forger,
            2 => Signer::Subkey,
            _ => Signer::Primary,
        };
        let since = certificate.key.created.max(key.created);
        let created = match random.below(60) {
            // Older than one of the keys, or from the future.
            0 => since - 20 * DAY,
            1 => Web::NOW + 200 * DAY,
            _ => since + part_of(Web::NOW - since, random.below(4), 4),
        };
        let kind = random
            .one_of(&[0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x11, 0x11, 0x12, 0x12, 0x13, 0x13, 0x13, 0x30]);
        Certification {
            component: random.below(certificate.components.len() as u64) as usize,
            issuer,
            signer,
            kind,
            created,
            hash: if random.once_in(20) { Hash::Sha1 } else { Hash::Sha256 },
            subpackets: if kind == 0x30 {
                Vec::new()
            } else {
                random_subpackets(Web::NOW - created.min(Web::NOW), frequencies, random)
            },
        }
    }

    /// Returns the signature packet's body.
    pub(super) fn signature(&self, certificate: &Certificate) -> Vec<u8> {
        let seed = certificate.web.seed;
        let subject = certificate.subject(self.component);
        let draft =
            Draft { kind: self.kind, created: self.created, hash: self.hash, subpackets: &self.subpackets };
        let primary = Key::new(seed, self.issuer);
        match self.signer {
            Signer::Primary => primary.sign(subject, &draft),
            // If the issuer has no subkey, no certificate has this key.
            Signer::Subkey => Key::subkey(seed, self.issuer, primary.created).sign(subject, &draft),
            Signer::Forger => {
                // Forgeries must have different values, or they would be copies of one signature.
                let number = (certificate.number << 32 | self.issuer) ^ self.created << 16;
                let mut random = SeededRandom::new(seed, number, "forgery");
                forge(&primary.fingerprint, subject, &draft, &mut random)
            }
        }
    }
}

/// Chooses another key: key 1, one with owner trust, one of those just before, or any.
fn choose_issuer(web: &Web, number: u64, random: &mut SeededRandom) -> u64 {
    let issuer = match random.below(32) {
        0 | 1 => 1,
        2 => random.below(web.introducers.min(web.keys)),
        3..18 if number > 0 => number - 1 - random.below(number.min(6)),
        _ => random.below(web.keys),
    };
    if issuer == number { (number + 1) % web.keys } else { issuer }
}

/// Chooses the subpackets of a certification: expiration time, revocable, exportable, trust signature and regular
/// expression.
fn random_subpackets(age: u64, frequencies: &Frequencies, random: &mut SeededRandom) -> Vec<u8> {
    let mut area = Vec::new();
    if random.once_in(7) {
        subpacket(&mut area, 3, &expires_after(age, random).to_be_bytes());
    }
    if random.once_in(60) {
        subpacket(&mut area, 4, &[0]);
    }
    if random.once_in(frequencies.trust) {
        let depth = random.one_of(&[0, 1, 1, 2, 2, 3, 3, 4, 5, 255]);
        subpacket(&mut area, 5, &[depth, random.one_of(&[0, 59, 60, 60, 119, 120, 120, 255])]);
        if random.once_in(3) {
            subpacket(&mut area, 6, random.one_of(&EXPRESSIONS));
        }
    } else if random.once_in(40) {
        // A regular expression without a trust signature has no effect.
        subpacket(&mut area, 6, EXPRESSIONS[0]);
    }
    if random.once_in(8) {
        subpacket(&mut area, 7, &[0]);
    }
    area
}
