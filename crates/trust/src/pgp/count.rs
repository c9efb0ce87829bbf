//! Counting the certifications of one certificate by the introducers of one level.

use cert::{Fingerprint, Timestamp};

use super::certification::{Use, judge};
use super::{
    Certificate, Certification, CertifiedUserId, Delegation, Introducer, Settings, TrustRegex,
    TrustSignatures,
};
use crate::{OwnerTrust, Validity};

/// What a certification is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// It counts as much as its maker is trusted: ultimately, fully or marginally.
    Counted(OwnerTrust),
    /// Its maker is valid, and not trusted to certify others.
    Untrusted,
    /// Its maker is trusted for other user IDs only.
    OutOfScope,
    /// Its maker is not valid, or only so on a level too deep.
    NotIntroduced,
    /// It claims less than is asked for.
    ClaimsTooLittle,
    /// A newer certification by the same key counts instead, or its revocation does.
    Superseded,
    /// It has ended, and no older one takes its place.
    Ended,
    /// It revokes the maker's certifications.
    Revokes,
}

/// How far a certificate's user IDs have come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// One for each user ID or attribute of the certificate.
    pub(super) users: Box<[Count]>,
    /// On one level all of them became fully valid: nothing can change any more.
    pub(super) settled: bool,
}

/// How far a user ID has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) full: u32,
    pub(super) marginal: u32,
    /// A valid key certified it.
    pub(super) certified: bool,
}

/// What one level did to a certificate.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Step {
    /// One of its user IDs was certified by a key of this level.
    pub(super) certified: bool,
    /// One of these is fully valid now.
    pub(super) full: bool,
    /// What trust signatures of this level gave it.
    pub(super) delegation: Delegation,
    /// The first end of a certification that counts.
    pub(super) first_end: Option<Timestamp>,
}

impl Count {
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
            OwnerTrust::Unknown | OwnerTrust::Undefined | OwnerTrust::Never => {}
        }
    }
}

/// Returns the validity that certifications give to a user ID that is neither revoked nor expired, on a key that is not
/// either: `trust` says how much their makers count.
pub fn weigh(
    certifications: &[Certification<'_>],
    trust: &dyn Fn(&Fingerprint) -> OwnerTrust,
    settings: &Settings,
) -> Validity {
    let (mut uses, mut count) = (Vec::new(), Count::default());
    judge(certifications, settings, &mut uses);
    for (certification, _) in certifications.iter().zip(uses).filter(|(_, use_)| *use_ == Use::Counts) {
        count.add(trust(&certification.issuer), settings);
    }
    count.validity(settings)
}

/// Counts what the introducers of one level certified.
pub(super) struct Counter<'s> {
    settings: &'s Settings,
    uses: Vec<Use>,
}

impl<'s> Counter<'s> {
    pub(super) fn new(settings: &'s Settings) -> Self {
        Self { settings, uses: Vec::new() }
    }

    /// Adds to a certificate's tally; `introducers` knows those of this level. `note` is told of each certification by
    /// one of them, by the places of user ID and certification.
    pub(super) fn count<'i>(
        &mut self,
        certificate: &Certificate<'_>,
        tally: &mut Tally,
        introducers: &dyn Fn(&Fingerprint) -> Option<&'i Introducer>,
        note: &mut dyn FnMut(usize, usize, Weight),
    ) -> Step {
        tally.users.resize_to(certificate.users.len());
        let mut step = Step::default();
        let mut full = 0;
        for (number, user) in certificate.users.iter().enumerate().filter(|(_, user)| user.live) {
            judge(user.certifications, self.settings, &mut self.uses);
            let mut certified = false;
            for (place, (certification, &use_)) in user.certifications.iter().zip(&self.uses).enumerate() {
                let Some(introducer) = introducers(&certification.issuer) else { continue };
                let weight = weight(use_, introducer, user);
                note(number, place, weight);
                if use_ == Use::Counts {
                    step.first_end = earlier(step.first_end, certification.expires);
                }
                if let Weight::Counted(_) | Weight::Untrusted = weight {
                    certified = true;
                    delegate(certification, introducer, self.settings, &mut step.delegation);
                    tally.users[number].add(introducer.trust, self.settings);
                }
            }
            step.certified |= certified;
            full += usize::from(certified && tally.users[number].validity(self.settings) == Validity::Full);
        }
        step.full = full > 0;
        tally.settled |= full > 0 && full == certificate.users.len();
        step
    }
}

trait Resize {
    fn resize_to(&mut self, length: usize);
}

impl Resize for Box<[Count]> {
    /// A certificate has as many user IDs on every level.
    fn resize_to(&mut self, length: usize) {
        if self.len() != length {
            *self = vec![Count::default(); length].into();
        }
    }
}

fn weight(use_: Use, introducer: &Introducer, user: &CertifiedUserId<'_>) -> Weight {
    match use_ {
        Use::ClaimsTooLittle => Weight::ClaimsTooLittle,
        Use::Superseded => Weight::Superseded,
        Use::Ended => Weight::Ended,
        Use::Revokes => Weight::Revokes,
        Use::Counts
            if introducer.delegation.scope.as_ref().is_some_and(|scope| !scope.admits(&user.name)) =>
        {
            Weight::OutOfScope
        }
        Use::Counts if introducer.trust >= OwnerTrust::Marginal => Weight::Counted(introducer.trust),
        Use::Counts => Weight::Untrusted,
    }
}

/// Takes over what a trust signature gives: never more levels than its maker has left, unless that is the user.
fn delegate(
    certification: &Certification<'_>,
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
        if let Some(regexp) = certification.regexp {
            delegation.scope = Some(TrustRegex::new(regexp));
        }
    }
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
