//! `keyhoard doctor`: checks the database and rebuilds derived rows.

use std::fmt::Display;
use std::io;

use engine::doctor::{DoctorEvent, Findings, Problem, examine, rebuild};
use engine::store::{Fingerprint, JournalId, Store};
use engine::undo::removed_by;
use serde::Serialize;

use crate::exit::Outcome;
use crate::hint::Hint;
use crate::printable::counted;
use crate::progress::{Progress, Unit};
use crate::session::Session;
use crate::style::Style;

/// The arguments of `keyhoard doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard doctor
  keyhoard doctor --rebuild

Every self-signature is verified again, so it takes about as long as an import. The exit code is 1 if something is \
wrong. --rebuild removes what is left of a certificate whose packets are lost; import it again then. What cannot be \
derived from the certificates (their order, when they were first seen, owner trust, the journal) is not changed by \
--rebuild; docs/schema.md lists it.")]
pub(crate) struct Arguments {
    /// Rebuild everything that is derived from the certificates, then check.
    #[arg(long)]
    rebuild: bool,
}

/// Checks the database, after rebuilding its derived rows with `--rebuild`.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let path = session.path()?;
    let total = session.open()?.snapshot()?.count()?;
    if arguments.rebuild {
        let mut progress = session.progress(Unit::Certificates, Some(total));
        let rebuilt = rebuild(&path, &mut |event| {
            if let DoctorEvent::Progress { done } = event {
                progress.set(done);
            }
        })?;
        drop(progress);
        for lost in &rebuilt.lost {
            session.warn(format_args!(
                "{lost}; what was left of it is removed, so that an import brings it back"
            ));
        }
        let count = counted(rebuilt.certificates, "certificate");
        session.note(format_args!("everything derived from {count} was rebuilt"));
    }
    let store = session.open()?;
    let mut progress = session.progress(Unit::Certificates, Some(total));
    let mut written = Ok(());
    let mut secret_keys = 0;
    let findings = examine(&path, &mut |event| match event {
        DoctorEvent::Progress { done } => progress.set(done),
        DoctorEvent::Finding(finding) if written.is_ok() => {
            written = print_finding(session, &progress, &finding, finding.is_healed_by_rebuilding());
        }
        DoctorEvent::SecretKey(elsewhere @ Problem::Elsewhere { .. }) => session.note(elsewhere),
        DoctorEvent::SecretKey(trouble) if written.is_ok() => {
            secret_keys += 1;
            let advice = match &trouble {
                Problem::Orphan { key, .. } => {
                    format!("; keep the file: {}", bringing_back(store.as_ref(), key))
                }
                Problem::Elsewhere { .. } | Problem::Unusable(_) => String::new(),
            };
            written = print_finding(session, &progress, &format_args!("{trouble}{advice}"), false);
        }
        DoctorEvent::Finding(_) | DoctorEvent::SecretKey(_) => {}
    })?;
    drop(progress);
    written?;
    summarise(session, findings, secret_keys)?;
    Ok(Outcome::done_if(findings.problems == 0))
}

/// Says what brings the certificate of a secret key back.
fn bringing_back(store: &dyn Store, key: &Fingerprint) -> String {
    let removed_by = || removed_by(store.snapshot().ok()?.as_ref(), key).ok()?;
    match removed_by() {
        Some(JournalId(entry)) => format!("{} brings the certificate back", Hint::Undo(entry)),
        None => format!("{} imports the certificate again", Hint::ImportFile),
    }
}

fn print_finding(
    session: &mut Session,
    progress: &Progress,
    finding: &dyn Display,
    healed_by_rebuilding: bool,
) -> io::Result<()> {
    if session.output.is_json() {
        let problem = finding.to_string();
        return session.output.json(&ProblemJson { event: "problem", problem, healed_by_rebuilding });
    }
    progress.suspended(|| session.output.line(session.output.styled(Style::Error, finding)))
}

fn summarise(session: &mut Session, findings: Findings, secret_keys: u64) -> io::Result<()> {
    if session.output.is_json() {
        return session.output.json(&SummaryJson { event: "summary", findings });
    }
    let Findings { certificates, problems, healable } = findings;
    match (problems, healable) {
        (0, _) => session.note(format_args!(
            "{} and everything derived from them: sound",
            counted(certificates, "certificate")
        )),
        _ if secret_keys == problems => {
            session
                .note(format_args!("{} with secret keys; the rest is sound", counted(problems, "problem")));
        }
        _ if healable == problems => {
            session.note(format_args!("{}, which {} repairs", counted(problems, "problem"), Hint::Rebuild))
        }
        _ => session.note(format_args!(
            "{}; {} repairs what is derived and removes what is left of certificates whose packets are lost; \
             certificates whose packets are damaged have to be deleted first; then import both again",
            counted(problems, "problem"),
            Hint::Rebuild
        )),
    }
    Ok(())
}

/// Something that is wrong, as `docs/json.md` describes it.
#[derive(Serialize)]
struct ProblemJson {
    event: &'static str,
    problem: String,
    healed_by_rebuilding: bool,
}

/// The sums, as `docs/json.md` describes them.
#[derive(Serialize)]
struct SummaryJson {
    event: &'static str,
    #[serde(flatten)]
    findings: Findings,
}
