//! The facts of a certificate: plain values that index its bytes.
//!
//! Facts do not depend on the clock; [`crate::effective`] evaluates them at a given time.

use crate::curve;
use crate::identity::{Fingerprint, KeyId, Keygrip, SignatureDigest, Timestamp};
use crate::packet::Span;
use verify::policy::{self, DigestPolicy};
use verify::{HashAlgorithm, PublicKeyAlgorithm, Verdict};

/// Everything that a listing, a search or a trust model needs to know about a certificate.
///
/// The components are in the order of the certificate's bytes; the first one is the primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Primary key, user IDs, attributes and subkeys with their signatures.
    pub components: Vec<Component>,
}

/// A key, a user ID or an attribute, with the signatures that follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// The range of the component's own packet.
    pub span: Span,
    /// The kind of component and its values.
    pub kind: ComponentKind,
    /// The signatures, in the order of the bytes.
    pub signatures: Vec<SignatureFacts>,
    /// The ranges of signature packets that cannot be parsed; they are kept, but never shown.
    pub unread: Vec<Span>,
}

/// The kind of a component and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComponentKind {
    /// The primary key or a subkey.
    Key(KeyFacts),
    /// A user ID: bytes, not text.
    UserId(Vec<u8>),
    /// A user attribute.
    Attribute(AttributeFacts),
    /// A packet of an unknown type, which is kept.
    Unknown(u8),
}

/// A key's public values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFacts {
    /// The fingerprint, which includes the version of the key.
    pub fingerprint: Fingerprint,
    /// The creation time.
    pub created: Timestamp,
    /// The algorithm.
    pub algorithm: PublicKeyAlgorithm,
    /// The size in bits as GnuPG defines it.
    pub bits: u32,
    /// The object identifier of the curve, without its length byte.
    pub curve: Option<Vec<u8>>,
    /// The keygrip, if one is defined for the algorithm.
    pub keygrip: Option<Keygrip>,
    /// Size in bits of a DSA key's subgroup (its q); 0 for every other algorithm.
    pub subgroup_bits: u16,
}

impl KeyFacts {
    /// Returns GnuPG's name of the curve; `None` for an unknown curve or a key without one.
    pub fn curve_name(&self) -> Option<&'static str> {
        curve::by_oid(self.curve.as_deref()?).map(|curve| curve.name)
    }
}

/// A user attribute's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeFacts {
    /// The subpackets in order.
    pub subpackets: Vec<AttributeSubpacket>,
    /// The RIPEMD-160 of the packet's body, which identifies the attribute in GnuPG's colon listings.
    pub name_hash: [u8; 20],
    /// Length of the packet's body.
    pub length: u32,
}

/// One subpacket of a user attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeSubpacket {
    /// The type: [`AttributeSubpacket::IMAGE`], or an undefined one.
    pub kind: u8,
    /// The length of the data after the type byte.
    pub length: u32,
    /// The image, if it is one with a valid header.
    pub image: Option<Image>,
}

impl AttributeSubpacket {
    /// The type of an image.
    pub const IMAGE: u8 = 1;
}

/// An image (RFC 9580, 5.12.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// 1 for JPEG; 0 if the version of the header is unknown.
    pub encoding: u8,
    /// Length of the image itself, after its header.
    pub length: u32,
}

/// One signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureFacts {
    /// The range of the packet.
    pub span: Span,
    /// The packet's version.
    pub version: u8,
    /// The signature type (RFC 9580, 5.2.1).
    pub kind: SignatureType,
    /// The public-key algorithm.
    pub key_algorithm: PublicKeyAlgorithm,
    /// The hash algorithm.
    pub hash_algorithm: HashAlgorithm,
    /// The creation time.
    pub created: Timestamp,
    /// The expiration time.
    pub expires: Option<Timestamp>,
    /// The alleged issuer.
    pub issuer: Issuer,
    /// Boolean properties.
    pub flags: SignatureFlags,
    /// A trust signature's depth and amount.
    pub trust: Option<TrustSignature>,
    /// A trust signature's regular expression, without its trailing NUL.
    pub trust_regexp: Option<Vec<u8>>,
    /// The reason for a revocation (type 0x20, 0x28 or 0x30) by any issuer.
    pub reason: Option<Box<RevocationReason>>,
    /// The digest under which a verdict on it is stored; only for signatures by other keys in cleaned certificates.
    pub content: Option<SignatureDigest>,
    /// Present if the certificate's own primary key is the alleged issuer.
    pub own: Option<Box<SelfSignature>>,
}

/// A signature type (RFC 9580, 5.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignatureType(pub u8);

impl SignatureType {
    /// Over a document's bytes.
    pub const BINARY: Self = Self(0x00);
    /// Over a document's text with normalised line ends.
    pub const TEXT: Self = Self(0x01);
    /// Over only its own subpackets.
    pub const STANDALONE: Self = Self(0x02);
    /// A certification of a user ID that says nothing about how it was verified.
    pub const GENERIC_CERTIFICATION: Self = Self(0x10);
    /// A certification after thorough verification.
    pub const POSITIVE_CERTIFICATION: Self = Self(0x13);
    /// Approves certifications by others (draft-dkg-openpgp-1pa3pc).
    pub const CERTIFICATION_APPROVAL: Self = Self(0x16);
    /// Binds a subkey.
    pub const SUBKEY_BINDING: Self = Self(0x18);
    /// The back-signature of a signing subkey.
    pub const PRIMARY_KEY_BINDING: Self = Self(0x19);
    /// A signature directly on the primary key.
    pub const DIRECT_KEY: Self = Self(0x1f);
    /// Revokes the primary key.
    pub const KEY_REVOCATION: Self = Self(0x20);
    /// Revokes a subkey.
    pub const SUBKEY_REVOCATION: Self = Self(0x28);
    /// Revokes a certification.
    pub const CERTIFICATION_REVOCATION: Self = Self(0x30);

    /// Returns whether it certifies a user ID or attribute (0x10 to 0x13).
    pub fn is_certification(self) -> bool {
        (0x10..=0x13).contains(&self.0)
    }

    /// Returns whether it certifies a user ID or attribute, or revokes such a certification.
    pub fn is_over_user(self) -> bool {
        self.is_certification() || self == Self::CERTIFICATION_REVOCATION
    }

    /// Returns whether it is made over a user ID or attribute, whatever it says of it.
    pub fn covers_user(self) -> bool {
        self.is_over_user() || self == Self::CERTIFICATION_APPROVAL
    }

    /// Returns whether a certification of this type has at least a level (GnuPG's `--min-cert-level`). Type 0x10 states
    /// no level and is always accepted; so are revocations.
    pub fn has_cert_level(self, min_cert_level: u8) -> bool {
        self == Self::GENERIC_CERTIFICATION
            || !self.is_certification()
            || self.0 - Self::GENERIC_CERTIFICATION.0 >= min_cert_level
    }

    /// Returns whether it revokes something.
    pub fn revokes(self) -> bool {
        matches!(self, Self::KEY_REVOCATION | Self::SUBKEY_REVOCATION | Self::CERTIFICATION_REVOCATION)
    }
}

/// The alleged issuer of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issuer {
    /// The key ID of the hashed issuer fingerprint, else the issuer key ID; 0 if there is neither.
    pub key_id: KeyId,
    /// The issuer fingerprint subpacket.
    pub fingerprint: Option<Fingerprint>,
}

impl ComponentKind {
    /// Returns whether it is a user ID or an attribute, which GnuPG treats alike.
    pub fn is_user(&self) -> bool {
        matches!(self, Self::UserId(_) | Self::Attribute(_))
    }
}

impl Issuer {
    /// Returns whether the issuer may be the key with this fingerprint, by the hashed fingerprint or else the key ID.
    pub fn may_be(&self, key: &Fingerprint) -> bool {
        match &self.fingerprint {
            Some(fingerprint) => fingerprint == key,
            None => self.key_id == key.key_id(),
        }
    }

    /// Returns whether the key with this fingerprint may have made a signature of a type over itself or its components,
    /// considering that unhashed subpackets may have been changed.
    pub(crate) fn may_have_made(&self, kind: SignatureType, key: &Fingerprint) -> bool {
        match kind {
            SignatureType::DIRECT_KEY
            | SignatureType::KEY_REVOCATION
            | SignatureType::SUBKEY_BINDING
            | SignatureType::SUBKEY_REVOCATION
            | SignatureType::CERTIFICATION_APPROVAL => true,
            SignatureType::CERTIFICATION_REVOCATION if self.fingerprint.is_none() => true,
            _ => self.key_id == KeyId(0) || self.may_be(key),
        }
    }
}

/// Boolean properties of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureFlags {
    /// Whether it may be exported (RFC 9580, 5.2.3.19).
    pub exportable: bool,
    /// Whether it may be revoked (5.2.3.20).
    pub revocable: bool,
    /// Carries notations.
    pub notations: bool,
    /// Carries a policy URL.
    pub policy: bool,
    /// Carries a preferred key server.
    pub keyserver: bool,
    /// Carries a critical subpacket that is not understood.
    pub unknown_critical: bool,
    /// Whether GnuPG would have dropped the packet at import as superseded; `gpg-keyhoard` hides it.
    pub superseded: bool,
}

impl Default for SignatureFlags {
    /// Returns the properties of a signature without such subpackets.
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
    /// The number of levels.
    pub depth: u8,
    /// The amount of trust: 60 is partial, 120 complete.
    pub amount: u8,
}

/// The reason for a revocation: the first hashed subpacket with a code (RFC 9580, 5.2.3.31).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevocationReason {
    /// The code of the reason.
    pub code: u8,
    /// The comment in any encoding; often empty.
    pub comment: Vec<u8>,
}

impl RevocationReason {
    /// No reason is said.
    pub const UNSPECIFIED: u8 = 0;
    /// Another key replaces this one.
    pub const SUPERSEDED: u8 = 1;
    /// The secret key was disclosed.
    pub const COMPROMISED: u8 = 2;
    /// The key is used no more.
    pub const RETIRED: u8 = 3;
    /// The user ID is not valid any more.
    pub const USER_ID_INVALID: u8 = 32;

    /// Returns whether signatures made before the revocation stay good: what was revoked is not used any more, but
    /// nobody else has got hold of it.
    pub fn is_soft(&self) -> bool {
        matches!(self.code, Self::SUPERSEDED | Self::RETIRED | Self::USER_ID_INVALID)
    }

    /// Returns a reason without a comment.
    pub fn new(code: u8) -> Self {
        Self { code, comment: Vec::new() }
    }
}

/// The values of a self-signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelfSignature {
    /// Whether it verifies under the primary key; `None` if a limit left it unchecked.
    pub verdict: Option<Verdict>,
    /// The lifetime of the key in seconds; 0 means that it never expires.
    pub key_expires: Option<u32>,
    /// The first two bytes of the key flags, if there are any.
    pub key_flags: Option<[u8; 2]>,
    /// Whether it marks the primary user ID.
    pub primary_user_id: bool,
    /// Preferred ciphers; `None` without the subpacket.
    pub cipher_preferences: Option<Vec<u8>>,
    /// Preferred hash algorithms.
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
    /// Whether it contains a back-signature.
    pub embedded_signature: bool,
}

/// A designated revoker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revoker {
    /// The class byte; 0x40 means sensitive.
    pub class: u8,
    /// The revoker's algorithm.
    pub algorithm: PublicKeyAlgorithm,
    /// The revoker's fingerprint.
    pub fingerprint: Fingerprint,
}

impl Revoker {
    /// Returns whether the revoker is not to be shown to others (RFC 9580, 5.2.3.23).
    pub fn is_sensitive(&self) -> bool {
        self.class & 0x40 != 0
    }
}

impl Facts {
    /// Returns the primary key.
    ///
    /// # Panics
    ///
    /// Never for facts from this crate, whose first component is a key.
    pub fn primary(&self) -> &KeyFacts {
        match self.components.first() {
            Some(Component { kind: ComponentKind::Key(key), .. }) => key,
            _ => unreachable!("the first component of a certificate is its primary key"),
        }
    }

    /// Returns whether every possible revocation, and every signature that may name a designated revoker, was verified.
    /// Otherwise the certificate is not valid until [`crate::clean::continue_verification`] has verified them.
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
    /// Returns whether the primary key with this fingerprint may have made it: it is the alleged issuer, there is none,
    /// or other keys hardly make signatures of this type. The issuer of a revocation of a certification may have been
    /// removed; even if its hashed part names another key, the owner may have made it.
    pub(crate) fn may_be_by(&self, primary: &Fingerprint) -> bool {
        self.own.is_some() || self.issuer.may_have_made(self.kind, primary)
    }

    /// Returns the verdict of a self-signature; `None` for an unchecked one and one by another key.
    pub fn verdict(&self) -> Option<Verdict> {
        self.own.as_ref().and_then(|own| own.verdict)
    }

    /// Returns whether it is a self-signature that verifies, whether or not it counts.
    pub fn is_good(&self) -> bool {
        self.verdict() == Some(Verdict::Good)
    }

    /// Sets the verdict of a self-signature that is not good. If it does not name the primary key as its issuer,
    /// another key made it.
    pub(crate) fn reject(&mut self, primary: &Fingerprint, verdict: Verdict) {
        match &mut self.own {
            Some(own) if self.issuer.may_be(primary) => own.verdict = Some(verdict),
            own => *own = None,
        }
    }

    /// Returns whether it revokes a key for all time, also for the time before it was made: no soft reason is said, so
    /// that somebody else may have the secret key and may date signatures back.
    pub fn is_hard_revocation(&self) -> bool {
        matches!(self.kind, SignatureType::KEY_REVOCATION | SignatureType::SUBKEY_REVOCATION)
            && !self.reason.as_ref().is_some_and(|reason| reason.is_soft())
    }

    /// Returns whether it is irrevocable: it revokes something, or names a designated revoker.
    pub fn is_irrevocable(&self) -> bool {
        self.kind.revokes() || self.own.as_ref().is_some_and(|own| !own.revokers.is_empty())
    }

    /// Returns whether it is irrevocable, and a limit left it unchecked.
    pub fn is_pending(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.verdict.is_none()) && self.is_irrevocable()
    }

    /// Returns whether it is a self-signature that verifies, with a hash algorithm that is not weak, and without
    /// critical subpackets that are not understood.
    pub fn verifies(&self) -> bool {
        self.is_good() && self.may_verify()
    }

    /// Returns whether it would count if it verified: its hash algorithm is not weak, and it has no critical subpackets
    /// that are not understood.
    pub fn may_verify(&self) -> bool {
        !self.flags.unknown_critical && !policy::is_weak(self.hash_algorithm)
    }

    /// Returns whether it [verifies](Self::verifies) and was not made before the primary key, as GnuPG requires of
    /// self-signatures.
    pub fn counts(&self, primary: &KeyFacts) -> bool {
        self.counts_by(primary, DigestPolicy::GNUPG)
    }

    /// Returns the same with a policy for hash algorithms. A revocation, and a
    /// signature that names a designated revoker, takes rights away: for it hash algorithms are accepted that are not
    /// accepted any more for signatures that give rights.
    pub fn counts_by(&self, primary: &KeyFacts, digests: DigestPolicy) -> bool {
        let is_accepted = match self.is_irrevocable() {
            true => !digests.is_weak(self.hash_algorithm),
            false => digests.accepts_self_signature(self.hash_algorithm, self.created.0),
        };
        self.is_good() && !self.flags.unknown_critical && is_accepted && self.created >= primary.created
    }

    /// Returns whether the signature has expired. Unlike a key, it has expired in the second of its expiration time.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }
}
