//! The results of an experiment.

use serde::Serialize;

use crate::execution::CommandLine;
use crate::summary::Row;
use crate::trace::Calls;

/// The results of an experiment.
#[derive(Debug, Serialize)]
pub(crate) struct Findings {
    pub(crate) experiment: &'static str,
    pub(crate) rows: Vec<Row>,
    pub(crate) calls: Vec<Calls>,
    #[serde(skip)]
    pub(crate) commands: Vec<CommandLine>,
}

impl Findings {
    /// Returns the row of a task.
    pub(crate) fn row(&self, task: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.task == task)
    }
}
