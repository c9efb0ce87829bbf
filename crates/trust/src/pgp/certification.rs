//! Which of the certifications of a user ID by one key counts.

use cert::Timestamp;

use super::{Certification, Settings};
use crate::OwnerTrust;

/// What a certification is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// It counts with the trust in its issuer: ultimate, full or marginal.
    Counted(OwnerTrust),
    /// Its issuer is valid, and not trusted to certify others.
    Untrusted,
    /// Its issuer is trusted for other user IDs only.
    OutOfScope,
    /// Its issuer is not valid, or only on a level that is too deep.
    NotIntroduced,
    /// Its level is lower than required.
    ClaimsTooLittle,
    /// A newer certification by the same key counts instead, or its revocation does.
    Superseded,
    /// It has expired, and no older one takes its place.
    Expired,
    /// It revokes the issuer's certifications.
    Revokes,
}

/// Returns whether a key certifies a user ID: `certifications` are all that it made of it, and their revocations, in the
/// order of the packets.
pub fn certifies(certifications: &[&Certification], settings: &Settings) -> bool {
    judge(certifications, settings).contains(&None)
}

/// Returns why certifications of one user ID do not count, in the order of the packets; `None` for those that count if
/// their issuer is an introducer.
pub(super) fn judge(certifications: &[&Certification], settings: &Settings) -> Vec<Option<Weight>> {
    let mut refusals: Vec<Option<Weight>> =
        certifications.iter().map(|certification| judge_alone(certification, settings)).collect();
    if refusals.len() > 1 {
        leave_the_newest(certifications, settings.now, &mut refusals);
    }
    refusals
}

/// Marks all but one of several certifications by one key as superseded.
fn leave_the_newest(certifications: &[&Certification], now: Timestamp, refusals: &mut [Option<Weight>]) {
    let is_considered = |index: &usize| refusals[*index] != Some(Weight::ClaimsTooLittle);
    let mut considered: Vec<usize> = (0..refusals.len()).filter(is_considered).collect();
    considered.sort_by_key(|&index| certifications[index].issuer);
    let by_issuer = considered.chunk_by(|&a, &b| certifications[a].issuer == certifications[b].issuer);
    for of_one in by_issuer {
        let newest = newest(certifications, of_one, now);
        for &index in of_one.iter().filter(|&&index| index != newest) {
            refusals[index] = Some(Weight::Superseded);
        }
    }
}

/// Returns the index of the certification that counts of several by one key: the newest one, unless one is irrevocable.
fn newest(certifications: &[&Certification], of_one: &[usize], now: Timestamp) -> usize {
    let rank =
        |index: usize| (is_beyond_revocation(certifications[index], now), certifications[index].created);
    // The last one of several that are equal.
    of_one.iter().copied().max_by_key(|&index| rank(index)).expect("a chunk is not empty")
}

fn is_beyond_revocation(certification: &Certification, now: Timestamp) -> bool {
    certification.kind.is_certification() && !certification.revocable && !has_expired(certification, now)
}

/// Returns why a certification does not count, if its issuer made no other one.
fn judge_alone(certification: &Certification, settings: &Settings) -> Option<Weight> {
    if !certification.kind.has_cert_level(settings.min_cert_level) {
        Some(Weight::ClaimsTooLittle)
    } else if !certification.kind.is_certification() {
        Some(Weight::Revokes)
    } else if has_expired(certification, settings.now) {
        Some(Weight::Expired)
    } else {
        None
    }
}

fn has_expired(certification: &Certification, now: Timestamp) -> bool {
    certification.expires.is_some_and(|end| end <= now)
}
