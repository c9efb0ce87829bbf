//! Certifications of user IDs by other keys, verified.
//!
//! Who made a certification is looked up by its issuer's key ID, which is a hint: several keys may go by it, and the
//! signature tells which of them it was.

use std::collections::HashMap;
use std::ops::ControlFlow;

use cert::certificate::Certificate;
use cert::effective::{Moment, Usage, View, evaluate};
use cert::facts::{Component, ComponentKind, SignatureFacts, SignatureType};
use cert::key::{self, Key};
use cert::packet::{Packet, Packets};
use cert::signature::{self, Signature};
use cert::signed::{Digester, Subject, question};
use cert::{Facts, KeyId, Timestamp};
use store::{CertId, Detail, Selection, Snapshot};
use verify::{Check, Verdict, limits, policy};

use crate::Result;

/// The most keys of issuers that are remembered.
const MANY: usize = 50_000;

/// What is known of a certification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It verifies, and GnuPG's rules accept it: no weak digest, no critical subpacket that nobody understands.
    Good,
    /// It does not, or it is not accepted.
    Bad,
    /// No key that could have made it is here.
    NoIssuer,
    /// The key that says to have made it is here, and may not certify: it is expired, revoked or made for other uses.
    /// GnuPG does not try it then, although it may have been fit at the time.
    UnusableIssuer,
    /// Nobody here can tell, or there are too many certifications to tell of all.
    Unchecked,
}

/// Primary keys by their key IDs, read from a database when they are needed.
pub struct Issuers<'s> {
    source: &'s dyn Snapshot,
    now: Timestamp,
    known: HashMap<KeyId, Candidates>,
}

/// The keys behind one key ID.
#[derive(Default)]
struct Candidates {
    /// The bodies of those that may certify.
    usable: Vec<Vec<u8>>,
    /// There are others.
    unusable: bool,
}

impl<'s> Issuers<'s> {
    /// Knows no key yet.
    pub fn of(source: &'s dyn Snapshot, now: Timestamp) -> Self {
        Self { source, now, known: HashMap::new() }
    }

    /// Reads the keys behind these key IDs that are not known yet.
    fn prepare(&mut self, key_ids: impl Iterator<Item = KeyId>) -> Result<()> {
        if self.known.len() > MANY {
            self.known.clear();
        }
        for key_id in key_ids {
            if !self.known.contains_key(&key_id) {
                let keys = self.read(key_id)?;
                self.known.insert(key_id, keys);
            }
        }
        Ok(())
    }

    /// Reads the primary keys with a key ID.
    fn read(&self, key_id: KeyId) -> Result<Candidates> {
        let mut ids: Vec<CertId> = self.source.keys_by_id(key_id)?.iter().map(|hit| hit.cert).collect();
        ids.dedup();
        ids.truncate(limits::MAX_ISSUER_CANDIDATES);
        let mut candidates = Candidates::default();
        self.source.visit(Selection::Ids(&ids), Detail::Bytes, &mut |record| {
            if let (Some(facts), Some(bytes)) = (record.facts, record.bytes)
                && facts.primary().fingerprint.key_id() == key_id
                && let Some(packet) = packet(facts.components[0].span.of(&bytes))
            {
                match may_certify(&facts, self.now) {
                    true => candidates.usable.push(packet.body.to_vec()),
                    false => candidates.unusable = true,
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(candidates)
    }

    fn keys(&self, key_id: KeyId) -> impl Iterator<Item = Key<'_>> {
        let usable = self.known.get(&key_id).into_iter().flat_map(|candidates| &candidates.usable);
        usable.filter_map(|body| key::parse_public(body).ok())
    }

    /// Says why there is no key to try.
    fn absence(&self, key_id: KeyId) -> Option<Standing> {
        match self.known.get(&key_id) {
            Some(Candidates { usable, .. }) if !usable.is_empty() => None,
            Some(Candidates { unusable: true, .. }) => Some(Standing::UnusableIssuer),
            _ => Some(Standing::NoIssuer),
        }
    }
}

fn may_certify(facts: &Facts, now: Timestamp) -> bool {
    let effective = evaluate(facts, Moment::new(now, View::Gnupg));
    let primary = effective.primary();
    primary.is_usable() && primary.usage.contains(Usage::CERTIFY)
}

/// Verifies the certifications of a certificate's user IDs and attributes, and their revocations, in one batch.
///
/// The answer has a list for each component, with an entry for each of its signatures. What the certificate's own
/// primary key made has been verified before, and what is no certification is [`Standing::Unchecked`].
///
/// # Errors
///
/// The database's errors.
pub fn check(certificate: &Certificate, issuers: &mut Issuers<'_>) -> Result<Vec<Vec<Standing>>> {
    issuers.prepare(foreign(certificate).map(|(.., signature)| signature.issuer.key_id))?;
    let mut standings: Vec<Vec<Standing>> = certificate.facts.components.iter().map(own_standings).collect();
    let mut questions = Questions::default();
    for (component, index, facts) in foreign(certificate) {
        standings[component][index] = if !is_accepted(facts) {
            Standing::Bad
        } else if let Some(absence) = issuers.absence(facts.issuer.key_id) {
            absence
        } else if questions.asked.len() >= limits::MAX_CHECKS_PER_CERTIFICATE {
            Standing::Unchecked
        } else {
            questions.asked.push((component, index));
            Standing::Bad
        };
    }
    questions.ask(certificate, issuers, &mut standings);
    Ok(standings)
}

/// Walks the certifications that name another key as their issuer.
fn foreign(certificate: &Certificate) -> impl Iterator<Item = (usize, usize, &SignatureFacts)> {
    let components = certificate.facts.components.iter().enumerate().filter(|(_, it)| is_user(it));
    components.flat_map(|(number, component)| {
        let signatures = component.signatures.iter().enumerate();
        let foreign = signatures.filter(|(_, it)| it.own.is_none() && is_certification(it.kind));
        foreign.map(move |(index, signature)| (number, index, signature))
    })
}

fn own_standings(component: &Component) -> Vec<Standing> {
    let standing = |signature: &SignatureFacts| match signature.own.as_ref().and_then(|own| own.verdict) {
        Some(Verdict::Good)
            if !policy::is_weak(signature.hash_algorithm) && !signature.flags.unknown_critical =>
        {
            Standing::Good
        }
        Some(Verdict::Good | Verdict::Bad) => Standing::Bad,
        Some(Verdict::Unsupported) | None => Standing::Unchecked,
    };
    component.signatures.iter().map(standing).collect()
}

fn is_accepted(signature: &SignatureFacts) -> bool {
    policy::accepts_certification(signature.hash_algorithm, signature.created.0)
        && !signature.flags.unknown_critical
}

fn is_user(component: &Component) -> bool {
    matches!(component.kind, ComponentKind::UserId(_) | ComponentKind::Attribute(_))
}

/// Says whether a signature certifies a user ID or revokes a certification.
pub fn is_certification(kind: SignatureType) -> bool {
    kind.is_certification() || kind == SignatureType::CERTIFICATION_REVOCATION
}

/// Certifications to be verified, by component and signature.
#[derive(Default)]
struct Questions {
    asked: Vec<(usize, usize)>,
}

impl Questions {
    fn ask(&self, certificate: &Certificate, issuers: &Issuers<'_>, standings: &mut [Vec<Standing>]) {
        let components = &certificate.facts.components;
        let Some(Ok(primary)) =
            packet(certificate.packet(components[0].span)).map(|packet| key::parse_public(packet.body))
        else {
            return;
        };
        let mut digester = Digester::new(primary);
        let (mut checks, mut places): (Vec<Check<'_>>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
        for of_component in self.asked.chunk_by(|one, other| one.0 == other.0) {
            let number = of_component[0].0;
            let Some(subject) = packet(certificate.packet(components[number].span)).and_then(Subject::of)
            else {
                continue;
            };
            let mut over = digester.over(subject);
            for &(_, index) in of_component {
                let facts = &components[number].signatures[index];
                let Some(signature) = read_signature(certificate.packet(facts.span)) else { continue };
                let Ok(digest) = over.digest(&signature) else { continue };
                let keys = issuers.keys(facts.issuer.key_id);
                let candidates = keys.filter_map(|issuer| question(&issuer, &signature, digest).ok());
                for check in candidates {
                    checks.push(check);
                    places.push((number, index));
                }
            }
        }
        for (verdict, (component, index)) in verify::verify(&checks).into_iter().zip(places) {
            let standing = &mut standings[component][index];
            *standing = match (verdict, *standing) {
                (Verdict::Good, _) | (_, Standing::Good) => Standing::Good,
                (Verdict::Unsupported, _) => Standing::Unchecked,
                (Verdict::Bad, other) => other,
            };
        }
    }
}

fn packet(bytes: &[u8]) -> Option<Packet<'_>> {
    Packets::new(bytes).next()?.ok()
}

fn read_signature(bytes: &[u8]) -> Option<Signature<'_>> {
    signature::parse(packet(bytes)?.body).ok()
}
