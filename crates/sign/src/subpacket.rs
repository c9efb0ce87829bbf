//! Typed subpackets (RFC 9580, 5.2.3.7).

use cert::Fingerprint;
use cert::facts::{RevocationReason, Revoker, TrustSignature};
use cert::subpacket::Kind;
use std::num::NonZeroU32;
use std::ops::BitOr;
use verify::HashAlgorithm;

/// A subpacket, other than those for the creation time, the expiration time and the issuer.
///
/// Algorithms have their numbers of RFC 9580, 9.3 to 9.6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subpacket {
    /// Whether the certification may be exported.
    Exportable(bool),
    /// Makes a certification a trust signature.
    Trust(TrustSignature),
    /// The user IDs to which a trust signature applies; without the final NUL.
    RegularExpression(Vec<u8>),
    /// Whether the signature may be revoked.
    Revocable(bool),
    /// The lifetime of the key in seconds.
    KeyExpiry(NonZeroU32),
    /// Preferred ciphers.
    CipherPreferences(Vec<u8>),
    /// Preferred hash algorithms.
    HashPreferences(Vec<HashAlgorithm>),
    /// Preferred compression algorithms.
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
    /// The preferred key server.
    PreferredKeyserver(Vec<u8>),
    /// Marks the primary user ID.
    PrimaryUserId,
    /// The URL of the issuer's policy; there may be several.
    Policy(Vec<u8>),
    /// What the key may be used for.
    KeyFlags(KeyFlags),
    /// The user ID of the issuer in whose name the signature is made.
    SignersUserId(Vec<u8>),
    /// The reason for a revocation.
    RevocationReason(RevocationReason),
    /// The features that the key's owner supports.
    Features(Features),
    /// The body of a signature packet: the back-signature of a signing subkey.
    EmbeddedSignature(Vec<u8>),
    /// A recipient to whom the message is encrypted; there may be several.
    IntendedRecipient(Fingerprint),
    /// The digests of certifications by others that the owner approves (draft-dkg-openpgp-1pa3pc), one after the other.
    ApprovedCertifications(Vec<u8>),
    /// The signer's certificate, reduced to what verifies the signature (LibrePGP, 5.2.3.33).
    KeyBlock(Vec<u8>),
}

/// What a key may be used for (RFC 9580, 5.2.3.29), the first byte in the lower bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyFlags(pub u16);

impl KeyFlags {
    /// Certify other keys.
    pub const CERTIFY: Self = Self(0x01);
    /// Sign data.
    pub const SIGN: Self = Self(0x02);
    /// Encrypt communications and storage.
    pub const ENCRYPT: Self = Self(0x0c);
    /// Authenticate.
    pub const AUTHENTICATE: Self = Self(0x20);
    /// Decrypt what is encrypted to another key of the certificate (LibrePGP).
    pub const ALSO_DECRYPT: Self = Self(0x0400);

    /// Returns whether all flags of `other` are set.
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

/// The features that a key's owner supports (RFC 9580, 5.2.3.32).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(pub u8);

impl Features {
    /// Encrypted data with modification detection (SEIPD version 1).
    pub const SEIPD_V1: Self = Self(0x01);
    /// LibrePGP's OCB-encrypted data.
    pub const OCB: Self = Self(0x02);
    /// LibrePGP's keys of version 5.
    pub const VERSION_5: Self = Self(0x04);
    /// SEIPD version 2.
    pub const SEIPD_V2: Self = Self(0x08);

    /// Says whether these include all others.
    pub const fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns these and others, or these without the others.
    pub const fn with(self, others: Self, are_wanted: bool) -> Self {
        if are_wanted { Self(self.0 | others.0) } else { Self(self.0 & !others.0) }
    }
}

impl BitOr for Features {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Subpacket {
    /// Returns the type of the subpacket.
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
            Self::ApprovedCertifications(_) => Kind::APPROVED_CERTIFICATIONS,
            Self::KeyBlock(_) => Kind::KEY_BLOCK,
        }
    }

    /// Returns whether a signature may have several subpackets of this type.
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

    /// Returns whether the subpacket is critical in signatures of a version.
    ///
    /// As in GnuPG, that is the regular expression of trust signatures; in version 6 also the key flags and the
    /// lifetime of the key, as in the samples of RFC 9580.
    pub(crate) fn is_critical(&self, version: u8) -> bool {
        match self {
            Self::RegularExpression(_) => true,
            Self::KeyFlags(_) | Self::KeyExpiry(_) => version == 6,
            _ => false,
        }
    }

    /// Returns the body after the type byte.
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
            | Self::EmbeddedSignature(bytes)
            | Self::ApprovedCertifications(bytes) => bytes.clone(),
            // The first byte is reserved.
            Self::KeyBlock(certificate) => [&[0], certificate.as_slice()].concat(),
            Self::Ciphersuites(pairs) => pairs.iter().flat_map(|&(cipher, mode)| [cipher, mode]).collect(),
            Self::Revoker(revoker) => {
                [&[revoker.class, revoker.algorithm.0], revoker.fingerprint.as_bytes()].concat()
            }
            Self::Notation { readable, name, value } => notation(*readable, name, value),
            Self::KeyFlags(KeyFlags(flags)) => {
                let [first, second] = flags.to_le_bytes();
                if second == 0 { vec![first] } else { vec![first, second] }
            }
            Self::KeyserverPreferences(byte) | Self::Features(Features(byte)) => vec![*byte],
            Self::PrimaryUserId => vec![1],
            Self::RevocationReason(reason) => [&[reason.code], reason.comment.as_slice()].concat(),
            Self::IntendedRecipient(fingerprint) => versioned(fingerprint),
        }
    }
}

/// Returns the version of a key and its fingerprint.
pub(crate) fn versioned(fingerprint: &Fingerprint) -> Vec<u8> {
    [&[fingerprint.version()], fingerprint.as_bytes()].concat()
}

fn notation(readable: bool, name: &[u8], value: &[u8]) -> Vec<u8> {
    let [a, b] = (name.len() as u16).to_be_bytes();
    let [c, d] = (value.len() as u16).to_be_bytes();
    let first = if readable { 0x80 } else { 0 };
    [&[first, 0, 0, 0, a, b, c, d], name, value].concat()
}
