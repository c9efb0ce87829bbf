//! The set of issuers whose certifications are read.

use std::collections::{HashMap, HashSet};

use cert::{Fingerprint, KeyId};
use foldhash::fast::RandomState;
use store::{CertId, Proven, ReadCertificates, VisitCertified};

use crate::Result;

/// Primary keys, by their key IDs.
#[derive(Clone, Default)]
pub(super) struct IssuerSet {
    by_key_id: HashMap<KeyId, Vec<Fingerprint>, RandomState>,
    /// The key IDs of keys of which every certification matters.
    trusted: HashSet<KeyId, RandomState>,
}

impl IssuerSet {
    /// Of `untrusted` keys only that they certified a user ID matters, and when that expires.
    pub(super) fn new(trusted: &[Fingerprint], untrusted: &[Fingerprint]) -> Self {
        let mut set = Self::default();
        for issuer in trusted.iter().chain(untrusted) {
            set.by_key_id.entry(issuer.key_id()).or_default().push(*issuer);
        }
        set.trusted.extend(trusted.iter().map(Fingerprint::key_id));
        set
    }

    /// Says whether every certification by keys with this key ID matters.
    pub(super) fn trusts(&self, key_id: KeyId) -> bool {
        self.trusted.contains(&key_id)
    }

    /// Says whether a key with this key ID is one of them.
    pub(super) fn names(&self, key_id: KeyId) -> bool {
        self.by_key_id.contains_key(&key_id)
    }

    /// Returns the keys with this key ID.
    pub(super) fn with_id(&self, key_id: KeyId) -> &[Fingerprint] {
        self.by_key_id.get(&key_id).map_or(&[], Vec::as_slice)
    }

    /// Says whether a key is one of them.
    pub(super) fn holds(&self, key: &Fingerprint) -> bool {
        self.with_id(key.key_id()).contains(key)
    }

    /// Hands out the certificates that name one of them as the issuer of a signature, with what is proven of its
    /// signatures. Several threads may share the issuers, each with its own of `parts`.
    pub(super) fn visit_certified<P: Send>(
        &self,
        source: &dyn ReadCertificates,
        parts: &mut [P],
        visit: &(impl Fn(&mut P, CertId, Option<&Proven>) + Sync),
    ) -> Result<()> {
        // An index is read fastest in its order.
        let mut issuers: Vec<KeyId> = self.by_key_id.keys().copied().collect();
        issuers.sort_unstable();
        let visitors = parts.iter_mut().map(|part| {
            move |issuer, id, proven: Option<&Proven>| {
                let is_the_only_one = |proven: &&Proven| self.with_id(issuer) == [proven.issuer];
                visit(&mut *part, id, proven.filter(is_the_only_one));
            }
        });
        let mut visitors: Vec<_> = visitors.collect();
        let mut visitors: Vec<_> = visitors.iter_mut().map(|it| it as &mut VisitCertified<'_>).collect();
        Ok(source.visit_certified_by_any(&issuers, &mut visitors)?)
    }
}
