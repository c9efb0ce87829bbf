//! From a passphrase to a cipher's key: string-to-key specifiers (RFC 9580, 3.7).

use verify::HashAlgorithm;

use crate::fields::Fields;

/// A string-to-key specifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum S2k {
    /// MD5 of the passphrase: what the old form without a specifier means.
    Implicit,
    /// A digest of the passphrase.
    Simple {
        /// The digest.
        hash: HashAlgorithm,
    },
    /// A digest of salt and passphrase.
    Salted {
        /// The digest.
        hash: HashAlgorithm,
        /// The salt.
        salt: [u8; 8],
    },
    /// A digest of salt and passphrase, repeated.
    Iterated {
        /// The digest.
        hash: HashAlgorithm,
        /// The salt.
        salt: [u8; 8],
        /// How many octets are hashed, in its coded form; see [`octets`](S2k::octets).
        count: u8,
    },
    /// Argon2id, version 1.3.
    Argon2 {
        /// The salt.
        salt: [u8; 16],
        /// Passes.
        passes: u8,
        /// Lanes.
        lanes: u8,
        /// Memory: 2 to the power of this, in KiB.
        exponent: u8,
    },
}

/// What a specifier begins with that is no string-to-key at all.
const GNU: u8 = 101;

/// A specifier as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Specifier {
    S2k(S2k),
    /// GnuPG's mark for a secret that is not there (mode 1).
    Stub,
    /// GnuPG's mark for a secret on a card (mode 2), with the serial number that follows.
    Card(Vec<u8>),
    /// GnuPG's mark with another mode.
    UnknownGnu(u8),
    Unknown(u8),
}

impl Specifier {
    /// Reads a specifier; `None` if it is cut short.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let kind = fields.u8()?;
        Some(match kind {
            0 => Self::S2k(S2k::Simple { hash: HashAlgorithm(fields.u8()?) }),
            1 => Self::S2k(S2k::Salted { hash: HashAlgorithm(fields.u8()?), salt: fields.array()? }),
            3 => Self::S2k(S2k::Iterated {
                hash: HashAlgorithm(fields.u8()?),
                salt: fields.array()?,
                count: fields.u8()?,
            }),
            4 => Self::S2k(S2k::Argon2 {
                salt: fields.array()?,
                passes: fields.u8()?,
                lanes: fields.u8()?,
                exponent: fields.u8()?,
            }),
            GNU => {
                let [_hash, g, n, u, mode] = fields.array()?;
                match ([g, n, u], mode) {
                    ([b'G', b'N', b'U'], 1) => Self::Stub,
                    ([b'G', b'N', b'U'], 2) => Self::Card(fields.counted()?.to_vec()),
                    ([b'G', b'N', b'U'], mode) => Self::UnknownGnu(mode),
                    _ => Self::Unknown(GNU),
                }
            }
            kind => Self::Unknown(kind),
        })
    }
}

impl S2k {
    /// Returns how many octets a coded count stands for (RFC 9580, 3.7.1.3).
    pub fn octets(count: u8) -> u32 {
        (16 + u32::from(count & 15)) << ((count >> 4) + 6)
    }

    /// Appends the specifier; the implicit one has none.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Implicit => {}
            Self::Simple { hash } => out.extend([0, hash.0]),
            Self::Salted { hash, salt } => {
                out.extend([1, hash.0]);
                out.extend(salt);
            }
            Self::Iterated { hash, salt, count } => {
                out.extend([3, hash.0]);
                out.extend(salt);
                out.push(count);
            }
            Self::Argon2 { salt, passes, lanes, exponent } => {
                out.push(4);
                out.extend(salt);
                out.extend([passes, lanes, exponent]);
            }
        }
    }
}

/// Returns the specifier that stands in the place of a secret: GnuPG's stub.
pub(crate) fn stub() -> [u8; 6] {
    [GNU, 0, b'G', b'N', b'U', 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_what_rfc_9580_says() {
        assert_eq!(S2k::octets(0), 1024);
        assert_eq!(S2k::octets(0x60), 65536);
        assert_eq!(S2k::octets(0xff), 65_011_712);
    }

    #[test]
    fn a_specifier_is_written_as_it_is_read() {
        let hash = HashAlgorithm::SHA256;
        let all = [
            S2k::Simple { hash },
            S2k::Salted { hash, salt: *b"saltsalt" },
            S2k::Iterated { hash, salt: *b"saltsalt", count: 0x60 },
            S2k::Argon2 { salt: [7; 16], passes: 3, lanes: 4, exponent: 16 },
        ];
        for s2k in all {
            let mut octets = Vec::new();
            s2k.write(&mut octets);
            octets.push(99);
            let mut fields = Fields(&octets);
            assert_eq!(Specifier::read(&mut fields), Some(Specifier::S2k(s2k)));
            assert_eq!(fields.0, [99], "reads no further");
            for cut in 0..octets.len() - 1 {
                assert_eq!(Specifier::read(&mut Fields(&octets[..cut])), None);
            }
        }
    }

    #[test]
    fn gnupgs_marks_are_told_from_specifiers() {
        let read = |octets: &[u8]| Specifier::read(&mut Fields(octets));
        assert_eq!(read(&stub()), Some(Specifier::Stub));
        assert_eq!(read(b"\x65\x00GNU\x02\x03abc"), Some(Specifier::Card(b"abc".to_vec())));
        assert_eq!(read(b"\x65\x00GNU\x02\x03ab"), None);
        assert_eq!(read(b"\x65\x00GNU\x03"), Some(Specifier::UnknownGnu(3)));
        assert_eq!(read(b"\x65\x00XYZ\x01"), Some(Specifier::Unknown(101)));
        assert_eq!(read(b"\x02"), Some(Specifier::Unknown(2)));
    }
}
