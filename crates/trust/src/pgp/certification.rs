//! Which of the certifications of a user ID by one key counts.

use cert::Timestamp;

use super::{Certification, Settings};

/// What becomes of a certification before anybody asks who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It counts.
    Counts,
    /// It claims less than is asked for.
    ClaimsTooLittle,
    /// Another one by the same key counts instead, or its revocation does.
    Superseded,
    /// It would count, had it not expired.
    Expired,
    /// It is a revocation, and in force.
    Revokes,
}

/// Says whether a key certifies a user ID: `certifications` are all that it made of it, and their revocations, in the
/// order of the packets.
pub fn certifies(certifications: &[&Certification], settings: &Settings) -> bool {
    judge(certifications, settings).contains(&Use::Counts)
}

/// Decides what becomes of the certifications of one user ID, in the order of the packets.
pub(super) fn judge(certifications: &[&Certification], settings: &Settings) -> Vec<Use> {
    let use_of =
        |certification: &&Certification| match certification.kind.has_cert_level(settings.min_cert_level) {
            true => use_alone(certification, settings.now),
            false => Use::ClaimsTooLittle,
        };
    let mut uses: Vec<Use> = certifications.iter().map(use_of).collect();
    if uses.len() > 1 {
        leave_the_newest(certifications, settings.now, &mut uses);
    }
    uses
}

/// Lets of several certifications by one key one decide.
fn leave_the_newest(certifications: &[&Certification], now: Timestamp, uses: &mut [Use]) {
    let mut considered: Vec<usize> =
        (0..uses.len()).filter(|&index| uses[index] != Use::ClaimsTooLittle).collect();
    considered.sort_by_key(|&index| certifications[index].issuer);
    let by_issuer = considered.chunk_by(|&a, &b| certifications[a].issuer == certifications[b].issuer);
    for of_one in by_issuer {
        let newest = newest(certifications, of_one, now);
        of_one.iter().filter(|&&index| index != newest).for_each(|&index| uses[index] = Use::Superseded);
    }
}

/// Returns which of several by one key decides: the newest one, unless one is beyond revocation.
fn newest(certifications: &[&Certification], of_one: &[usize], now: Timestamp) -> usize {
    let rank =
        |index: usize| (is_beyond_revocation(certifications[index], now), certifications[index].created);
    // The last one of several that are equal.
    of_one.iter().copied().max_by_key(|&index| rank(index)).expect("a chunk is not empty")
}

fn is_beyond_revocation(certification: &Certification, now: Timestamp) -> bool {
    certification.kind.is_certification() && !certification.revocable && !has_expired(certification, now)
}

/// Returns what becomes of a certification by a key that made no other one.
fn use_alone(certification: &Certification, now: Timestamp) -> Use {
    if !certification.kind.is_certification() {
        Use::Revokes
    } else if has_expired(certification, now) {
        Use::Expired
    } else {
        Use::Counts
    }
}

fn has_expired(certification: &Certification, now: Timestamp) -> bool {
    certification.expires.is_some_and(|end| end <= now)
}
