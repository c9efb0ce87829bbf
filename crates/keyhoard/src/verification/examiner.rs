//! The status of signatures over content, and the validity of their keys.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use cert::Fingerprint;
use cert::effective::EvaluationContext;
use message::DataSignature;
use trust::Validity;

use super::{ExaminedSignature, SignaturePolicy, SignatureStatus, SignerSearch};
use crate::Result;
use crate::validity::{Sources, TrustSettings, ValidityResult};

/// A signature over content, and its status.
#[derive(Clone, Debug)]
pub struct SignatureReport {
    /// The result of examining the signature.
    pub examined: ExaminedSignature,
    /// Its status, whoever made it.
    pub standing: SignatureStatus,
    /// The validity of the certificate whose key made it: that of its most valid user ID.
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
    /// Returns an examiner that looks keys up where the certificates are.
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

    /// Computes the validity of the certificates that were not met before.
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

/// Says whether content is to be trusted: at least one signature is good, and none is bad.
///
/// With `surely` the certificate of a good one must be fully valid, too.
pub fn all_hold(reports: &[SignatureReport], surely: bool) -> bool {
    let is_good = |report: &SignatureReport| {
        report.standing == SignatureStatus::Good && (!surely || report.validity >= Validity::Full)
    };
    reports.iter().any(is_good) && reports.iter().all(|report| report.standing != SignatureStatus::Bad)
}
