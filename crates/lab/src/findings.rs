//! What an experiment has found out.

use crate::conduct::CommandLine;
use crate::summary::Row;
use crate::trace::Calls;

/// What was found out.
#[derive(Debug)]
pub(crate) struct Findings<'a> {
    pub(crate) rows: &'a [Row],
    pub(crate) commands: &'a [CommandLine],
    pub(crate) calls: &'a [Calls],
}

impl Findings<'_> {
    /// Returns the row of a work.
    pub(crate) fn row(&self, work: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.work == work)
    }
}
