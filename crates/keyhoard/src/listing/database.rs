//! Listings of certificates in a database.

use std::ops::ControlFlow;

use cert::effective::{Effective, Moment};
use cert::facts::Facts;
use store::{Detail, Record, Selection, Snapshot};

use super::{KeyListing, ListOptions, Lister, Names, Signatures, Source, Stored, Trust};
use crate::Result;
use crate::designated_revocation::{evaluate_with_revokers, whole};

/// Hands a listing of every selected certificate to `each`, in the order of the database.
///
/// `names` are used for [`Signatures::Named`] only; `trust` says what the user thinks of a certificate. One certificate
/// is in memory at a time, besides names.
///
/// # Errors
///
/// The database's errors.
pub fn list(
    snapshot: &dyn Snapshot,
    selection: Selection<'_>,
    options: ListOptions,
    names: &mut Names<'_>,
    trust: &mut dyn FnMut(&Facts, &Effective) -> Trust,
    each: &mut dyn FnMut(KeyListing<'_>) -> ControlFlow<()>,
) -> Result<()> {
    let mut outcome = Ok(());
    snapshot.visit(selection, detail(options), &mut |record| {
        let listed = list_one(&record, snapshot, names, options, trust, each);
        listed.unwrap_or_else(|error| {
            outcome = Err(error);
            ControlFlow::Break(())
        })
    })?;
    outcome
}

fn list_one(
    record: &Record,
    snapshot: &dyn Snapshot,
    names: &mut Names<'_>,
    options: ListOptions,
    trust: &mut dyn FnMut(&Facts, &Effective) -> Trust,
    each: &mut dyn FnMut(KeyListing<'_>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>> {
    let Some(facts) = &record.facts else { return Ok(ControlFlow::Continue(())) };
    if options.signatures == Signatures::Named {
        names.prepare(facts)?;
    }
    let moment = Moment::new(options.now, options.view);
    let effective = evaluate_with_revokers(facts, moment, || whole(snapshot, record.id), snapshot)?;
    let source = Source {
        facts,
        effective: &effective,
        bytes: record.bytes.as_deref(),
        trust: &trust(facts, &effective),
        origin: &record.origin,
        stored: Some(Stored { first_seen: record.first_seen, changed: record.changed }),
    };
    Ok(each(Lister { options, names }.listing(source)))
}

fn detail(options: ListOptions) -> Detail {
    match options {
        ListOptions { bodies: true, .. } => Detail::Bytes,
        ListOptions { signatures: Signatures::Without, .. } => Detail::Own,
        _ => Detail::Full,
    }
}
