//! Whose certifications are asked for.

use std::collections::HashMap;

use cert::KeyId;
use foldhash::fast::RandomState;
use store::{CertId, Proven, Snapshot};
use trust::pgp::Certifier;

use crate::Result;

/// The keys that somebody asks about, by their key IDs.
#[derive(Clone, Default)]
pub(super) struct Asked {
    by_key_id: HashMap<KeyId, Vec<Certifier>, RandomState>,
    /// Everything is to be verified.
    pub(super) thorough: bool,
    /// Nobody asks about keys and user IDs that are revoked or expired.
    pub(super) only_live: bool,
}

impl Asked {
    pub(super) fn new(certifiers: &[Certifier], only_live: bool) -> Self {
        let mut asked = Self { only_live, ..Self::default() };
        asked.extend(certifiers);
        asked
    }

    pub(super) fn extend(&mut self, certifiers: &[Certifier]) {
        for certifier in certifiers {
            self.by_key_id.entry(certifier.key.key_id()).or_default().push(*certifier);
        }
    }

    pub(super) fn thorough(&self) -> Self {
        Self { thorough: true, ..self.clone() }
    }

    /// Says whether a key with this key ID is asked about.
    pub(super) fn names(&self, key_id: KeyId) -> bool {
        self.by_key_id.contains_key(&key_id)
    }

    /// Returns the keys with this key ID.
    pub(super) fn behind(&self, key_id: KeyId) -> &[Certifier] {
        self.by_key_id.get(&key_id).map_or(&[], Vec::as_slice)
    }

    /// Hands out the certificates that name one of them as the issuer of a signature, issuer by issuer: whether that one
    /// weighs, and what is proven of its signatures.
    pub(super) fn visit_certified(
        &self,
        source: &dyn Snapshot,
        visit: &mut dyn FnMut(CertId, bool, Option<&Proven>),
    ) -> Result<()> {
        // An index is read quickest in its order.
        let mut issuers: Vec<_> = self.by_key_id.iter().collect();
        issuers.sort_unstable_by_key(|(key_id, _)| **key_id);
        for (key_id, certifiers) in issuers {
            let weighs = certifiers.iter().any(|certifier| certifier.weighs);
            let is_the_one = |proven: &&Proven| matches!(certifiers.as_slice(), [certifier] if certifier.key == proven.issuer);
            source.visit_certified_by(*key_id, &mut |id, proven| {
                visit(id, weighs, proven.filter(is_the_one))
            })?;
        }
        Ok(())
    }
}
