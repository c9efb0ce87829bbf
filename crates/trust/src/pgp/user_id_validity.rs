//! Which validity a user ID has: how many introducers certified it, and how many are needed.

use cert::{Fingerprint, Timestamp};

use super::certification::{Weight, judge};
use super::{
    Certificate, CertificateUser, Certification, Delegation, Edge, Introducer, Settings, TrustRegex,
    TrustSignatures,
};
use crate::{OwnerTrust, Validity};

/// How many introducers certified a user ID.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IntroducerCount {
    pub(super) full: u32,
    pub(super) marginal: u32,
    /// A valid key certified it.
    pub(super) certified: bool,
}

/// What the introducers of one level make of a certificate.
#[derive(Debug, Default)]
pub(super) struct LevelCount {
    /// The new counts of the user IDs that they certified, by component.
    pub(super) users: Vec<(usize, IntroducerCount)>,
    /// What trust signatures of this level gave the key.
    pub(super) delegation: Delegation,
    /// When the first certification that counts expires.
    pub(super) first_expiry: Option<Timestamp>,
}

impl IntroducerCount {
    /// Returns what they make of the user ID: it is fully valid if enough fully or marginally trusted ones certified it.
    pub(super) fn validity(self, settings: &Settings) -> Validity {
        match self {
            Self { certified: false, .. } => Validity::Unknown,
            Self { full, marginal, .. }
                if full >= settings.completes_needed || marginal >= settings.marginals_needed =>
            {
                Validity::Full
            }
            Self { full: 0, marginal: 0, .. } => Validity::Undefined,
            _ => Validity::Marginal,
        }
    }

    fn add(&mut self, trust: OwnerTrust, settings: &Settings) {
        self.certified = true;
        match trust {
            OwnerTrust::Ultimate => self.full = self.full.max(settings.completes_needed),
            OwnerTrust::Full => self.full += 1,
            OwnerTrust::Marginal => self.marginal += 1,
            OwnerTrust::Unknown | OwnerTrust::Expired | OwnerTrust::Undefined | OwnerTrust::Never => {}
        }
    }
}

impl LevelCount {
    /// Counts the user IDs that are fully valid now.
    pub(super) fn full(&self, settings: &Settings) -> usize {
        self.users.iter().filter(|(_, count)| count.validity(settings) == Validity::Full).count()
    }
}

/// Counts the `edges` of one certificate.
///
/// Without the certificate, all its user IDs are taken for live, and introducers with a scope for responsible.
/// `introducers` knows those of this level, `before` the counts of the levels before, and `note` is told of each
/// certification by one of them, by its index.
pub(super) fn count_introducers<'i, I: PartialEq>(
    edges: &[Edge<I>],
    certificate: Option<&Certificate>,
    settings: &Settings,
    introducers: &dyn Fn(&Fingerprint) -> Option<&'i Introducer>,
    before: &dyn Fn(usize) -> IntroducerCount,
    note: &mut dyn FnMut(usize, Weight),
) -> LevelCount {
    let mut level = LevelCount::default();
    let mut next = 0;
    for of_user in edges.chunk_by(Edge::is_on_the_same) {
        let first = next;
        next += of_user.len();
        let component = of_user[0].component;
        let user = match certificate.map(|certificate| certificate.user(component)) {
            Some(None) => continue,
            Some(Some(user)) if !user.live => continue,
            user => user.flatten(),
        };
        let certifications: Vec<&Certification> = of_user.iter().map(|edge| &edge.certification).collect();
        let mut count = before(component);
        let mut is_certified = false;
        for (index, refusal) in judge(&certifications, settings).into_iter().enumerate() {
            let certification = certifications[index];
            let Some(introducer) = introducers(&certification.issuer) else { continue };
            let weight = refusal.unwrap_or_else(|| weight(introducer, user));
            note(first + index, weight);
            if refusal.is_none() {
                level.first_expiry = level.first_expiry.into_iter().chain(certification.expires).min();
            }
            if let Weight::Counted(_) | Weight::Untrusted = weight {
                is_certified = true;
                delegate(certification, introducer, settings, &mut level.delegation);
                count.add(introducer.trust, settings);
            }
        }
        level.users.extend(is_certified.then_some((component, count)));
    }
    level
}

impl Certificate {
    fn user(&self, component: usize) -> Option<&CertificateUser> {
        let index = self.users.binary_search_by_key(&component, |user| user.component).ok()?;
        Some(&self.users[index])
    }
}

/// Returns what a certification is worth that counts.
fn weight(introducer: &Introducer, user: Option<&CertificateUser>) -> Weight {
    let scope = introducer.delegation.scope.as_ref();
    if scope.zip(user).is_some_and(|(scope, user)| !scope.admits(&user.name)) {
        Weight::OutOfScope
    } else if introducer.trust >= OwnerTrust::Marginal {
        Weight::Counted(introducer.trust)
    } else {
        Weight::Untrusted
    }
}

/// Takes over what a trust signature gives: never more levels than its issuer has left, unless that is the user.
fn delegate(
    certification: &Certification,
    introducer: &Introducer,
    settings: &Settings,
    delegation: &mut Delegation,
) {
    let Some(trust) = certification.trust.filter(|_| settings.trust_signatures != TrustSignatures::Ignored)
    else {
        return;
    };
    let depth = match introducer.trust {
        OwnerTrust::Ultimate => trust.depth,
        _ => trust.depth.min(introducer.delegation.depth),
    };
    if let Some(depth) = depth.checked_sub(1) {
        delegation.amount = trust.amount;
        delegation.depth = depth;
        if let Some(regexp) = &certification.regexp {
            delegation.scope = Some(TrustRegex::new(regexp));
        }
    }
}
