//! Verifying signatures by other keys.

use std::sync::Arc;

use cert::facts::SignatureFacts;
use store::{CertId, KeptVerdict, ReadCertificates, Store};
use verify::Verdict;

use super::authenticity::{Authenticities, Authenticity};
use super::budget;
use super::checks::{IssuerCheck, IssuerChecks};
use super::issuers::{IssuerNumber, Issuers};
use super::kept_verdicts::kept_verdict;
use super::request::{VerifyRequest, Wanted};
use crate::Result;

/// Verifies signatures, and caches issuers and new verdicts.
pub(crate) struct CertificationVerifier<'s> {
    pub(super) certificates: &'s dyn ReadCertificates,
    issuers: Issuers<'s>,
    pub(super) keys: Arc<verify::Verifier>,
    /// Where new verdicts are stored: in the database that the certificates are from, in batches while there are many,
    /// the rest with [`Self::keep`].
    pub(crate) verdict_store: Option<&'s dyn Store>,
    /// Stored verdicts are ignored.
    pub(super) anew: bool,
    found: Vec<(CertId, Vec<KeptVerdict>)>,
    /// Verdicts in `found`.
    unkept: usize,
}

/// New verdicts are written once there are so many of them.
const VERDICTS_PER_WRITE: usize = 8 << 10;

impl<'s> CertificationVerifier<'s> {
    /// Verifies certificates of one database, by issuers from several databases, in their order.
    pub(crate) fn new(
        certificates: &'s dyn ReadCertificates,
        issuers: Vec<&'s dyn ReadCertificates>,
    ) -> Self {
        Self {
            certificates,
            issuers: Issuers::of(issuers),
            keys: Arc::default(),
            verdict_store: None,
            anew: false,
            found: Vec::new(),
            unkept: 0,
        }
    }

    /// Verifies each signature that is wanted; the results are in the order of the certificates.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub(crate) fn verify(
        &mut self,
        requests: &[VerifyRequest<'_>],
        wanted: &Wanted<'_>,
    ) -> Result<Vec<Authenticities>> {
        let checks = self.prepare(requests, wanted)?;
        let verdicts = checks.verify(requests, &self.keys);
        self.finish(checks, &verdicts, requests)
    }

    /// Stores the new verdicts if nobody else is writing; those that cannot be stored are verified again next time.
    ///
    /// # Errors
    ///
    /// The database's errors.
    pub(crate) fn keep(&mut self) -> Result<()> {
        let found = std::mem::take(&mut self.found);
        self.unkept = 0;
        if let Some(store) = self.verdict_store.filter(|_| !found.is_empty()) {
            store.keep_verdicts(&found)?;
        }
        Ok(())
    }

    /// Takes what is known already from the stored verdicts, and prepares the checks for the rest.
    pub(super) fn prepare(
        &mut self,
        requests: &[VerifyRequest<'_>],
        wanted: &Wanted<'_>,
    ) -> Result<IssuerChecks> {
        self.issuers.prepare(requests, wanted)?;
        let mut authenticities: Vec<Authenticities> =
            requests.iter().map(|it| Authenticities::filled(it.facts, Authenticity::NotAsked)).collect();
        let mut checks = Vec::new();
        for (certificate, (request, authenticities)) in requests.iter().zip(&mut authenticities).enumerate() {
            let kept = if self.anew { &[] } else { request.kept };
            for (component, of_component) in request.facts.components.iter().enumerate() {
                for (signature, facts) in of_component.signatures.iter().enumerate() {
                    if facts.own.is_none() && wanted(facts) {
                        *authenticities.at_mut(component, signature) =
                            self.known_authenticity(facts, kept, &mut |issuer| {
                                checks.push(IssuerCheck { certificate, component, signature, issuer });
                            });
                    }
                }
            }
        }
        let keys = self.issuers.load(checks.iter().map(|check| check.issuer))?;
        for check in budget::withhold(&mut checks, |issuer| keys.cost(issuer)) {
            authenticities[check.certificate].at_mut(check.component, check.signature).leave_unchecked();
        }
        IssuerChecks::new(authenticities, checks, keys, requests, self.certificates)
    }

    /// Returns what is known of a signature unless one of the keys that `open` is called with made it.
    fn known_authenticity(
        &self,
        signature: &SignatureFacts,
        kept: &[KeptVerdict],
        open: &mut dyn FnMut(IssuerNumber),
    ) -> Authenticity {
        let mut authenticity = Authenticity::NoIssuer;
        for number in self.issuers.behind(&signature.issuer) {
            let issuer = self.issuers.fingerprint(number);
            match kept_verdict(kept, signature.content, issuer) {
                Some(true) => return Authenticity::Good(issuer),
                Some(false) => {}
                None => open(number),
            }
            if authenticity == Authenticity::NoIssuer {
                authenticity = Authenticity::Bad(issuer);
            }
        }
        authenticity
    }

    /// Evaluates verdicts, and stores them in batches.
    pub(super) fn finish(
        &mut self,
        checks: IssuerChecks,
        verdicts: &[Verdict],
        requests: &[VerifyRequest<'_>],
    ) -> Result<Vec<Authenticities>> {
        let IssuerChecks { mut authenticities, checks, keys, .. } = checks;
        for (check, verdict) in checks.iter().zip(verdicts) {
            let &IssuerCheck { certificate, component, signature, issuer } = check;
            let issuer = keys.fingerprint(issuer);
            let authenticity = authenticities[certificate].at_mut(component, signature);
            *authenticity = match (*authenticity, verdict) {
                (Authenticity::Good(maker), _) => Authenticity::Good(maker),
                (_, Verdict::Good) => Authenticity::Good(issuer),
                (_, Verdict::Unsupported) => Authenticity::Unsupported(issuer),
                (other, Verdict::Bad) => other,
            };
            let VerifyRequest { id, facts, .. } = requests[certificate];
            let content = facts.components[component].signatures[signature].content;
            if let (Some(id), Some(content)) = (id, content)
                && *verdict != Verdict::Unsupported
            {
                self.remember(id, KeptVerdict { content, issuer, good: *verdict == Verdict::Good });
            }
        }
        if self.unkept >= VERDICTS_PER_WRITE {
            self.keep()?;
        }
        Ok(authenticities)
    }

    fn remember(&mut self, id: CertId, verdict: KeptVerdict) {
        self.unkept += 1;
        match self.found.last_mut() {
            Some((last, verdicts)) if *last == id => verdicts.push(verdict),
            _ => self.found.push((id, vec![verdict])),
        }
    }
}
