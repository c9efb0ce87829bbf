//! `keyhoard list`: lists certificates with keys and user IDs, and with `--signatures` their signatures.

use std::ffi::OsString;

use engine::cert::effective::PacketView;
use engine::listing::Signatures;

use super::listings::Listing;
use crate::commands::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::listing::Details;
use crate::session::Session;
use crate::trust_options::TrustOptions;

/// The arguments of `keyhoard list`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard list
  keyhoard list --signatures '<someone@debian.org>'
  keyhoard list --json | jq -r 'select(.standing == \"expired\") | .fingerprint'

A subkey, user ID or signature that is revoked, expired, superseded or local says so in brackets.")]
pub(crate) struct Arguments {
    /// The certificates to list [default: all].
    #[arg(value_name = "NAME")]
    names: Vec<OsString>,

    /// List signatures, with the names of those who made them.
    #[arg(long, short)]
    signatures: bool,

    /// Leave out superseded signatures, as gpg does.
    #[arg(long)]
    gpg_view: bool,

    #[command(flatten)]
    trust: TrustOptions,
}

/// Writes the listing, in database order.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let snapshot = match arguments.names.is_empty() {
        true => store.snapshot_on_all_cores()?,
        false => store.snapshot()?,
    };
    let named = NamedCertificates::find(session, snapshot.as_ref(), &arguments.names)?;
    let (signatures, details) = match arguments.signatures {
        true => (Signatures::Named, Details::Signatures),
        false => (Signatures::Without, Details::Short),
    };
    let view = if arguments.gpg_view { PacketView::Gnupg } else { PacketView::Full };
    let listing = Listing { signatures, details, view, trust: &arguments.trust };
    let any = listing.write(session, store.as_ref(), snapshot.as_ref(), named.selection())?;
    Ok(Outcome::done_if(any && named.complete))
}
