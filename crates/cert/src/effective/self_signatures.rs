//! Selects the self-signatures that count at a given time.

use super::context::EvaluationContext;
use crate::facts::{Component, KeyFacts, SignatureFacts, SignatureType};
use crate::identity::Timestamp;

/// Selects the self-signatures that count.
pub(super) struct SelfSignatureFilter<'a> {
    pub(super) primary: &'a KeyFacts,
    pub(super) context: EvaluationContext,
}

impl SelfSignatureFilter<'_> {
    /// Iterates over the self-signatures of a component that count: visible, good, not older than the key, without a
    /// weak hash algorithm or unknown critical subpackets. A key from the future has none.
    pub(super) fn own<'c>(
        &self,
        component: &'c Component,
    ) -> impl Iterator<Item = (usize, &'c SignatureFacts)> {
        let from_the_future = self.primary.created > self.context.now;
        let signatures = if from_the_future { &[] } else { component.signatures.as_slice() };
        signatures.iter().enumerate().filter(|(_, signature)| self.counts(signature))
    }

    /// Iterates over those of one type.
    pub(super) fn of_kind<'c>(
        &self,
        component: &'c Component,
        kind: SignatureType,
    ) -> impl Iterator<Item = (usize, &'c SignatureFacts)> {
        self.own(component).filter(move |(_, signature)| signature.kind == kind)
    }

    fn counts(&self, signature: &SignatureFacts) -> bool {
        self.context.view.shows(signature) && signature.counts_by(self.primary, self.context.digests)
    }

    pub(super) fn has_expired(&self, signature: &SignatureFacts) -> bool {
        signature.has_expired(self.context.now)
    }

    /// Returns whether a key with this expiration time is expired: from the second after it on, unlike a signature.
    pub(super) fn is_expired_key(&self, expires: Option<Timestamp>) -> bool {
        expires.is_some_and(|end| end < self.context.now)
    }
}

/// Returns the expiration time of a key.
///
/// The sum wraps around as in GnuPG, so that a key that expires in 2150 is expired in both programs.
pub(super) fn key_expiration(created: Timestamp, signature: &SignatureFacts) -> Option<Timestamp> {
    let seconds = signature.own.as_ref()?.key_expires.filter(|&seconds| seconds != 0)?;
    Some(Timestamp(created.0.wrapping_add(seconds))).filter(|end| end.0 != 0)
}

/// Returns the newest of the signatures; of several of the same second, the last one.
pub(super) fn newest<'c>(
    signatures: impl Iterator<Item = (usize, &'c SignatureFacts)>,
) -> Option<(usize, &'c SignatureFacts)> {
    signatures.max_by_key(|(_, signature)| signature.created)
}
