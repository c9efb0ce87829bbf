//! Keys that introduce others.

use super::settings::{Settings, TrustSignatures};
use super::trust_regex::TrustRegex;
use crate::OwnerTrust;

/// A key whose certifications are counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Introducer {
    /// The level on which it introduces others: 0 for the ultimately trusted keys.
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
    /// The number of further levels to which it may delegate trust.
    pub depth: u8,
    /// The user IDs that it may certify; `None` for all.
    pub scope: Option<TrustRegex>,
}

impl Introducer {
    /// Makes an introducer of a key that was given this owner trust.
    pub(super) fn new(level: u8, given: OwnerTrust, delegation: Delegation, settings: &Settings) -> Self {
        let delegated = OwnerTrust::from_amount(delegation.amount);
        let respected =
            given == OwnerTrust::Never && settings.trust_signatures == TrustSignatures::RespectNever;
        let trust = if respected { given } else { given.max(delegated) };
        Self { level, trust, delegation }
    }

    /// Returns whether its certifications have an effect other than that a valid key has certified a user ID.
    pub(super) fn weighs(&self) -> bool {
        let Delegation { depth, scope, .. } = &self.delegation;
        self.trust >= OwnerTrust::Marginal || *depth > 0 || scope.is_some()
    }
}
