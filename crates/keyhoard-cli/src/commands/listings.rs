//! Listings of certificates, for `list`, `show` and `search`.

use std::io;
use std::ops::ControlFlow;

use keyhoard::cert::Facts;
use keyhoard::cert::effective::{Effective, PacketView};
use keyhoard::listing::{KeyListing, ListOptions, Names, Signatures, list};
use keyhoard::store::{CertId, ReadCertificates, Selection, Snapshot, Store};
use keyhoard::validity::{TrustSettings, ValidityResult};
use keyhoard::verify::policy::DigestPolicy;

use super::named_certificates::fingerprints;
use crate::listing::{CertificateJson, Details, write};
use crate::output::Output;
use crate::session::Session;
use crate::trust_options::sources;

/// Returns the options of a listing.
pub(super) fn options(session: &Session, signatures: Signatures, gpg_view: bool) -> ListOptions {
    let view = if gpg_view { PacketView::Gnupg } else { PacketView::Full };
    ListOptions { now: session.now, view, signatures, bodies: false, digests: DigestPolicy::GNUPG }
}

/// Computes the validity of the selected certificates.
pub(super) fn validities<'a>(
    store: &'a dyn Store,
    snapshot: &'a dyn ReadCertificates,
    selection: Selection<'_>,
    settings: &TrustSettings,
) -> keyhoard::Result<ValidityResult<'a>> {
    let sources = sources(store, snapshot);
    if let Selection::All = selection {
        return ValidityResult::all(&sources, settings);
    }
    ValidityResult::of(&fingerprints(snapshot, selection)?, &sources, settings)
}

/// Writes the selected certificates and returns whether there were any.
pub(super) fn write_listings(
    session: &mut Session,
    snapshot: &dyn Snapshot,
    selection: Selection<'_>,
    options: ListOptions,
    details: Details,
    validity: &ValidityResult<'_>,
) -> anyhow::Result<bool> {
    session.warn_of_outdated(snapshot)?;
    let mut any = false;
    let mut written = Ok(());
    let output = &mut session.output;
    let mut names = Names::new(vec![snapshot], options.now, options.view);
    let mut trust =
        |id: CertId, facts: &Facts, effective: &Effective| validity.trust((0, id), facts, effective);
    list(snapshot, selection, options, &mut names, &mut trust, &mut |listing| {
        written = write_one(output, &listing, options.signatures, details, any);
        any = true;
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written?;
    Ok(any)
}

fn write_one(
    output: &mut Output,
    listing: &KeyListing<'_>,
    signatures: Signatures,
    details: Details,
    separated: bool,
) -> io::Result<()> {
    if output.is_json() {
        return output.json(&CertificateJson::new(listing, signatures));
    }
    if separated {
        output.line("")?;
    }
    write(output, listing, details)
}
