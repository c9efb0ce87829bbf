//! The report: sections as values, and one page of HTML with them.
//!
//! - [`section`]: the section of an experiment; [`page`]: the page, which needs no network and no script.
//! - [`plot`]: bars, boxes and lines as SVG; [`axis`]: their logarithmic axes.
//! - [`comparison`]: the comparison of programs, with which most sections begin.

mod axis;
mod comparison;
mod page;
mod plot;
mod section;

pub(crate) use axis::Scale;
pub(crate) use comparison::comparison;
pub(crate) use page::{Page, Program, html};
pub(crate) use plot::{Bar, BoxPlot, Line, Plot, PlotGroup};
pub(crate) use section::{Section, Table};
