//! Whose certifications are asked for.

use std::collections::HashMap;

use cert::KeyId;
use foldhash::fast::RandomState;
use store::{CertId, Proven, ReadCertificates, VisitCertified};
use trust::pgp::Certifier;

use crate::Result;

/// The keys that somebody asks about, by their key IDs.
#[derive(Clone, Default)]
pub(super) struct IssuerSet {
    by_key_id: HashMap<KeyId, Vec<Certifier>, RandomState>,
    /// Everything is to be verified.
    pub(super) thorough: bool,
    /// Nobody asks about keys and user IDs that are revoked or expired.
    pub(super) only_live: bool,
}

impl IssuerSet {
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

    /// Says whether no two keys share a key ID.
    pub(super) fn have_their_own_ids(&self) -> bool {
        self.by_key_id.values().all(|keys| keys.len() == 1)
    }

    /// Returns the keys with this key ID.
    pub(super) fn behind(&self, key_id: KeyId) -> &[Certifier] {
        self.by_key_id.get(&key_id).map_or(&[], Vec::as_slice)
    }

    /// Hands out the certificates that name one of them as the issuer of a signature: whether that one weighs, and what
    /// is proven of its signatures. Several threads may share the issuers, each with its own of `parts`.
    pub(super) fn visit_certified<P: Send>(
        &self,
        source: &dyn ReadCertificates,
        parts: &mut [P],
        visit: &(impl Fn(&mut P, CertId, bool, Option<&Proven>) + Sync),
    ) -> Result<()> {
        // An index is read quickest in its order.
        let mut issuers: Vec<KeyId> = self.by_key_id.keys().copied().collect();
        issuers.sort_unstable();
        let visitors = parts.iter_mut().map(|part| {
            move |issuer, id, proven: Option<&Proven>| {
                let certifiers = self.behind(issuer);
                let weighs = certifiers.iter().any(|certifier| certifier.weighs);
                let is_the_one = |proven: &&Proven| matches!(certifiers, [one] if one.key == proven.issuer);
                visit(&mut *part, id, weighs, proven.filter(is_the_one));
            }
        });
        let mut visitors: Vec<_> = visitors.collect();
        let mut visitors: Vec<_> = visitors.iter_mut().map(|it| it as &mut VisitCertified<'_>).collect();
        Ok(source.visit_certified_by_any(&issuers, &mut visitors)?)
    }
}
