//! The results of an experiment.

use crate::execution::CommandLine;
use crate::summary::Row;
use crate::trace::Calls;

/// The results of an experiment.
#[derive(Debug)]
pub(crate) struct Findings<'a> {
    pub(crate) rows: &'a [Row],
    pub(crate) commands: &'a [CommandLine],
    pub(crate) calls: &'a [Calls],
}

impl Findings<'_> {
    /// Returns the row of a task.
    pub(crate) fn row(&self, task: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.task == task)
    }
}
