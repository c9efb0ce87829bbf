//! What a certificate holds, in plain values: an index over its bytes.
//!
//! Facts never depend on the clock. What they mean at a given moment is [`crate::effective`]'s job.

use crate::curve;
use crate::identity::{Fingerprint, KeyId, Keygrip, SignatureDigest, Timestamp};
use crate::packet::Span;
use verify::policy::{self, DigestPolicy};
use verify::{HashAlgorithm, PublicKeyAlgorithm, Verdict};

/// Everything a listing, a search or a trust model asks of one certificate.
///
/// The components stand in the order of the certificate's bytes; the first one is the primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Primary key, user IDs, attributes and subkeys with their signatures.
    pub components: Vec<Component>,
}

/// A key, a user ID or an attribute, with the signatures that follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Where the component's own packet stands.
    pub span: Span,
    /// What it is.
    pub kind: ComponentKind,
    /// Its signatures, in the order of the bytes.
    pub signatures: Vec<SignatureFacts>,
    /// Signature packets among them that nobody here can read: kept, never shown.
    pub unread: Vec<Span>,
}

/// What a component is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComponentKind {
    /// The primary key or a subkey.
    Key(KeyFacts),
    /// A user ID: bytes, not text.
    UserId(Vec<u8>),
    /// A user attribute.
    Attribute(AttributeFacts),
    /// A packet of an unknown type, kept as it is.
    Unknown(u8),
}

/// A key's public values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFacts {
    /// The fingerprint, which tells the key's version.
    pub fingerprint: Fingerprint,
    /// The creation time.
    pub created: Timestamp,
    /// The algorithm.
    pub algorithm: PublicKeyAlgorithm,
    /// Size in bits as GnuPG counts it.
    pub bits: u32,
    /// The curve's object identifier as the packet holds it, without its length byte.
    pub curve: Option<Vec<u8>>,
    /// The keygrip, where one is defined for the algorithm.
    pub keygrip: Option<Keygrip>,
    /// Size in bits of a DSA key's subgroup (its q); 0 for every other algorithm.
    pub subgroup_bits: u16,
}

impl KeyFacts {
    /// Returns what GnuPG calls the key's curve; `None` for a key without one, or an unknown one.
    pub fn curve_name(&self) -> Option<&'static str> {
        curve::by_oid(self.curve.as_deref()?).map(|curve| curve.name)
    }
}

/// A user attribute's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeFacts {
    /// The subpackets in order.
    pub subpackets: Vec<AttributeSubpacket>,
    /// RIPEMD-160 of the packet's body, GnuPG's name for the attribute in colon listings.
    pub name_hash: [u8; 20],
    /// Length of the packet's body.
    pub length: u32,
}

/// One subpacket of a user attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeSubpacket {
    /// [`AttributeSubpacket::IMAGE`], or something that nobody defined yet.
    pub kind: u8,
    /// Length of the data after the type byte.
    pub length: u32,
    /// The image, if it is one and its header is sound.
    pub image: Option<Image>,
}

impl AttributeSubpacket {
    /// The type of an image.
    pub const IMAGE: u8 = 1;
}

/// An image (RFC 9580, 5.12.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// 1 for JPEG; 0 if the header is of an unknown version.
    pub encoding: u8,
    /// Length of the image itself, after its header.
    pub length: u32,
}

/// One signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureFacts {
    /// Where it stands.
    pub span: Span,
    /// The packet's version.
    pub version: u8,
    /// The signature type (RFC 9580, 5.2.1).
    pub kind: SignatureType,
    /// The public-key algorithm.
    pub key_algorithm: PublicKeyAlgorithm,
    /// The hash algorithm.
    pub hash_algorithm: HashAlgorithm,
    /// When it says it was made.
    pub created: Timestamp,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// Who says to have made it.
    pub issuer: Issuer,
    /// Yes-and-no properties.
    pub flags: SignatureFlags,
    /// A trust signature's depth and amount.
    pub trust: Option<TrustSignature>,
    /// A trust signature's regular expression, without its trailing NUL.
    pub trust_regexp: Option<Vec<u8>>,
    /// Why a revocation (type 0x20, 0x28 or 0x30) was made, whoever made it.
    pub reason: Option<Box<RevocationReason>>,
    /// What a verdict on it is kept by; only on signatures by other keys, in certificates that were cleaned.
    pub content: Option<SignatureDigest>,
    /// Present on signatures that name the certificate's own primary key as issuer.
    pub own: Option<Box<SelfSignature>>,
}

/// A signature type (RFC 9580, 5.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignatureType(pub u8);

impl SignatureType {
    /// Over a document's bytes.
    pub const BINARY: Self = Self(0x00);
    /// Over a document's text, whatever its lines end with.
    pub const TEXT: Self = Self(0x01);
    /// Over nothing but its own subpackets.
    pub const STANDALONE: Self = Self(0x02);
    /// A certification of a user ID with the lowest claim.
    pub const GENERIC_CERTIFICATION: Self = Self(0x10);
    /// A certification whose maker checked nothing.
    pub const PERSONA_CERTIFICATION: Self = Self(0x11);
    /// A certification whose maker checked a little.
    pub const CASUAL_CERTIFICATION: Self = Self(0x12);
    /// The certification with the highest claim.
    pub const POSITIVE_CERTIFICATION: Self = Self(0x13);
    /// Binds a subkey.
    pub const SUBKEY_BINDING: Self = Self(0x18);
    /// A signing subkey's consent.
    pub const PRIMARY_KEY_BINDING: Self = Self(0x19);
    /// A signature directly on the primary key.
    pub const DIRECT_KEY: Self = Self(0x1f);
    /// Revokes the primary key.
    pub const KEY_REVOCATION: Self = Self(0x20);
    /// Revokes a subkey.
    pub const SUBKEY_REVOCATION: Self = Self(0x28);
    /// Revokes a certification.
    pub const CERTIFICATION_REVOCATION: Self = Self(0x30);

    /// Says whether it certifies a user ID or attribute (0x10 to 0x13).
    pub fn is_certification(self) -> bool {
        (0x10..=0x13).contains(&self.0)
    }

    /// Says whether it is made over a user ID or attribute: a certification, or its revocation.
    pub fn is_over_user(self) -> bool {
        self.is_certification() || self == Self::CERTIFICATION_REVOCATION
    }

    /// Says whether it revokes something.
    pub fn revokes(self) -> bool {
        matches!(self, Self::KEY_REVOCATION | Self::SUBKEY_REVOCATION | Self::CERTIFICATION_REVOCATION)
    }
}

/// Who says to have made a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issuer {
    /// From the hashed issuer fingerprint, else the issuer key ID; 0 where neither is given.
    pub key_id: KeyId,
    /// The issuer fingerprint subpacket.
    pub fingerprint: Option<Fingerprint>,
}

impl Issuer {
    /// Says whether this may be the key with this fingerprint: the hashed fingerprint decides, else the hint.
    pub fn may_be(&self, key: &Fingerprint) -> bool {
        match &self.fingerprint {
            Some(fingerprint) => fingerprint == key,
            None => self.key_id == key.key_id(),
        }
    }
}

impl Issuer {
    /// Says whether the key with this fingerprint may have made a signature of a type over itself or its components,
    /// although only what is hashed is evidence.
    pub(crate) fn may_have_made(&self, kind: SignatureType, key: &Fingerprint) -> bool {
        match kind {
            SignatureType::DIRECT_KEY
            | SignatureType::KEY_REVOCATION
            | SignatureType::SUBKEY_BINDING
            | SignatureType::SUBKEY_REVOCATION => true,
            SignatureType::CERTIFICATION_REVOCATION if self.fingerprint.is_none() => true,
            _ => self.key_id == KeyId(0) || self.may_be(key),
        }
    }
}

/// Yes-and-no properties of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureFlags {
    /// May be given to others (RFC 9580, 5.2.3.19).
    pub exportable: bool,
    /// May be revoked (5.2.3.20).
    pub revocable: bool,
    /// Carries notations.
    pub notations: bool,
    /// Carries a policy URL.
    pub policy: bool,
    /// Carries a preferred key server.
    pub keyserver: bool,
    /// Carries a critical subpacket that is not understood.
    pub unknown_critical: bool,
    /// GnuPG would have dropped this packet at import as superseded; its front hides it.
    pub superseded: bool,
}

impl Default for SignatureFlags {
    /// Returns the properties of a signature that says nothing about them.
    fn default() -> Self {
        Self {
            exportable: true,
            revocable: true,
            notations: false,
            policy: false,
            keyserver: false,
            unknown_critical: false,
            superseded: false,
        }
    }
}

/// A trust signature's values (RFC 9580, 5.2.3.21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustSignature {
    /// How many levels down.
    pub depth: u8,
    /// 60 partial, 120 complete.
    pub amount: u8,
}

/// Why something was revoked: the first hashed subpacket with a code (RFC 9580, 5.2.3.31).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevocationReason {
    /// The reason's code.
    pub code: u8,
    /// The remark that follows it, in any encoding; often empty.
    pub comment: Vec<u8>,
}

/// What a certificate says about itself in one signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelfSignature {
    /// Whether it verifies under the primary key; `None` if a budget left it unchecked.
    pub verdict: Option<Verdict>,
    /// Seconds from the key's creation to its end; 0 means never.
    pub key_expires: Option<u32>,
    /// The first two bytes of the key flags, if there are any.
    pub key_flags: Option<[u8; 2]>,
    /// Marks the primary user ID.
    pub primary_user_id: bool,
    /// Preferred ciphers, `None` if the subpacket is missing.
    pub cipher_preferences: Option<Vec<u8>>,
    /// Preferred hashes.
    pub hash_preferences: Option<Vec<u8>>,
    /// Preferred compressions.
    pub compression_preferences: Option<Vec<u8>>,
    /// Preferred AEAD modes (LibrePGP) or ciphersuites (RFC 9580).
    pub aead_preferences: Option<Vec<u8>>,
    /// First byte of the features.
    pub features: Option<u8>,
    /// First byte of the key server preferences.
    pub keyserver_preferences: Option<u8>,
    /// Keys that may revoke this one (RFC 9580, 5.2.3.23).
    pub revokers: Vec<Revoker>,
    /// Carries an embedded primary key binding signature.
    pub embedded_signature: bool,
}

/// A designated revoker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revoker {
    /// The class byte; 0x40 marks it sensitive.
    pub class: u8,
    /// The revoker's algorithm.
    pub algorithm: PublicKeyAlgorithm,
    /// The revoker's fingerprint.
    pub fingerprint: Fingerprint,
}

impl Revoker {
    /// Says whether others are not to be shown that this key may revoke (RFC 9580, 5.2.3.23).
    pub fn is_sensitive(&self) -> bool {
        self.class & 0x40 != 0
    }
}

impl Facts {
    /// Returns the primary key.
    ///
    /// # Panics
    ///
    /// Never on facts made by this crate: their first component is a key.
    pub fn primary(&self) -> &KeyFacts {
        match self.components.first() {
            Some(Component { kind: ComponentKind::Key(key), .. }) => key,
            _ => unreachable!("the first component of a certificate is its primary key"),
        }
    }

    /// Says whether every possible revocation, and whatever may name a designated revoker, was verified: else the
    /// certificate is not valid until somebody goes on with that.
    pub fn is_fully_checked(&self) -> bool {
        let mut signatures = self.components.iter().flat_map(|component| &component.signatures);
        !signatures.any(SignatureFacts::is_pending)
    }

    /// Returns the primary key and the subkeys.
    pub fn keys(&self) -> impl Iterator<Item = &KeyFacts> {
        self.components.iter().filter_map(|component| match &component.kind {
            ComponentKind::Key(key) => Some(key),
            _ => None,
        })
    }

    /// Returns the user IDs.
    pub fn user_ids(&self) -> impl Iterator<Item = &[u8]> {
        self.components.iter().filter_map(|component| match &component.kind {
            ComponentKind::UserId(value) => Some(value.as_slice()),
            _ => None,
        })
    }
}

impl SignatureFacts {
    /// Says whether the primary key with this fingerprint may have made it: it is named as the issuer, nobody is, or
    /// nobody else makes signatures of this type but for rare exceptions. A revocation of a certification may have lost
    /// the name of its issuer, unless its maker signed that.
    pub(crate) fn may_be_by(&self, primary: &Fingerprint) -> bool {
        self.own.is_some() || self.issuer.may_have_made(self.kind, primary)
    }

    /// Says whether it says what nothing takes back: it revokes something, or names a designated revoker.
    pub fn is_irrevocable(&self) -> bool {
        self.kind.revokes() || self.own.as_ref().is_some_and(|own| !own.revokers.is_empty())
    }

    /// Says whether it may revoke something, or name a designated revoker, and a budget left it unchecked.
    pub fn is_pending(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.verdict.is_none()) && self.is_irrevocable()
    }

    /// Says whether it is a self-signature that verifies, over a digest that is not weak, and without critical
    /// subpackets that are not understood.
    pub fn verifies(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.verdict == Some(Verdict::Good)) && self.may_verify()
    }

    /// Says whether it could mean something if its maker made it: it has no weak digest, and no critical subpackets
    /// that are not understood.
    pub fn may_verify(&self) -> bool {
        !self.flags.unknown_critical && !policy::is_weak(self.hash_algorithm)
    }

    /// Says whether it [verifies](Self::verifies) and was not made before the primary key, as GnuPG asks of every
    /// self-signature that is to mean something.
    pub fn counts(&self, primary: &KeyFacts) -> bool {
        self.counts_by(primary, DigestPolicy::GNUPG)
    }

    /// Says the same where other digests may be weak.
    pub fn counts_by(&self, primary: &KeyFacts, digests: DigestPolicy) -> bool {
        self.own.as_ref().is_some_and(|own| own.verdict == Some(Verdict::Good))
            && !self.flags.unknown_critical
            && !digests.is_weak(self.hash_algorithm)
            && self.created >= primary.created
    }

    /// Says whether the signature has ended: in the very second of its end, unlike a key.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }
}
