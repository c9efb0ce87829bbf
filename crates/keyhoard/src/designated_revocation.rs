//! Revocations by designated revokers (RFC 9580, 5.2.3.23), verified.
//!
//! A certificate may name other keys that may revoke it. Whether one of them did cannot be told from the certificate
//! alone: the revoker's certificate has to be there. As in GnuPG, a revoker that is revoked or expired itself can
//! still revoke others.

use cert::certificate::Certificate;
use cert::effective::{Effective, Moment, View, evaluate};
use cert::facts::{Revoker, SignatureFacts, SignatureType};
use cert::key::{self, Key};
use cert::packet::Packets;
use cert::signature;
use cert::signed::{Digester, Subject, question};
use cert::{Facts, Fingerprint, KeyId, Timestamp};
use store::{CertId, Snapshot};
use verify::Verdict;

use crate::{Result, stored};

/// Decides what a certificate means at a moment, revocations by designated revokers included.
///
/// `whole` is asked for the certificate itself if it names revokers; the first of `revokers` that has one of them tells
/// what that is.
///
/// # Errors
///
/// The database's errors.
pub fn evaluate_with_revokers(
    facts: &Facts,
    moment: Moment,
    whole: impl FnOnce() -> Result<Option<Certificate>>,
    revokers: &[&dyn Snapshot],
) -> Result<Effective> {
    let effective = match evaluate_alone(facts, moment) {
        Ok(effective) => return Ok(effective),
        Err(Revocable(effective)) => effective,
    };
    let Some(certificate) = whole()? else { return Ok(effective) };
    let date = revoked_by(&effective.revokers, &certificate, moment, revokers)?;
    Ok(match date {
        Some(_) => evaluate(facts, Moment { designated_revocation: date, ..moment }),
        None => effective,
    })
}

/// Returns the revokers that a certificate names and that it has revocations of, whether or not they are here and made
/// them.
pub(crate) fn claimed_revokers(facts: &Facts, now: Timestamp) -> Vec<Fingerprint> {
    let by_others = |signature: &&SignatureFacts| {
        signature.kind == SignatureType::KEY_REVOCATION && signature.own.is_none()
    };
    let revocations = facts.components[0].signatures.iter().filter(by_others);
    let claimed: Vec<KeyId> = revocations.map(|revocation| revocation.issuer.key_id).collect();
    if claimed.is_empty() {
        return Vec::new();
    }
    let effective = evaluate(facts, Moment::new(now, View::Gnupg));
    let named = effective.revokers.iter().map(|revoker| revoker.fingerprint);
    named.filter(|revoker| claimed.contains(&revoker.key_id())).collect()
}

/// What a certificate means unless somebody else has revoked it, which it allows.
pub(crate) struct Revocable(Effective);

/// Decides what a certificate means at a moment where that can be told from its facts alone.
pub(crate) fn evaluate_alone(facts: &Facts, moment: Moment) -> std::result::Result<Effective, Revocable> {
    let effective = evaluate(facts, moment);
    if effective.revokers.is_empty() || effective.primary().revoked.is_some() {
        Ok(effective)
    } else {
        Err(Revocable(effective))
    }
}

/// Reads a certificate of a database as a whole.
pub(crate) fn whole(snapshot: &dyn Snapshot, id: CertId) -> Result<Option<Certificate>> {
    Ok(stored::read_one(snapshot, id)?.map(|stored| stored.certificate))
}

/// Returns the date of the first revocation that one of the revokers made.
fn revoked_by(
    revokers: &[Revoker],
    certificate: &Certificate,
    moment: Moment,
    sources: &[&dyn Snapshot],
) -> Result<Option<Timestamp>> {
    for signature in &certificate.facts.components[0].signatures {
        let named = |revoker: &&Revoker| revoker.fingerprint.key_id() == signature.issuer.key_id;
        let Some(revoker) = revokers.iter().find(named).filter(|_| is_candidate(signature, moment)) else {
            continue;
        };
        if let Some(revoker) = look_up(&revoker.fingerprint, sources)?
            && may_revoke(&revoker.facts, signature, moment)
            && is_made_by(&revoker, signature, certificate)
        {
            return Ok(Some(signature.created));
        }
    }
    Ok(None)
}

fn look_up(primary: &Fingerprint, sources: &[&dyn Snapshot]) -> Result<Option<Certificate>> {
    for source in sources {
        if let Some(id) = source.by_fingerprint(&[*primary])?[0] {
            return whole(*source, id);
        }
    }
    Ok(None)
}

/// Says whether a signature is a revocation by another key that GnuPG would look at.
fn is_candidate(signature: &SignatureFacts, moment: Moment) -> bool {
    signature.kind == SignatureType::KEY_REVOCATION
        && signature.own.is_none()
        && moment.view.shows(signature)
        && !signature.flags.unknown_critical
        && !moment.digests.is_weak(signature.hash_algorithm)
}

fn may_revoke(revoker: &Facts, signature: &SignatureFacts, moment: Moment) -> bool {
    let created = revoker.primary().created;
    let moment = Moment { designated_revocation: None, ..moment };
    created <= signature.created && created <= moment.now && evaluate(revoker, moment).primary().valid
}

fn is_made_by(revoker: &Certificate, signature: &SignatureFacts, certificate: &Certificate) -> bool {
    let verdict = || {
        let body = body(certificate.packet(signature.span))?;
        let signature = signature::parse(body).ok()?;
        let digest = Digester::new(primary(certificate)?).over(Subject::Primary).digest(&signature).ok()?;
        let check = question(&primary(revoker)?, &signature, digest).ok()?;
        verify::verify(&[check]).pop()
    };
    verdict() == Some(Verdict::Good)
}

fn primary(certificate: &Certificate) -> Option<Key<'_>> {
    key::parse_public(body(certificate.packet(certificate.facts.components[0].span))?).ok()
}

fn body(packet: &[u8]) -> Option<&[u8]> {
    Some(Packets::new(packet).next()?.ok()?.body)
}

#[cfg(test)]
mod tests;
