//! `keyhoard search`: finds certificates by parts of their user IDs, here or on a keyserver.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use engine::cert::effective::PacketView;
use engine::find::search;
use engine::listing::Signatures;
use engine::store::Selection;

use super::keyserver_search;
use super::listings::{Listing, all};
use crate::exit::Outcome;
use crate::hint::Hint;
use crate::listing::Details;
use crate::session::Session;
use crate::trust_options::TrustOptions;

/// The trust options, which say nothing about what a keyserver has.
const TRUST: [&str; 6] = [
    "trust_model",
    "trusted_key",
    "marginals_needed",
    "completes_needed",
    "max_cert_depth",
    "min_cert_level",
];

/// The arguments of `keyhoard search`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard search debian.org
  keyhoard search alice example.org
  keyhoard search --json -n 10 '@example.org>'
  keyhoard search --on hkps://keyserver.ubuntu.com alice@example.org

Every text has to occur in one of the certificate's user IDs; ASCII letters match in upper and lower case.")]
pub(crate) struct Arguments {
    /// What to look for.
    #[arg(value_name = "TEXT", required = true)]
    texts: Vec<OsString>,

    /// Show at most this many certificates.
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<usize>,

    /// Search on this keyserver instead of in the database.
    #[arg(long, value_name = "SERVER", conflicts_with_all = TRUST)]
    on: Option<String>,

    #[command(flatten)]
    trust: TrustOptions,
}

fn texts_joined(texts: &[OsString]) -> String {
    texts.iter().map(|text| text.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Writes the certificates that were found, in database order.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    if let Some(server) = &arguments.on {
        return keyserver_search::run(session, server, &texts_joined(&arguments.texts), arguments.limit);
    }
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let texts: Vec<&[u8]> = arguments.texts.iter().map(|text| text.as_bytes()).collect();
    let mut ids = search(snapshot.as_ref(), &texts)?;
    let found = ids.len();
    ids.truncate(arguments.limit.unwrap_or(usize::MAX));
    let (signatures, details, view) = (Signatures::Without, Details::Short, PacketView::Full);
    let listing = Listing { signatures, details, view, trust: &arguments.trust, shows: &all };
    listing.write(session, store.as_ref(), snapshot.as_ref(), Selection::Ids(&ids))?;
    if found == 0 {
        session.note(format_args!(
            "no certificate here matches; {} has more",
            Hint::SearchOn(texts_joined(&arguments.texts))
        ));
    }
    if ids.len() < found {
        session.warn(format_args!("{} more", found - ids.len()));
    }
    Ok(Outcome::done_if(found > 0))
}
