//! Signatures with what they are worth and whose they are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use cert::Fingerprint;
use cert::effective::EvaluationContext;
use message::DataSignature;
use trust::Validity;

use super::{ExaminedSignature, SignaturePolicy, SignatureStatus, SignerSearch};
use crate::Result;
use crate::validity::{Sources, TrustSettings, ValidityResult};

/// A signature over content, and what it is worth.
#[derive(Clone, Debug)]
pub struct SignatureReport {
    /// What came of the signature.
    pub examined: ExaminedSignature,
    /// What it is worth, whoever made it.
    pub standing: SignatureStatus,
    /// How sure it is that the certificate of the key that made it is whose its user IDs say: the best of them counts.
    pub validity: Validity,
}

/// Examines signatures, as of one moment.
pub struct Examiner<'s> {
    signers: SignerSearch<'s>,
    sources: Sources<'s>,
    settings: TrustSettings,
    validities: HashMap<Fingerprint, Validity>,
}

impl<'s> Examiner<'s> {
    /// Begins; keys are looked up where the certificates are.
    pub fn new(sources: Sources<'s>, settings: TrustSettings) -> Self {
        let context = EvaluationContext::new(settings.now, settings.view);
        let signers = SignerSearch::new(sources.certificates.clone(), context, settings.digests);
        Self { signers, sources, settings, validities: HashMap::new() }
    }

    /// Examines signatures; the reports are in their order.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn examine(&mut self, signatures: Vec<DataSignature>) -> Result<Vec<SignatureReport>> {
        let examined = self.signers.examine(signatures)?;
        self.appraise(&examined)?;
        let Self { settings, validities, .. } = self;
        let report = |examined: ExaminedSignature| {
            let standing = examined.standing(&SignaturePolicy::new(settings.digests, settings.now));
            let signer = examined.outcome.good();
            let validity =
                signer.and_then(|signer| validities.get(&signer.primary())).copied().unwrap_or_default();
            SignatureReport { examined, standing, validity }
        };
        Ok(examined.into_iter().map(report).collect())
    }

    /// Finds out how sure it is whose the keys are that were not met before.
    fn appraise(&mut self, examined: &[ExaminedSignature]) -> Result<()> {
        let mut new: Vec<Fingerprint> = examined
            .iter()
            .filter_map(|signature| Some(signature.outcome.good()?.primary()))
            .filter(|primary| !self.validities.contains_key(primary))
            .collect();
        new.sort_unstable();
        new.dedup();
        if new.is_empty() {
            return Ok(());
        }
        let validities = ValidityResult::of(&new, &self.sources, &self.settings)?;
        for signer in examined.iter().filter_map(|signature| signature.outcome.good()) {
            if let Entry::Vacant(unknown) = self.validities.entry(signer.primary()) {
                let place = (signer.source, signer.id);
                let trust = validities.trust(place, &signer.certificate.facts, &signer.effective)?;
                unknown.insert(trust.key);
            }
        }
        Ok(())
    }
}

/// Says whether content holds: somebody's signature is good, and nobody's is bad.
///
/// With `surely` it must also be fully certain whose a good one is.
pub fn all_hold(reports: &[SignatureReport], surely: bool) -> bool {
    let is_good = |report: &SignatureReport| {
        report.standing == SignatureStatus::Good && (!surely || report.validity >= Validity::Full)
    };
    reports.iter().any(is_good) && reports.iter().all(|report| report.standing != SignatureStatus::Bad)
}
