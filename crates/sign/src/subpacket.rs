//! What a signature says, in typed values (RFC 9580, 5.2.3.7).

use cert::Fingerprint;
use cert::facts::{RevocationReason, Revoker, TrustSignature};
use cert::subpacket::Kind;
use std::num::NonZeroU32;
use std::ops::BitOr;
use verify::HashAlgorithm;

/// Something that a signature says besides when it was made, when it ends and who made it.
///
/// Algorithms are numbered as in RFC 9580, 9.3 to 9.6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subpacket {
    /// Whether it may be given to others.
    Exportable(bool),
    /// Makes a certification a trust signature.
    Trust(TrustSignature),
    /// To which user IDs a trust signature's trust reaches; without the final NUL.
    RegularExpression(Vec<u8>),
    /// Whether it may be revoked.
    Revocable(bool),
    /// Seconds from the key's creation to its end.
    KeyExpiry(NonZeroU32),
    /// Preferred ciphers.
    CipherPreferences(Vec<u8>),
    /// Preferred digests.
    HashPreferences(Vec<HashAlgorithm>),
    /// Preferred compressions.
    CompressionPreferences(Vec<u8>),
    /// Preferred AEAD modes, as LibrePGP writes them.
    AeadPreferences(Vec<u8>),
    /// Preferred pairs of a cipher and an AEAD mode.
    Ciphersuites(Vec<(u8, u8)>),
    /// A designated revoker; there may be several.
    Revoker(Revoker),
    /// A notation; there may be several.
    Notation {
        /// Whether the value is text.
        readable: bool,
        /// The name, `name@domain`.
        name: Vec<u8>,
        /// The value.
        value: Vec<u8>,
    },
    /// Key server preferences; 0x80: only the key's owner may change it there.
    KeyserverPreferences(u8),
    /// Where to find newer versions of the key.
    PreferredKeyserver(Vec<u8>),
    /// This user ID is the primary one.
    PrimaryUserId,
    /// Where to read about the maker's policy; there may be several.
    Policy(Vec<u8>),
    /// What the key may be used for.
    KeyFlags(KeyFlags),
    /// The user ID of its maker that the signature is made as.
    SignersUserId(Vec<u8>),
    /// Why something is revoked.
    RevocationReason(RevocationReason),
    /// What the key's owner can read.
    Features(Features),
    /// The body of a signature packet: the consent of a signing subkey.
    EmbeddedSignature(Vec<u8>),
    /// For whom a message is encrypted; there may be several.
    IntendedRecipient(Fingerprint),
}

/// What a key may be used for (RFC 9580, 5.2.3.29).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyFlags(pub u8);

impl KeyFlags {
    /// Certify other keys.
    pub const CERTIFY: Self = Self(0x01);
    /// Sign data.
    pub const SIGN: Self = Self(0x02);
    /// Encrypt communications and storage.
    pub const ENCRYPT: Self = Self(0x0c);
    /// Authenticate.
    pub const AUTHENTICATE: Self = Self(0x20);

    /// Says whether all of these are among them.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for KeyFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What a key's owner can read (RFC 9580, 5.2.3.32).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(pub u8);

impl Features {
    /// Encrypted data with modification detection (SEIPD version 1).
    pub const SEIPD_V1: Self = Self(0x01);
    /// LibrePGP's OCB-encrypted data.
    pub const OCB: Self = Self(0x02);
    /// SEIPD version 2.
    pub const SEIPD_V2: Self = Self(0x08);
}

impl BitOr for Features {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Subpacket {
    /// Returns its type.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Exportable(_) => Kind::EXPORTABLE,
            Self::Trust(_) => Kind::TRUST,
            Self::RegularExpression(_) => Kind::REGULAR_EXPRESSION,
            Self::Revocable(_) => Kind::REVOCABLE,
            Self::KeyExpiry(_) => Kind::KEY_EXPIRATION_TIME,
            Self::CipherPreferences(_) => Kind::CIPHER_PREFERENCES,
            Self::HashPreferences(_) => Kind::HASH_PREFERENCES,
            Self::CompressionPreferences(_) => Kind::COMPRESSION_PREFERENCES,
            Self::AeadPreferences(_) => Kind::AEAD_PREFERENCES,
            Self::Ciphersuites(_) => Kind::AEAD_CIPHERSUITES,
            Self::Revoker(_) => Kind::REVOCATION_KEY,
            Self::Notation { .. } => Kind::NOTATION,
            Self::KeyserverPreferences(_) => Kind::KEYSERVER_PREFERENCES,
            Self::PreferredKeyserver(_) => Kind::PREFERRED_KEYSERVER,
            Self::PrimaryUserId => Kind::PRIMARY_USER_ID,
            Self::Policy(_) => Kind::POLICY,
            Self::KeyFlags(_) => Kind::KEY_FLAGS,
            Self::SignersUserId(_) => Kind::SIGNERS_USER_ID,
            Self::RevocationReason(_) => Kind::REVOCATION_REASON,
            Self::Features(_) => Kind::FEATURES,
            Self::EmbeddedSignature(_) => Kind::EMBEDDED_SIGNATURE,
            Self::IntendedRecipient(_) => Kind::INTENDED_RECIPIENT,
        }
    }

    /// Says whether a signature may have several of this type.
    pub(crate) fn may_repeat(&self) -> bool {
        matches!(
            self,
            Self::Revoker(_)
                | Self::Notation { .. }
                | Self::Policy(_)
                | Self::EmbeddedSignature(_)
                | Self::IntendedRecipient(_)
        )
    }

    /// Says whether who does not understand it must not use a signature of this version.
    ///
    /// GnuPG marks only a trust signature's reach; RFC 9580's own keys also mark what the key is for.
    pub(crate) fn is_critical(&self, version: u8) -> bool {
        match self {
            Self::RegularExpression(_) => true,
            Self::KeyFlags(_) | Self::KeyExpiry(_) => version == 6,
            _ => false,
        }
    }

    /// Returns what follows the type byte.
    pub(crate) fn body(&self) -> Vec<u8> {
        match self {
            Self::Exportable(yes) | Self::Revocable(yes) => vec![u8::from(*yes)],
            Self::Trust(trust) => vec![trust.depth, trust.amount],
            Self::RegularExpression(text) => [text.as_slice(), &[0]].concat(),
            Self::KeyExpiry(seconds) => seconds.get().to_be_bytes().to_vec(),
            Self::HashPreferences(list) => list.iter().map(|algorithm| algorithm.0).collect(),
            Self::CipherPreferences(bytes)
            | Self::CompressionPreferences(bytes)
            | Self::AeadPreferences(bytes)
            | Self::PreferredKeyserver(bytes)
            | Self::Policy(bytes)
            | Self::SignersUserId(bytes)
            | Self::EmbeddedSignature(bytes) => bytes.clone(),
            Self::Ciphersuites(pairs) => pairs.iter().flat_map(|&(cipher, mode)| [cipher, mode]).collect(),
            Self::Revoker(revoker) => {
                [&[revoker.class, revoker.algorithm.0], revoker.fingerprint.as_bytes()].concat()
            }
            Self::Notation { readable, name, value } => notation(*readable, name, value),
            Self::KeyserverPreferences(byte)
            | Self::KeyFlags(KeyFlags(byte))
            | Self::Features(Features(byte)) => vec![*byte],
            Self::PrimaryUserId => vec![1],
            Self::RevocationReason(reason) => [&[reason.code], reason.comment.as_slice()].concat(),
            Self::IntendedRecipient(fingerprint) => named(fingerprint),
        }
    }
}

/// A fingerprint behind its key's version.
pub(crate) fn named(fingerprint: &Fingerprint) -> Vec<u8> {
    [&[fingerprint.version()], fingerprint.as_bytes()].concat()
}

fn notation(readable: bool, name: &[u8], value: &[u8]) -> Vec<u8> {
    let [a, b] = (name.len() as u16).to_be_bytes();
    let [c, d] = (value.len() as u16).to_be_bytes();
    let first = if readable { 0x80 } else { 0 };
    [&[first, 0, 0, 0, a, b, c, d], name, value].concat()
}
