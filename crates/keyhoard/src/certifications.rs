//! Signatures by other keys, verified: whether the key that a signature names as its issuer made it.
//!
//! Who made a signature is looked up by its issuer's key ID, which is a hint: several keys may go by it, and the
//! signature tells which of them it was. As in GnuPG, a certificate's subkeys certify nothing: where the key ID is a
//! subkey's, its primary key is tried.
//!
//! A [`CertificationVerifier`] answers with [`Authenticity`]s, which hold for ever. Those that the database keeps cost nothing; all
//! others of many certificates are verified in one batch, and can be kept afterwards. What a finding means, at a
//! moment and by GnuPG's rules, is the signature's [`CertificationStatus`]. A [`Checker`] does both.

mod batches;
mod budget;
mod checker;
mod checks;
mod issuers;
mod per_signature;
mod status;

use std::ops::ControlFlow;
use std::sync::Arc;

use cert::facts::SignatureFacts;
use cert::{Facts, Fingerprint};
use store::{CertId, Detail, KeptVerdict, Record, Selection, SignatureDigest, Snapshot, Store};
use verify::Verdict;

use crate::Result;
use batches::Batches;
use checks::{IssuerCheck, IssuerChecks};
use issuers::{IssuerNumber, Issuers};

pub use checker::{CertificationStatuses, Checker};
pub use per_signature::PerSignature;
pub use status::{CertificationRules, CertificationStatus, IssuerRule, StatusEvaluator, Unverifiable};

/// What is known of a signature by another key. It depends on nothing that can change, except for which keys are here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authenticity {
    /// Nobody asked, or the certificate's own primary key is the issuer.
    NotAsked,
    /// This primary key made it.
    Good(Fingerprint),
    /// No key here that goes by the issuer's key ID made it; this is the first of them.
    Bad(Fingerprint),
    /// No key here goes by the issuer's key ID.
    NoIssuer,
    /// Nobody here knows the algorithm, the curve or the size; this is the first key that might have made it.
    Unsupported(Fingerprint),
    /// There was more to verify on the certificate than it is worth at once
    /// ([`MAX_CERTIFICATION_CHECKS`](verify::limits::MAX_CERTIFICATION_CHECKS)); this is the first key that might have
    /// made it. Where verdicts are kept, the next time goes on from there.
    Unchecked(Fingerprint),
}

impl Authenticity {
    /// Returns the primary key that it is about.
    pub fn issuer(&self) -> Option<Fingerprint> {
        match *self {
            Self::Good(issuer) | Self::Bad(issuer) | Self::Unsupported(issuer) | Self::Unchecked(issuer) => {
                Some(issuer)
            }
            Self::NotAsked | Self::NoIssuer => None,
        }
    }

    /// Notes that a key was not tried; another one may have made the signature.
    fn leave_unchecked(&mut self) {
        if let Self::Bad(issuer) = *self {
            *self = Self::Unchecked(issuer);
        }
    }
}

/// The findings on one certificate's signatures.
pub type Authenticities = PerSignature<Authenticity>;

/// A certificate whose signatures are asked about.
#[derive(Clone, Copy, Debug)]
pub struct VerifyRequest<'a> {
    /// Its number in the database, where it is from there: verdicts are kept by it.
    pub id: Option<CertId>,
    /// All its facts.
    pub facts: &'a Facts,
    /// Its bytes; without them they are read when they are needed.
    pub bytes: Option<&'a [u8]>,
    /// The verdicts that are kept.
    pub kept: &'a [KeptVerdict],
}

impl<'a> VerifyRequest<'a> {
    /// Asks about a certificate of the database, read with [`Detail::Verdicts`]; `None` for one without facts.
    pub fn record(record: &'a Record) -> Option<Self> {
        let Record { id, facts, bytes, verdicts, .. } = record;
        Some(Self { id: Some(*id), facts: facts.as_ref()?, bytes: bytes.as_deref(), kept: verdicts })
    }
}

/// Says of a signature by another key whether it is asked about.
pub type Wanted<'w> = dyn Fn(&SignatureFacts) -> bool + 'w;

/// Finds out who made signatures, and remembers issuers and new verdicts.
pub struct CertificationVerifier<'s> {
    certificates: &'s dyn Snapshot,
    issuers: Issuers<'s>,
    keys: Arc<verify::Verifier>,
    keeper: Option<&'s dyn Store>,
    /// Kept verdicts are left aside.
    anew: bool,
    found: Vec<(CertId, Vec<KeptVerdict>)>,
    /// Verdicts in `found`.
    unkept: usize,
}

/// New verdicts that are gathered before they are written.
const ENOUGH_VERDICTS: usize = 8 << 10;

impl<'s> CertificationVerifier<'s> {
    /// Answers about certificates of one database, by issuers of several, the first one first.
    pub fn new(certificates: &'s dyn Snapshot, issuers: Vec<&'s dyn Snapshot>) -> Self {
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

    /// Answers about certificates of one database by its own keys.
    pub fn within(snapshot: &'s dyn Snapshot) -> Self {
        Self::new(snapshot, vec![snapshot])
    }

    /// Leaves the kept verdicts aside and verifies everything.
    pub fn anew(self) -> Self {
        Self { anew: true, ..self }
    }

    /// Writes new verdicts to the database that the certificates are from, now and then where there are many, the rest
    /// with [`Self::keep`].
    pub fn keeping(self, store: &'s dyn Store) -> Self {
        Self { keeper: Some(store), ..self }
    }

    /// Answers for each signature that is wanted, in the order of the certificates.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn verify(
        &mut self,
        asked: &[VerifyRequest<'_>],
        wanted: &Wanted<'_>,
    ) -> Result<Vec<Authenticities>> {
        let inquiry = self.inquire(asked, wanted)?;
        let verdicts = inquiry.answer(asked, &self.keys);
        self.conclude(inquiry, &verdicts, asked)
    }

    /// Hands every selected certificate with the findings on its signatures to `each`, in order of arrival.
    ///
    /// Many are read, and verified, at once, so that all cores have something to do; memory is bounded.
    ///
    /// # Errors
    ///
    /// The databases' errors, and those of `each`.
    pub fn visit(
        &mut self,
        selection: Selection<'_>,
        wanted: &Wanted<'_>,
        each: &mut dyn FnMut(Record, &Authenticities) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let certificates = self.certificates;
        let mut batches = Batches::new(self, wanted, each);
        let mut outcome = Ok(ControlFlow::Continue(()));
        certificates.visit(selection, Detail::Verdicts, &mut |record| {
            outcome = batches.add(record);
            if let Ok(flow) = outcome { flow } else { ControlFlow::Break(()) }
        })?;
        if outcome?.is_continue() { batches.finish() } else { Ok(()) }
    }

    /// Writes the new verdicts, if that can be done at once; those that cannot be written are found again next time.
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

    /// Takes what is known already from the kept verdicts, and makes ready what it takes to find out the rest.
    fn inquire(&mut self, asked: &[VerifyRequest<'_>], wanted: &Wanted<'_>) -> Result<IssuerChecks> {
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

    /// Turns answers into findings, and keeps them now and then.
    fn conclude(
        &mut self,
        inquiry: IssuerChecks,
        verdicts: &[Verdict],
        asked: &[VerifyRequest<'_>],
    ) -> Result<Vec<Authenticities>> {
        let findings = self.learn(inquiry, verdicts, asked);
        if self.unkept >= ENOUGH_VERDICTS {
            self.keep()?;
        }
        Ok(findings)
    }

    /// Takes what is known already from the kept verdicts, and asks about the rest.
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

    /// Returns the finding on a signature if all keys that `open` is told about turn out not to have made it.
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

    /// Turns verdicts into findings, and remembers those that last.
    fn learn(
        &mut self,
        inquiry: IssuerChecks,
        verdicts: &[Verdict],
        asked: &[VerifyRequest<'_>],
    ) -> Vec<Authenticities> {
        let IssuerChecks { mut findings, questions, keys, .. } = inquiry;
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

/// The kept verdicts of one certificate, in the order of what they are about.
struct KeptVerdicts<'a>(Vec<&'a KeptVerdict>);

impl<'a> KeptVerdicts<'a> {
    fn of(verdicts: &'a [KeptVerdict]) -> Self {
        let mut sorted: Vec<&KeptVerdict> = verdicts.iter().collect();
        sorted.sort_unstable_by_key(|verdict| verdict.content);
        Self(sorted)
    }

    /// Says whether a key made a signature; `None` if that was not found out yet.
    fn verdict(&self, content: Option<SignatureDigest>, issuer: Fingerprint) -> Option<bool> {
        let content = content?;
        let first = self.0.partition_point(|verdict| verdict.content < content);
        let about_it = self.0[first..].iter().take_while(|verdict| verdict.content == content);
        about_it.filter(|verdict| verdict.issuer == issuer).map(|verdict| verdict.good).next()
    }
}
