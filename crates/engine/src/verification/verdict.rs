//! The verdict on signatures over content: their status, and what the user thinks of their keys.

use std::collections::HashMap;

use cert::effective::{EvaluationContext, PacketView};
use cert::{Fingerprint, KeyId};
use message::DataSignature;
use verify::policy::DigestPolicy;

use super::signer_search::SignerSearch;
use super::{CandidateSigner, ExaminedSignature, SignaturePolicy, SignatureStatus};
use crate::Result;
use crate::listing::UserTrust;
use crate::validity::{CertificatePosition, Sources, TrustSettings, ValidityResult};

/// The verdict on a signature over content.
#[derive(Clone, Debug)]
pub struct SignatureVerdict {
    /// The result of examining the signature.
    pub examined: ExaminedSignature,
    /// Its status, whoever made it.
    pub status: SignatureStatus,
    /// What the user thinks of the certificate with its key; nothing if the key is not known.
    pub trust: UserTrust,
}

/// Examines signatures, as of one moment.
pub struct Examiner<'s> {
    signers: SignerSearch<'s>,
    sources: Sources<'s>,
    settings: TrustSettings,
    /// What the user thinks of the certificates that were met, by their place in the sources.
    known: HashMap<CertificatePosition, UserTrust>,
    /// The primary keys of the certificates that claim the key to which the content was encrypted.
    recipients: Vec<Fingerprint>,
}

impl<'s> Examiner<'s> {
    /// Returns an examiner that looks keys up where the certificates are.
    pub fn new(sources: Sources<'s>, settings: TrustSettings) -> Self {
        let context = EvaluationContext::new(settings.now, settings.view);
        let signers = SignerSearch::new(sources.certificates.clone(), context, settings.digests);
        Self { signers, sources, settings, known: HashMap::new(), recipients: Vec::new() }
    }

    /// Sets the hash algorithms that are accepted in the self-signatures of signers.
    #[must_use]
    pub fn with_self_signature_digests(self, digests: DigestPolicy) -> Self {
        Self { signers: self.signers.with_self_signature_digests(digests), ..self }
    }

    /// Lets keys from the future count, as GnuPG's `--ignore-time-conflict` does.
    #[must_use]
    pub fn with_keys_from_the_future(self) -> Self {
        Self { signers: self.signers.with_keys_from_the_future(), ..self }
    }

    /// Sets keys that may have made any of the signatures, whomever these name.
    pub fn presume(&mut self, keys: Vec<KeyId>) {
        self.signers.presume(keys);
    }

    /// Sets the primary keys of the certificates that claim the key with which the content was decrypted: signatures
    /// that [`examine`](Self::examine) finds to be made for others than all of them do not count (RFC 9580, 5.2.3.36).
    pub fn expect_recipients(&mut self, primaries: Vec<Fingerprint>) {
        self.recipients = primaries;
    }

    /// Examines signatures; the verdicts are in their order. Unless GnuPG's rules are followed, SHA-1 and RIPEMD-160 do not
    /// count in them.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn examine(&mut self, signatures: Vec<DataSignature>) -> Result<Vec<SignatureVerdict>> {
        let recipients = std::mem::take(&mut self.recipients);
        let digests = match self.settings.view {
            PacketView::Full => self.settings.digests.of_data(),
            PacketView::Gnupg => self.settings.digests,
        };
        let policy =
            SignaturePolicy { recipients: &recipients, ..SignaturePolicy::new(digests, self.settings.now) };
        let mut verdicts = self.search(signatures, &policy)?;
        self.recipients = recipients;
        self.compute_validities(&mut verdicts)?;
        Ok(verdicts)
    }

    /// Examines signatures by a policy, without the validity of their keys.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn search(
        &mut self,
        signatures: Vec<DataSignature>,
        policy: &SignaturePolicy<'_>,
    ) -> Result<Vec<SignatureVerdict>> {
        let verdict = |examined: ExaminedSignature| {
            let status = examined.status(policy);
            SignatureVerdict { examined, status, trust: UserTrust::default() }
        };
        Ok(self.signers.examine(signatures)?.into_iter().map(verdict).collect())
    }

    /// Computes the validity of the keys of signatures.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn compute_validities(&mut self, verdicts: &mut [SignatureVerdict]) -> Result<()> {
        let position = |signer: &CandidateSigner| (signer.source, signer.id);
        let signers = verdicts.iter().filter_map(|verdict| verdict.examined.signer.candidate());
        let mut new: Vec<_> = signers.filter(|signer| !self.known.contains_key(&position(signer))).collect();
        new.sort_by_key(|signer| position(signer));
        new.dedup_by_key(|signer| position(signer));
        if !new.is_empty() {
            let keys: Vec<_> = new.iter().map(|signer| signer.primary()).collect();
            let result = ValidityResult::of(&keys, &self.sources, &self.settings)?;
            for signer in new {
                let facts = &signer.certificate.facts;
                let trust = result.trust(position(signer), facts, &signer.effective)?;
                self.known.insert(position(signer), trust);
            }
        }
        for SignatureVerdict { examined, trust, .. } in verdicts {
            if let Some(signer) = examined.signer.candidate() {
                *trust = self.known[&position(signer)].clone();
            }
        }
        Ok(())
    }
}

/// Says whether a signature is not over the content, or not made by the key that it names.
pub fn any_bad(verdicts: &[SignatureVerdict]) -> bool {
    verdicts.iter().any(|verdict| verdict.status == SignatureStatus::Bad)
}
