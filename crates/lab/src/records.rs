//! The measured runs, each written to a file at once.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use lab::measure::Cost;
use serde::{Deserialize, Serialize};

/// The beginning of the reason why something that takes too long was not measured.
pub(crate) const NOT_MEASURED: &str = "not measured:";

/// One run of a program, or the reason why there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    #[serde(rename = "work")]
    pub(crate) task: String,
    pub(crate) subject: String,
    /// The number of the round; round 0 does not count, but a run that is not repeated stands as rounds 0 and 1.
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
    /// Why it was not measured.
    pub(crate) problem: Option<String>,
}

impl Run {
    /// Returns a measured run.
    pub(crate) fn done(task: &str, subject: &str, round: u32, cost: &Cost) -> Run {
        Run {
            wall: Some(cost.wall),
            user: Some(cost.user),
            system: Some(cost.system),
            peak_memory: Some(cost.peak_memory),
            problem: None,
            ..Run::refused(task, subject, round, String::new())
        }
    }

    /// Returns a run that was not measured.
    pub(crate) fn refused(task: &str, subject: &str, round: u32, problem: String) -> Run {
        let (task, subject) = (task.to_owned(), subject.to_owned());
        Run { task, subject, round, problem: Some(problem), ..Run::default() }
    }
}

/// The runs of an experiment, in memory and in a CSV file.
#[derive(Debug)]
pub(crate) struct Records {
    path: PathBuf,
    writer: csv::Writer<File>,
    pub(crate) runs: Vec<Run>,
}

impl Records {
    /// Creates a file, or continues an existing one.
    ///
    /// # Errors
    ///
    /// If there is a file already, and `resume` is false.
    pub(crate) fn open(path: &Path, resume: bool) -> Result<Self> {
        let name = || path.display().to_string();
        let mut runs: Vec<Run> = Vec::new();
        if resume && path.exists() {
            let mut reader = csv::Reader::from_path(path).with_context(name)?;
            // An incomplete last line is dropped: that run is measured again.
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
        writer.flush().with_context(name)?;
        Ok(Self { path: path.to_owned(), writer, runs })
    }

    /// Returns whether a run is recorded.
    pub(crate) fn has(&self, task: &str, subject: &str, round: u32) -> bool {
        self.runs.iter().any(|run| run.task == task && run.subject == subject && run.round == round)
    }

    /// Returns whether a program could not do a task.
    pub(crate) fn is_refused(&self, task: &str, subject: &str) -> bool {
        self.refusal(task, subject).is_some()
    }

    /// Returns why a program could not do a task.
    pub(crate) fn refusal(&self, task: &str, subject: &str) -> Option<&str> {
        let mut its = self.runs.iter().rev().filter(|run| run.task == task && run.subject == subject);
        its.find_map(|run| run.problem.as_deref())
    }

    /// Returns the seconds of the run in round 0.
    pub(crate) fn first_wall(&self, task: &str, subject: &str) -> Option<f64> {
        let is_its = |run: &&Run| run.task == task && run.subject == subject && run.round == 0;
        self.runs.iter().find(is_its).and_then(|run| run.wall)
    }

    /// Records the runs in round 0 as those of round 1, which count.
    pub(crate) fn count_first_runs<'t>(
        &mut self,
        tasks: impl Iterator<Item = &'t str>,
        subject: &str,
    ) -> Result<()> {
        for task in tasks {
            let is_its = |run: &&Run| run.task == task && run.subject == subject && run.round == 0;
            if let Some(first) = self.runs.iter().find(is_its).cloned() {
                self.record(Run { round: 1, ..first })?;
            }
        }
        Ok(())
    }

    /// Records a run, unless there is one for that round.
    pub(crate) fn record(&mut self, run: Run) -> Result<()> {
        if self.has(&run.task, &run.subject, run.round) {
            return Ok(());
        }
        let written = self.writer.serialize(&run).and_then(|()| Ok(self.writer.flush()?));
        written.with_context(|| self.path.display().to_string())?;
        self.runs.push(run);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(round: u32) -> Run {
        let cost = Cost { wall: 1.5, user: 1.0, system: 0.25, peak_memory: 7, code: Some(0) };
        Run { keys: Some(3), bytes: Some(9), ..Run::done("list, all", "gpg, keybox", round, &cost) }
    }

    #[test]
    fn a_run_is_in_the_file_as_soon_as_it_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runs.csv");
        let mut records = Records::open(&path, false).unwrap();
        records.record(run(1)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().nth(1), Some("\"list, all\",\"gpg, keybox\",1,1.5,1.0,0.25,7,3,,9,"));
    }

    #[test]
    fn resuming_goes_on_behind_the_last_whole_run() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runs.csv");
        let mut records = Records::open(&path, false).unwrap();
        records.record(run(1)).unwrap();
        records.record(Run::refused("list, all", "sq", 0, "says \"no\"".to_owned())).unwrap();
        drop(records);
        let mut torn = std::fs::read_to_string(&path).unwrap();
        torn.push_str("\"list, all\",\"gpg, key");
        std::fs::write(&path, torn).unwrap();

        let mut records = Records::open(&path, true).unwrap();
        assert!(records.has("list, all", "gpg, keybox", 1) && !records.has("list, all", "gpg, keybox", 2));
        assert!(records.is_refused("list, all", "sq") && !records.is_refused("list, all", "gpg, keybox"));
        records.record(run(2)).unwrap();
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
