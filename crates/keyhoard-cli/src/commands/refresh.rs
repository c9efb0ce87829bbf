//! `keyhoard refresh`: asks again for the certificates that are here.

use std::ffi::OsString;
use std::time::Duration;

use anyhow::bail;
use engine::causes;
use engine::configuration::Configuration;
use engine::fetch::{RefreshEvent, RefreshOptions, RefreshSummary, refresh};
use serde::Serialize;

use super::fetch::{CertificateJson, certificate_line, named_servers};
use super::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::printable::counted;
use crate::progress::Unit;
use crate::session::{Session, command_line, environment};
use crate::style::Style;
use crate::table::{Cell, Table};

/// The arguments of `keyhoard refresh`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard refresh
  keyhoard refresh alice@example.org
  keyhoard refresh --from hkps://keyserver.ubuntu.com --pause 0

Asks the keyservers of config.toml for each certificate by its fingerprint, and the Web Key Directory for those that came \
from one: in random order, with a pause after each, and for none twice a day. New revocations are reported first. \
An interrupted refresh keeps what it imported; the next one goes on with the others.")]
pub(crate) struct Arguments {
    /// The certificates to ask for [default: all].
    #[arg(value_name = "NAME")]
    names: Vec<OsString>,

    /// Ask this keyserver instead of the configured ones; may be given again.
    #[arg(long, value_name = "SERVER")]
    from: Vec<String>,

    /// Wait this many seconds after each certificate [default: 1, unless the server is on this machine].
    #[arg(long, value_name = "SECONDS")]
    pause: Option<f64>,

    /// Ask even for certificates that were asked for within the last day.
    #[arg(long)]
    again: bool,
}

/// Asks for the certificates, and reports what is new.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let network = Configuration::read()?.network;
    let keyservers = named_servers(&arguments.from, &network)?;
    let store = session.open()?;
    let named = NamedCertificates::find(session, store.snapshot()?.as_ref(), &arguments.names)?;
    let pause = match arguments.pause.map(Duration::try_from_secs_f64) {
        Some(Ok(pause)) => pause,
        Some(Err(_)) => bail!("--pause takes seconds"),
        None => network.pause(&keyservers),
    };
    let options = RefreshOptions {
        ids: named.ids.as_deref(),
        keyservers: &keyservers,
        pause,
        dns: network.dns.openpgpkey,
        again: arguments.again,
        command: &command_line(),
    };
    let client = network.client(&environment)?;
    let mut progress = session.progress(Unit::Certificates, None);
    let summary = refresh(store.as_ref(), &client, &options, session.now, &mut |event| match event {
        RefreshEvent::Progress(done, total) => progress.set_of(done, total),
        RefreshEvent::Failed(fingerprint, error) => {
            progress.suspended(|| session.warn(format_args!("{fingerprint}: {}", causes(error))));
        }
        RefreshEvent::GivenUp(server) => progress.suspended(|| {
            session.warn(format_args!("{server}: failed too often, and is not asked again"));
        }),
    })?;
    drop(progress);
    report(session, &summary)?;
    if summary.given_up {
        bail!("the keyservers failed too often: not everything was asked for");
    }
    let is_asked = summary.asked > 0 || summary.too_soon > 0;
    Ok(Outcome::done_if(named.complete && is_asked && summary.is_complete()))
}

fn report(session: &mut Session, summary: &RefreshSummary) -> anyhow::Result<()> {
    if session.output.is_json() {
        for refreshed in &summary.changed {
            let certificate = CertificateJson::new(&refreshed.0);
            session.output.json(&RefreshedJson { event: "certificate", certificate })?;
        }
        session.output.json(&SummaryJson::new(summary))?;
        return Ok(());
    }
    for refreshed in &summary.changed {
        certificate_line(session, &refreshed.0)?;
    }
    if session.quiet {
        return Ok(());
    }
    let revoked = summary.changed.iter().filter(|refreshed| refreshed.is_revocation()).count() as u64;
    let lines = [
        (summary.asked, "certificates asked for", Style::Strong),
        (revoked, "with new revocations", Style::Error),
        (summary.changed.len() as u64 - revoked, "with other changes", Style::Name),
        (summary.unchanged, "unchanged", Style::Faint),
        (summary.unknown, "unknown there", Style::Faint),
        (summary.not_asked_for, "not imported", Style::Warning),
        (summary.incomplete, "asked for, but a server failed", Style::Warning),
        (summary.failed, "not asked for: no server answered", Style::Error),
        (summary.without_source, "without a server to ask: no keyserver is configured", Style::Warning),
        (summary.too_soon, "asked for within a day, not again", Style::Faint),
    ];
    let mut table = Table::default();
    for (count, text, style) in
        lines.into_iter().filter(|(count, text, _)| *count > 0 || text.starts_with("certificates"))
    {
        table.push([Cell::number(count).styled(style), Cell::new(text)]);
    }
    session.output.table(&table)?;
    if summary.too_soon > 0 && summary.asked == 0 {
        session.note(format_args!("{}: --again asks anyway", counted(summary.too_soon, "certificate")));
    }
    Ok(())
}

/// A certificate that changed, as `docs/json.md` describes it.
#[derive(Serialize)]
struct RefreshedJson<'a> {
    event: &'static str,
    #[serde(flatten)]
    certificate: CertificateJson<'a>,
}

/// The sums of a refresh, as `docs/json.md` describes them.
#[derive(Serialize)]
struct SummaryJson {
    event: &'static str,
    asked: u64,
    changed: usize,
    revoked: usize,
    unchanged: u64,
    unknown: u64,
    not_taken: u64,
    failed: u64,
    incomplete: u64,
    without_source: u64,
    too_soon: u64,
    complete: bool,
}

impl SummaryJson {
    fn new(summary: &RefreshSummary) -> Self {
        Self {
            event: "summary",
            asked: summary.asked,
            changed: summary.changed.len(),
            revoked: summary.changed.iter().filter(|refreshed| refreshed.is_revocation()).count(),
            unchanged: summary.unchanged,
            unknown: summary.unknown,
            not_taken: summary.not_asked_for,
            failed: summary.failed,
            incomplete: summary.incomplete,
            without_source: summary.without_source,
            too_soon: summary.too_soon,
            complete: summary.is_complete(),
        }
    }
}
