//! `keyhoard trust explain`: explains the validity of user IDs.

mod json;
mod text;

use std::ffi::OsString;

use engine::cert::effective::PacketView;

use super::explanations::explanations;
use crate::commands::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::session::Session;
use crate::trust_options::WebOptions;

/// The arguments of `keyhoard trust explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard trust explain someone@debian.org
  keyhoard trust explain --verbose 0123456789ABCDEF
  keyhoard trust explain --json someone@debian.org | jq .paths

Certifications by keys that are not valid are counted; --verbose names them. `keyhoard tofu \
explain` does the same for trust on first use.")]
pub(super) struct Arguments {
    /// The certificates to explain.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<OsString>,

    /// Name the certifications by keys that are not valid.
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,

    #[command(flatten)]
    trust: WebOptions,
}

/// Writes an explanation of each certificate.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let settings = arguments.trust.settings(session.now, PacketView::Full)?;
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let named = NamedCertificates::find(session, snapshot.as_ref(), &arguments.names)?;
    let explanations = explanations(store.as_ref(), snapshot.as_ref(), named.selection(), &settings)?;
    for (number, explanation) in explanations.iter().enumerate() {
        if session.output.is_json() {
            session.output.json(&json::ExplanationJson::new(explanation, &settings))?;
            continue;
        }
        if number > 0 {
            session.output.line("")?;
        }
        text::write(&mut session.output, explanation, &settings, arguments.verbose)?;
    }
    Ok(Outcome::done_if(named.complete && !explanations.is_empty()))
}
