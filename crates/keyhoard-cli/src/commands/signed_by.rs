//! `keyhoard signed-by`: lists what keys certified.

use std::ffi::OsString;
use std::ops::ControlFlow;

use engine::cert::Fingerprint;
use engine::certifications::CertificationStatuses;
use engine::check::{is_said_to_be_by, signed_by};
use engine::store::Record;

use super::checked_signatures::{self, DigestOptions, IssuerNames};
use crate::commands::named_certificates::{NamedCertificates, fingerprints};
use crate::exit::Outcome;
use crate::session::Session;
use crate::table::Table;

/// The arguments of `keyhoard signed-by`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard signed-by '<someone@debian.org>'
  keyhoard signed-by --json 0123456789ABCDEF | jq -r 'select(.standing == \"good\") | .certificate' | sort -u

Each signature is verified. Certificates are found by an index, however many there are.")]
pub(crate) struct Arguments {
    /// The certificates of those who signed.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<OsString>,

    #[command(flatten)]
    policy: DigestOptions,
}

/// Writes the certificates that each issuer signed, in database order.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let named = NamedCertificates::find(session, snapshot.as_ref(), &arguments.names)?;
    let options = arguments.policy.check_options(session.now, false);
    let mut issuers = IssuerNames::new(snapshot.as_ref(), session.now);
    let mut any = false;
    for signer in fingerprints(snapshot.as_ref(), named.selection())? {
        let mut written = Ok(());
        signed_by(store.as_ref(), snapshot.as_ref(), &signer, &options, &mut |record, statuses| {
            any = true;
            written = print_certificate(session, &mut issuers, record, statuses, &signer);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        written?;
    }
    if !any && named.complete {
        session.note("no certificate here has a certification by them");
    }
    Ok(Outcome::done_if(any && named.complete))
}

fn print_certificate(
    session: &mut Session,
    issuers: &mut IssuerNames<'_>,
    record: &Record,
    statuses: &CertificationStatuses,
    signer: &Fingerprint,
) -> anyhow::Result<()> {
    let Some(facts) = &record.facts else { return Ok(()) };
    let signatures: Vec<_> = checked_signatures::signatures(facts, statuses)
        .filter(|signature| is_said_to_be_by(signature.facts, signer))
        .collect();
    let output = &mut session.output;
    if output.is_json() {
        issuers.prepare(&signatures)?;
        return Ok(signatures.iter().try_for_each(|signature| output.json(&issuers.json(signature)))?);
    }
    checked_signatures::write_heading(output, facts, session.now)?;
    let mut table = Table::default();
    signatures.iter().for_each(|signature| {
        table.push(checked_signatures::cells(signature, checked_signatures::subject(signature)))
    });
    Ok(output.table(&table)?)
}
