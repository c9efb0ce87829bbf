//! Revocations by designated revokers (RFC 9580, 5.2.3.23), verified.
//!
//! A certificate may name other keys that may revoke it. To verify their revocations takes the revoker's certificate.
//! As in GnuPG, a revoker that is revoked or expired itself can still revoke others.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use cert::certificate::{Certificate, Retained};
use cert::effective::objections::{IssuerKey, objections};
use cert::effective::{
    DesignatedRevocation, Effective, EvaluationContext, PacketView, evaluate, evaluate_checked_part,
};
use cert::facts::{Revoker, SignatureFacts, SignatureType};
use cert::signature;
use cert::signed::{Digester, Subject, question};
use cert::{Facts, Fingerprint, Timestamp};
use store::{CertId, ReadCertificates};
use verify::Verdict;
use verify::limits::{MAX_CHECKS_PER_COMPONENT, MAX_IRREVOCABLE_CHECKS};

use crate::{Result, stored};

/// Evaluates a certificate at a moment, revocations by designated revokers included; these are looked up in `revokers`,
/// in their order.
///
/// # Errors
///
/// The database's errors.
pub fn evaluate_certificate(
    certificate: &Certificate,
    context: EvaluationContext,
    revokers: &[&dyn ReadCertificates],
) -> Result<Effective> {
    evaluate_reading(&certificate.facts, context, || Ok(Some(Cow::Borrowed(certificate))), revokers)
}

/// Evaluates a certificate of a database as [`evaluate_certificate`] does. Its bytes are read only if it names revokers.
pub(crate) fn evaluate_with_revokers(
    facts: &Facts,
    context: EvaluationContext,
    (snapshot, id): (&dyn ReadCertificates, CertId),
    revokers: &[&dyn ReadCertificates],
) -> Result<Effective> {
    let read = || Ok(read_certificate(snapshot, id)?.map(Cow::Owned));
    evaluate_reading(facts, context, read, revokers)
}

fn evaluate_reading<'c>(
    facts: &Facts,
    context: EvaluationContext,
    read: impl FnOnce() -> Result<Option<Cow<'c, Certificate>>>,
    revokers: &[&dyn ReadCertificates],
) -> Result<Effective> {
    Ok(as_of_context(facts, with_designated_revocation(facts, context, read, revokers)?))
}

/// A context with the revocation by a designated revoker, and whether all possible ones were verified.
pub(crate) type CheckedContext = (EvaluationContext, bool);

/// Evaluates a certificate in a context that [`designated_context`] returned, or in one for another moment.
pub(crate) fn as_of_context(facts: &Facts, (context, is_checked): CheckedContext) -> Effective {
    let effective = evaluate(facts, context);
    if is_checked { effective } else { effective.not_fully_checked() }
}

/// Returns the context to evaluate a certificate at any moment, with the revocation by a designated revoker.
///
/// # Errors
///
/// The database's errors.
pub(crate) fn designated_context(
    certificate: &Certificate,
    context: EvaluationContext,
    revokers: &[&dyn ReadCertificates],
) -> Result<CheckedContext> {
    let read = || Ok(Some(Cow::Borrowed(certificate)));
    with_designated_revocation(&certificate.facts, context, read, revokers)
}

fn with_designated_revocation<'c>(
    facts: &Facts,
    context: EvaluationContext,
    read: impl FnOnce() -> Result<Option<Cow<'c, Certificate>>>,
    revokers: &[&dyn ReadCertificates],
) -> Result<CheckedContext> {
    let effective = evaluate(facts, context);
    // At another moment a soft revocation by the key itself may not count.
    let is_decided = context.view == PacketView::Gnupg && effective.primary().revoked.is_some();
    if effective.revokers.is_empty() || is_decided {
        return Ok((context, true));
    }
    let designated = match read()? {
        Some(certificate) => revoked_by(&effective.revokers, &certificate, context, revokers)?,
        None => Designated::NotFullyChecked,
    };
    Ok(match designated {
        Designated::Revoked(revocation) => {
            (EvaluationContext { designated_revocation: Some(revocation), ..context }, true)
        }
        Designated::NotRevoked => (context, true),
        Designated::NotFullyChecked => (context, false),
    })
}

/// Returns the revocations of a certificate that one of the revokers that it names may have made, and these.
pub(crate) fn possible_revocations(facts: &Facts) -> (Vec<&SignatureFacts>, BTreeSet<Fingerprint>) {
    let signatures = &facts.components[0].signatures;
    let own = signatures.iter().filter(|signature| signature.verifies());
    let named = own.filter_map(|signature| signature.own.as_ref()).flat_map(|own| &own.revokers);
    let revokers = distinct(named);
    let is_possible =
        |signature: &&SignatureFacts| revokers.iter().any(|revoker| may_be_by(signature, revoker));
    (signatures.iter().filter(is_possible).collect(), revokers)
}

/// Returns a certificate without forged revocations: those whose hashed subpackets allow that a designated revoker made
/// them, though none did. `None` if there are none.
///
/// # Errors
///
/// The databases' errors.
pub(crate) fn without_forged(
    certificate: &Certificate,
    sources: &[&dyn ReadCertificates],
) -> Result<Option<Certificate>> {
    // A revocation is forged if no revoker made it; one whose certificate is not here may have made all that name no
    // other issuer.
    let (mut unproven, revokers) = possible_revocations(&certificate.facts);
    for revoker in &revokers {
        let (claimed, others): (Vec<_>, Vec<_>) =
            unproven.into_iter().partition(|signature| may_be_by(signature, revoker));
        unproven = others;
        let Some(revoker_certificate) = look_up(revoker, sources)? else { continue };
        let verdicts = verdicts(certificate, &revoker_certificate, &claimed);
        let bad = claimed.into_iter().zip(verdicts).filter(|(_, verdict)| *verdict == Some(Verdict::Bad));
        unproven.extend(bad.map(|(signature, _)| signature));
    }
    let forged: HashSet<u32> = unproven.into_iter().map(|signature| signature.span.start).collect();
    if forged.is_empty() {
        return Ok(None);
    }
    Ok(Some(certificate.retain(|retained| match retained {
        Retained::Signature(_, signature) => !forged.contains(&signature.span.start),
        Retained::Component(_) | Retained::Unread(..) => true,
    })))
}

/// Says whether a certificate has so many revocations by other keys that forged ones should be removed.
pub(crate) fn is_flooded(facts: &Facts) -> bool {
    let signatures = &facts.components[0].signatures;
    signatures
        .iter()
        .filter(|signature| is_revocation_by_another(signature))
        .nth(MAX_WITHOUT_PREFIX_CHECK)
        .is_some()
}

fn is_revocation_by_another(signature: &SignatureFacts) -> bool {
    signature.kind == SignatureType::KEY_REVOCATION && signature.own.is_none()
}

/// Up to so many revocations by other keys are verified even if the prefix of their digest is wrong.
const MAX_WITHOUT_PREFIX_CHECK: usize = MAX_CHECKS_PER_COMPONENT;

/// Returns the revokers that a certificate names and that may have made revocations of it, whether or not they are here
/// and made them.
pub(crate) fn claimed_revokers(facts: &Facts, now: Timestamp) -> Vec<Fingerprint> {
    let signatures = facts.components[0].signatures.iter();
    let revocations: Vec<_> = signatures.filter(|signature| is_revocation_by_another(signature)).collect();
    if revocations.is_empty() {
        return Vec::new();
    }
    let effective = evaluate(facts, EvaluationContext::new(now, PacketView::Gnupg));
    let named = effective.revokers.iter().map(|revoker| revoker.fingerprint);
    named.filter(|revoker| revocations.iter().any(|signature| may_be_by(signature, revoker))).collect()
}

fn read_certificate(snapshot: &dyn ReadCertificates, id: CertId) -> Result<Option<Certificate>> {
    Ok(stored::read_one(snapshot, id)?.map(|stored| stored.certificate))
}

/// Whether a designated revoker has revoked a key.
enum Designated {
    /// By this one.
    Revoked(DesignatedRevocation),
    NotRevoked,
    /// Verifying all possible revocations takes too long.
    NotFullyChecked,
}

/// Finds the first revocation that one of the revokers made, where RFC 9580 counts one that is for all time before all
/// others.
fn revoked_by(
    revokers: &[Revoker],
    certificate: &Certificate,
    context: EvaluationContext,
    sources: &[&dyn ReadCertificates],
) -> Result<Designated> {
    let signatures = &certificate.facts.components[0].signatures;
    let candidates: Vec<&SignatureFacts> =
        signatures.iter().filter(|signature| is_candidate(signature, context)).collect();
    let mut first: Option<&SignatureFacts> = None;
    let mut all = true;
    for revoker in distinct(revokers) {
        let mut claimed: Vec<&SignatureFacts> =
            candidates.iter().copied().filter(|signature| may_be_by(signature, &revoker)).collect();
        if claimed.is_empty() {
            continue;
        }
        let Some(revoker_certificate) = look_up(&revoker, sources)? else { continue };
        claimed.retain(|signature| may_revoke(&revoker_certificate.facts, signature, context));
        let verdicts = verdicts(certificate, &revoker_certificate, &claimed);
        all &= !verdicts.contains(&None);
        let good = claimed.iter().zip(&verdicts).filter(|(_, verdict)| **verdict == Some(Verdict::Good));
        let good = good.map(|(signature, _)| *signature);
        let order = |signature: &&SignatureFacts| {
            (context.view == PacketView::Full && !signature.is_hard_revocation(), signature.span.start)
        };
        first = first.into_iter().chain(good).min_by_key(order);
    }
    Ok(match first {
        Some(signature) => Designated::Revoked(DesignatedRevocation {
            date: signature.created,
            is_hard: signature.is_hard_revocation(),
        }),
        None if all => Designated::NotRevoked,
        None => Designated::NotFullyChecked,
    })
}

/// Says whether a signature is a revocation of the key that this revoker may have made: unless the hashed fingerprint
/// names another issuer. Everything else that names an issuer is not hashed, so anybody can change it.
fn may_be_by(signature: &SignatureFacts, revoker: &Fingerprint) -> bool {
    is_revocation_by_another(signature)
        && signature.issuer.fingerprint.is_none_or(|issuer| issuer == *revoker)
}

fn distinct<'r>(revokers: impl IntoIterator<Item = &'r Revoker>) -> BTreeSet<Fingerprint> {
    revokers.into_iter().map(|revoker| revoker.fingerprint).collect()
}

/// Returns the verdicts on some revocations under a revoker's key, in their order; `None` where one was not verified.
///
/// All of them are verified, if they are few; otherwise those with the right digest prefix, up to
/// [`MAX_IRREVOCABLE_CHECKS`].
fn verdicts(
    certificate: &Certificate,
    revoker: &Certificate,
    claimed: &[&SignatureFacts],
) -> Vec<Option<Verdict>> {
    let (Some(key), Some(issuer)) = (certificate.key(0), revoker.key(0)) else {
        return vec![Some(Verdict::Unsupported); claimed.len()];
    };
    let mut left = MAX_IRREVOCABLE_CHECKS.div_ceil(issuer.public_key().cost());
    let mut digester = Digester::new(key);
    let mut over = digester.over(Subject::Primary);
    let mut checks = Vec::new();
    let mut checked = Vec::new();
    let mut verdicts = vec![Some(Verdict::Bad); claimed.len()];
    for (index, facts) in claimed.iter().enumerate() {
        let signature = certificate.body(facts.span).and_then(|body| signature::parse(body).ok());
        let Some(signature) = signature else { continue };
        let Ok(digest) = over.digest(&signature) else { continue };
        if claimed.len() > MAX_WITHOUT_PREFIX_CHECK && digest.prefix() != signature.digest_prefix {
            continue;
        }
        let Ok(check) = question(&issuer, &signature, digest) else { continue };
        match left.checked_sub(1) {
            Some(rest) => {
                left = rest;
                checked.push(index);
                checks.push(check);
            }
            None => verdicts[index] = None,
        }
    }
    for (index, verdict) in checked.into_iter().zip(verify::verify(&checks)) {
        verdicts[index] = Some(verdict);
    }
    verdicts
}

fn look_up(primary: &Fingerprint, sources: &[&dyn ReadCertificates]) -> Result<Option<Certificate>> {
    for source in sources {
        if let Some(id) = source.by_fingerprint(&[*primary])?[0] {
            return read_certificate(*source, id);
        }
    }
    Ok(None)
}

/// Says whether a signature is a revocation by another key that GnuPG would verify.
fn is_candidate(signature: &SignatureFacts, context: EvaluationContext) -> bool {
    is_revocation_by_another(signature)
        && context.view.shows(signature)
        && !signature.flags.unknown_critical
        && !context.digests.is_weak(signature.hash_algorithm)
}

/// Says whether a revoker may have made a revocation. A revoker that is not fully checked can still revoke: a flood of
/// signatures on its certificate must not undo its revocations.
fn may_revoke(revoker: &Facts, signature: &SignatureFacts, context: EvaluationContext) -> bool {
    let effective =
        evaluate_checked_part(revoker, EvaluationContext { designated_revocation: None, ..context });
    let issuer = IssuerKey::primary(revoker, &effective);
    objections(&issuer, signature.kind, signature.created, context.now).refusal().is_none()
}

#[cfg(test)]
mod tests;
