//! The tasks that are measured with Debian's keyring.

use std::path::PathBuf;

use anyhow::Result;
use lab::measure::Cost;

use crate::gpg_program::{GpgProgram, KEYRING};

/// A task of both programs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    pub(crate) name: &'static str,
    arguments: &'static [&'static str],
    /// Whether it needs a new home; the others use that of the last import.
    in_new_home: bool,
    /// Whether gpg needs minutes for it.
    pub(crate) is_slow: bool,
}

impl Task {
    pub(crate) const ALL: [Task; 5] = [
        Task { name: "import", arguments: &["--import", KEYRING], in_new_home: true, is_slow: true },
        Task { is_slow: true, ..Task::quick("import again, unchanged", &["--import", KEYRING]) },
        Task::quick("list keys", &["--list-keys"]),
        Task::quick("list signatures with names", &["--list-sigs"]),
        Task::quick("one key by mail address", &["--list-keys", "<tytso@debian.org>"]),
    ];

    const fn quick(name: &'static str, arguments: &'static [&'static str]) -> Task {
        Task { name, arguments, in_new_home: false, is_slow: false }
    }
}

/// A program, with the home of its last import.
#[derive(Debug)]
pub(crate) struct ImportedHome {
    pub(crate) gpg_program: GpgProgram,
    pub(crate) home: PathBuf,
}

impl ImportedHome {
    pub(crate) fn new(gpg_program: GpgProgram) -> Result<ImportedHome> {
        let home = gpg_program.home()?;
        Ok(ImportedHome { gpg_program, home })
    }

    /// Runs a task once.
    pub(crate) fn cost(&mut self, task: Task) -> Result<Cost> {
        if task.in_new_home {
            self.home = self.gpg_program.home()?;
        }
        self.gpg_program.cost(&self.home, task.arguments)
    }
}
