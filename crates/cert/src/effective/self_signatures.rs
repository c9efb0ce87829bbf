//! The self-signatures that count at a moment.

use super::context::EvaluationContext;
use crate::facts::{Component, KeyFacts, SignatureFacts};
use crate::identity::Timestamp;

/// Tells which self-signatures count.
pub(super) struct SelfSignatureFilter<'a> {
    pub(super) primary: &'a KeyFacts,
    pub(super) moment: EvaluationContext,
}

impl SelfSignatureFilter<'_> {
    /// Walks the self-signatures of a component that count: visible, good, made neither before the key nor with
    /// a weak digest, without critical subpackets that are not understood. A key from the future has none.
    pub(super) fn own<'c>(
        &self,
        component: &'c Component,
    ) -> impl Iterator<Item = (usize, &'c SignatureFacts)> {
        let from_the_future = self.primary.created > self.moment.now;
        let signatures = if from_the_future { &[] } else { component.signatures.as_slice() };
        signatures.iter().enumerate().filter(|(_, signature)| self.counts(signature))
    }

    fn counts(&self, signature: &SignatureFacts) -> bool {
        self.moment.view.shows(signature) && signature.counts_by(self.primary, self.moment.digests)
    }

    pub(super) fn has_expired(&self, signature: &SignatureFacts) -> bool {
        signature.has_expired(self.moment.now)
    }

    /// Says whether a key that ends at `expires` has ended: from the second after on, unlike a signature.
    pub(super) fn has_ended(&self, expires: Option<Timestamp>) -> bool {
        expires.is_some_and(|end| end < self.moment.now)
    }
}

/// Returns when a key ends that was made at `created`.
///
/// The sum wraps around like GnuPG's, so that a key "until 2150" has ended in both programs.
pub(super) fn key_end(created: Timestamp, signature: &SignatureFacts) -> Option<Timestamp> {
    let seconds = signature.own.as_ref()?.key_expires.filter(|&seconds| seconds != 0)?;
    Some(Timestamp(created.0.wrapping_add(seconds))).filter(|end| end.0 != 0)
}

/// Returns the newest of the signatures, the last one where several are of the same second.
pub(super) fn newest<'c>(
    signatures: impl Iterator<Item = (usize, &'c SignatureFacts)>,
) -> Option<(usize, &'c SignatureFacts)> {
    signatures.max_by_key(|(_, signature)| signature.created)
}
