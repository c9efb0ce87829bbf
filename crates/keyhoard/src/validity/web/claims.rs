//! What some keys are said to have certified, and what of it is to be verified next.

use std::collections::HashSet;
use std::iter::repeat_n;
use std::ops::ControlFlow;

use cert::facts::SignatureFacts;
use cert::{Fingerprint, KeyId, SignatureDigest};
use foldhash::fast::RandomState;
use store::{CertId, ReadCertificates};

use super::acceptable::accepts;
use super::issuer_set::IssuerSet;
use crate::Result;
use crate::certifications::kept_verdict;
use crate::validity::settings::TrustSettings;

/// A user ID or attribute of a certificate: the index of its component.
pub(super) type User = (CertId, usize);

/// Signatures that are not verified yet.
///
/// Of untrusted issuers it is enough that one certifies a user ID. So one of them is tried first, then two more, then
/// four: that never takes twice the checks that are needed, and few passes over the certificates.
pub(super) struct Claims {
    /// By user ID, by issuer.
    left: Vec<Claim>,
    /// How many untrusted issuers of each user ID are tried next.
    issuers_at_once: usize,
}

struct Claim {
    user: User,
    issuer: KeyId,
    content: Option<SignatureDigest>,
    /// It is verified even if others certify the user ID: an issuer is trusted, or it expires.
    matters: bool,
    /// It is known to be good.
    is_good: bool,
}

/// What is verified at once: certificates, ascending, and signatures on them.
pub(super) type Due = (Vec<CertId>, HashSet<SignatureDigest, RandomState>);

impl Claims {
    /// Reads what these issuers are said to have certified of certificates of one database.
    pub(super) fn read(
        issuers: &IssuerSet,
        ids: &[CertId],
        source: &dyn ReadCertificates,
        settings: &TrustSettings,
    ) -> Result<Self> {
        let mut left = Vec::new();
        source.visit_certifications(ids, &|key_id| issuers.names(key_id), &mut |found| {
            for (component, signature) in found.signatures.iter().filter(|(_, it)| accepts(settings, it)) {
                let SignatureFacts { issuer, content, expires, .. } = signature;
                let is_good = |key: &Fingerprint| kept_verdict(&found.verdicts, *content, *key) == Some(true);
                left.push(Claim {
                    user: (found.id, *component),
                    issuer: issuer.key_id,
                    content: *content,
                    matters: issuers.trusts(issuer.key_id) || expires.is_some(),
                    is_good: issuers.with_id(issuer.key_id).iter().any(is_good),
                });
            }
            ControlFlow::Continue(())
        })?;
        left.sort_by_key(|claim| (claim.user, claim.issuer));
        Ok(Self { left, issuers_at_once: 1 })
    }

    /// Takes out what is to be verified next; `None` if nothing is left.
    pub(super) fn next(&mut self) -> Option<Due> {
        let mut is_due = Vec::with_capacity(self.left.len());
        for of_user in self.left.chunk_by(|a, b| a.user == b.user) {
            // What is known to be good costs nothing, and is usually enough.
            let is_known = of_user.iter().any(|claim| claim.is_good);
            let mut more = if is_known { 0 } else { self.issuers_at_once };
            for of_issuer in of_user.chunk_by(|a, b| a.issuer == b.issuer) {
                let matters = of_issuer.iter().any(|claim| claim.matters || claim.is_good);
                is_due.extend(repeat_n(matters || more > 0, of_issuer.len()));
                more = more.saturating_sub(usize::from(!matters));
            }
        }
        self.issuers_at_once *= 2;
        let mut is_due = is_due.into_iter();
        let due: Vec<Claim> = self.left.extract_if(.., |_| is_due.next() == Some(true)).collect();
        let mut ids: Vec<CertId> = due.iter().map(|claim| claim.user.0).collect();
        ids.dedup();
        let contents = due.iter().filter_map(|claim| claim.content).collect();
        (!due.is_empty()).then_some((ids, contents))
    }

    /// Leaves out user IDs that an untrusted issuer certifies.
    pub(super) fn settle(&mut self, certified: &HashSet<User, RandomState>) {
        self.left.retain(|claim| !certified.contains(&claim.user));
    }
}
