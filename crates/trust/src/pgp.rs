//! The web of trust, as GnuPG's models `pgp` and `classic` compute it.
//!
//! Validity spreads from the ultimately trusted keys outwards, level by level. The keys of one level are those that
//! became fully valid at the level before. What they certified is counted, by user ID: enough full or marginal trust in
//! the certifiers makes a user ID fully valid, less makes it marginally valid, and a certification by a valid key whose
//! owner nobody trusts leaves it undefined. [`spread`] goes that way for all keys, [`trace`] for few keys, whose
//! certifiers it looks for first.
//!
//! The rules are those of GnuPG 2.2 (its `g10/trustdb.c` and `g10/key-clean.c`):
//!
//! - Of several certifications of one user ID by one key, and their revocations, the newest counts, the last one of the
//!   same second; unless one cannot be revoked and has not ended. If it has ended, no older one takes its place.
//! - Counts add up for each user ID, over all levels. Revoked and expired user IDs count for nothing, those without a
//!   self-signature do.
//! - A trust signature gives the key that became valid a trust of its own, to so many further levels, for user IDs that
//!   match an expression. Of several on one key the last one in the order of the packets counts, but an expression
//!   holds until another one takes its place.
//! - Keys that are revoked or expired neither become valid nor introduce others; neither do ultimately trusted ones.
//! - A key introduces others on one level only, the first on which it can.

mod account;
mod backward;
mod certification;
mod count;
mod forward;
mod trust_regex;
mod web;

pub use account::{Account, AccountedCertification, AccountedUser, account};
pub use backward::trace;
pub use certification::certifies;
pub use count::{Weight, weigh};
pub use forward::{Level, Outcome, Validities, spread, spread_unsummed};
pub use trust_regex::TrustRegex;
pub use web::{Certificate, Certification, CertifiedUserId, Certifier, Interest, IntroducerStatus, Web};

use cert::Timestamp;

use crate::OwnerTrust;

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

/// A key whose certifications are counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Introducer {
    /// On which level it introduces others: 0 for the ultimately trusted keys.
    pub level: u8,
    /// How far it is trusted: by the user, or by a trust signature.
    pub trust: OwnerTrust,
    /// What trust signatures gave it; the default is nothing.
    pub delegation: Delegation,
}

/// What trust signatures gave a key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delegation {
    /// The trust amount (RFC 9580, 5.2.3.21).
    pub amount: u8,
    /// So many levels further it may give trust away.
    pub depth: u8,
    /// Only user IDs that match are its business.
    pub scope: Option<TrustRegex>,
}

impl Introducer {
    /// Makes an introducer of a key that was given this owner trust.
    fn new(level: u8, given: OwnerTrust, delegation: Delegation, settings: &Settings) -> Self {
        let delegated = OwnerTrust::from_amount(delegation.amount);
        let respected =
            given == OwnerTrust::Never && settings.trust_signatures == TrustSignatures::RespectNever;
        let trust = if respected { given } else { given.max(delegated) };
        Self { level, trust, delegation }
    }

    /// Returns how much its certifications count, if that is the same for every user ID.
    fn counts(&self) -> Option<OwnerTrust> {
        self.delegation.scope.is_none().then_some(self.trust)
    }

    /// Says whether its certifications do more than tell that a valid key has certified a user ID.
    fn weighs(&self) -> bool {
        let Delegation { depth, scope, .. } = &self.delegation;
        self.trust >= OwnerTrust::Marginal || *depth > 0 || scope.is_some()
    }
}
