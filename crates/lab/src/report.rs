//! The report: what experiments say, as values, and from them one page of HTML.
//!
//! - [`section`]: what one experiment says; [`page`]: the page with its sections, tables and machine; it needs no network and no script.
//! - [`plot`]: bars, boxes and lines as SVG; [`axis`]: their logarithmic axes.
//! - [`comparison`]: the section that most experiments begin with.

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
