//! What the evaluation of a certificate depends on besides its facts.

use crate::facts::SignatureFacts;
use crate::identity::Timestamp;
use verify::policy::{self, DigestPolicy};

/// Which packets of a certificate are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketView {
    /// What GnuPG would have kept: superseded packets are invisible, and signatures by others of algorithms that it
    /// does not know.
    Gnupg,
    /// Every packet.
    Full,
}

impl PacketView {
    /// Says whether a signature is visible.
    pub fn shows(self, signature: &SignatureFacts) -> bool {
        let is_known = || signature.own.is_some() || policy::is_known_to_gnupg(signature.key_algorithm);
        self == Self::Full || (!signature.flags.superseded && is_known())
    }
}

/// What [`evaluate`](super::evaluate) needs to know besides the facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationContext {
    /// The clock.
    pub now: Timestamp,
    /// Which packets count.
    pub view: PacketView,
    /// When a designated revoker revoked the primary key. Only who has the revoker's certificate can verify that.
    pub designated_revocation: Option<Timestamp>,
    /// Which digests are accepted in self-signatures.
    pub digests: DigestPolicy,
}

impl EvaluationContext {
    /// Returns the moment, without a designated revocation, and with the digests that are usually accepted.
    pub fn new(now: Timestamp, view: PacketView) -> Self {
        Self { now, view, designated_revocation: None, digests: DigestPolicy::GNUPG }
    }

    /// Returns the same moment where other digests are accepted.
    pub fn with_digests(self, digests: DigestPolicy) -> Self {
        Self { digests, ..self }
    }
}
