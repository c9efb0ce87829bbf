//! Signature subpackets.

use crate::packet::new_length;
use crate::{Key, Packet};

/// A signature subpacket (RFC 9580, 5.2.3.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subpacket {
    /// The type, without the bit that says critical.
    pub tag: u8,
    /// Whether a reader that does not know the type must not accept the signature.
    pub critical: bool,
    /// The content.
    pub body: Vec<u8>,
    /// The length to write instead of the content's.
    pub claimed_length: Option<u32>,
}

impl Subpacket {
    /// Makes a subpacket that is not critical.
    pub fn new(tag: u8, body: impl Into<Vec<u8>>) -> Subpacket {
        Subpacket { tag, critical: false, body: body.into(), claimed_length: None }
    }

    /// When the signature was made, in seconds since 1970.
    pub fn created(time: u32) -> Subpacket {
        Subpacket::new(2, time.to_be_bytes())
    }

    /// How many seconds the signature lives.
    pub fn expires(seconds: u32) -> Subpacket {
        Subpacket::new(3, seconds.to_be_bytes())
    }

    /// That the certification is to be kept (`false`), or may be told.
    pub fn exportable(is: bool) -> Subpacket {
        Subpacket::new(4, [is.into()])
    }

    /// How far the introducer is trusted: levels and amount.
    pub fn trust(level: u8, amount: u8) -> Subpacket {
        Subpacket::new(5, [level, amount])
    }

    /// Which user IDs the introducer is trusted for; the NUL at the end is written.
    pub fn regular_expression(expression: &str) -> Subpacket {
        Subpacket::new(6, [expression.as_bytes(), &[0]].concat())
    }

    /// Whether the signature can be revoked.
    pub fn revocable(is: bool) -> Subpacket {
        Subpacket::new(7, [is.into()])
    }

    /// How many seconds the key lives, from its creation.
    pub fn key_expires(seconds: u32) -> Subpacket {
        Subpacket::new(9, seconds.to_be_bytes())
    }

    /// Whose revocations count for this key (RFC 9580, 5.2.3.23).
    pub fn revoker(key: &Key) -> Subpacket {
        Subpacket::new(12, [&[0x80, key.algorithm][..], &key.fingerprint()].concat())
    }

    /// The issuer's key ID.
    pub fn issuer(key: &Key) -> Subpacket {
        Subpacket::new(16, key.key_id())
    }

    /// A notation that people can read.
    pub fn notation(name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Subpacket {
        let (name, value) = (name.as_ref(), value.as_ref());
        let lengths = [(name.len() as u16).to_be_bytes(), (value.len() as u16).to_be_bytes()].concat();
        Subpacket::new(20, [&[0x80, 0, 0, 0][..], &lengths, name, value].concat())
    }

    /// That this user ID is the primary one.
    pub fn primary_user_id() -> Subpacket {
        Subpacket::new(25, [1])
    }

    /// Where the signer's policy can be read.
    pub fn policy(address: impl AsRef<[u8]>) -> Subpacket {
        Subpacket::new(26, address.as_ref())
    }

    /// What the key is for (RFC 9580, 5.2.3.29): 1 certify, 2 sign, 4 and 8 encrypt, 32 authenticate.
    pub fn key_flags(flags: u8) -> Subpacket {
        Subpacket::new(27, [flags])
    }

    /// The user ID in whose name it is signed.
    pub fn signer(user_id: impl AsRef<[u8]>) -> Subpacket {
        Subpacket::new(28, user_id.as_ref())
    }

    /// Why it is revoked (RFC 9580, 5.2.3.31).
    pub fn reason(code: u8, text: impl AsRef<[u8]>) -> Subpacket {
        Subpacket::new(29, [&[code][..], text.as_ref()].concat())
    }

    /// What the owner's program can read: 1 SEIPD version 1, 8 version 2.
    pub fn features(bits: u8) -> Subpacket {
        Subpacket::new(30, [bits])
    }

    /// A signature in the signature, without its packet header.
    pub fn embedded(signature: &Packet) -> Subpacket {
        Subpacket::new(32, signature.body.as_slice())
    }

    /// The issuer's fingerprint.
    pub fn fingerprint(key: &Key) -> Subpacket {
        Subpacket::new(33, [&[key.version][..], &key.fingerprint()].concat())
    }

    /// Returns the subpacket as a critical one.
    pub fn critical(mut self) -> Subpacket {
        self.critical = true;
        self
    }

    /// Returns length, type and content.
    pub fn bytes(&self) -> Vec<u8> {
        let length = self.claimed_length.unwrap_or(self.body.len() as u32 + 1);
        let tag = self.tag | if self.critical { 0x80 } else { 0 };
        [&new_length(length)[..], &[tag], &self.body].concat()
    }
}
