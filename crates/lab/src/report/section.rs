//! The section of an experiment.

use serde::Serialize;

use super::plot::PlotGroup;
use crate::execution::CommandLine;

/// The section of an experiment in the report.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// The question, and how it was measured.
    pub(crate) question: String,
    /// The answer.
    pub(crate) conclusion: String,
    /// Reasons to doubt the answer.
    pub(crate) warnings: Vec<String>,
    #[serde(skip)]
    pub(crate) plots: Vec<PlotGroup>,
    pub(crate) tables: Vec<Table>,
    pub(crate) notes: Vec<String>,
    pub(crate) commands: Vec<CommandLine>,
}

/// A table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns a table with these column headings.
    pub(crate) fn new(title: &str, head: &[&str], rows: Vec<Vec<String>>) -> Table {
        Table { title: title.to_owned(), head: head.iter().map(|&name| name.to_owned()).collect(), rows }
    }
}
