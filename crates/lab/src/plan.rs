//! The plan of an experiment as a value: its tasks, their homes, the number of rounds.

use std::path::PathBuf;
use std::time::Duration;

use crate::programs::Values;

/// Sequences of tasks, which every program runs in homes of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// The step that fills the homes of [`Start::Filled`] and [`Start::Copy`].
    pub(crate) fill: Option<Step>,
    pub(crate) sequences: Vec<Sequence>,
    /// The number of measured rounds, after a first one that does not count.
    pub(crate) rounds: u32,
    /// Whether the system calls are counted, in one more round.
    pub(crate) trace: bool,
}

/// Steps that run one after the other in the same home.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    pub(crate) start: Start,
    pub(crate) steps: Vec<Step>,
}

/// The home in which a sequence starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// A new one in each round.
    Empty,
    /// One for all rounds, filled.
    Filled,
    /// A copy of the filled one in each round, without derived files.
    Copy,
}

/// One task of a sequence.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Its name in the report.
    pub(crate) task: String,
    /// Its name in the descriptions of programs.
    pub(crate) action: &'static str,
    pub(crate) values: Values,
    /// The number of processes that run it concurrently, in the same home.
    pub(crate) processes: usize,
    /// The files that it writes; they are removed before.
    pub(crate) output_files: Vec<PathBuf>,
    /// Two files that must be equal afterwards.
    pub(crate) equal_files: Option<[PathBuf; 2]>,
    /// Whether the size of the home is recorded afterwards.
    pub(crate) measures_size: bool,
    /// The time after which it is ended, and not measured.
    pub(crate) limit: Option<Duration>,
}

impl Step {
    /// Returns a step of one process that writes no files.
    pub(crate) fn new(task: impl Into<String>, action: &'static str, values: &Values) -> Self {
        Self {
            task: task.into(),
            action,
            values: values.clone(),
            processes: 1,
            output_files: Vec::new(),
            equal_files: None,
            measures_size: false,
            limit: None,
        }
    }

    /// Returns whether it imports into the home.
    pub(crate) fn imports(&self) -> bool {
        self.action == "import"
    }
}
