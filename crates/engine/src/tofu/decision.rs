//! What the user decides about bindings.

use std::ops::ControlFlow;

use cert::effective::{ComponentState, EvaluationContext, PacketView};
use cert::facts::ComponentKind;
use cert::{BoundAddress, Fingerprint, Timestamp};
use store::tofu::{Binding, BindingSelection};
use store::{CertId, Detail, ReadCertificates, Selection, Store};
use trust::tofu::Policy;

use crate::Result;
use crate::designated_revocation::evaluate_with_revokers;
use crate::retry::transact;
use crate::stored::{bindings, try_visit};

/// A binding with the decision before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The key.
    pub key: Fingerprint,
    /// The address.
    pub address: BoundAddress,
    /// The user ID with this address.
    pub user_id: Vec<u8>,
    /// What was decided before; `None` of a binding about which nothing was kept.
    pub before: Option<Policy>,
}

/// Sets the policy for all addresses of certificates, or for one of them, in one transaction; revoked user IDs are left
/// out. Returns these bindings, in the order of the certificates.
///
/// # Errors
///
/// The database's errors; then nothing was decided.
pub fn decide(
    store: &dyn Store,
    ids: &[CertId],
    only: Option<&BoundAddress>,
    policy: Policy,
    command: &str,
    now: Timestamp,
) -> Result<Vec<Decided>> {
    transact(store, command, now, |transaction| {
        let decided = bindings_of(transaction.snapshot()?, ids, only, now)?;
        for Decided { key, address, user_id, .. } in &decided {
            transaction.decide(key, address, user_id, policy.number())?;
        }
        Ok(decided)
    })
}

/// Deletes the decisions about an address and every message seen with it, for these keys or for all. Bindings to keys
/// that are not here any more are deleted. Returns the bindings.
///
/// # Errors
///
/// The database's errors; then nothing was forgotten.
pub fn forget(
    store: &dyn Store,
    address: &BoundAddress,
    keys: Option<&[Fingerprint]>,
    command: &str,
    now: Timestamp,
) -> Result<Vec<Binding>> {
    transact(store, command, now, |transaction| {
        let mut bindings = of_address(transaction.snapshot()?, address)?;
        bindings.retain(|binding| keys.is_none_or(|keys| keys.contains(&binding.fingerprint)));
        for binding in &bindings {
            transaction.forget_binding(&binding.fingerprint, &binding.address)?;
        }
        Ok(bindings)
    })
}

/// Returns the bindings of certificates, of one address or all, with what was decided about them.
pub fn bindings_of(
    snapshot: &dyn ReadCertificates,
    ids: &[CertId],
    only: Option<&BoundAddress>,
    now: Timestamp,
) -> Result<Vec<Decided>> {
    let mut found: Vec<Decided> = Vec::new();
    try_visit(snapshot, Selection::Ids(ids), Detail::Own, &mut |record| {
        let Some(facts) = &record.facts else { return Ok(ControlFlow::Continue(())) };
        let context = EvaluationContext::new(now, PacketView::Gnupg);
        let effective = evaluate_with_revokers(facts, context, (snapshot, record.id), &[snapshot])?;
        for (component, state) in facts.components.iter().zip(&effective.components) {
            let (ComponentKind::UserId(value), ComponentState::User(user)) = (&component.kind, state) else {
                continue;
            };
            let address = BoundAddress::of_user_id(value);
            if !user.revoked && only.is_none_or(|only| *only == address) {
                let (key, user_id) = (record.fingerprint, value.clone());
                found.push(Decided { key, address, user_id, before: None });
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    for decided in &mut found {
        let bindings = of_address(snapshot, &decided.address)?;
        let own = bindings.iter().find(|binding| binding.fingerprint == decided.key);
        decided.before = own.filter(|own| own.id.is_some()).and_then(|own| Policy::from_number(own.policy));
    }
    Ok(found)
}

/// Reads the bindings of an address.
pub(super) fn of_address(snapshot: &dyn ReadCertificates, address: &BoundAddress) -> Result<Vec<Binding>> {
    bindings(snapshot, BindingSelection::Addresses(std::slice::from_ref(address)))
}
