//! Decisions here that differ from those in a source: they stay as they are here.

use std::collections::HashMap;
use std::ops::ControlFlow;

use cert::{BoundAddress, Fingerprint};
use store::tofu::{AUTO, BindingSelection};
use store::{AssignedTrust, ReadTrust};
use trust::tofu::Policy;

use super::tofu_db::Remembered;
use crate::Result;
use crate::owner_trust::Assignment;

/// A decision here that differs from that in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Differing {
    /// How far a key's owner is trusted.
    OwnerTrust {
        /// The primary key.
        key: Fingerprint,
        /// What it is here, and stays.
        here: AssignedTrust,
        /// What it is in the source.
        there: AssignedTrust,
    },
    /// The policy for an address that came with a key.
    Policy {
        /// The primary key.
        key: Fingerprint,
        /// The address.
        address: BoundAddress,
        /// What it is here, and stays.
        here: Policy,
        /// What it is in the source.
        there: Policy,
    },
}

/// Finds the decisions here that differ.
pub(super) fn differing(
    snapshot: &dyn ReadTrust,
    remembered: &[Remembered],
    owner_trusts: &[Assignment],
) -> Result<Vec<Differing>> {
    let mut found = differing_owner_trusts(snapshot, owner_trusts)?;
    found.extend(differing_policies(snapshot, remembered)?);
    Ok(found)
}

fn differing_owner_trusts(snapshot: &dyn ReadTrust, given: &[Assignment]) -> Result<Vec<Differing>> {
    if given.is_empty() {
        return Ok(Vec::new());
    }
    let here: HashMap<Fingerprint, AssignedTrust> = snapshot.decided_owner_trusts()?.into_iter().collect();
    let differing = given.iter().filter_map(|given| {
        let (here, there) = (*here.get(&given.key)?, given.trust?);
        (here != there).then_some(Differing::OwnerTrust { key: given.key, here, there })
    });
    Ok(differing.collect())
}

fn differing_policies(snapshot: &dyn ReadTrust, remembered: &[Remembered]) -> Result<Vec<Differing>> {
    let there: HashMap<(Fingerprint, &BoundAddress), u8> = remembered
        .iter()
        .map(|it| ((it.binding.fingerprint, &it.binding.address), it.binding.policy))
        .filter(|(_, policy)| *policy != AUTO)
        .collect();
    let addresses: Vec<BoundAddress> = there.keys().map(|(_, address)| (*address).clone()).collect();
    let mut differing = Vec::new();
    snapshot.bindings(BindingSelection::Addresses(&addresses), &mut |binding| {
        let there = there.get(&(binding.fingerprint, &binding.address)).copied();
        let decided = there.filter(|there| binding.policy != AUTO && binding.policy != *there);
        let policies = [Some(binding.policy), decided].map(|number| number.and_then(Policy::from_number));
        if let [Some(here), Some(there)] = policies {
            let (key, address) = (binding.fingerprint, binding.address);
            differing.push(Differing::Policy { key, address, here, there });
        }
        ControlFlow::Continue(())
    })?;
    Ok(differing)
}
