//! The runs that were measured, written to a file as they come.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use lab::measure::Cost;
use serde::{Deserialize, Serialize};

use crate::subject::Counts;

/// One run of a program, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) work: String,
    pub(crate) subject: String,
    /// 0 is the first time, which does not count.
    pub(crate) round: u32,
    /// Seconds.
    pub(crate) wall: Option<f64>,
    /// Seconds.
    pub(crate) user: Option<f64>,
    /// Seconds.
    pub(crate) system: Option<f64>,
    /// Bytes.
    pub(crate) peak_memory: Option<u64>,
    pub(crate) keys: Option<u64>,
    pub(crate) signatures: Option<u64>,
    /// The size of the home afterwards.
    pub(crate) bytes: Option<u64>,
    /// Why it was not done.
    pub(crate) problem: Option<String>,
}

impl Run {
    /// Returns a run that was done.
    pub(crate) fn done(work: &str, subject: &str, round: u32, cost: &Cost) -> Run {
        Run {
            wall: Some(cost.wall),
            user: Some(cost.user),
            system: Some(cost.system),
            peak_memory: Some(cost.peak_memory),
            problem: None,
            ..Run::refused(work, subject, round, String::new())
        }
    }

    /// Returns a run that was not done.
    pub(crate) fn refused(work: &str, subject: &str, round: u32, problem: String) -> Run {
        Run {
            work: work.to_owned(),
            subject: subject.to_owned(),
            round,
            wall: None,
            user: None,
            system: None,
            peak_memory: None,
            keys: None,
            signatures: None,
            bytes: None,
            problem: Some(problem),
        }
    }

    /// Adds what was counted.
    pub(crate) fn with(self, counts: Counts, bytes: Option<u64>) -> Run {
        Run { keys: counts.keys, signatures: counts.signatures, bytes, ..self }
    }
}

/// The runs of an experiment, in memory and in a file of CSV, which has each as soon as it is here.
#[derive(Debug)]
pub(crate) struct Records {
    path: PathBuf,
    file: File,
    pub(crate) runs: Vec<Run>,
    kept: BTreeSet<(String, String, u32)>,
}

impl Records {
    /// Begins a file, or goes on with one.
    ///
    /// # Errors
    ///
    /// If there is a file already and this is not to go on with it.
    pub(crate) fn open(path: &Path, resume: bool) -> Result<Self> {
        let name = || path.display().to_string();
        let mut runs: Vec<Run> = Vec::new();
        if resume && path.exists() {
            let mut reader = csv::Reader::from_path(path).with_context(name)?;
            // A run that was being written when the machine stopped is measured again.
            runs.extend(reader.deserialize().map_while(|run| run.ok()));
        } else {
            ensure!(
                !path.exists(),
                "{} is there already: --resume goes on with it, --out names another directory",
                path.display()
            );
        }
        let mut writer = csv::Writer::from_path(path).with_context(name)?;
        for run in &runs {
            writer.serialize(run).with_context(name)?;
        }
        if runs.is_empty() {
            writer.write_record(HEAD).with_context(name)?;
        }
        writer.flush().with_context(name)?;
        let file = OpenOptions::new().append(true).open(path).with_context(name)?;
        let kept = runs.iter().map(|run| (run.work.clone(), run.subject.clone(), run.round)).collect();
        Ok(Self { path: path.to_owned(), file, runs, kept })
    }

    /// Returns whether a run is there.
    pub(crate) fn has(&self, work: &str, subject: &str, round: u32) -> bool {
        self.kept.contains(&(work.to_owned(), subject.to_owned(), round))
    }

    /// Returns whether a program could not do a work.
    pub(crate) fn is_refused(&self, work: &str, subject: &str) -> bool {
        self.runs.iter().rev().any(|run| run.work == work && run.subject == subject && run.problem.is_some())
    }

    /// Keeps a run, unless there is one for that round.
    pub(crate) fn keep(&mut self, run: Run) -> Result<()> {
        if !self.kept.insert((run.work.clone(), run.subject.clone(), run.round)) {
            return Ok(());
        }
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(&self.file);
        writer
            .serialize(&run)
            .and_then(|()| Ok(writer.flush()?))
            .with_context(|| self.path.display().to_string())?;
        drop(writer);
        self.runs.push(run);
        Ok(())
    }
}

const HEAD: [&str; 11] = [
    "work",
    "subject",
    "round",
    "wall",
    "user",
    "system",
    "peak_memory",
    "keys",
    "signatures",
    "bytes",
    "problem",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn run(round: u32) -> Run {
        let cost = Cost { wall: 1.5, user: 1.0, system: 0.25, peak_memory: 7, code: Some(0) };
        Run::done("list, all", "gpg, keybox", round, &cost)
            .with(Counts { keys: Some(3), signatures: None }, Some(9))
    }

    #[test]
    fn a_run_is_in_the_file_as_soon_as_it_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runs.csv");
        let mut records = Records::open(&path, false).unwrap();
        records.keep(run(1)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().nth(1), Some("\"list, all\",\"gpg, keybox\",1,1.5,1.0,0.25,7,3,,9,"));
    }

    #[test]
    fn resuming_goes_on_behind_the_last_whole_run() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runs.csv");
        let mut records = Records::open(&path, false).unwrap();
        records.keep(run(1)).unwrap();
        records.keep(Run::refused("list, all", "sq", 0, "says \"no\"".to_owned())).unwrap();
        drop(records);
        let mut torn = std::fs::read_to_string(&path).unwrap();
        torn.push_str("\"list, all\",\"gpg, key");
        std::fs::write(&path, torn).unwrap();

        let mut records = Records::open(&path, true).unwrap();
        assert!(records.has("list, all", "gpg, keybox", 1) && !records.has("list, all", "gpg, keybox", 2));
        assert!(records.is_refused("list, all", "sq") && !records.is_refused("list, all", "gpg, keybox"));
        records.keep(run(2)).unwrap();
        let again = Records::open(&path, true).unwrap();
        assert_eq!(
            again.runs,
            [run(1), Run::refused("list, all", "sq", 0, "says \"no\"".to_owned()), run(2)]
        );
    }

    #[test]
    fn nothing_is_overwritten_unasked() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runs.csv");
        Records::open(&path, false).unwrap();
        assert!(Records::open(&path, false).unwrap_err().to_string().contains("--resume"));
    }
}
