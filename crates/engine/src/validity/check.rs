//! What GnuPG's `--check-trustdb` tells.

use std::ops::ControlFlow;

use cert::effective::{ComponentState, EvaluationContext};
use cert::{Fingerprint, KeyId, Timestamp};
use store::{Detail, Selection};
use trust::KeySet;
use trust::pgp::Level;

use super::{Sources, TrustSettings, ValidityResult};
use crate::Result;
use crate::designated_revocation::evaluate_with_revokers;
use crate::stored::try_visit;

/// A summary of the web of trust.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebOfTrustSummary {
    /// What happened on each level; nothing without ultimately trusted keys.
    pub levels: Vec<Level>,
    /// Ultimately trusted keys that are not here.
    pub missing: Vec<KeyId>,
    /// Ultimately trusted keys that have expired.
    pub expired: Vec<KeyId>,
    /// When the first user ID, key or certification expires on which validity may depend.
    pub next: Option<Timestamp>,
}

/// Computes the validity of every key and sums it up.
///
/// # Errors
///
/// The databases' errors.
pub fn check(sources: &Sources<'_>, settings: &TrustSettings) -> Result<WebOfTrustSummary> {
    let result = ValidityResult::summed(sources, settings)?;
    let outcome = result.outcome();
    let mut levels = outcome.levels.clone();
    let unknown = result.anchors().missing();
    if !unknown.is_empty() {
        if levels.is_empty() {
            levels.push(Level::default());
        }
        levels[0].valid += unknown.len();
        levels[0].trusts[trust::Validity::Ultimate as usize] += unknown.len();
    }
    let missing = outcome.missing.iter().map(Fingerprint::key_id).chain(unknown.iter().copied()).collect();
    let mut expired = Vec::new();
    let next = if levels.is_empty() { None } else { next(&result, sources, settings, &mut expired)? };
    Ok(WebOfTrustSummary { levels, missing, expired, next })
}

/// Returns the first expiry that GnuPG meets: of certifications that count, of certified and of ultimately trusted keys,
/// and of the user IDs of all keys that could be certified. Adds the ultimately trusted keys that have expired to `expired`.
fn next(
    result: &ValidityResult<'_>,
    sources: &Sources<'_>,
    settings: &TrustSettings,
    expired: &mut Vec<KeyId>,
) -> Result<Option<Timestamp>> {
    let ultimate = result.anchors().ultimate();
    let mut first = result.outcome().first_expiry;
    // Of several copies the first one was looked at for certifications.
    let mut certified = KeySet::default();
    let moment = EvaluationContext::new(settings.now, settings.view);
    for (source, certificates) in sources.certificates.iter().enumerate() {
        try_visit(*certificates, Selection::All, Detail::Own, &mut |record| {
            let Some(facts) = &record.facts else { return Ok(ControlFlow::Continue(())) };
            let (id, key) = (record.id, &record.fingerprint);
            let effective =
                evaluate_with_revokers(facts, moment, (*certificates, id), &sources.certificates)?;
            let is_ultimate = ultimate.binary_search(key).is_ok();
            if is_ultimate && effective.primary().expired && !expired.contains(&key.key_id()) {
                expired.push(key.key_id());
            }
            let mut components = 0..effective.components.len();
            if components.any(|component| result.outcome().is_certified((source, id), component)) {
                certified.insert(*key);
            }
            let matters = is_ultimate || certified.contains(key);
            let of_key = effective.primary().expires.filter(|end| matters && *end >= settings.now);
            let of_users = effective.components.iter().filter_map(|state| match state {
                ComponentState::User(user) if !is_ultimate && !user.revoked && !user.expired => user.expires,
                _ => None,
            });
            let is_alive = !effective.primary().expired && effective.primary().revoked.is_none();
            let ends = of_users.filter(|_| is_alive).chain(of_key);
            first = first.into_iter().chain(ends).min();
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(first)
}
