//! Listings of certificates, for `list`, `show` and `search`.

use std::io;
use std::ops::ControlFlow;

use engine::cert::Facts;
use engine::cert::effective::{Effective, PacketView};
use engine::listing::{KeyListing, ListOptions, Names, Signatures, list};
use engine::store::{CertId, Selection, Snapshot, Store};
use engine::validity::ValidityResult;
use engine::verify::policy::DigestPolicy;

use super::named_certificates::fingerprints;
use crate::listing::{CertificateJson, Details, write};
use crate::output::Output;
use crate::session::Session;
use crate::trust_options::{TrustOptions, sources};

/// What a listing holds.
pub(super) struct Listing<'a> {
    pub(super) signatures: Signatures,
    pub(super) details: Details,
    /// Whether superseded packets are listed.
    pub(super) view: PacketView,
    /// How validity is computed.
    pub(super) trust: &'a TrustOptions,
    /// Which of the certificates are written.
    pub(super) shows: &'a dyn Fn(&KeyListing<'_>) -> bool,
}

/// Shows every certificate.
pub(super) fn all(_: &KeyListing<'_>) -> bool {
    true
}

impl Listing<'_> {
    /// Writes the selected certificates and returns whether there were any.
    pub(super) fn write(
        &self,
        session: &mut Session,
        store: &dyn Store,
        snapshot: &dyn Snapshot,
        selection: Selection<'_>,
    ) -> anyhow::Result<bool> {
        let Self { signatures, details, view, trust, shows } = *self;
        let settings = trust.settings(session.now, view)?;
        let sources = sources(store, snapshot);
        let validity = match selection {
            Selection::All => ValidityResult::all(&sources, &settings)?,
            Selection::Ids(_) => {
                ValidityResult::of(&fingerprints(snapshot, selection)?, &sources, &settings)?
            }
        };
        session.warn_of_outdated(snapshot)?;
        let mut any = false;
        let mut written = Ok(());
        let now = session.now;
        let options = ListOptions { now, view, signatures, bodies: false, digests: DigestPolicy::GNUPG };
        let mut names = Names::new(vec![snapshot], now, view);
        let mut trust =
            |id: CertId, facts: &Facts, effective: &Effective| validity.trust((0, id), facts, effective);
        list(snapshot, selection, options, &mut names, None, &mut trust, &mut |listing| {
            if !shows(&listing) {
                return ControlFlow::Continue(());
            }
            written = write_one(&mut session.output, &listing, signatures, details, any);
            any = true;
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        written?;
        Ok(any)
    }
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
