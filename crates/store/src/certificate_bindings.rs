//! Bindings of sources that store nothing but certificates.

use std::ops::ControlFlow;

use cert::BoundAddress;

use crate::tofu::{AUTO, Binding, BindingSelection, sort_bindings};
use crate::{Detail, ReadCertificates, Result, Selection};

/// Hands the bindings of a source to `visit`, ordered by address, then by fingerprint: those that the source stores, or,
/// of one without [`ReadTrust`](crate::ReadTrust), those that its user IDs make.
pub fn visit_bindings(
    source: &dyn ReadCertificates,
    selection: BindingSelection<'_>,
    visit: &mut dyn FnMut(Binding) -> ControlFlow<()>,
) -> Result<()> {
    if let Some(trust) = source.trust() {
        return trust.bindings(selection, visit);
    }
    let mut bindings = Vec::new();
    source.visit(Selection::All, Detail::Own, &mut |record| {
        let user_ids = record.facts.iter().flat_map(|facts| facts.user_ids());
        bindings.extend(user_ids.map(|user_id| Binding {
            id: None,
            fingerprint: record.fingerprint,
            address: BoundAddress::of_user_id(user_id),
            user_id: user_id.to_vec(),
            since: record.first_seen,
            policy: AUTO,
        }));
        ControlFlow::Continue(())
    })?;
    sort_bindings(&mut bindings);
    let by_address = bindings.chunk_by(|one, other| one.address == other.address);
    let selected = by_address.filter(|of_address| match selection {
        BindingSelection::All | BindingSelection::Unnumbered => true,
        BindingSelection::Contested => of_address.len() > 1,
        BindingSelection::Used => false,
        BindingSelection::Addresses(addresses) => addresses.contains(&of_address[0].address),
    });
    let _ = selected.flatten().try_for_each(|binding| visit(binding.clone()));
    Ok(())
}
