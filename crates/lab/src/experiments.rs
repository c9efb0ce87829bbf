//! The experiments: what each does, and what its results say.

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

use crate::conduct::Conduct;
use crate::findings::Findings;
use crate::report::Section;

/// Something that can be found out by measuring. What `Debug` writes tells one experiment from another.
pub(crate) trait Experiment: Debug {
    /// Returns the word for it on the command line.
    fn name(&self) -> &'static str;

    /// Measures what is not recorded yet. Files that are a result of their own go into `directory`.
    ///
    /// # Errors
    ///
    /// Those of files and programs; not that a program refuses a work.
    fn measure(&self, conduct: &mut Conduct<'_>, directory: &Path) -> Result<()>;

    /// Returns what the results say, as a part of the report.
    ///
    /// # Errors
    ///
    /// If the files of `measure` cannot be read.
    fn section(&self, findings: &Findings<'_>, directory: &Path) -> Result<Section>;
}
