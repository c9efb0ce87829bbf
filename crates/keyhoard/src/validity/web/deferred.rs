//! Certificates that were certified, but not yet by enough to make anything of them fully valid: nothing more is read of
//! them.

use cert::Fingerprint;
use store::CertId;
use trust::pgp::{self, Certifier, Settings};
use trust::{KeyMap, OwnerTrust, Validity};

use super::issuer_set::IssuerSet;
use super::verified_certification::{Touched, VerifiedCertification, by_certificate, join};
use crate::validity::TrustSettings;

/// So many signatures are held at once: about 10 MB.
const AT_ONCE: usize = 100_000;

/// Certificates of the only database that are held back, and who was asked about until now.
pub(super) struct DeferredCertificates {
    pub(super) asked: IssuerSet,
    /// How much their certifications count, where that is the same for every user ID.
    counts: KeyMap<Option<OwnerTrust>>,
    /// Good signatures, by certificate, in the order of the packets.
    signatures: Vec<VerifiedCertification>,
}

impl DeferredCertificates {
    pub(super) fn new() -> Self {
        Self { asked: IssuerSet::new(&[], true), counts: KeyMap::default(), signatures: Vec::new() }
    }

    /// Notes who else is asked about.
    pub(super) fn ask(&mut self, certifiers: &[Certifier]) {
        self.asked.extend(certifiers);
        self.counts.extend(certifiers.iter().map(|certifier| (certifier.key, certifier.counts)));
    }

    /// Adds what was found on some certificates, of which nothing was handed out yet, and returns what may make one of
    /// their user IDs fully valid, together with what was held; and what is `open`, which is looked up with all others.
    pub(super) fn release(
        &mut self,
        found: Vec<VerifiedCertification>,
        open: &[CertId],
        settings: &TrustSettings,
    ) -> Vec<VerifiedCertification> {
        let mut all = std::mem::take(&mut self.signatures);
        join(&mut all, found);
        // Both are in order.
        all.sort_by_key(VerifiedCertification::order);
        all.retain(|one| open.binary_search(&one.id).is_err());
        if all.len() > AT_ONCE {
            return all;
        }
        let rules = settings.web();
        let full = by_certificate(&all).filter(|of_one| self.may_be_full(of_one, &rules));
        let released: Vec<CertId> = full.map(|of_one| of_one[0].id).collect();
        let released = all.extract_if(.., |one| released.binary_search(&one.id).is_ok()).collect();
        self.signatures = all;
        released
    }

    /// Says what the certifications that are still held are worth.
    pub(super) fn finish(&self, touched: &mut Touched, settings: &TrustSettings) {
        let rules = settings.web();
        for of_user in self.signatures.chunk_by(VerifiedCertification::is_on_the_same) {
            touched.add_user(of_user[0].id, of_user[0].component, self.weigh(of_user, &rules));
        }
    }

    fn may_be_full(&self, of_one: &[VerifiedCertification], rules: &Settings) -> bool {
        of_one.iter().any(|one| self.counts(&one.maker).is_none())
            || of_one.chunk_by(VerifiedCertification::is_on_the_same).any(|of_user| {
                self.could_be_full(of_user, rules) && self.weigh(of_user, rules) == Validity::Full
            })
    }

    /// Says whether all these would make a user ID fully valid if each of them counted; usually they are too few.
    fn could_be_full(&self, of_user: &[VerifiedCertification], rules: &Settings) -> bool {
        let (mut full, mut marginal) = (0, 0);
        for one in of_user {
            match self.counts(&one.maker) {
                Some(OwnerTrust::Ultimate) => return true,
                Some(OwnerTrust::Full) => full += 1,
                Some(OwnerTrust::Marginal) => marginal += 1,
                _ => {}
            }
        }
        full >= rules.completes_needed || marginal >= rules.marginals_needed
    }

    fn weigh(&self, of_user: &[VerifiedCertification], rules: &Settings) -> Validity {
        let certifications: Vec<_> = of_user.iter().map(VerifiedCertification::certification).collect();
        pgp::weigh(&certifications, &|maker| self.counts(maker).unwrap_or_default(), rules)
    }

    fn counts(&self, maker: &Fingerprint) -> Option<OwnerTrust> {
        self.counts.get(maker).copied().flatten()
    }
}
