//! `bench keyring`: the costs of a key database, from the import to the web of trust.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::Experiment;
use super::made;
use crate::execution::Execution;
use crate::findings::Findings;
use crate::format::{bytes, seconds};
use crate::gpg_program::GpgProgram;
use crate::plan::{Plan, Sequence, Start, Step};
use crate::programs::values;
use crate::report::{Section, Table, comparison};
use crate::trace::kind_names;

/// The experiment.
#[derive(Debug)]
pub(crate) struct Keyring {
    pub(crate) file: Option<PathBuf>,
    pub(crate) trusted: Option<String>,
    pub(crate) rounds: u32,
    pub(crate) quick: bool,
    pub(crate) trace: bool,
}

const IMPORT: &str = "import";

impl Experiment for Keyring {
    fn name(&self) -> &'static str {
        "keyring"
    }

    fn measure(&self, execution: &mut Execution<'_>, _: &Path) -> Result<()> {
        let directory = TempDir::with_prefix("kh-").context("making a directory")?;
        let file = made::keyring(self.file.as_deref(), self.quick, directory.path())?;
        let trusted = match &self.trusted {
            Some(trusted) => trusted.clone(),
            None => best_connected(&file)?,
        };
        let values = values([("file", file.display().to_string()), ("trusted", trusted)]);
        let step = |task: &str, action| Step::new(task, action, &values);
        let after = |start, steps: &[(&str, &'static str)]| {
            let steps = steps.iter().map(|(task, action)| step(task, action)).collect();
            Sequence { start, steps }
        };
        let import = Step { measures_size: true, ..step(IMPORT, "import") };
        let plan = Plan {
            fill: Some(import.clone()),
            sequences: vec![
                Sequence { start: Start::Empty, steps: vec![import, step("import again", "import")] },
                after(Start::Filled, &[("list keys", "list-keys")]),
                after(Start::Filled, &[("list signatures, fast", "list-sigs-fast")]),
                after(Start::Filled, &[("list signatures with names", "list-sigs")]),
                after(
                    Start::Copy,
                    &[("check signatures", "check-sigs"), ("check signatures again", "check-sigs")],
                ),
                after(Start::Copy, &[("trustdb run", "check-trustdb")]),
                after(
                    Start::Copy,
                    &[("first TOFU listing", "list-tofu"), ("second TOFU listing", "list-tofu")],
                ),
            ],
            rounds: self.rounds,
            trace: self.trace,
        };
        execution.run(&plan)
    }

    fn section(&self, findings: &Findings, _: &Path) -> Result<Section> {
        let mut section = comparison("Key database", findings);
        let name = match &self.file {
            Some(file) => file.display().to_string(),
            None => "Debian's keyring, or a made one where that is missing".to_owned(),
        };
        section.question = format!(
            "What does a key database cost, from the import to the web of trust? Measured with {name}. Each import goes \
             into a new home; signatures are checked, trust and TOFU computed in a copy in which nothing was computed \
             before. What a server does for its client (keyboxd) is in the wall time alone."
        );
        section.conclusion = conclusion(findings);
        section.tables.extend(calls(findings));
        section.tables.push(history(findings));
        section.notes.push(MORE_HISTORY.to_owned());
        Ok(section)
    }
}

/// Returns the key that has made the most certifications and is neither expired nor revoked.
fn best_connected(file: &Path) -> Result<String> {
    let keyhoard = GpgProgram::gpg_keyhoard()?;
    let home = keyhoard.home()?;
    keyhoard.output(&home, &["--import", &file.display().to_string()])?;
    let listing = keyhoard.output(&home, &["--with-colons", "--fast-list-mode", "--list-sigs"])?;
    let mut certifications: BTreeMap<&str, u64> = BTreeMap::new();
    let mut keys = Vec::new();
    for line in listing.lines() {
        match line.split(':').collect::<Vec<_>>()[..] {
            ["pub", validity, _, _, key, ..] if !["e", "r"].contains(&validity) => keys.push(key),
            ["sig", _, _, _, issuer, ..] => *certifications.entry(issuer).or_default() += 1,
            _ => {}
        }
    }
    let best = keys.into_iter().max_by_key(|key| certifications.get(key).copied().unwrap_or(0));
    Ok(best.with_context(|| format!("{}: no key that could be trusted", file.display()))?.to_owned())
}

fn conclusion(findings: &Findings) -> String {
    let Some(import) = findings.row(IMPORT) else { return "Nothing was measured.".to_owned() };
    let measured = import.measured();
    let (Some((quickest, first)), Some((slowest, last))) = (measured.first(), measured.last()) else {
        return "No program could import the keyring.".to_owned();
    };
    let winners: Vec<&str> =
        findings.rows.iter().filter_map(|row| row.measured().first().map(|(name, _)| *name)).collect();
    let wins = |name: &str| winners.iter().filter(|winner| **winner == name).count();
    let most = winners.iter().max_by_key(|name| wins(name)).map_or("none", |name| *name);
    format!(
        "The import takes from {} ({quickest}) to {} ({slowest}); {most} is the fastest in {} of {} tasks.",
        seconds(first.wall),
        seconds(last.wall),
        wins(most),
        winners.len()
    )
}

fn calls(findings: &Findings) -> Option<Table> {
    if findings.calls.is_empty() {
        return None;
    }
    let kinds: Vec<&str> = kind_names().collect();
    let head = [&["work", "program"][..], &kinds].concat();
    let row = |calls: &crate::trace::Calls| {
        let mut row = vec![calls.task.clone(), calls.subject.clone()];
        row.extend(kinds.iter().map(|&kind| calls.kinds.get(kind).copied().unwrap_or(0).to_string()));
        row
    };
    let rows = findings.calls.iter().map(row).collect();
    Some(Table::new("System calls by kind, one run each", &head, rows))
}

/// The figures of 2015: 1,293 keys with 242,993 signatures in gpg's ring, gpg's keybox, and a prototype on SQLite.
const HISTORY: [(&str, &str, [&str; 3]); 7] = [
    ("import", "import", ["89.9 s", "55.4 s", "9.8 s"]),
    ("list keys", "list keys", ["1.94 s", "0.60 s", "0.73 s"]),
    ("list signatures, fast", "list signatures, fast", ["2.06 s", "0.80 s", "0.96 s"]),
    ("list signatures, nested", "list signatures with names", ["32.1 s", "151.9 s", "5.9 s"]),
    ("trustdb run", "trustdb run", ["8.0 s", "6.8 s", "11.4 s"]),
    ("peak memory of the import", "import", ["19 MB", "189 MB", "32 MB"]),
    ("peak memory of the trustdb run", "trustdb run", ["104 MB", "103 MB", "249 MB"]),
];
const MORE_HISTORY: &str = "Also in 2015: the import of Debian's keyring, then 751 keys, took the keybox 112.6 s and the \
    prototype 7.7 s; TOFU with 615 keys took 20.7 to 14.5 s with one database (flat) and 44.6 to 45.8 s with a file per \
    binding (split).";

fn history(findings: &Findings) -> Table {
    let heads =
        ["work", "2015: ring", "2015: keybox", "2015: SQLite prototype", "here, fastest", "here, slowest"];
    let mut rows = Vec::new();
    for (name, task, figures) in HISTORY {
        let is_memory = name.starts_with("peak");
        let measured = findings.row(task).map(|row| row.measured()).unwrap_or_default();
        let mut row = vec![name.to_owned()];
        row.extend(figures.map(str::to_owned));
        let value = |cell: Option<&(&str, &crate::summary::Measured)>| {
            cell.map_or_else(String::new, |(subject, measured)| match is_memory {
                true => format!("{} ({subject})", bytes(measured.peak_memory)),
                false => format!("{} ({subject})", seconds(measured.wall)),
            })
        };
        row.extend([value(measured.first()), value(measured.last())]);
        rows.push(row);
    }
    let title = "As history: 2015, another machine, another keyring (1,293 keys, 242,993 signatures)";
    Table::new(title, &heads, rows)
}
