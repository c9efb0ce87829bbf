//! What others say in a web about a certificate's user IDs.

use super::certificate::{Certificate, ends_after, part_of};
use super::parameters::Web;
use crate::made::dice::Dice;
use crate::made::key::{DAY, Draft, Hash, Key, forge};
use crate::made::packet::subpacket;

/// Regular expressions of trust signatures: as programs make them, as people write them, and such that are wrong.
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

/// What the people of a web do often, and what seldom.
struct Habits {
    /// Once in so many times who has said something says something else, too.
    repetition: u64,
    /// Once in so many times they say whom else they trust.
    trust: u64,
}

impl Habits {
    fn of(web: &Web) -> Habits {
        let mut dice = Dice::new(web.seed, 0, "habits");
        Habits { repetition: dice.one_of(&[2, 4, 8]), trust: dice.one_of(&[2, 4, 8]) }
    }
}

/// One signature by another key.
pub(super) struct Certification {
    pub(super) component: usize,
    issuer: u64,
    maker: Maker,
    kind: u8,
    made: u64,
    hash: Hash,
    more: Vec<u8>,
}

/// Who has really made a signature.
#[derive(Clone, Copy)]
enum Maker {
    Primary,
    Subkey,
    Forger,
}

impl Certification {
    /// Returns what others say about this certificate, in packet order.
    pub(super) fn all_on(certificate: &Certificate) -> Vec<Certification> {
        let Certificate { web, number, .. } = certificate;
        let mut dice = Dice::new(web.seed, *number, "certifications");
        let habits = Habits::of(web);
        let mut issuer = None;
        let of_beginning = (*number == 1).then(|| Certification::plain(0, certificate));
        let drawn = (0..dice.below(2 * web.certifications + 1)).map(|_| {
            let repeats = dice.once_in(habits.repetition);
            let one = issuer.filter(|_| repeats).unwrap_or_else(|| choose_issuer(web, *number, &mut dice));
            issuer = Some(one);
            Certification::by(one, certificate, &habits, &mut dice)
        });
        of_beginning.into_iter().chain(drawn).collect()
    }

    /// A certification of the first user ID like most people make them.
    fn plain(issuer: u64, certificate: &Certificate) -> Certification {
        let key = Key::new(certificate.web.seed, issuer);
        let made = certificate.key.created.max(key.created);
        Certification {
            component: 0,
            issuer,
            maker: Maker::Primary,
            kind: 0x13,
            made,
            hash: Hash::Sha256,
            more: Vec::new(),
        }
    }

    fn by(issuer: u64, certificate: &Certificate, habits: &Habits, dice: &mut Dice) -> Certification {
        let key = Key::new(certificate.web.seed, issuer);
        let maker = match dice.below(50) {
            0 | 1 => Maker::Forger,
            2 => Maker::Subkey,
            _ => Maker::Primary,
        };
        let since = certificate.key.created.max(key.created);
        let made = match dice.below(60) {
            // Older than one of the keys, or from the future.
            0 => since - 20 * DAY,
            1 => Web::NOW + 200 * DAY,
            _ => since + part_of(Web::NOW - since, dice.below(4), 4),
        };
        let kind = dice
            .one_of(&[0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x11, 0x11, 0x12, 0x12, 0x13, 0x13, 0x13, 0x30]);
        Certification {
            component: dice.below(certificate.components.len() as u64) as usize,
            issuer,
            maker,
            kind,
            made,
            hash: if dice.once_in(20) { Hash::Sha1 } else { Hash::Sha256 },
            more: if kind == 0x30 {
                Vec::new()
            } else {
                subpackets(Web::NOW - made.min(Web::NOW), habits, dice)
            },
        }
    }

    /// Makes the signature packet's body.
    pub(super) fn signature(&self, certificate: &Certificate) -> Vec<u8> {
        let seed = certificate.web.seed;
        let subject = certificate.subject(self.component);
        let draft = Draft { kind: self.kind, made: self.made, hash: self.hash, more: &self.more };
        let primary = Key::new(seed, self.issuer);
        match self.maker {
            Maker::Primary => primary.sign(subject, &draft),
            // Where the issuer has none this is by a key that nobody has.
            Maker::Subkey => Key::subkey(seed, self.issuer, primary.created).sign(subject, &draft),
            Maker::Forger => {
                // No two forgeries have the same value, which would make them copies of one signature.
                let number = (certificate.number << 32 | self.issuer) ^ self.made << 16;
                let mut dice = Dice::new(seed, number, "forgery");
                forge(&primary.fingerprint, subject, &draft, &mut dice)
            }
        }
    }
}

/// Chooses another key: key 1, one with owner trust, one of those just before, or any.
fn choose_issuer(web: &Web, number: u64, dice: &mut Dice) -> u64 {
    let issuer = match dice.below(32) {
        0 | 1 => 1,
        2 => dice.below(web.introducers.min(web.keys)),
        3..18 if number > 0 => number - 1 - dice.below(number.min(6)),
        _ => dice.below(web.keys),
    };
    if issuer == number { (number + 1) % web.keys } else { issuer }
}

/// Chooses what a certification says beside its type: when it ends, whether it can be revoked, whether it may be
/// passed on, and whom else its issuer trusts.
fn subpackets(age: u64, habits: &Habits, dice: &mut Dice) -> Vec<u8> {
    let mut area = Vec::new();
    if dice.once_in(7) {
        subpacket(&mut area, 3, &ends_after(age, dice).to_be_bytes());
    }
    if dice.once_in(60) {
        subpacket(&mut area, 4, &[0]);
    }
    if dice.once_in(habits.trust) {
        let depth = dice.one_of(&[0, 1, 1, 2, 2, 3, 3, 4, 5, 255]);
        subpacket(&mut area, 5, &[depth, dice.one_of(&[0, 59, 60, 60, 119, 120, 120, 255])]);
        if dice.once_in(3) {
            subpacket(&mut area, 6, dice.one_of(&EXPRESSIONS));
        }
    } else if dice.once_in(40) {
        // Without a trust signature it has no meaning.
        subpacket(&mut area, 6, EXPRESSIONS[0]);
    }
    if dice.once_in(8) {
        subpacket(&mut area, 7, &[0]);
    }
    area
}
