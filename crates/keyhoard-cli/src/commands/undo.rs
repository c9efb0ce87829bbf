//! `keyhoard undo`: undoes an earlier command.

use engine::listing::OwnerTrust;
use engine::secret_keys::orphans;
use engine::secret_transfer::secret_keys_of;
use engine::store::{CertId, Fingerprint, JournalId, Selection, Store};
use engine::undo::{KeptReason, UndoEvent, UndoOptions, UndoSummary, undo};
use serde::Serialize;

use crate::exit::Outcome;
use crate::hint::Hint;
use crate::printable::{counted, harmless};
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
    let (before, own_before) = (orphans()?, own_keys(store.as_ref())?);
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
        let again = summary.journal.map_or(Hint::ImportFile, |JournalId(undo)| Hint::Undo(undo));
        session.warn(format_args!(
            "the secret key {key} stays, though no certificate in this database has it any more; {again} brings the \
             certificate back"
        ));
    }
    warn_without_secret_keys(session, store.as_ref(), &own_before)?;
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

/// Returns the ultimately trusted keys.
fn own_keys(store: &dyn Store) -> anyhow::Result<Vec<Fingerprint>> {
    let mut trusts = store.snapshot()?.decided_owner_trusts()?;
    trusts.retain(|(_, trust)| OwnerTrust::from_number(trust.value()) == OwnerTrust::Ultimate);
    Ok(trusts.into_iter().map(|(key, _)| key).collect())
}

/// Warns of the user's own certificates that came back without their secret keys, which the journal never has.
fn warn_without_secret_keys(
    session: &Session,
    store: &dyn Store,
    before: &[Fingerprint],
) -> anyhow::Result<()> {
    let (snapshot, keys) = (store.snapshot()?, session.secret_keys()?);
    for own in own_keys(store)?.into_iter().filter(|own| !before.contains(own)) {
        let ids: Vec<CertId> = snapshot.by_fingerprint(&[own])?.into_iter().flatten().collect();
        if !ids.is_empty() && secret_keys_of(snapshot.as_ref(), Selection::Ids(&ids), &keys)?.is_empty() {
            session.warn(format_args!(
                "{own}: the certificate is back, its secret keys are not; {} imports them from a back-up",
                Hint::ImportFile
            ));
        }
    }
    Ok(())
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
    let of = |count: u64, what: &str, effect: &str| {
        (count > 0).then(|| format!("{} {effect}", counted(count, what)))
    };
    let parts: Vec<String> = [
        of(summary.removed, "certificate", "removed"),
        of(summary.shrunk, "certificate", "changed back"),
        of(summary.restored, "certificate", "restored"),
        of(summary.owner_trusts, "owner trust", "set back"),
        of(summary.bindings, "TOFU binding", "set back"),
    ]
    .into_iter()
    .flatten()
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
    let command = harmless(&summary.command);
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
