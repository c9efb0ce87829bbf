//! Selects the self-signatures that count at a given time.

use super::context::{EvaluationContext, PacketView};
use super::state::Revocation;
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
        self.of_any_time(component).filter(|(_, signature)| {
            self.are_gnupgs() || signature.created <= self.context.now || signature.is_hard_revocation()
        })
    }

    /// Iterates over these, and over those that were made later than now.
    pub(super) fn of_any_time<'c>(
        &self,
        component: &'c Component,
    ) -> impl Iterator<Item = (usize, &'c SignatureFacts)> {
        let from_the_future = self.primary.created > self.context.now;
        let signatures = if from_the_future { &[] } else { component.signatures.as_slice() };
        signatures.iter().enumerate().filter(|(_, signature)| self.is_usable(signature))
    }

    /// Iterates over those of one type.
    pub(super) fn of_kind<'c>(
        &self,
        component: &'c Component,
        kind: SignatureType,
    ) -> impl Iterator<Item = (usize, &'c SignatureFacts)> {
        self.own(component).filter(move |(_, signature)| signature.kind == kind)
    }

    /// Returns whether the rules are GnuPG's.
    pub(super) fn are_gnupgs(&self) -> bool {
        self.context.view == PacketView::Gnupg
    }

    /// Returns whether a signature counts at any time.
    fn is_usable(&self, signature: &SignatureFacts) -> bool {
        self.context.view.shows(signature) && signature.counts_by(self.primary, self.context.digests)
    }

    /// Returns the revocation that counts, of a type, of a key whose newest binding was made at `bound`.
    pub(super) fn revocation(
        &self,
        component: &Component,
        kind: SignatureType,
        bound: Option<Timestamp>,
    ) -> Option<Revocation> {
        let found = self.of_kind(component, kind).map(|(_, signature)| signature);
        let last = match self.are_gnupgs() {
            true => found.last(),
            false => found
                .filter(|signature| signature.is_hard_revocation() || !self.is_over(signature, bound))
                .max_by_key(|signature| (signature.is_hard_revocation(), signature.created)),
        };
        last.map(|signature| Revocation { date: signature.created, designated: false })
    }

    /// Returns whether a soft revocation has expired, or a newer binding has ended it.
    fn is_over(&self, revocation: &SignatureFacts, bound: Option<Timestamp>) -> bool {
        self.has_expired(revocation) || bound.is_some_and(|bound| bound > revocation.created)
    }

    pub(super) fn has_expired(&self, signature: &SignatureFacts) -> bool {
        signature.has_expired(self.context.now)
    }

    /// Returns whether a key with this expiration time is expired: for GnuPG from the second after it on, unlike a
    /// signature.
    pub(super) fn is_expired_key(&self, expires: Option<Timestamp>) -> bool {
        expires.is_some_and(|end| match self.are_gnupgs() {
            true => end < self.context.now,
            false => end <= self.context.now,
        })
    }

    /// Returns the expiration time of a key; zero seconds mean never (RFC 9580, 5.2.3.13).
    ///
    /// GnuPG's sum wraps around, so that there a key that expires in 2150 is expired.
    pub(super) fn key_expiration(&self, created: Timestamp, signature: &SignatureFacts) -> Option<Timestamp> {
        let seconds = signature.own.as_ref()?.key_expires.filter(|&seconds| seconds != 0)?;
        match self.are_gnupgs() {
            true => Some(Timestamp(created.0.wrapping_add(seconds))).filter(|end| end.0 != 0),
            false => created.0.checked_add(seconds).map(Timestamp),
        }
    }
}

/// Returns the newest of the signatures; of several of the same second, the last one.
pub(super) fn newest<'c>(
    signatures: impl Iterator<Item = (usize, &'c SignatureFacts)>,
) -> Option<(usize, &'c SignatureFacts)> {
    signatures.max_by_key(|(_, signature)| signature.created)
}
