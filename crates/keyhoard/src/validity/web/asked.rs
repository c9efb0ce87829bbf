//! Whose certifications are asked for.

use std::collections::HashMap;

use cert::KeyId;
use foldhash::fast::RandomState;
use store::{CertId, Snapshot};
use trust::pgp::Certifier;

use crate::Result;

/// The keys that somebody asks about, by their key IDs.
#[derive(Clone)]
pub(super) struct Asked {
    by_key_id: HashMap<KeyId, Vec<Certifier>, RandomState>,
    /// Everything is to be verified.
    pub(super) thorough: bool,
    /// Nobody asks about keys and user IDs that are revoked or expired.
    pub(super) only_live: bool,
}

impl Asked {
    pub(super) fn new(certifiers: &[Certifier], only_live: bool) -> Self {
        let mut by_key_id: HashMap<KeyId, Vec<Certifier>, RandomState> = HashMap::default();
        for certifier in certifiers {
            by_key_id.entry(certifier.key.key_id()).or_default().push(*certifier);
        }
        Self { by_key_id, thorough: false, only_live }
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

    /// Returns the certificates that name one of them as the issuer of a signature, those that `matters`: it is told
    /// whether one of these issuers weighs.
    pub(super) fn certified(
        &self,
        source: &dyn Snapshot,
        mut matters: impl FnMut(CertId, bool) -> bool,
    ) -> Result<Vec<CertId>> {
        let mut named: Vec<(CertId, bool)> = Vec::new();
        // An index is read quickest in its order.
        let mut issuers: Vec<_> = self.by_key_id.iter().collect();
        issuers.sort_unstable_by_key(|(key_id, _)| **key_id);
        for (key_id, certifiers) in issuers {
            let is_light = !certifiers.iter().any(|certifier| certifier.weighs);
            named.extend(source.certified_by(*key_id)?.into_iter().map(|id| (id, is_light)));
        }
        // Those who weigh come first.
        named.sort_unstable();
        named.dedup_by_key(|(id, _)| *id);
        Ok(named.into_iter().filter(|&(id, is_light)| matters(id, !is_light)).map(|(id, _)| id).collect())
    }
}
