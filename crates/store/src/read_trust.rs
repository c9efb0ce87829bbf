//! Reading what the user decided about keys.

use std::ops::ControlFlow;

use cert::{BoundAddress, Fingerprint, Timestamp};

use crate::tofu::{Binding, BindingId, BindingSelection, Messages, VerifiedMessage};
use crate::{AssignedTrust, Result};

/// Owner trust, and the bindings of trust on first use.
pub trait ReadTrust {
    /// Returns the owner trust that was assigned to a key.
    fn owner_trust(&self, primary: &Fingerprint) -> Result<Option<AssignedTrust>>;

    /// Returns all owner trust that was assigned, by ascending fingerprint.
    fn owner_trusts(&self) -> Result<Vec<(Fingerprint, AssignedTrust)>>;

    /// Returns the owner trust that the user decided, and no option: what may be exported. By ascending fingerprint.
    fn decided_owner_trusts(&self) -> Result<Vec<(Fingerprint, AssignedTrust)>> {
        let mut given = self.owner_trusts()?;
        given.retain(|(_, trust)| !trust.is_by_option());
        Ok(given)
    }

    /// Hands bindings to `visit`, ordered by address, then by fingerprint.
    fn bindings(
        &self,
        selection: BindingSelection<'_>,
        visit: &mut dyn FnMut(Binding) -> ControlFlow<()>,
    ) -> Result<()>;

    /// Counts the messages that were seen with a binding.
    fn messages(&self, binding: BindingId) -> Result<Messages>;

    /// Returns the signed messages that were seen with a binding.
    fn verified_messages(&self, binding: BindingId) -> Result<Vec<VerifiedMessage>>;

    /// Returns when messages were encrypted with a binding, ascending.
    fn encrypted_messages(&self, binding: BindingId) -> Result<Vec<Timestamp>>;

    /// Returns the binding of an address to a key, stored or derived from the certificate.
    fn binding(&self, key: &Fingerprint, address: &BoundAddress) -> Result<Option<Binding>> {
        let mut found = None;
        self.bindings(BindingSelection::Addresses(std::slice::from_ref(address)), &mut |binding| {
            if binding.fingerprint == *key {
                found = Some(binding);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }
}
