//! `keyhoard who-signed`: lists the certifications of certificates.

use std::ffi::OsString;
use std::ops::ControlFlow;

use engine::certifications::CertificationStatuses;
use engine::check::check;
use engine::store::Record;

use super::checked_signatures::{self, DigestOptions, IssuerNames};
use crate::commands::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::session::Session;

/// The arguments of `keyhoard who-signed`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard who-signed '<someone@debian.org>'
  keyhoard who-signed --json 0123456789ABCDEF | jq -r 'select(.standing == \"good\") | .maker' | sort -u

Each signature is verified. Without the word 'good' before it, a name proves nothing: anybody could write it.")]
pub(crate) struct Arguments {
    /// The certificates.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<OsString>,

    #[command(flatten)]
    policy: DigestOptions,
}

/// Writes the signatures that others made on the certificates.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let named = NamedCertificates::find(session, snapshot.as_ref(), &arguments.names)?;
    let options = arguments.policy.check_options(session.now, false);
    let mut issuers = IssuerNames::new(snapshot.as_ref(), session.now);
    let mut written = Ok(());
    let (store, selection) = (store.as_ref(), named.selection());
    check(store, snapshot.as_ref(), selection, &options, &mut |record, statuses| {
        written = print_certificate(session, &mut issuers, record, statuses);
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written?;
    Ok(Outcome::done_if(named.complete))
}

fn print_certificate(
    session: &mut Session,
    issuers: &mut IssuerNames<'_>,
    record: &Record,
    statuses: &CertificationStatuses,
) -> anyhow::Result<()> {
    let Some(facts) = &record.facts else { return Ok(()) };
    let by_others: Vec<_> = checked_signatures::signatures(facts, statuses)
        .filter(|signature| signature.facts.own.is_none())
        .collect();
    issuers.prepare(&by_others)?;
    let output = &mut session.output;
    if output.is_json() {
        return Ok(by_others.iter().try_for_each(|signature| output.json(&issuers.json(signature)))?);
    }
    checked_signatures::write_heading(output, facts, session.now)?;
    Ok(checked_signatures::write_signatures(output, issuers, &by_others)?)
}
