//! What a signature is worth at a moment: GnuPG's rules for listings (its `g10/sig-check.c`).

use std::collections::HashMap;
use std::ops::ControlFlow;

use cert::effective::{KeyState, Moment, Usage, View, evaluate};
use cert::facts::{ComponentKind, SignatureFacts, SignatureType};
use cert::{Facts, Fingerprint, Timestamp};
use store::{Detail, Selection, Snapshot};
use verify::{Verdict, policy::DigestPolicy};

use super::{Finding, Findings, Standings};
use crate::Result;

/// What a signature is worth, whoever made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// This primary key made it, and it is accepted.
    Good(Fingerprint),
    /// Nobody here made it, or it demands what is not understood.
    Bad,
    /// No key that could have made it is here.
    NoIssuer,
    /// The key that says to have made it is here, and may not certify.
    UnusableIssuer(Fingerprint),
    /// It is not accepted, whoever made it, or nobody here can tell.
    Refused(Refusal),
}

/// Why nothing is said about who made a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its digest is too weak, or was too weak already when it was made.
    WeakDigest,
    /// It is older than the key it is on, or that key is from the future.
    Time,
    /// Signatures of its type are made over other things than it stands behind.
    Misplaced,
    /// It revokes the key, and nobody entrusted its issuer with that.
    NotEntrusted,
    /// Nobody here knows the algorithm, the curve or the size.
    Unsupported,
    /// There are too many signatures to verify all.
    Unchecked,
}

/// What is asked of issuers besides having made a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssuerRule {
    /// Nothing.
    Any,
    /// To be made for certifying. That it has expired or was revoked since does not count.
    Certifies,
    /// To be fit to certify now.
    FitNow,
}

/// By which rules signatures are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The clock.
    pub now: Timestamp,
    /// In GnuPG's view other keys certify user IDs only, never keys.
    pub view: View,
    /// Which digests are accepted.
    pub digests: DigestPolicy,
    /// What is asked of issuers.
    pub issuers: IssuerRule,
}

/// Judges signatures, and remembers what it looked up about issuers.
pub struct Judge<'s> {
    rules: Rules,
    sources: Vec<&'s dyn Snapshot>,
    known: HashMap<Fingerprint, KeyState>,
}

/// The most issuers that are remembered.
const MANY: usize = 50_000;

impl<'s> Judge<'s> {
    /// Judges by rules; issuers are looked up in these databases, the first one first.
    pub fn new(rules: Rules, sources: Vec<&'s dyn Snapshot>) -> Self {
        Self { rules, sources, known: HashMap::new() }
    }

    /// Judges every signature of a certificate.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn standings(&mut self, facts: &Facts, findings: &Findings) -> Result<Standings> {
        let mut passed = Passed::default();
        let mut standings = Standings::filled(facts, Standing::NoIssuer);
        for (number, component) in facts.components.iter().enumerate() {
            passed.pass(&component.kind, number);
            let signatures = component.signatures.iter().zip(findings.of(number));
            for (index, (signature, finding)) in signatures.enumerate() {
                let place = passed.place(&component.kind, number, signature.kind);
                let case = Case { facts, signature, finding: *finding };
                *standings.at_mut(number, index) = self.standing(&case, place)?;
            }
        }
        Ok(standings)
    }

    fn standing(&mut self, case: &Case<'_>, place: Place) -> Result<Standing> {
        let Case { facts, signature, finding } = case;
        let primary = facts.primary();
        if place == Place::Nowhere {
            return Ok(Standing::Refused(Refusal::Misplaced));
        }
        if signature.own.is_none() && signature.kind == SignatureType::KEY_REVOCATION {
            return self.revocation(case);
        }
        if signature.created < primary.created || primary.created > self.rules.now {
            return Ok(Standing::Refused(Refusal::Time));
        }
        if let Some(own) = &signature.own {
            return Ok(self.made(signature, own.verdict.map(|verdict| (verdict, primary.fingerprint))));
        }
        if self.rules.view == View::Gnupg && !is_anybodys(signature.kind) {
            // GnuPG tries the certificate's own key then.
            return Ok(self.made(signature, Some((Verdict::Bad, primary.fingerprint))));
        }
        let Some(issuer) = finding.issuer() else { return Ok(Standing::NoIssuer) };
        if !self.is_fit(&issuer)? {
            return Ok(Standing::UnusableIssuer(issuer));
        }
        let accepted = |hash, created| self.rules.digests.accepts_certification(hash, created);
        if signature.kind.is_over_user() && !accepted(signature.hash_algorithm, signature.created.0) {
            return Ok(Standing::Refused(Refusal::WeakDigest));
        }
        Ok(match place {
            Place::Here => self.made(signature, verdict(*finding)),
            _ => self.made(signature, Some((Verdict::Bad, issuer))),
        })
    }

    /// Judges the revocation of a key by another key.
    fn revocation(&mut self, case: &Case<'_>) -> Result<Standing> {
        let Case { facts, signature, finding } = case;
        let is_named = |fingerprint: &Fingerprint| fingerprint.key_id() == signature.issuer.key_id;
        let revokers = evaluate(facts, Moment::new(self.rules.now, self.rules.view)).revokers;
        if !revokers.iter().any(|revoker| is_named(&revoker.fingerprint)) {
            return Ok(Standing::Refused(Refusal::NotEntrusted));
        }
        Ok(match *finding {
            Finding::NotAsked | Finding::NoIssuer => Standing::NoIssuer,
            finding => self.made(signature, verdict(finding)),
        })
    }

    /// Judges a signature of which it is known who made it; `None` if that was not found out.
    fn made(&self, signature: &SignatureFacts, verdict: Option<(Verdict, Fingerprint)>) -> Standing {
        if self.rules.digests.is_weak(signature.hash_algorithm) {
            return Standing::Refused(Refusal::WeakDigest);
        }
        match verdict {
            Some((Verdict::Good, _)) if signature.flags.unknown_critical => Standing::Bad,
            Some((Verdict::Good, issuer)) => Standing::Good(issuer),
            Some((Verdict::Bad, _)) => Standing::Bad,
            Some((Verdict::Unsupported, _)) => Standing::Refused(Refusal::Unsupported),
            None => Standing::Refused(Refusal::Unchecked),
        }
    }

    /// Says whether a key that is here meets what is asked of issuers.
    fn is_fit(&mut self, issuer: &Fingerprint) -> Result<bool> {
        if self.rules.issuers == IssuerRule::Any {
            return Ok(true);
        }
        let state = self.state(issuer)?;
        let certifies = state.valid && state.usage.contains(Usage::CERTIFY);
        Ok(certifies && (self.rules.issuers == IssuerRule::Certifies || state.is_usable()))
    }

    fn state(&mut self, issuer: &Fingerprint) -> Result<KeyState> {
        if let Some(state) = self.known.get(issuer) {
            return Ok(*state);
        }
        if self.known.len() > MANY {
            self.known.clear();
        }
        let moment = Moment::new(self.rules.now, self.rules.view);
        let mut state = KeyState::default();
        for source in &self.sources {
            if let Some(id) = source.by_fingerprint(&[*issuer])?[0] {
                source.visit(Selection::Ids(&[id]), Detail::Own, &mut |record| {
                    state = record.facts.map_or(state, |facts| *evaluate(&facts, moment).primary());
                    ControlFlow::Break(())
                })?;
                break;
            }
        }
        self.known.insert(*issuer, state);
        Ok(state)
    }
}

/// A signature with what there is to judge it by.
struct Case<'a> {
    facts: &'a Facts,
    signature: &'a SignatureFacts,
    finding: Finding,
}

/// Says whether GnuPG looks for the issuer of a signature at all, wherever it is.
fn is_anybodys(kind: SignatureType) -> bool {
    kind.is_over_user() || kind == SignatureType::SUBKEY_BINDING
}

fn verdict(finding: Finding) -> Option<(Verdict, Fingerprint)> {
    match finding {
        Finding::Good(issuer) => Some((Verdict::Good, issuer)),
        Finding::Bad(issuer) => Some((Verdict::Bad, issuer)),
        Finding::Unsupported(issuer) => Some((Verdict::Unsupported, issuer)),
        Finding::NotAsked | Finding::NoIssuer | Finding::Unchecked(_) => None,
    }
}

/// Whether what a signature is made over is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Where it stands.
    Here,
    /// Before that.
    Elsewhere,
    /// Not at all.
    Nowhere,
}

/// What was passed on the way through a certificate.
#[derive(Default)]
struct Passed {
    user: bool,
    subkey: bool,
}

impl Passed {
    fn pass(&mut self, kind: &ComponentKind, number: usize) {
        self.user |= is_user(kind);
        self.subkey |= is_subkey(kind, number);
    }

    fn place(&self, component: &ComponentKind, number: usize, kind: SignatureType) -> Place {
        let (here, before) = match kind {
            SignatureType::SUBKEY_BINDING | SignatureType::SUBKEY_REVOCATION => {
                (is_subkey(component, number), self.subkey)
            }
            kind if kind.is_over_user() => (is_user(component), self.user),
            _ => (number == 0, true),
        };
        match (here, before) {
            (true, _) => Place::Here,
            (false, true) => Place::Elsewhere,
            (false, false) => Place::Nowhere,
        }
    }
}

fn is_user(kind: &ComponentKind) -> bool {
    matches!(kind, ComponentKind::UserId(_) | ComponentKind::Attribute(_))
}

fn is_subkey(kind: &ComponentKind, number: usize) -> bool {
    number > 0 && matches!(kind, ComponentKind::Key(_))
}
