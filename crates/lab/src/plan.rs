//! What an experiment does, as a value: which works, in which homes, how often.

use std::path::PathBuf;

use crate::programs::Values;

/// Sequences of works that every program does, each with homes of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// What [`Start::Filled`] homes have done before.
    pub(crate) fill: Option<Step>,
    pub(crate) sequences: Vec<Sequence>,
    /// How often each work is measured, after a first time that does not count.
    pub(crate) rounds: u32,
    /// Whether the system calls are counted, once, after everything else.
    pub(crate) trace: bool,
}

/// Works that are done one after the other in the same home.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    pub(crate) start: Start,
    pub(crate) steps: Vec<Step>,
}

/// The home in which a sequence begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// A new one each time.
    Empty,
    /// One for all rounds, filled.
    Filled,
    /// A copy of the filled one each time, without what the program has derived.
    Copy,
}

/// One work.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// What it is called in the report.
    pub(crate) work: String,
    /// What it is called in the programs' descriptions.
    pub(crate) action: &'static str,
    pub(crate) values: Values,
    /// How many processes do it at once, in the same home.
    pub(crate) processes: usize,
    /// The files that it makes: removed before.
    pub(crate) makes: Vec<PathBuf>,
    /// Two files that must be the same afterwards.
    pub(crate) same: Option<[PathBuf; 2]>,
    /// Whether the home's size afterwards is recorded.
    pub(crate) sized: bool,
}

impl Step {
    /// Returns a work of one process that makes no files.
    pub(crate) fn new(work: impl Into<String>, action: &'static str, values: &Values) -> Self {
        Self {
            work: work.into(),
            action,
            values: values.clone(),
            processes: 1,
            makes: Vec::new(),
            same: None,
            sized: false,
        }
    }

    /// Returns whether it fills an empty home.
    pub(crate) fn fills(&self) -> bool {
        self.action == "import"
    }
}
