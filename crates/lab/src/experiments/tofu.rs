//! `bench tofu`: building the TOFU database, with one file per binding and with one database.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::Experiment;
use super::made;
use crate::execution::Execution;
use crate::findings::Findings;
use crate::format::{seconds, times};
use crate::plan::{Plan, Sequence, Start, Step};
use crate::programs::values;
use crate::report::{Section, comparison};

/// The experiment.
#[derive(Debug)]
pub(crate) struct Tofu {
    pub(crate) file: Option<PathBuf>,
    /// The number of bindings written to each form of the database.
    pub(crate) bindings: u64,
    pub(crate) rounds: u32,
    pub(crate) quick: bool,
}

/// The numbers of concurrent processes.
const PROCESSES: [usize; 2] = [1, 4];

fn listing(processes: usize) -> String {
    format!("first TOFU listing, processes: {processes}")
}

fn writing(processes: usize) -> String {
    format!("write bindings, processes: {processes}")
}

impl Experiment for Tofu {
    fn name(&self) -> &'static str {
        "tofu"
    }

    fn measure(&self, execution: &mut Execution<'_>, _: &Path) -> Result<()> {
        let directory = TempDir::with_prefix("kh-").context("making a directory")?;
        let file = made::keyring(self.file.as_deref(), self.quick, directory.path())?;
        let values = values([("file", file.display().to_string()), ("bindings", self.bindings.to_string())]);
        let sequence = |start, task, action, processes| Sequence {
            start,
            steps: vec![Step { processes, measures_size: true, ..Step::new(task, action, &values) }],
        };
        let listings =
            PROCESSES.map(|processes| sequence(Start::Copy, listing(processes), "list-tofu", processes));
        let writings = PROCESSES
            .map(|processes| sequence(Start::Empty, writing(processes), "write-bindings", processes));
        let plan = Plan {
            fill: Some(Step::new("import", "import", &values)),
            sequences: listings.into_iter().chain(writings).collect(),
            rounds: self.rounds,
            trace: false,
        };
        execution.run(&plan)
    }

    fn section(&self, findings: &Findings, _: &Path) -> Result<Section> {
        let mut section = comparison("Trust on first use", findings);
        section.question = format!(
            "How long does it take to build the TOFU database from nothing, alone and with four processes at once? The \
             programs list a keyring under the trust model tofu+pgp for the first time; with four, each of them does it \
             in the same home. GnuPG once kept a file for each binding, and today keeps one database: for these two \
             forms, {} bindings are written with SQLite, each in a transaction of its own, as gpg does.",
            self.bindings
        );
        section.conclusion = conclusion(findings);
        section.notes.push(
            "In 2015, with 615 keys: 20.7 to 14.5 s with one database (flat), 44.6 to 45.8 s with a file per binding \
             (split)."
                .to_owned(),
        );
        Ok(section)
    }
}

fn conclusion(findings: &Findings) -> String {
    let mut sentences = Vec::new();
    for processes in PROCESSES {
        let Some(row) = findings.row(&writing(processes)) else { continue };
        if let (Some(split), Some(one)) = (row.of("one file per binding"), row.of("one database")) {
            let (quick, slow, ratio) = match split.wall > one.wall {
                true => ("one database", "one file per binding", split.wall / one.wall),
                false => ("one file per binding", "one database", one.wall / split.wall),
            };
            let who = if processes == 1 { "alone".to_owned() } else { format!("with {processes} at once") };
            sentences.push(format!("{who}, {slow} takes {} as long as {quick}", times(ratio)));
        }
    }
    if let Some(row) = findings.row(&listing(1))
        && let [(name, first), ..] = row.measured()[..]
    {
        sentences.push(format!("the first listing is fastest with {name}: {}", seconds(first.wall)));
    }
    let mut text = sentences.join("; ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    if text.is_empty() { "Nothing was measured.".to_owned() } else { text + "." }
}
