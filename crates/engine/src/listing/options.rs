//! What a listing holds.

use cert::Timestamp;
use cert::effective::PacketView;
use verify::policy::DigestPolicy;

/// What a listing holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListOptions {
    /// The clock.
    pub now: Timestamp,
    /// Whether superseded packets are listed.
    pub view: PacketView,
    /// Whether signatures are listed.
    pub signatures: Signatures,
    /// Whether the bodies of packets are listed, for key material, notations, URLs and photographs.
    pub bodies: bool,
    /// Which digests are accepted in self-signatures.
    pub digests: DigestPolicy,
}

impl ListOptions {
    /// Returns the options for listing keys and user IDs as GnuPG sees them at a moment.
    pub fn as_gnupg(now: Timestamp, digests: DigestPolicy) -> Self {
        Self { now, view: PacketView::Gnupg, signatures: Signatures::Without, bodies: false, digests }
    }
}

/// Whether signatures are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signatures {
    /// Left out.
    Without,
    /// Listed, with [`IssuerName::NotAsked`](super::IssuerName::NotAsked).
    Plain,
    /// Listed with the primary user ID of the key that is said to have made them.
    Named,
}
