//! The report: what experiments say, as values, and from them one page of HTML.
//!
//! - [`page`]: the page with its sections, tables and machine; it needs no network and no script.
//! - [`plot`]: bars, boxes and lines as SVG; [`axis`]: their logarithmic axes.
//! - [`comparison`]: the section that most experiments begin with.

mod axis;
mod comparison;
mod page;
mod plot;

pub(crate) use axis::Scale;
pub(crate) use comparison::comparison;
pub(crate) use page::{Page, Program, html};
pub(crate) use plot::{Bar, BoxPlot, Line, Plot, PlotGroup};

use serde::Serialize;

use crate::conduct::CommandLine;

/// One experiment's part of the report.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// What was asked, and how it was measured.
    pub(crate) question: String,
    /// The answer.
    pub(crate) conclusion: String,
    /// What makes the answer doubtful.
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
