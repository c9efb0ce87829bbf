//! The status of a signature at a moment: GnuPG's rules for listings (its `g10/sig-check.c`).

use cert::effective::objections::{IssuerKey, Objection, Role, objections};
use cert::effective::{EvaluationContext, KeyState, PacketView, evaluate};
use cert::facts::{ComponentKind, KeyFacts, SignatureFacts, SignatureType};
use cert::{Facts, Fingerprint, Timestamp};
use store::ReadCertificates;
use trust::KeyMap;
use verify::{Verdict, policy::DigestPolicy};

use super::authenticity::{Authenticities, Authenticity};
use super::per_signature::PerSignature;
use crate::Result;
use crate::designated_revocation::evaluate_with_revokers;

/// The status of a signature, whoever made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificationStatus {
    /// This primary key made it, and it is accepted.
    Good(Fingerprint),
    /// No key here made it, or it has an unknown critical subpacket.
    Bad,
    /// No key that may have made it is here.
    NoIssuer,
    /// The issuer that it names is here, and may not certify.
    UnusableIssuer(Fingerprint),
    /// It is not accepted whoever made it, or cannot be verified.
    Refused(Unverifiable),
}

/// The status of each signature of a certificate.
pub type CertificationStatuses = PerSignature<CertificationStatus>;

/// Why a signature is not accepted or cannot be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unverifiable {
    /// Its hash algorithm is too weak, or was too weak already when it was made.
    WeakDigest,
    /// It is older than the key it is on, or that key is from the future.
    Time,
    /// A signature of its type is not made over the component that it follows.
    Misplaced,
    /// It revokes the key, and its issuer is no designated revoker.
    NotEntrusted,
    /// The algorithm, the curve or the size is not supported.
    Unsupported,
    /// There are too many signatures to verify all.
    Unchecked,
}

/// What issuers must fulfil besides having made a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssuerRule {
    /// Nothing.
    Any,
    /// The key flags allow certifying. That the key has expired or was revoked since does not matter.
    Certifies,
    /// The key may certify now.
    FitNow,
}

/// The rules by which the status of signatures is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificationRules {
    /// The clock.
    pub now: Timestamp,
    /// In GnuPG's view other keys certify user IDs only, never keys.
    pub view: PacketView,
    /// The hash algorithms that are accepted.
    pub digests: DigestPolicy,
    /// What issuers must fulfil.
    pub issuers: IssuerRule,
}

/// Evaluates the status of signatures, and caches what it looked up about issuers.
pub(super) struct StatusEvaluator<'s> {
    rules: CertificationRules,
    sources: Vec<&'s dyn ReadCertificates>,
    known: KeyMap<Option<IssuerPrimary>>,
}

/// The most issuers that are cached.
const MAX_ISSUERS: usize = 50_000;

impl<'s> StatusEvaluator<'s> {
    /// Evaluates by rules; issuers are looked up in these databases, in their order.
    pub(super) fn new(rules: CertificationRules, sources: Vec<&'s dyn ReadCertificates>) -> Self {
        Self { rules, sources, known: KeyMap::default() }
    }

    /// Evaluates every signature of a certificate.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub(super) fn statuses(
        &mut self,
        facts: &Facts,
        authenticities: &Authenticities,
    ) -> Result<CertificationStatuses> {
        // Which kinds of components came so far, the current one included.
        let (mut has_user, mut has_subkey) = (false, false);
        let mut statuses = CertificationStatuses::filled(facts, CertificationStatus::NoIssuer);
        for (number, component) in facts.components.iter().enumerate() {
            let is_user = matches!(component.kind, ComponentKind::UserId(_) | ComponentKind::Attribute(_));
            let is_subkey = number > 0 && matches!(component.kind, ComponentKind::Key(_));
            has_user |= is_user;
            has_subkey |= is_subkey;
            let signatures = component.signatures.iter().zip(authenticities.of(number));
            for (index, (signature, authenticity)) in signatures.enumerate() {
                let (is_here, is_before) = match signature.kind {
                    SignatureType::SUBKEY_BINDING | SignatureType::SUBKEY_REVOCATION => {
                        (is_subkey, has_subkey)
                    }
                    kind if kind.covers_user() => (is_user, has_user),
                    _ => (number == 0, true),
                };
                let presence = match (is_here, is_before) {
                    (true, _) => ComponentPresence::Here,
                    (false, true) => ComponentPresence::Elsewhere,
                    (false, false) => ComponentPresence::Nowhere,
                };
                *statuses.at_mut(number, index) = self.status(facts, signature, *authenticity, presence)?;
            }
        }
        Ok(statuses)
    }

    fn status(
        &mut self,
        facts: &Facts,
        signature: &SignatureFacts,
        authenticity: Authenticity,
        presence: ComponentPresence,
    ) -> Result<CertificationStatus> {
        let primary = facts.primary();
        if presence == ComponentPresence::Nowhere {
            return Ok(CertificationStatus::Refused(Unverifiable::Misplaced));
        }
        if signature.own.is_none() && signature.kind == SignatureType::KEY_REVOCATION {
            return Ok(self.revocation(facts, signature, authenticity));
        }
        if signature.created < primary.created || primary.created > self.rules.now {
            return Ok(CertificationStatus::Refused(Unverifiable::Time));
        }
        if let Some(own) = &signature.own {
            return Ok(self.made(signature, own.verdict.map(|verdict| (verdict, primary.fingerprint))));
        }
        if self.rules.view == PacketView::Gnupg && !is_anybodys(signature.kind) {
            // GnuPG tries the certificate's own key then.
            return Ok(self.made(signature, Some((Verdict::Bad, primary.fingerprint))));
        }
        let Some(issuer) = authenticity.issuer() else { return Ok(CertificationStatus::NoIssuer) };
        if !self.is_fit(&issuer, signature)? {
            return Ok(CertificationStatus::UnusableIssuer(issuer));
        }
        let accepted = |hash, created| self.rules.digests.accepts_certification(hash, created);
        if signature.kind.is_over_user() && !accepted(signature.hash_algorithm, signature.created.0) {
            return Ok(CertificationStatus::Refused(Unverifiable::WeakDigest));
        }
        Ok(match presence {
            ComponentPresence::Here => self.made(signature, verdict(authenticity)),
            _ => self.made(signature, Some((Verdict::Bad, issuer))),
        })
    }

    /// Evaluates the revocation of a key by another key.
    fn revocation(
        &self,
        facts: &Facts,
        signature: &SignatureFacts,
        authenticity: Authenticity,
    ) -> CertificationStatus {
        let revokers = evaluate(facts, EvaluationContext::new(self.rules.now, self.rules.view)).revokers;
        let is_entrusted = |revoker: &Fingerprint| match authenticity {
            Authenticity::Good(issuer) => issuer == *revoker,
            _ => signature.issuer.may_be(revoker),
        };
        if !revokers.iter().any(|revoker| is_entrusted(&revoker.fingerprint)) {
            return CertificationStatus::Refused(Unverifiable::NotEntrusted);
        }
        match authenticity {
            Authenticity::NotAsked | Authenticity::NoIssuer => CertificationStatus::NoIssuer,
            authenticity => self.made(signature, verdict(authenticity)),
        }
    }

    /// Evaluates a signature by the verdict on it; `None` if it was not verified.
    fn made(
        &self,
        signature: &SignatureFacts,
        verdict: Option<(Verdict, Fingerprint)>,
    ) -> CertificationStatus {
        if self.rules.digests.is_weak(signature.hash_algorithm) {
            return CertificationStatus::Refused(Unverifiable::WeakDigest);
        }
        match verdict {
            Some((Verdict::Good, _)) if signature.flags.unknown_critical => CertificationStatus::Bad,
            Some((Verdict::Good, issuer)) => CertificationStatus::Good(issuer),
            Some((Verdict::Bad, _)) => CertificationStatus::Bad,
            Some((Verdict::Unsupported, _)) => CertificationStatus::Refused(Unverifiable::Unsupported),
            None => CertificationStatus::Refused(Unverifiable::Unchecked),
        }
    }

    /// Says whether a key that is here fulfils the rules for issuers.
    fn is_fit(&mut self, issuer: &Fingerprint, signature: &SignatureFacts) -> Result<bool> {
        if self.rules.issuers == IssuerRule::Any {
            return Ok(true);
        }
        let (rule, now) = (self.rules.issuers, self.rules.now);
        let Some(IssuerPrimary { key, state }) = self.issuer(issuer)? else { return Ok(false) };
        let issuer = IssuerKey { key, state, expires: state.expires, role: Role::Primary };
        let found = objections(&issuer, SignatureType::GENERIC_CERTIFICATION, signature.created, now);
        let mut grave = found.iter().filter(|objection| match objection {
            Objection::Revoked | Objection::Expired => rule == IssuerRule::FitNow,
            // GnuPG does not compare these times.
            Objection::BeforeKey | Objection::FromFuture | Objection::ExpiredBefore => false,
            Objection::Unbound | Objection::WrongUse | Objection::NotCrossCertified => true,
        });
        Ok(grave.next().is_none())
    }

    fn issuer(&mut self, issuer: &Fingerprint) -> Result<Option<&IssuerPrimary>> {
        if self.known.len() > MAX_ISSUERS {
            self.known.clear();
        }
        if !self.known.contains_key(issuer) {
            let found = self.look_up(issuer)?;
            self.known.insert(*issuer, found);
        }
        Ok(self.known[issuer].as_ref())
    }

    fn look_up(&self, issuer: &Fingerprint) -> Result<Option<IssuerPrimary>> {
        let context = EvaluationContext::new(self.rules.now, self.rules.view);
        for source in &self.sources {
            if let Some(id) = source.by_fingerprint(&[*issuer])?[0] {
                let Some(facts) = source.own_facts(id)? else { return Ok(None) };
                let effective = evaluate_with_revokers(&facts, context, (*source, id), &self.sources)?;
                return Ok(Some(IssuerPrimary { key: facts.primary().clone(), state: *effective.primary() }));
            }
        }
        Ok(None)
    }
}

/// An issuer's primary key.
struct IssuerPrimary {
    key: KeyFacts,
    state: KeyState,
}

/// Says whether GnuPG looks for the issuer of a signature of this type at all.
fn is_anybodys(kind: SignatureType) -> bool {
    kind.is_over_user() || kind == SignatureType::SUBKEY_BINDING
}

fn verdict(authenticity: Authenticity) -> Option<(Verdict, Fingerprint)> {
    match authenticity {
        Authenticity::Good(issuer) => Some((Verdict::Good, issuer)),
        Authenticity::Bad(issuer) => Some((Verdict::Bad, issuer)),
        Authenticity::Unsupported(issuer) => Some((Verdict::Unsupported, issuer)),
        Authenticity::NotAsked | Authenticity::NoIssuer | Authenticity::Unchecked(_) => None,
    }
}

/// Where the component is that a signature of some type is made over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ComponentPresence {
    /// The one that the signature follows.
    Here,
    /// An earlier one.
    Elsewhere,
    /// None.
    Nowhere,
}
