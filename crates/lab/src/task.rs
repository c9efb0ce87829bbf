//! The tasks that are measured with Debian's keyring.

use std::path::{Path, PathBuf};

use anyhow::Result;
use lab::measure::Cost;

use crate::gpg_program::{GpgProgram, KEYRING};
use crate::series::Series;

/// A task of both programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Import,
    ImportAgain,
    ListKeys,
    ListSignatures,
    OneKey,
}

impl Task {
    pub(crate) const ALL: [Task; 5] =
        [Task::Import, Task::ImportAgain, Task::ListKeys, Task::ListSignatures, Task::OneKey];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Task::Import => "import",
            Task::ImportAgain => "import again, unchanged",
            Task::ListKeys => "list keys",
            Task::ListSignatures => "list signatures with names",
            Task::OneKey => "one key by mail address",
        }
    }

    /// Returns whether gpg needs minutes for it.
    pub(crate) fn is_slow(self) -> bool {
        matches!(self, Task::Import | Task::ImportAgain)
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Task::Import | Task::ImportAgain => &["--import", KEYRING],
            Task::ListKeys => &["--list-keys"],
            Task::ListSignatures => &["--list-sigs"],
            Task::OneKey => &["--list-keys", "<tytso@debian.org>"],
        }
    }
}

/// A program, with the home of its last import.
#[derive(Debug)]
pub(crate) struct ImportedHome {
    pub(crate) gpg_program: GpgProgram,
    home: PathBuf,
}

impl ImportedHome {
    pub(crate) fn new(gpg_program: GpgProgram) -> Result<ImportedHome> {
        let home = gpg_program.home()?;
        Ok(ImportedHome { gpg_program, home })
    }

    /// Returns the home of the last import.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Runs a task once: an import in a new home, other tasks in the home of the last import.
    pub(crate) fn cost(&mut self, task: Task) -> Result<Cost> {
        if task == Task::Import {
            self.home = self.gpg_program.home()?;
        }
        self.gpg_program.cost(&self.home, task.arguments())
    }

    /// Runs a task several times.
    pub(crate) fn series(&mut self, task: Task, rounds: usize) -> Result<Series> {
        let mut series = Series::default();
        for _ in 0..rounds {
            series.push(self.cost(task)?);
        }
        Ok(series)
    }
}
