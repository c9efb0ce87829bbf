//! The settings of the web of trust.

use cert::Timestamp;

/// The parameters of the web of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The time.
    pub now: Timestamp,
    /// The number of marginally trusted introducers that make a user ID fully valid.
    pub marginals_needed: u32,
    /// The number of fully trusted introducers that do.
    pub completes_needed: u32,
    /// The number of levels.
    pub max_cert_depth: u8,
    /// Certifications of a lower level do not count; type 0x10 states no level, and always counts.
    pub min_cert_level: u8,
    /// What trust signatures are worth.
    pub trust_signatures: TrustSignatures,
}

/// What trust signatures are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustSignatures {
    /// As much as other certifications (GnuPG's model `classic`).
    Ignored,
    /// They give the keys that they certify a trust of their own, if the user gave less, or said never to trust them
    /// (GnuPG's model `pgp`).
    OverrideNever,
    /// They do so, unless the user said never to trust the key.
    RespectNever,
}
