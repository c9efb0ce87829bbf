//! The rules by which validity spreads.

use cert::Timestamp;

/// What is asked of the web.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The clock.
    pub now: Timestamp,
    /// So many marginally trusted introducers make a user ID fully valid.
    pub marginals_needed: u32,
    /// So many fully trusted introducers do.
    pub completes_needed: u32,
    /// So many levels are looked at.
    pub max_cert_depth: u8,
    /// Certifications that claim less than this (0x10 plus the level, but for 0x10 itself) are no certifications.
    pub min_cert_level: u8,
    /// What trust signatures are worth.
    pub trust_signatures: TrustSignatures,
}

/// What trust signatures are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustSignatures {
    /// No more than others (GnuPG's model `classic`).
    Ignored,
    /// They give the keys that they certify a trust of their own, if the user gave less, or said never to trust them
    /// (GnuPG's model `pgp`).
    OverrideNever,
    /// They do so, unless the user said never to trust the key.
    RespectNever,
}
