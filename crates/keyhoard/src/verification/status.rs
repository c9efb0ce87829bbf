//! The status of a signature over content.

use std::fmt;

use cert::Timestamp;
use cert::effective::objections::Objection;
use verify::policy::DigestPolicy;

use super::{CandidateSigner, ExaminedSignature, SignatureContents, Signer};

/// What is accepted in signatures over content.
#[derive(Clone, Copy, Debug)]
pub struct SignaturePolicy<'a> {
    /// The hash algorithms.
    pub digests: DigestPolicy,
    /// The names of critical notations that the user understands.
    pub notations: &'a [Vec<u8>],
    /// Objections to the key that are ignored.
    pub overlooked: &'a [Objection],
    /// The clock.
    pub now: Timestamp,
}

impl SignaturePolicy<'_> {
    /// Accepts these hash algorithms and no critical notations, and ignores no objection.
    pub fn new(digests: DigestPolicy, now: Timestamp) -> Self {
        Self { digests, notations: &[], overlooked: &[], now }
    }
}

/// The status of a signature at a moment, whoever made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    UnknownDemand,
    /// It has expired.
    Expired,
    /// It was made in the future, or before its key.
    WrongTime,
    /// Its key was revoked.
    KeyRevoked,
    /// Its key had expired when it was made.
    KeyExpired,
    /// Its key is not for signing, or is not bound to its certificate.
    KeyUnusable,
}

impl SignatureStatus {
    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::NoKey => "no-key",
            Self::Unsupported => "unsupported",
            Self::Undecided => "undecided",
            Self::WeakDigest => "weak-digest",
            Self::UnknownDemand => "unknown-demand",
            Self::Expired => "expired",
            Self::WrongTime => "wrong-time",
            Self::KeyRevoked => "key-revoked",
            Self::KeyExpired => "key-expired",
            Self::KeyUnusable => "key-unusable",
        }
    }
}

impl fmt::Display for SignatureStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Good => "good signature",
            Self::Bad => "BAD signature",
            Self::NoKey => "cannot verify: the key is not here",
            Self::Unsupported => "cannot verify: an algorithm or version is not known",
            Self::Undecided => "cannot verify: too many certificates claim the key",
            Self::WeakDigest => "not accepted: its digest is too weak",
            Self::UnknownDemand => "not accepted: it demands what is not understood",
            Self::Expired => "not accepted: the signature has expired",
            Self::WrongTime => "not accepted: it was made in the future, or before its key",
            Self::KeyRevoked => "not accepted: the key was revoked",
            Self::KeyExpired => "not accepted: the key had expired when it was made",
            Self::KeyUnusable => "not accepted: the key is not one for signing",
        })
    }
}

impl ExaminedSignature {
    /// Returns the status of the signature.
    pub fn standing(&self, policy: &SignaturePolicy<'_>) -> SignatureStatus {
        match (&self.outcome, &self.statement) {
            (Signer::Good(signer), Some(statement)) => self.worth(signer, statement, policy),
            (Signer::Bad(_), _) => SignatureStatus::Bad,
            (Signer::NoKey, _) => SignatureStatus::NoKey,
            (Signer::Undecided, _) => SignatureStatus::Undecided,
            (Signer::Unsupported | Signer::Good(_), _) => SignatureStatus::Unsupported,
        }
    }

    fn worth(
        &self,
        signer: &CandidateSigner,
        statement: &SignatureContents,
        policy: &SignaturePolicy<'_>,
    ) -> SignatureStatus {
        if policy.digests.is_weak(statement.hash) {
            SignatureStatus::WeakDigest
        } else if self.has_unknown_critical(policy.notations) {
            SignatureStatus::UnknownDemand
        } else if let Some(objection) =
            signer.objections(statement, policy.now).without(policy.overlooked).refusal()
        {
            of_objection(objection)
        } else if statement.expires.is_some_and(|end| end <= policy.now) {
            SignatureStatus::Expired
        } else {
            SignatureStatus::Good
        }
    }

    /// Says whether the signature has a critical subpacket that is not known, other than these notations.
    pub fn has_unknown_critical(&self, notations: &[Vec<u8>]) -> bool {
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
        Objection::EndedBefore | Objection::Ended => SignatureStatus::KeyExpired,
    }
}
