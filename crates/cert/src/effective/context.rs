//! The parameters of the evaluation of a certificate.

use crate::facts::SignatureFacts;
use crate::identity::Timestamp;
use verify::policy::{self, DigestPolicy};

/// Which packets of a certificate are visible, and by whose rules they are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketView {
    /// The packets that GnuPG would have kept: not superseded ones, nor signatures by other keys of algorithms that
    /// GnuPG does not support. As in GnuPG, signatures from the future count, and revocations of keys are for all time.
    Gnupg,
    /// Every packet, as of the moment: later self-signatures do not count yet. A soft revocation (RFC 9580, 5.2.3.31)
    /// counts from when it was made until a newer self-signature, every other revocation of a key for all time.
    Full,
}

impl PacketView {
    /// Returns whether a signature is visible.
    pub fn shows(self, signature: &SignatureFacts) -> bool {
        let is_known = || signature.own.is_some() || policy::is_known_to_gnupg(signature.key_algorithm);
        self == Self::Full || (!signature.flags.superseded && is_known())
    }
}

/// A revocation by a designated revoker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DesignatedRevocation {
    /// The creation time.
    pub date: Timestamp,
    /// Whether it is [for all time](SignatureFacts::is_hard_revocation).
    pub is_hard: bool,
}

/// The parameters of [`evaluate`](super::evaluate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationContext {
    /// The time.
    pub now: Timestamp,
    /// The visible packets.
    pub view: PacketView,
    /// The revocation of the primary key by a designated revoker, which only a caller with the revoker's certificate
    /// can verify.
    pub designated_revocation: Option<DesignatedRevocation>,
    /// The policy for hash algorithms of self-signatures.
    pub digests: DigestPolicy,
}

impl EvaluationContext {
    /// Creates a context without a designated revocation, and with GnuPG's policy for hash algorithms.
    pub fn new(now: Timestamp, view: PacketView) -> Self {
        Self { now, view, designated_revocation: None, digests: DigestPolicy::GNUPG }
    }

    /// Returns the context for another time.
    pub fn at(self, now: Timestamp) -> Self {
        Self { now, ..self }
    }

    /// Returns the context with another policy for hash algorithms.
    pub fn with_digests(self, digests: DigestPolicy) -> Self {
        Self { digests, ..self }
    }
}
