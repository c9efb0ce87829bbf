//! The subpackets of signatures (RFC 9580, 5.2.3.7) and of user attributes (5.12), which have the same format.

/// A subpacket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subpacket<'a> {
    /// The type, without the critical bit.
    pub kind: Kind,
    /// Whether implementations that do not understand it must not use the signature.
    pub critical: bool,
    /// The body after the type byte.
    pub body: &'a [u8],
}

/// The type of a signature subpacket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(pub u8);

#[allow(missing_docs, reason = "the names are those of RFC 9580, 5.2.3.7")]
impl Kind {
    pub const CREATION_TIME: Self = Self(2);
    pub const EXPIRATION_TIME: Self = Self(3);
    pub const EXPORTABLE: Self = Self(4);
    pub const TRUST: Self = Self(5);
    pub const REGULAR_EXPRESSION: Self = Self(6);
    pub const REVOCABLE: Self = Self(7);
    pub const KEY_EXPIRATION_TIME: Self = Self(9);
    pub const CIPHER_PREFERENCES: Self = Self(11);
    pub const REVOCATION_KEY: Self = Self(12);
    pub const ISSUER: Self = Self(16);
    pub const NOTATION: Self = Self(20);
    pub const HASH_PREFERENCES: Self = Self(21);
    pub const COMPRESSION_PREFERENCES: Self = Self(22);
    pub const KEYSERVER_PREFERENCES: Self = Self(23);
    pub const PREFERRED_KEYSERVER: Self = Self(24);
    pub const PRIMARY_USER_ID: Self = Self(25);
    pub const POLICY: Self = Self(26);
    pub const KEY_FLAGS: Self = Self(27);
    pub const SIGNERS_USER_ID: Self = Self(28);
    pub const REVOCATION_REASON: Self = Self(29);
    pub const FEATURES: Self = Self(30);
    pub const EMBEDDED_SIGNATURE: Self = Self(32);
    pub const ISSUER_FINGERPRINT: Self = Self(33);
    pub const AEAD_PREFERENCES: Self = Self(34);
    pub const INTENDED_RECIPIENT: Self = Self(35);
    pub const APPROVED_CERTIFICATIONS: Self = Self(37);
    pub const KEY_BLOCK: Self = Self(38);
    pub const AEAD_CIPHERSUITES: Self = Self(39);
}

/// An area that ends in the middle of a subpacket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutShort;

/// Iterates over the subpackets of an area; ends after the first one that is cut short.
#[derive(Clone, Debug)]
pub struct Subpackets<'a> {
    rest: &'a [u8],
}

impl<'a> Subpackets<'a> {
    /// Iterates over the subpackets of `area`.
    pub fn new(area: &'a [u8]) -> Self {
        Self { rest: area }
    }

    /// Returns the body of the first well-formed subpacket of this type.
    pub fn first(self, kind: Kind) -> Option<&'a [u8]> {
        self.map_while(Result::ok)
            .find(|subpacket| subpacket.kind == kind)
            .filter(Subpacket::is_well_formed)
            .map(|subpacket| subpacket.body)
    }

    /// Returns the body of the last well-formed subpacket of this type.
    pub fn last(self, kind: Kind) -> Option<&'a [u8]> {
        self.map_while(Result::ok)
            .filter(|subpacket| subpacket.kind == kind && subpacket.is_well_formed())
            .last()
            .map(|subpacket| subpacket.body)
    }
}

impl<'a> Iterator for Subpackets<'a> {
    type Item = Result<Subpacket<'a>, CutShort>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            match split_first(self.rest) {
                // GnuPG skips a subpacket without a type byte, except at the end of the area.
                Some(([], [])) | None => {
                    self.rest = &[];
                    return Some(Err(CutShort));
                }
                Some(([], rest)) => self.rest = rest,
                Some(([kind, body @ ..], rest)) => {
                    self.rest = rest;
                    return Some(Ok(Subpacket { kind: Kind(kind & 0x7f), critical: kind & 0x80 != 0, body }));
                }
            }
        }
    }
}

/// Splits an area after its first subpacket, whose length bytes are dropped; `None` if it is cut short.
///
/// As in GnuPG, every first byte from 192 to 254 begins a length of two bytes: there are no partial lengths here.
pub(crate) fn split_first(area: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = match *area {
        [255, a, b, c, d, ref rest @ ..] => (u32::from_be_bytes([a, b, c, d]) as usize, rest),
        [255, ..] => return None,
        [one @ 192..=254, two, ref rest @ ..] if !rest.is_empty() => {
            (((usize::from(one) - 192) << 8) + usize::from(two) + 192, rest)
        }
        [192..=254, ..] => return None,
        [one, ref rest @ ..] => (usize::from(one), rest),
        [] => return None,
    };
    rest.split_at_checked(length)
}

impl Subpacket<'_> {
    /// Returns whether the body has the length that the type requires; GnuPG ignores others.
    pub fn is_well_formed(&self) -> bool {
        let body = self.body;
        match self.kind {
            Kind::REVOCATION_KEY => body.len() >= 22,
            Kind::CREATION_TIME | Kind::EXPIRATION_TIME | Kind::KEY_EXPIRATION_TIME => body.len() >= 4,
            Kind::EMBEDDED_SIGNATURE | Kind::EXPORTABLE | Kind::REVOCABLE | Kind::REVOCATION_REASON => {
                !body.is_empty()
            }
            Kind::ISSUER => body.len() >= 8,
            Kind::ISSUER_FINGERPRINT => body.len() >= 21,
            Kind::NOTATION => Notation::parse(body).is_some(),
            Kind::PRIMARY_USER_ID => body.len() == 1,
            Kind::TRUST => body.len() == 2,
            Kind::KEY_BLOCK => body.len() >= 50 && body[0] == 0,
            _ => true,
        }
    }

    /// Returns whether a critical subpacket of this type and content is understood, by GnuPG's list.
    pub fn is_understood(&self) -> bool {
        match self.kind {
            Kind::NOTATION => notation_name(self.body).is_some_and(|name| KNOWN_NOTATIONS.contains(&name)),
            Kind::KEY_BLOCK => self.body.first() == Some(&0),
            Kind::CREATION_TIME
            | Kind::EXPIRATION_TIME
            | Kind::EXPORTABLE
            | Kind::TRUST
            | Kind::REGULAR_EXPRESSION
            | Kind::REVOCABLE
            | Kind::KEY_EXPIRATION_TIME
            | Kind::CIPHER_PREFERENCES
            | Kind::REVOCATION_KEY
            | Kind::ISSUER
            | Kind::HASH_PREFERENCES
            | Kind::COMPRESSION_PREFERENCES
            | Kind::PREFERRED_KEYSERVER
            | Kind::PRIMARY_USER_ID
            | Kind::POLICY
            | Kind::KEY_FLAGS
            | Kind::REVOCATION_REASON
            | Kind::FEATURES
            | Kind::EMBEDDED_SIGNATURE
            | Kind::ISSUER_FINGERPRINT => true,
            _ => false,
        }
    }
}

impl Subpacket<'_> {
    /// Returns whether it is one with a time that has not four bytes (RFC 9580, 5.2.3.11, 5.2.3.13 and 5.2.3.18).
    pub(crate) fn is_damaged_time(&self) -> bool {
        let has_time = [Kind::CREATION_TIME, Kind::EXPIRATION_TIME, Kind::KEY_EXPIRATION_TIME];
        has_time.contains(&self.kind) && self.body.len() != 4
    }

    /// Returns whether a critical subpacket of this type and content is understood by an implementation of RFC 9580.
    pub fn is_understood_by_rfc9580(&self) -> bool {
        self.is_understood()
            || matches!(
                self.kind,
                Kind::KEYSERVER_PREFERENCES
                    | Kind::SIGNERS_USER_ID
                    | Kind::INTENDED_RECIPIENT
                    | Kind::APPROVED_CERTIFICATIONS
                    | Kind::AEAD_CIPHERSUITES
            )
    }
}

/// The notations that GnuPG understands by default.
const KNOWN_NOTATIONS: [&[u8]; 2] = [b"preferred-email-encoding@pgp.com", b"pka-address@gnupg.org"];

/// A notation (RFC 9580, 5.2.3.24).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notation<'a> {
    /// Whether the value is text.
    pub readable: bool,
    /// The name.
    pub name: &'a [u8],
    /// The value.
    pub value: &'a [u8],
}

impl<'a> Notation<'a> {
    /// Parses the body of a notation subpacket; `None` if its lengths are wrong.
    pub fn parse(body: &'a [u8]) -> Option<Self> {
        let name = notation_name(body)?;
        let value = &body[8 + name.len()..];
        let length = u16::from_be_bytes([body[6], body[7]]);
        (value.len() == usize::from(length)).then_some(Self { readable: body[0] & 0x80 != 0, name, value })
    }
}

/// Returns the name of a notation, even if its value is damaged.
fn notation_name(body: &[u8]) -> Option<&[u8]> {
    let (lengths, rest) = body.split_at_checked(8)?;
    rest.get(..usize::from(u16::from_be_bytes([lengths[4], lengths[5]])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(area: &[u8]) -> Vec<Result<(u8, bool, usize), CutShort>> {
        Subpackets::new(area)
            .map(|item| item.map(|subpacket| (subpacket.kind.0, subpacket.critical, subpacket.body.len())))
            .collect()
    }

    #[test]
    fn lengths_have_one_two_or_five_bytes() {
        let mut area = vec![2, 16, 1, 192, 8, 0x80 | 20];
        area.extend([0; 199]);
        area.extend([255, 0, 0, 0, 1, 30]);
        assert_eq!(walk(&area), [Ok((16, false, 1)), Ok((20, true, 199)), Ok((30, false, 0))]);
    }

    #[test]
    fn an_area_that_ends_inside_a_subpacket_is_cut_short() {
        for area in [&[3, 16, 1][..], &[192], &[192, 0], &[255, 0, 0, 0], &[255, 0, 0, 0, 9, 1], &[0]] {
            assert_eq!(walk(area), [Err(CutShort)], "{area:?}");
        }
    }

    #[test]
    fn a_subpacket_without_type_is_stepped_over() {
        assert_eq!(walk(&[0, 2, 25, 1]), [Ok((25, false, 1))]);
    }

    #[test]
    fn only_the_first_subpacket_of_a_type_counts() {
        let area = [2, 2, 0, 5, 2, 1, 2, 3, 4];
        assert_eq!(Subpackets::new(&area).first(Kind::CREATION_TIME), None);
    }

    #[test]
    fn a_notation_is_read_if_its_lengths_fit() {
        let body = [0x80, 0, 0, 0, 0, 3, 0, 2, b'a', b'@', b'b', b'x', b'y'];
        let notation = Notation { readable: true, name: b"a@b", value: b"xy" };
        assert_eq!(Notation::parse(&body), Some(notation));
        assert_eq!(Notation::parse(&body[..12]), None);
    }
}
