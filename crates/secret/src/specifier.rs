//! String-to-key specifiers of secret keys (RFC 9580, 3.7), and GnuPG's extensions.

use symmetric::{Error, S2k};

use crate::fields::Fields;

/// The S2K type of GnuPG's extensions.
const GNU: u8 = 101;

/// A parsed specifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Specifier {
    S2k(S2k),
    /// GnuPG's extension for a missing secret (mode 1).
    Stub,
    /// GnuPG's extension for a secret on a card (mode 2), with its serial number.
    Card(Vec<u8>),
    /// GnuPG's extension with another mode.
    UnknownGnu(u8),
    Unknown(u8),
}

impl Specifier {
    /// Reads a specifier; `None` if it is cut short.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        match S2k::parse(fields.0) {
            Ok((s2k, rest)) => {
                fields.0 = rest;
                Some(Self::S2k(s2k))
            }
            Err(Error::UnknownS2k(kind)) => {
                fields.u8()?;
                if kind == GNU { Self::read_gnupg_extension(fields) } else { Some(Self::Unknown(kind)) }
            }
            Err(_) => None,
        }
    }

    fn read_gnupg_extension(fields: &mut Fields<'_>) -> Option<Self> {
        let [_hash, g, n, u, mode] = fields.array()?;
        Some(match ([g, n, u], mode) {
            ([b'G', b'N', b'U'], 1) => Self::Stub,
            // In version 5 GnuPG writes the serial number behind the fields that it counts, where it does not read it.
            ([b'G', b'N', b'U'], 2) if fields.0.is_empty() => Self::Card(Vec::new()),
            ([b'G', b'N', b'U'], 2) => Self::Card(fields.counted()?.to_vec()),
            ([b'G', b'N', b'U'], mode) => Self::UnknownGnu(mode),
            _ => Self::Unknown(GNU),
        })
    }
}

/// Returns the specifier of GnuPG's stub, which replaces a secret.
pub(crate) fn stub() -> [u8; 6] {
    [GNU, 0, b'G', b'N', b'U', 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gnupgs_marks_are_told_from_specifiers() {
        let read = |bytes: &[u8]| Specifier::read(&mut Fields(bytes));
        assert_eq!(read(&stub()), Some(Specifier::Stub));
        assert_eq!(read(b"\x65\x00GNU\x02\x03abc"), Some(Specifier::Card(b"abc".to_vec())));
        assert_eq!(read(b"\x65\x00GNU\x02\x03ab"), None);
        assert_eq!(read(b"\x65\x00GNU\x03"), Some(Specifier::UnknownGnu(3)));
        assert_eq!(read(b"\x65\x00XYZ\x01"), Some(Specifier::Unknown(101)));
        assert_eq!(read(b"\x02"), Some(Specifier::Unknown(2)));
        assert_eq!(read(b"\x03\x08"), None);
        assert_eq!(read(b""), None);
    }

    #[test]
    fn a_specifier_is_read_no_further_than_it_goes() {
        let mut fields = Fields(b"\x03\x08saltsalt\x60rest");
        assert!(matches!(Specifier::read(&mut fields), Some(Specifier::S2k(S2k::Iterated { .. }))));
        assert_eq!(fields.0, b"rest");
    }
}
