//! Verifying signatures by other keys.

use std::sync::Arc;

use cert::facts::SignatureFacts;
use store::{CertId, KeptVerdict, ReadCertificates, Store};
use verify::Verdict;

use super::authenticity::{Authenticities, Authenticity};
use super::budget;
use super::checks::{IssuerCheck, IssuerChecks};
use super::issuers::{IssuerNumber, Issuers};
use super::kept_verdicts::KeptVerdicts;
use super::request::{VerifyRequest, Wanted};
use crate::Result;

/// Verifies signatures, and caches issuers and new verdicts.
pub struct CertificationVerifier<'s> {
    pub(super) certificates: &'s dyn ReadCertificates,
    issuers: Issuers<'s>,
    pub(super) keys: Arc<verify::Verifier>,
    keeper: Option<&'s dyn Store>,
    /// Stored verdicts are ignored.
    anew: bool,
    found: Vec<(CertId, Vec<KeptVerdict>)>,
    /// Verdicts in `found`.
    unkept: usize,
}

/// New verdicts are written once there are so many of them.
const VERDICTS_PER_WRITE: usize = 8 << 10;

impl<'s> CertificationVerifier<'s> {
    /// Verifies certificates of one database, by issuers from several databases, in their order.
    pub fn new(certificates: &'s dyn ReadCertificates, issuers: Vec<&'s dyn ReadCertificates>) -> Self {
        Self {
            certificates,
            issuers: Issuers::of(issuers),
            keys: Arc::default(),
            keeper: None,
            anew: false,
            found: Vec::new(),
            unkept: 0,
        }
    }

    /// Verifies certificates of one database by its own keys.
    pub fn within(snapshot: &'s dyn ReadCertificates) -> Self {
        Self::new(snapshot, vec![snapshot])
    }

    /// Ignores the stored verdicts and verifies everything.
    pub fn anew(self) -> Self {
        Self { anew: true, ..self }
    }

    /// Stores new verdicts in the database that the certificates are from: in batches while there are many, the rest
    /// with [`Self::keep`].
    pub fn keeping(self, store: &'s dyn Store) -> Self {
        Self { keeper: Some(store), ..self }
    }

    /// Verifies each signature that is wanted; the results are in the order of the certificates.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn verify(
        &mut self,
        asked: &[VerifyRequest<'_>],
        wanted: &Wanted<'_>,
    ) -> Result<Vec<Authenticities>> {
        let checks = self.inquire(asked, wanted)?;
        let verdicts = checks.answer(asked, &self.keys);
        self.conclude(checks, &verdicts, asked)
    }

    /// Stores the new verdicts if nobody else is writing; those that cannot be stored are verified again next time.
    ///
    /// # Errors
    ///
    /// The database's errors.
    pub fn keep(&mut self) -> Result<()> {
        let found = std::mem::take(&mut self.found);
        self.unkept = 0;
        if let Some(store) = self.keeper.filter(|_| !found.is_empty()) {
            store.keep_verdicts(&found)?;
        }
        Ok(())
    }

    /// Takes what is known already from the stored verdicts, and prepares the checks for the rest.
    pub(super) fn inquire(
        &mut self,
        asked: &[VerifyRequest<'_>],
        wanted: &Wanted<'_>,
    ) -> Result<IssuerChecks> {
        self.issuers.prepare(asked, wanted)?;
        let mut findings: Vec<Authenticities> =
            asked.iter().map(|asked| Authenticities::filled(asked.facts, Authenticity::NotAsked)).collect();
        let mut questions = Vec::new();
        for (index, (asked, findings)) in asked.iter().zip(&mut findings).enumerate() {
            self.recall(index, asked, wanted, findings, &mut questions);
        }
        let keys = self.issuers.load(questions.iter().map(|question| question.issuer))?;
        for question in budget::withhold(&mut questions, |issuer| keys.cost(issuer)) {
            findings[question.certificate].at_mut(question.component, question.signature).leave_unchecked();
        }
        IssuerChecks::new(findings, questions, keys, asked, self.certificates)
    }

    /// Evaluates verdicts, and stores them in batches.
    pub(super) fn conclude(
        &mut self,
        checks: IssuerChecks,
        verdicts: &[Verdict],
        asked: &[VerifyRequest<'_>],
    ) -> Result<Vec<Authenticities>> {
        let findings = self.learn(checks, verdicts, asked);
        if self.unkept >= VERDICTS_PER_WRITE {
            self.keep()?;
        }
        Ok(findings)
    }

    /// Takes what is known already from the stored verdicts, and lists the checks for the rest.
    fn recall(
        &self,
        certificate: usize,
        asked: &VerifyRequest<'_>,
        wanted: &Wanted<'_>,
        findings: &mut Authenticities,
        questions: &mut Vec<IssuerCheck>,
    ) {
        let kept = KeptVerdicts::of(if self.anew { &[] } else { asked.kept });
        for (component, of_component) in asked.facts.components.iter().enumerate() {
            for (signature, facts) in of_component.signatures.iter().enumerate() {
                if facts.own.is_none() && wanted(facts) {
                    *findings.at_mut(component, signature) = self.recalled(facts, &kept, &mut |issuer| {
                        questions.push(IssuerCheck { certificate, component, signature, issuer });
                    });
                }
            }
        }
    }

    /// Returns what is known of a signature unless one of the keys that `open` is called with made it.
    fn recalled(
        &self,
        signature: &SignatureFacts,
        kept: &KeptVerdicts<'_>,
        open: &mut dyn FnMut(IssuerNumber),
    ) -> Authenticity {
        let mut finding = Authenticity::NoIssuer;
        for number in self.issuers.behind(&signature.issuer) {
            let issuer = self.issuers.fingerprint(number);
            match kept.verdict(signature.content, issuer) {
                Some(true) => return Authenticity::Good(issuer),
                Some(false) => {}
                None => open(number),
            }
            if finding == Authenticity::NoIssuer {
                finding = Authenticity::Bad(issuer);
            }
        }
        finding
    }

    /// Evaluates verdicts, and notes those that can be stored.
    fn learn(
        &mut self,
        checks: IssuerChecks,
        verdicts: &[Verdict],
        asked: &[VerifyRequest<'_>],
    ) -> Vec<Authenticities> {
        let IssuerChecks { mut findings, questions, keys, .. } = checks;
        for (question, verdict) in questions.iter().zip(verdicts) {
            let &IssuerCheck { certificate, component, signature, issuer } = question;
            let issuer = keys.fingerprint(issuer);
            let finding = findings[certificate].at_mut(component, signature);
            *finding = match (*finding, verdict) {
                (Authenticity::Good(maker), _) => Authenticity::Good(maker),
                (_, Verdict::Good) => Authenticity::Good(issuer),
                (_, Verdict::Unsupported) => Authenticity::Unsupported(issuer),
                (other, Verdict::Bad) => other,
            };
            let VerifyRequest { id, facts, .. } = asked[certificate];
            let content = facts.components[component].signatures[signature].content;
            if let (Some(id), Some(content)) = (id, content)
                && *verdict != Verdict::Unsupported
            {
                self.remember(id, KeptVerdict { content, issuer, good: *verdict == Verdict::Good });
            }
        }
        findings
    }

    fn remember(&mut self, id: CertId, verdict: KeptVerdict) {
        self.unkept += 1;
        match self.found.last_mut() {
            Some((last, verdicts)) if *last == id => verdicts.push(verdict),
            _ => self.found.push((id, vec![verdict])),
        }
    }
}
