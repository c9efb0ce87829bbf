//! `keyhoard show`: everything about single certificates.

use std::ffi::OsString;

use keyhoard::listing::Signatures;

use super::Named;
use super::listed::write_listings;
use crate::exit::Outcome;
use crate::listing::Details;
use crate::session::Session;

/// The arguments of `keyhoard show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard show someone@debian.org
  keyhoard show --json 0123456789ABCDEF | jq .subkeys[].keygrip")]
pub(crate) struct Arguments {
    /// The certificates to show.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<OsString>,
}

/// Writes the certificates, in database order.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let named = Named::find(session, snapshot.as_ref(), &arguments.names)?;
    let signatures = if session.output.is_json() { Signatures::Named } else { Signatures::Plain };
    let options = super::listed::options(session, signatures, false);
    let selection = named.selection();
    let any = write_listings(session, snapshot.as_ref(), selection, options, Details::Everything)?;
    Ok(Outcome::found(any && named.complete))
}
