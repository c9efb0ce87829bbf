//! `keyhoard check`: verifies all signatures of certificates.

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;

use anyhow::bail;
use engine::certifications::{CertificationStatus, CertificationStatuses};
use engine::check::{Count, check};
use engine::store::Record;
use serde::Serialize;

use super::checked_signatures::{self, DigestOptions, IssuerNames, SignatureJson};
use crate::commands::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::printable::counted;
use crate::progress::Unit;
use crate::session::Session;

/// The arguments of `keyhoard check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard check
  keyhoard check --signatures '<someone@debian.org>'
  keyhoard check --json | jq -r 'select(.bad > 0) | .fingerprint'

The verdicts are stored, so that no other command has to verify these signatures again. A
certificate is shown if it was named, or if one of its signatures is bad or refused. The exit code is
1 if a signature is bad.")]
pub(crate) struct Arguments {
    /// The certificates whose signatures are checked [default: all].
    #[arg(value_name = "NAME")]
    names: Vec<OsString>,

    /// Show every signature, not only those that are bad or refused.
    #[arg(long, short)]
    signatures: bool,

    /// Verify all signatures again, without the stored verdicts.
    #[arg(long)]
    again: bool,

    #[command(flatten)]
    policy: DigestOptions,
}

/// Checks signatures and lists those that are not good.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let named = NamedCertificates::find(session, snapshot.as_ref(), &arguments.names)?;
    let total = match &named.ids {
        Some(ids) => ids.len() as u64,
        None => snapshot.count()?,
    };
    let options = arguments.policy.check_options(session.now, arguments.again);
    let mut progress = session.progress(Unit::Certificates, Some(total));
    let mut issuers = IssuerNames::new(snapshot.as_ref(), session.now);
    let mut written = Ok(());
    let mut done = 0;
    let (store, selection) = (store.as_ref(), named.selection());
    let count = check(store, snapshot.as_ref(), selection, &options, &mut |record, statuses| {
        done += 1;
        progress.set(done);
        let count = Count::of(statuses);
        if named.ids.is_some() || arguments.signatures || count.bad + count.refused > 0 {
            written = progress.suspended(|| {
                print_certificate(session, &mut issuers, record, statuses, arguments.signatures)
            });
        }
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    drop(progress);
    written?;
    summarise(session, count)?;
    if count.not_fully_checked > 0 {
        bail!(
            "{} not fully checked: not valid until all possible revocations are verified; \
            run the command again to continue",
            counted(count.not_fully_checked as usize, "certificate")
        );
    }
    Ok(Outcome::done_if(count.bad == 0 && named.complete))
}

fn print_certificate(
    session: &mut Session,
    issuers: &mut IssuerNames<'_>,
    record: &Record,
    statuses: &CertificationStatuses,
    all: bool,
) -> anyhow::Result<()> {
    let Some(facts) = &record.facts else { return Ok(()) };
    let shown = |status: &CertificationStatus| {
        all || !matches!(status, CertificationStatus::Good(_) | CertificationStatus::NoIssuer)
    };
    let count = Count::of(statuses);
    let signatures: Vec<_> = checked_signatures::signatures(facts, statuses)
        .filter(|signature| shown(&signature.status))
        .collect();
    issuers.prepare(&signatures)?;
    let output = &mut session.output;
    if output.is_json() {
        let signatures = signatures.iter().map(|signature| issuers.json(signature)).collect();
        let Count { good, bad, no_issuer, refused, .. } = count;
        let fingerprint = record.fingerprint.to_string();
        let document =
            CertificateJson { event: "certificate", fingerprint, good, bad, no_issuer, refused, signatures };
        return Ok(output.json(&document)?);
    }
    checked_signatures::write_heading(output, facts, session.now)?;
    output.line(format_args!("  {}", words(count)))?;
    checked_signatures::write_signatures(output, issuers, &signatures)?;
    Ok(())
}

fn words(count: Count) -> String {
    let Count { good, bad, no_issuer, refused, .. } = count;
    let mut words = vec![counted(good as usize, "good signature")];
    for (number, what) in [(bad, "bad"), (refused, "refused"), (no_issuer, "by keys that are not here")] {
        if number > 0 {
            words.push(format!("{number} {what}"));
        }
    }
    words.join(", ")
}

fn summarise(session: &mut Session, count: Count) -> io::Result<()> {
    if session.output.is_json() {
        return session.output.json(&SummaryJson { event: "summary", count });
    }
    session.note(format_args!("{}: {}", counted(count.certificates, "certificate"), words(count)));
    Ok(())
}

/// A certificate, as `docs/json.md` describes it.
#[derive(Serialize)]
struct CertificateJson<'a> {
    event: &'static str,
    fingerprint: String,
    good: u64,
    bad: u64,
    no_issuer: u64,
    refused: u64,
    signatures: Vec<SignatureJson<'a>>,
}

/// The sums, as `docs/json.md` describes them.
#[derive(Serialize)]
struct SummaryJson {
    event: &'static str,
    #[serde(flatten)]
    count: Count,
}
