//! The origin of a key, as GnuPG stores it in its key files.

use crate::identity::Timestamp;

/// GnuPG's key origin (its `doc/DETAILS`, fields 19 and 20 of a `pub` record).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The kind of origin; 0 if unknown.
    pub kind: u8,
    /// When the key was last fetched from there.
    pub updated: Option<Timestamp>,
    /// The address.
    pub url: Option<String>,
}

impl Origin {
    /// Reads the body of a trust packet, in which GnuPG stores the origin of the primary key or user ID before it
    /// (`g10/build-packet.c`); `None` if it contains no origin.
    pub(crate) fn from_trust_packet(body: &[u8]) -> Option<Self> {
        const KEY: u8 = 1;
        const USER_ID: u8 = 2;
        let [_, _, b'g', b'p', b'g', KEY | USER_ID, kind, a, b, c, d, length, url @ ..] = body else {
            return None;
        };
        let updated = u32::from_be_bytes([*a, *b, *c, *d]);
        let url = url.get(..usize::from(*length)).filter(|url| !url.is_empty());
        let origin = Self {
            kind: *kind,
            updated: (updated != 0).then_some(Timestamp(updated)),
            url: url.map(|url| String::from_utf8_lossy(url).into_owned()),
        };
        (origin != Self::default()).then_some(origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_of_a_key_is_read_as_gnupg_writes_it() {
        let body = b"\0\0gpg\x01\x05\x65\x92\x00\x80\x07a.b/c:d";
        let origin =
            Origin { kind: 5, updated: Some(Timestamp(0x6592_0080)), url: Some("a.b/c:d".to_owned()) };
        assert_eq!(Origin::from_trust_packet(body), Some(origin));
    }

    #[test]
    fn a_signatures_cache_and_an_empty_note_are_no_origin() {
        assert_eq!(Origin::from_trust_packet(b"\0\x03gpg\0"), None);
        assert_eq!(Origin::from_trust_packet(b"\0\0gpg\x02\0\0\0\0\0\0"), None);
        assert_eq!(Origin::from_trust_packet(b""), None);
        assert_eq!(Origin::from_trust_packet(b"\0\0gpg\x01\x05"), None);
    }

    #[test]
    fn an_address_that_is_cut_short_is_left_out() {
        let origin = Origin::from_trust_packet(b"\0\0gpg\x01\x05\0\0\0\0\x09short").expect("a kind");
        assert_eq!(origin, Origin { kind: 5, updated: None, url: None });
    }
}
