//! The status of a signature over content.

use std::fmt;

use cert::effective::objections::Objection;
use cert::{Fingerprint, Timestamp};
use verify::policy::DigestPolicy;

use super::{ExaminedSignature, SignerVerdict};

/// What is accepted in signatures over content.
#[derive(Clone, Copy, Debug)]
pub struct SignaturePolicy<'a> {
    /// The hash algorithms.
    pub digests: DigestPolicy,
    /// The names of critical notations that the user understands.
    pub notations: &'a [Vec<u8>],
    /// Objections to the key that are ignored.
    pub overlooked: &'a [Objection],
    /// The primary keys of the certificates that claim the key with which the content was decrypted: a signature that
    /// names its recipients must name them all, since any of them may be the owner's.
    pub recipients: &'a [Fingerprint],
    /// The clock.
    pub now: Timestamp,
}

impl SignaturePolicy<'_> {
    /// Accepts these hash algorithms and no critical notations, and ignores no objection.
    pub fn new(digests: DigestPolicy, now: Timestamp) -> Self {
        Self { digests, notations: &[], overlooked: &[], recipients: &[], now }
    }
}

/// The status of a signature at a moment, whoever made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureStatus {
    /// It is over this content, made with a key that could sign then.
    Good,
    /// It is not over this content, or not made by the key that it names.
    Bad,
    /// The key that made it is not here.
    NoKey,
    /// It cannot be verified: an algorithm or version is not supported.
    Unsupported,
    /// Too many certificates claim the key that made it.
    Undecided,
    /// Its hash algorithm is too weak.
    WeakDigest,
    /// It has a critical subpacket that is not known.
    UnknownCriticalSubpacket,
    /// It has expired.
    Expired,
    /// It was made in the future, or before its key.
    WrongTime,
    /// Its key, or the primary key of the certificate, is too small.
    KeyTooSmall,
    /// Its key was revoked.
    KeyRevoked,
    /// Its key had expired when it was made.
    KeyExpired,
    /// Its key is not for signing, or is not bound to its certificate.
    KeyUnusable,
    /// It was made for other recipients.
    NotIntended,
    /// It is around the encrypted data, and says nothing about the content.
    NotOverContent,
}

impl SignatureStatus {
    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns its name in JSON, and its description.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Good => ("good", "good signature"),
            Self::Bad => ("bad", "BAD signature"),
            Self::NoKey => ("no-key", "cannot verify: the key is not here"),
            Self::Unsupported => ("unsupported", "cannot verify: an algorithm or version is not known"),
            Self::Undecided => ("undecided", "cannot verify: too many certificates claim the key"),
            Self::WeakDigest => ("weak-digest", "not accepted: its digest is too weak"),
            Self::UnknownCriticalSubpacket => {
                ("unknown-demand", "not accepted: it has an unknown critical subpacket, or a damaged one")
            }
            Self::Expired => ("expired", "not accepted: the signature has expired"),
            Self::WrongTime => ("wrong-time", "not accepted: it was made in the future, or before its key"),
            Self::KeyTooSmall => ("key-too-small", "not accepted: its key is too small"),
            Self::KeyRevoked => ("key-revoked", "not accepted: the key was revoked"),
            Self::KeyExpired => ("key-expired", "not accepted: the key had expired when it was made"),
            Self::NotIntended => {
                ("not-intended", "not accepted: it was made for other recipients, so somebody passed it on")
            }
            Self::NotOverContent => {
                ("not-over-content", "not accepted: it is over the encrypted data, not over the content")
            }
            Self::KeyUnusable => ("key-unusable", "not accepted: the key is not one for signing"),
        }
    }
}

impl fmt::Display for SignatureStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().1)
    }
}

impl ExaminedSignature {
    /// Returns the status of the signature.
    pub fn status(&self, policy: &SignaturePolicy<'_>) -> SignatureStatus {
        let (signer, statement) = match (&self.signer, &self.statement) {
            _ if self.signature.is_around_encryption => return SignatureStatus::NotOverContent,
            (SignerVerdict::Good(signer), Some(statement)) => (signer, statement),
            (SignerVerdict::Bad(_), _) => return SignatureStatus::Bad,
            (SignerVerdict::NoKey, _) => return SignatureStatus::NoKey,
            (SignerVerdict::Undecided, _) => return SignatureStatus::Undecided,
            (SignerVerdict::Unsupported | SignerVerdict::Good(_), _) => return SignatureStatus::Unsupported,
        };
        let objections = signer.objections(statement, policy.now).without(policy.overlooked);
        if policy.digests.is_weak(statement.hash) {
            SignatureStatus::WeakDigest
        } else if self.demands_more(policy.notations) {
            SignatureStatus::UnknownCriticalSubpacket
        } else if !signer.is_large_enough(statement.created) {
            SignatureStatus::KeyTooSmall
        } else if let Some(objection) = objections.refusal() {
            of_objection(objection)
        } else if statement.expires.is_some_and(|end| end <= policy.now) {
            SignatureStatus::Expired
        } else if !statement.is_intended_for(policy.recipients) {
            SignatureStatus::NotIntended
        } else {
            SignatureStatus::Good
        }
    }

    /// Says the same by RFC 9580.
    fn demands_more(&self, notations: &[Vec<u8>]) -> bool {
        self.signature.parsed().is_none_or(|parsed| parsed.has_unknown_critical_by_rfc9580(notations))
    }

    /// Says whether the signature has a critical subpacket that GnuPG does not know, other than these notations.
    pub(super) fn has_unknown_critical(&self, notations: &[Vec<u8>]) -> bool {
        let demands =
            || self.signature.parsed().is_none_or(|parsed| parsed.has_unknown_critical_except(notations));
        self.statement.as_ref().is_some_and(|statement| statement.unknown_critical) && demands()
    }
}

fn of_objection(objection: Objection) -> SignatureStatus {
    match objection {
        Objection::Revoked => SignatureStatus::KeyRevoked,
        Objection::Unbound | Objection::WrongUse | Objection::NotCrossCertified => {
            SignatureStatus::KeyUnusable
        }
        Objection::BeforeKey | Objection::FromFuture => SignatureStatus::WrongTime,
        Objection::ExpiredBefore | Objection::Expired => SignatureStatus::KeyExpired,
    }
}
