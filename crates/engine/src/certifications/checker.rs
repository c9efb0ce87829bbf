//! Verifying signatures and evaluating their status in one step.

use std::ops::ControlFlow;

use cert::certificate::Certificate;
use store::{ReadCertificates, Record, Selection, Store};

use super::request::{VerifyRequest, Wanted};
use super::status::{CertificationRules, CertificationStatuses, StatusEvaluator};
use super::verifier::CertificationVerifier;
use crate::Result;

/// Verifies signatures and evaluates their status.
pub struct Checker<'s> {
    verifier: CertificationVerifier<'s>,
    evaluator: StatusEvaluator<'s>,
}

impl<'s> Checker<'s> {
    /// Checks certificates of one database, by issuers from several databases, in their order.
    pub fn new(
        certificates: &'s dyn ReadCertificates,
        issuers: Vec<&'s dyn ReadCertificates>,
        rules: CertificationRules,
    ) -> Self {
        Self {
            verifier: CertificationVerifier::new(certificates, issuers.clone()),
            evaluator: StatusEvaluator::new(rules, issuers),
        }
    }

    /// Stores new verdicts in the database that the certificates are from, the last ones with [`Self::keep`].
    pub fn keeping(mut self, store: &'s dyn Store) -> Self {
        self.verifier.verdict_store = Some(store);
        self
    }

    /// Ignores all stored verdicts.
    pub fn anew(mut self) -> Self {
        self.verifier.anew = true;
        self
    }

    /// Calls `each` with every selected certificate and the status of its signatures, in database order. The status of
    /// a signature that is not wanted is [`CertificationStatus::NoIssuer`](super::CertificationStatus::NoIssuer).
    ///
    /// # Errors
    ///
    /// The databases' errors, and those of `each`.
    pub fn visit(
        &mut self,
        selection: Selection<'_>,
        wanted: &Wanted<'_>,
        each: &mut dyn FnMut(Record, &CertificationStatuses) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let Self { verifier, evaluator } = self;
        verifier.visit(selection, wanted, &mut |record, authenticities| match &record.facts {
            Some(facts) => {
                let statuses = evaluator.statuses(facts, authenticities)?;
                each(record, &statuses)
            }
            None => Ok(ControlFlow::Continue(())),
        })
    }

    /// Returns the status of the signatures of a certificate that need not be in a database.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn certificate(&mut self, certificate: &Certificate) -> Result<CertificationStatuses> {
        let Certificate { facts, bytes } = certificate;
        let request = VerifyRequest { id: None, facts, bytes: Some(bytes), kept: &[] };
        let authenticities = self.verifier.verify(&[request], &|_| true)?;
        self.evaluator.statuses(facts, &authenticities[0])
    }

    /// Writes the new verdicts, if that can be done at once.
    ///
    /// # Errors
    ///
    /// The database's errors.
    pub fn keep(&mut self) -> Result<()> {
        self.verifier.keep()
    }
}
