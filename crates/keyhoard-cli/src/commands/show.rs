//! `keyhoard show`: prints all details of certificates.

use std::ffi::OsString;

use engine::cert::effective::PacketView;
use engine::listing::Signatures;

use super::listings::{Listing, all};
use crate::commands::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::listing::Details;
use crate::session::Session;
use crate::trust_options::TrustOptions;

/// The arguments of `keyhoard show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard show someone@debian.org
  keyhoard show --json 0123456789ABCDEF | jq .subkeys[].keygrip")]
pub(crate) struct Arguments {
    /// The certificates to show.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<OsString>,

    #[command(flatten)]
    trust: TrustOptions,
}

/// Writes the certificates, in database order.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let named = NamedCertificates::find(session, snapshot.as_ref(), &arguments.names)?;
    let signatures = if session.output.is_json() { Signatures::Named } else { Signatures::Plain };
    let (details, view) = (Details::Everything, PacketView::Full);
    let listing = Listing { signatures, details, view, trust: &arguments.trust, shows: &all };
    let any = listing.write(session, store.as_ref(), snapshot.as_ref(), named.selection())?;
    Ok(Outcome::done_if(any && named.complete))
}
