//! `keyhoard undo`: undoes an earlier command.

use engine::secret_keys::orphans;
use engine::store::{Fingerprint, JournalId};
use engine::undo::{KeptReason, UndoEvent, UndoOptions, UndoSummary, undo};
use serde::Serialize;

use crate::exit::Outcome;
use crate::hint::Hint;
use crate::printable::printable;
use crate::progress::Unit;
use crate::session::{Session, command_line};

/// The arguments of `keyhoard undo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard undo                    the last command that changed something
  keyhoard log; keyhoard undo 17   a certain one
  keyhoard undo --dry-run

An undo can be undone. Without --force, what a later import brought again stays, and owner trust or a policy for an address \
(`keyhoard tofu policy`) that was set again since. Without --including-revocations, verified revocations and earlier \
expiry dates stay. If everything stays, the entry is not undone, and the exit code \
is 1.")]
pub(crate) struct Arguments {
    /// The journal entry to undo, as `keyhoard log` numbers them [default: the last one that changed something and was
    /// not undone].
    #[arg(value_name = "ENTRY")]
    entry: Option<i64>,

    /// Also take back what a later import brought again, and owner trust and policies that were set again since.
    #[arg(long)]
    force: bool,

    /// Also take back verified revocations and earlier expiry dates.
    #[arg(long)]
    including_revocations: bool,

    /// Write nothing, only say what would happen.
    #[arg(long, short = 'n')]
    dry_run: bool,
}

/// Undoes the entry.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let options = UndoOptions {
        command: command_line(),
        force: arguments.force,
        including_revocations: arguments.including_revocations,
        dry_run: arguments.dry_run,
    };
    let secrets = session.secret_keys()?;
    let orphans = || orphans(store.snapshot()?.as_ref(), secrets.files());
    let before = orphans()?;
    let mut progress = session.progress(Unit::Certificates, None);
    let mut kept = Vec::new();
    let mut purged = Vec::new();
    let mut damaged = Vec::new();
    let entry = arguments.entry.map(JournalId);
    let summary = undo(store.as_ref(), entry, &options, session.now, &mut |event| match event {
        UndoEvent::Kept { fingerprint, what } => kept.push((fingerprint.to_string(), what)),
        UndoEvent::Purged { fingerprint } => purged.push(fingerprint.to_string()),
        UndoEvent::Damaged { fingerprint } => damaged.push(fingerprint.to_string()),
        UndoEvent::Progress { done } => progress.set(done),
    })?;
    drop(progress);
    let mut left = orphans()?;
    left.retain(|key| !before.contains(key));
    for key in &left {
        session.warn(format_args!(
            "the secret key {key} stays, though no certificate in this database has it any more; {} brings the \
             certificate back",
            Hint::ImportFile
        ));
    }
    if session.output.is_json() {
        let kept = kept.iter().map(|(fingerprint, what)| KeptJson { fingerprint, what: words(*what).0 });
        session.output.json(&SummaryJson {
            undone: summary.undone.0,
            command: &summary.command,
            entry: summary.journal.map(|journal| journal.0),
            removed: summary.removed,
            shrunk: summary.shrunk,
            restored: summary.restored,
            owner_trusts: summary.owner_trusts,
            bindings: summary.bindings,
            kept: kept.collect(),
            purged,
            damaged,
            secret_keys_left: left.iter().map(Fingerprint::to_string).collect(),
        })?;
    } else {
        print_summary(session, &summary, &kept, &purged, &damaged);
    }
    Ok(Outcome::done_if(!summary.keeps_everything()))
}

fn print_summary(
    session: &Session,
    summary: &UndoSummary,
    kept: &[(String, KeptReason)],
    purged: &[String],
    damaged: &[String],
) {
    for (fingerprint, what) in kept {
        let (_, what, option) = words(*what);
        session.warn(format_args!("{fingerprint}: {what} stays; {option} takes it back"));
    }
    for fingerprint in purged {
        session.warn(format_args!("{fingerprint}: was purged and cannot come back"));
    }
    for fingerprint in damaged {
        session.warn(format_args!(
            "{fingerprint}: its packets in the journal are lost or damaged; it can only be imported again"
        ));
    }
    let counts = [
        (summary.removed, "removed"),
        (summary.shrunk, "as before the command"),
        (summary.restored, "restored"),
        (summary.owner_trusts, "owner trust as before"),
        (summary.bindings, "trust on first use as before"),
    ];
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let effect = match parts.is_empty() {
        true if summary.keeps_everything() => "everything stays".to_owned(),
        true => "nothing to take back".to_owned(),
        false => parts.join(", "),
    };
    let verb = match summary.journal {
        _ if summary.keeps_everything() => "did not undo",
        Some(_) => "undid",
        None => "would undo",
    };
    let command = printable(summary.command.as_bytes());
    session.note(format_args!("{verb} entry {} ({command}): {effect}", summary.undone.0));
}

/// Returns the name in JSON of what stays, what it is, and the option that takes it back.
fn words(kept: KeptReason) -> (&'static str, &'static str, &'static str) {
    match kept {
        KeptReason::Revocation => ("revocation", "a verified revocation", "--including-revocations"),
        KeptReason::Expiry => {
            ("expiry", "a self-signature with an earlier expiry date", "--including-revocations")
        }
        KeptReason::OwnerTrust => ("owner_trust", "the owner trust that a later command set", "--force"),
        KeptReason::Policy => ("policy", "the policy that a later command set for an address", "--force"),
    }
}

/// The result, as `docs/json.md` describes it.
#[derive(Serialize)]
struct SummaryJson<'a> {
    undone: i64,
    command: &'a str,
    entry: Option<i64>,
    removed: u64,
    shrunk: u64,
    restored: u64,
    owner_trusts: u64,
    bindings: u64,
    kept: Vec<KeptJson<'a>>,
    purged: Vec<String>,
    damaged: Vec<String>,
    secret_keys_left: Vec<String>,
}

#[derive(Serialize)]
struct KeptJson<'a> {
    fingerprint: &'a str,
    what: &'static str,
}
