//! `keyhoard list`: lists certificates with keys and user IDs, and with `--signatures` their signatures.

use std::ffi::OsString;

use engine::cert::effective::PacketView;
use engine::listing::Signatures;
use engine::secret::SecretKeys;
use engine::secret_transfer::with_secret_key;
use engine::store::Selection;

use super::list_filter::Filter;
use super::listings::Listing;
use crate::commands::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::hint::Hint;
use crate::listing::Details;
use crate::session::Session;
use crate::trust_options::TrustOptions;

/// The arguments of `keyhoard list`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard list
  keyhoard list --signatures '<someone@debian.org>'
  keyhoard list --secret
  keyhoard list --expires-before 60d --validity full
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
    filter: Filter,

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
    let mut selection = named.selection();
    let secret;
    if arguments.filter.secret {
        secret = with_secret_key(snapshot.as_ref(), selection, &session.secret_keys()?.list()?)?;
        selection = Selection::Ids(&secret);
    }
    let now = session.now;
    let listing = Listing {
        signatures,
        details,
        view,
        trust: &arguments.trust,
        shows: &|listing| arguments.filter.shows(listing, now),
    };
    let any = listing.write(session, store.as_ref(), snapshot.as_ref(), selection)?;
    if !any && named.complete {
        match arguments.filter.is_given() || !arguments.names.is_empty() {
            true => session.note("no certificate matches"),
            false => session.note(format_args!("no certificates; {} imports some", Hint::ImportFile)),
        }
    }
    Ok(Outcome::done_if(any && named.complete))
}
