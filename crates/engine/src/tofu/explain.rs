//! Everything about one address: its keys, since when, and their validity.

use cert::effective::{ComponentState, Effective, EvaluationContext};
use cert::facts::ComponentKind;
use cert::{BoundAddress, Facts, Fingerprint, Timestamp};
use store::tofu::{Binding, Messages};
use trust::tofu::{Evidence, Policy};

use super::decision::of_address;
use crate::Result;
use crate::designated_revocation::evaluate_with_revokers;
use crate::validity::{FirstUseResult, Sources, TrustAnchors, TrustSettings};

/// A key that came with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The key.
    pub key: Fingerprint,
    /// The user ID that the address was first seen in.
    pub user_id: Vec<u8>,
    /// When it was first seen.
    pub since: Timestamp,
    /// The state of the user ID.
    pub status: UserIdStatus,
    /// What the user decided.
    pub decided: Policy,
    /// The policy in effect.
    pub policy: Policy,
    /// What speaks for it.
    pub evidence: Evidence,
    /// The keys it is in conflict with.
    pub rivals: Vec<Fingerprint>,
    /// The messages that were seen.
    pub messages: Messages,
}

/// The state of a user ID, the best one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UserIdStatus {
    /// It is valid.
    Holds,
    /// It, or its key, has expired.
    Expired,
    /// It, or its key, was revoked.
    Revoked,
    /// The certificate is not here any more, or has no such user ID.
    Gone,
}

/// Returns the keys that came with an address, the first one first.
///
/// # Errors
///
/// The databases' errors.
pub fn explain(
    address: &BoundAddress,
    sources: &Sources<'_>,
    roots: &TrustAnchors,
    settings: &TrustSettings,
) -> Result<Vec<Holder>> {
    let mut holders = Vec::new();
    for source in &sources.certificates {
        for binding in of_address(*source, address)? {
            let messages = binding.id.zip(source.trust()).map(|(id, trust)| trust.messages(id));
            let messages = messages.transpose()?.unwrap_or_default();
            holders.push((binding, messages));
        }
    }
    let keys: Vec<Fingerprint> = holders.iter().map(|(binding, _)| binding.fingerprint).collect();
    let assessment = FirstUseResult::new(Some(&keys), sources, roots, settings)?;
    let mut holders: Vec<Holder> = holders
        .into_iter()
        .map(|(binding, messages)| holder(binding, messages, &assessment, sources, settings))
        .collect::<Result<_>>()?;
    holders.sort_by_key(|holder| holder.since);
    Ok(holders)
}

fn holder(
    binding: Binding,
    messages: Messages,
    assessment: &FirstUseResult,
    sources: &Sources<'_>,
    settings: &TrustSettings,
) -> Result<Holder> {
    let Binding { fingerprint: key, address, user_id, since, .. } = binding;
    Ok(Holder {
        key,
        user_id,
        since,
        status: status(&key, &address, sources, settings)?,
        decided: Policy::from_number(binding.policy).unwrap_or_default(),
        policy: assessment.policy(&key, &address),
        evidence: assessment.evidence(&key, &address),
        rivals: assessment.rivals(&key, &address),
        messages,
    })
}

/// Looks up the state of a binding's user ID.
pub(super) fn status(
    key: &Fingerprint,
    address: &BoundAddress,
    sources: &Sources<'_>,
    settings: &TrustSettings,
) -> Result<UserIdStatus> {
    for source in &sources.certificates {
        let Some(id) = source.by_fingerprint(&[*key])?[0] else { continue };
        let Some(facts) = source.own_facts(id)? else { break };
        let context = EvaluationContext::new(settings.now, settings.view);
        let effective = evaluate_with_revokers(&facts, context, (*source, id), &sources.certificates)?;
        return Ok(in_certificate(&facts, &effective, address));
    }
    Ok(UserIdStatus::Gone)
}

/// Of several user IDs with the address a valid one counts.
fn in_certificate(facts: &Facts, effective: &Effective, address: &BoundAddress) -> UserIdStatus {
    let primary = effective.primary();
    let components = facts.components.iter().zip(&effective.components);
    let statuses = components.filter_map(|(component, state)| match (&component.kind, state) {
        (ComponentKind::UserId(value), ComponentState::User(user))
            if BoundAddress::of_user_id(value) == *address =>
        {
            Some(if user.revoked || primary.revoked.is_some() {
                UserIdStatus::Revoked
            } else if user.expired || primary.expired {
                UserIdStatus::Expired
            } else {
                UserIdStatus::Holds
            })
        }
        _ => None,
    });
    statuses.min().unwrap_or(UserIdStatus::Gone)
}
