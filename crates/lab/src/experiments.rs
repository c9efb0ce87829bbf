//! The experiments: their plans, and the conclusions from their results.

pub(crate) mod grid;
pub(crate) mod keygen;
pub(crate) mod keyring;
pub(crate) mod scale;
pub(crate) mod symmetric;
pub(crate) mod tofu;

mod made;

use std::fmt::Debug;
use std::path::Path;

use anyhow::Result;

use crate::execution::Execution;
use crate::findings::Findings;
use crate::report::Section;

/// An experiment. Its `Debug` text identifies it and its arguments.
pub(crate) trait Experiment: Debug {
    /// Returns the name of its subcommand.
    fn name(&self) -> &'static str;

    /// Measures what is not recorded yet. Additional result files are written to `directory`.
    ///
    /// # Errors
    ///
    /// Those of files and programs; not that a program refuses a task.
    fn measure(&self, execution: &mut Execution<'_>, directory: &Path) -> Result<()>;

    /// Returns the experiment's section of the report.
    ///
    /// # Errors
    ///
    /// If the files of `measure` cannot be read.
    fn section(&self, findings: &Findings, directory: &Path) -> Result<Section>;
}
