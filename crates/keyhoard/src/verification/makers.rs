//! The keys that may have made signatures, looked up once each.

use std::collections::HashMap;
use std::sync::Arc;

use cert::certificate::Certificate;
use cert::effective::{Effective, KeyState, Moment, State};
use cert::facts::{ComponentKind, Issuer, KeyFacts, SignatureType};
use cert::key::{self, Key};
use cert::packet::Packets;
use cert::signature::{self, Signature};
use cert::signed::{Digester, Subject, question};
use cert::{Fingerprint, KeyId, Timestamp};
use message::DataSignature;
use store::{CertId, Snapshot};
use verify::limits::MAX_ISSUER_CANDIDATES as MAX_KEYS;
use verify::{Check, Verdict, verify};

use super::{Examined, Outcome, Statement};
use crate::designated_revocation::evaluate_with_revokers;
use crate::{Result, stored};

/// So many key IDs are remembered.
const MANY: usize = 10_000;

/// A key that a signature names, in its certificate.
#[derive(Clone, Debug)]
pub struct Maker {
    /// The certificate.
    pub certificate: Arc<Certificate>,
    /// What it means now.
    pub effective: Arc<Effective>,
    /// The place of the key among its components.
    pub component: usize,
    /// In which of the databases it is.
    pub source: usize,
    /// The certificate's number there.
    pub id: CertId,
    is_cross_certified: bool,
}

impl Maker {
    /// Returns the key.
    pub fn key(&self) -> &KeyFacts {
        match &self.certificate.facts.components[self.component].kind {
            ComponentKind::Key(key) => key,
            _ => unreachable!("only keys are looked up"),
        }
    }

    /// Returns what the key means now.
    pub fn state(&self) -> &KeyState {
        match &self.effective.components[self.component] {
            State::Key(state) => state,
            _ => unreachable!("only keys are looked up"),
        }
    }

    /// Returns the fingerprint of the certificate's primary key.
    pub fn primary(&self) -> Fingerprint {
        self.certificate.facts.primary().fingerprint
    }

    /// Says whether the key says itself that it belongs to the certificate: a subkey that signs has to (RFC 9580,
    /// 5.2.1.9), else anybody could take it for their own.
    pub fn is_cross_certified(&self) -> bool {
        self.is_cross_certified
    }

    /// Returns when the key ends, or its certificate does.
    pub fn expires(&self) -> Option<Timestamp> {
        let ends = [self.state().expires, self.effective.primary().expires];
        ends.into_iter().flatten().min()
    }

    /// Returns the primary user ID.
    pub fn user_id(&self) -> Option<&[u8]> {
        let place = self.effective.primary_user_id(&self.certificate.facts)?;
        match &self.certificate.facts.components[place].kind {
            ComponentKind::UserId(user_id) => Some(user_id),
            _ => None,
        }
    }

    fn public(&self, component: usize) -> Option<Key<'_>> {
        key::parse_public(body(&self.certificate, self.certificate.facts.components[component].span)?).ok()
    }

    /// Verifies the signature of the subkey that its binding holds.
    fn is_bound_both_ways(&self) -> bool {
        if self.component == 0 {
            return true;
        }
        let component = &self.certificate.facts.components[self.component];
        let holds = || {
            let binding = body(&self.certificate, component.signatures[self.state().binding?].span)?;
            let binding = signature::parse(binding).ok()?;
            let (primary, subkey) = (self.public(0)?, self.public(self.component)?);
            let mut digester = Digester::new(primary);
            let mut over = digester.over(Subject::Subkey(subkey));
            let embedded: Vec<Signature<'_>> = binding
                .embedded()
                .filter_map(|body| signature::parse(body).ok())
                .filter(|one| one.kind == SignatureType::PRIMARY_KEY_BINDING)
                .take(MAX_KEYS)
                .collect();
            let checks: Vec<Check<'_>> = embedded
                .iter()
                .filter_map(|one| question(&subkey, one, over.digest(one).ok()?).ok())
                .collect();
            verify(&checks).contains(&Verdict::Good).then_some(())
        };
        holds().is_some()
    }
}

fn body(certificate: &Certificate, span: cert::facts::Span) -> Option<&[u8]> {
    Some(Packets::new(certificate.packet(span)).next()?.ok()?.body)
}

/// The keys of databases, as of one moment.
pub struct Makers<'s> {
    sources: Vec<&'s dyn Snapshot>,
    moment: Moment,
    known: HashMap<KeyId, Vec<Arc<Maker>>>,
}

impl<'s> Makers<'s> {
    /// Looks keys up in databases, the first one first.
    pub fn new(sources: Vec<&'s dyn Snapshot>, moment: Moment) -> Self {
        Self { sources, moment, known: HashMap::new() }
    }

    /// Examines signatures.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn examine(&mut self, signatures: Vec<DataSignature>) -> Result<Vec<Examined>> {
        let mut named = Vec::with_capacity(signatures.len());
        for signature in &signatures {
            let issuer = signature.parsed().map(|parsed| parsed.issuer());
            named.push(match issuer {
                Some(issuer) => self.candidates(&issuer)?,
                None => Vec::new(),
            });
        }
        let answers = answers(&signatures, &named);
        let examined = signatures.into_iter().zip(named).zip(answers).map(|((signature, named), answers)| {
            let statement = signature.parsed().map(|parsed| Statement::of(&parsed));
            let outcome = outcome(statement.is_some(), &signature, named, &answers);
            Examined { signature, statement, outcome }
        });
        Ok(examined.collect())
    }

    /// Returns the keys that a signature may be by.
    fn candidates(&mut self, issuer: &Issuer) -> Result<Vec<Arc<Maker>>> {
        if !self.known.contains_key(&issuer.key_id) {
            if self.known.len() > MANY {
                self.known.clear();
            }
            let found = self.look_up(issuer.key_id)?;
            self.known.insert(issuer.key_id, found);
        }
        let known = &self.known[&issuer.key_id];
        Ok(known.iter().filter(|maker| issuer.may_be(&maker.key().fingerprint)).cloned().collect())
    }

    fn look_up(&self, key_id: KeyId) -> Result<Vec<Arc<Maker>>> {
        let mut found: Vec<Arc<Maker>> = Vec::new();
        for (source, snapshot) in self.sources.iter().enumerate() {
            for hit in snapshot.keys_by_id(key_id)?.into_iter().take(MAX_KEYS) {
                let is_known = found
                    .iter()
                    .any(|maker| maker.key().fingerprint == hit.fingerprint && maker.source < source);
                if is_known || found.len() == MAX_KEYS {
                    continue;
                }
                let Some(stored) = stored::read_one(*snapshot, hit.cert)? else { continue };
                let certificate = stored.certificate;
                let whole = || Ok(Some(certificate.clone()));
                let effective =
                    evaluate_with_revokers(&certificate.facts, self.moment, whole, &self.sources)?;
                let is_it = |kind: &ComponentKind| matches!(kind, ComponentKind::Key(key) if key.fingerprint == hit.fingerprint);
                let component =
                    certificate.facts.components.iter().position(|component| is_it(&component.kind));
                let Some(component) = component else { continue };
                let (certificate, effective) = (Arc::new(certificate), Arc::new(effective));
                let mut maker = Maker {
                    certificate,
                    effective,
                    component,
                    source,
                    id: hit.cert,
                    is_cross_certified: false,
                };
                maker.is_cross_certified = maker.is_bound_both_ways();
                found.push(Arc::new(maker));
            }
        }
        Ok(found)
    }
}

/// The place of a question, or its answer where nothing is left to ask.
type Asked = std::result::Result<usize, Verdict>;

/// Asks each of the named keys whether it made the signature; the answers in their order.
fn answers(signatures: &[DataSignature], named: &[Vec<Arc<Maker>>]) -> Vec<Vec<Verdict>> {
    let parsed: Vec<_> = signatures.iter().map(DataSignature::parsed).collect();
    let mut checks = Vec::with_capacity(signatures.len());
    let mut answers: Vec<Vec<Asked>> = Vec::with_capacity(signatures.len());
    for ((signature, parsed), makers) in signatures.iter().zip(&parsed).zip(named) {
        answers
            .push(makers.iter().map(|maker| ask(signature, parsed.as_ref(), maker, &mut checks)).collect());
    }
    let verdicts = verify(&checks);
    let answer = |asked: Asked| asked.map_or_else(|verdict| verdict, |index| verdicts[index]);
    answers.into_iter().map(|asked| asked.into_iter().map(answer).collect()).collect()
}

fn ask<'a>(
    signature: &DataSignature,
    parsed: Option<&Signature<'a>>,
    maker: &'a Maker,
    checks: &mut Vec<Check<'a>>,
) -> Asked {
    let digest = signature.digest?;
    let (Some(parsed), Some(key)) = (parsed, maker.public(maker.component)) else {
        return Err(Verdict::Unsupported);
    };
    checks.push(question(&key, parsed, digest)?);
    Ok(checks.len() - 1)
}

fn outcome(
    is_readable: bool,
    signature: &DataSignature,
    named: Vec<Arc<Maker>>,
    answers: &[Verdict],
) -> Outcome {
    if !is_readable {
        return Outcome::Unsupported;
    }
    let by = |verdict| answers.iter().position(|answer| *answer == verdict).map(|place| named[place].clone());
    if let Some(maker) = by(Verdict::Good) {
        Outcome::Good(maker)
    } else if by(Verdict::Unsupported).is_some() || signature.digest == Err(Verdict::Unsupported) {
        Outcome::Unsupported
    } else {
        by(Verdict::Bad).map_or(Outcome::NoKey, Outcome::Bad)
    }
}
