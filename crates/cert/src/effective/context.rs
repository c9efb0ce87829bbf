//! The parameters of the evaluation of a certificate.

use crate::facts::SignatureFacts;
use crate::identity::Timestamp;
use verify::policy::{self, DigestPolicy};

/// Which packets of a certificate are visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketView {
    /// The packets that GnuPG would have kept: not superseded ones, nor signatures by other keys of algorithms that
    /// GnuPG does not support.
    Gnupg,
    /// Every packet.
    Full,
}

impl PacketView {
    /// Returns whether a signature is visible.
    pub fn shows(self, signature: &SignatureFacts) -> bool {
        let is_known = || signature.own.is_some() || policy::is_known_to_gnupg(signature.key_algorithm);
        self == Self::Full || (!signature.flags.superseded && is_known())
    }
}

/// The parameters of [`evaluate`](super::evaluate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationContext {
    /// The time.
    pub now: Timestamp,
    /// The visible packets.
    pub view: PacketView,
    /// When a designated revoker revoked the primary key, which only a caller with the revoker's certificate can
    /// verify.
    pub designated_revocation: Option<Timestamp>,
    /// The policy for hash algorithms of self-signatures.
    pub digests: DigestPolicy,
}

impl EvaluationContext {
    /// Creates a context without a designated revocation, and with GnuPG's policy for hash algorithms.
    pub fn new(now: Timestamp, view: PacketView) -> Self {
        Self { now, view, designated_revocation: None, digests: DigestPolicy::GNUPG }
    }

    /// Returns the context with another policy for hash algorithms.
    pub fn with_digests(self, digests: DigestPolicy) -> Self {
        Self { digests, ..self }
    }
}
