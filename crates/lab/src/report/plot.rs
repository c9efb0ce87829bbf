//! Plots as SVG.
//!
//! Each plot is 320 units wide and shown at that size, so that text has the same size on all screens. Colours come from
//! the page's style sheet. Each mark has a title for pointers and screen readers.

use maud::{Markup, html};

use super::axis::{Axis, Scale};

const WIDTH: f64 = 320.0;
/// The coordinates of the ends of axes.
const LEFT: f64 = 12.0;
const RIGHT: f64 = 308.0;
/// Height of a row of bars or boxes, with its label above.
const ROW: f64 = 38.0;
/// Height of the names below an axis.
const FOOT: f64 = 22.0;
/// The most characters of a label that fit beside the value.
const LABEL: usize = 26;

/// Plots of the same kind under one heading.
#[derive(Clone, Debug)]
pub(crate) struct PlotGroup {
    pub(crate) title: String,
    pub(crate) plots: Vec<Plot>,
}

/// One plot.
#[derive(Clone, Debug)]
pub(crate) enum Plot {
    /// Bars on a logarithmic axis, with intervals.
    Bars { title: String, scale: Scale, bars: Vec<Bar> },
    /// Boxes from quartile to quartile, with lines to the lowest and the highest.
    Boxes { title: String, scale: Scale, boxes: Vec<BoxPlot> },
    /// Lines on two logarithmic axes, by count.
    Lines { title: String, scale: Scale, lines: Vec<Line> },
}

/// A bar.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) value: f64,
    pub(crate) interval: Option<[f64; 2]>,
    pub(crate) text: String,
}

/// A box.
#[derive(Clone, Debug)]
pub(crate) struct BoxPlot {
    pub(crate) label: String,
    /// The lowest, the quartiles with the median between them, the highest.
    pub(crate) five: [f64; 5],
    pub(crate) text: String,
}

/// A line.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Plot {
    /// Returns whether it has no data.
    pub(crate) fn is_empty(&self) -> bool {
        self.marks() == 0
    }

    /// Returns how many marks it shows.
    fn marks(&self) -> usize {
        match self {
            Plot::Bars { bars, .. } => bars.len(),
            Plot::Boxes { boxes, .. } => boxes.len(),
            Plot::Lines { lines, .. } => lines.iter().map(|line| line.points.len()).sum(),
        }
    }

    fn title(&self) -> &str {
        match self {
            Plot::Bars { title, .. } | Plot::Boxes { title, .. } | Plot::Lines { title, .. } => title,
        }
    }

    /// Draws it. The attribute `data-marks` is the number of marks, for tests.
    pub(super) fn figure(&self) -> Markup {
        let (height, drawing) = match self {
            Plot::Bars { scale, bars, .. } => bar_rows(*scale, bars),
            Plot::Boxes { scale, boxes, .. } => box_rows(*scale, boxes),
            Plot::Lines { scale, lines, .. } => log_log(*scale, lines),
        };
        html! {
            figure {
                figcaption { (self.title()) }
                svg viewBox=(format!("0 0 {WIDTH} {height}")) width=(WIDTH) height=(height) role="img"
                    aria-label=(self.title()) data-marks=(self.marks()) { (drawing) }
            }
        }
    }
}

fn bar_rows(scale: Scale, bars: &[Bar]) -> (f64, Markup) {
    let values =
        bars.iter().flat_map(|bar| [bar.value].into_iter().chain(bar.interval.into_iter().flatten()));
    let axis = Axis::new(scale, values, LEFT, RIGHT);
    let drawing = html! {
        (grid(&axis, bars.len()))
        @for (row, bar) in bars.iter().enumerate() {
            @let y = row as f64 * ROW;
            (heading(y, &bar.label, &bar.text))
            g.mark {
                title { (bar.label) ": " (bar.text) @if let Some([low, high]) = bar.interval {
                    " (" (scale.text(low)) " to " (scale.text(high)) ")" } }
                @if scale == Scale::Times {
                    circle.point cx=(tenth(axis.position(bar.value))) cy=(tenth(y + 26.0)) r="5" {}
                } @else {
                    rect.bar x=(LEFT) y=(tenth(y + 19.0)) height="14"
                        width=(tenth((axis.position(bar.value) - LEFT).max(1.0))) {}
                }
                @if let Some([low, high]) = bar.interval {
                    (whisker(axis.position(low), axis.position(high), y + 26.0))
                }
            }
        }
    };
    (bars.len() as f64 * ROW + FOOT, drawing)
}

fn box_rows(scale: Scale, boxes: &[BoxPlot]) -> (f64, Markup) {
    let axis = Axis::new(scale, boxes.iter().flat_map(|one| one.five), LEFT, RIGHT);
    let drawing = html! {
        (grid(&axis, boxes.len()))
        @for (row, one) in boxes.iter().enumerate() {
            @let y = row as f64 * ROW;
            @let [low, first, median, third, high] = one.five.map(|value| axis.position(value));
            (heading(y, &one.label, &one.text))
            g.mark {
                title { (one.label) ": " (one.five.map(|value| scale.text(value)).join(", ")) }
                (whisker(low, high, y + 26.0))
                rect.box x=(tenth(first)) y=(tenth(y + 19.0)) height="14" width=(tenth((third - first).max(1.0))) {}
                line.median x1=(tenth(median)) x2=(tenth(median)) y1=(tenth(y + 19.0)) y2=(tenth(y + 33.0)) {}
            }
        }
    };
    (boxes.len() as f64 * ROW + FOOT, drawing)
}

/// Draws lines, with a legend below the axes.
fn log_log(scale: Scale, lines: &[Line]) -> (f64, Markup) {
    const TOP: f64 = 8.0;
    const BOTTOM: f64 = 218.0;
    const BESIDE: f64 = 56.0;
    const NAME: f64 = 18.0;
    let points = || lines.iter().flat_map(|line| &line.points);
    let x_axis = Axis::new(Scale::Count, points().map(|point| point.0), BESIDE, RIGHT - 8.0);
    let y_axis = Axis::new(scale, points().map(|point| point.1), BOTTOM, TOP);
    let names = BOTTOM + 40.0;
    let drawing = html! {
        @for (x, name) in x_axis.ticks(5) {
            line.grid x1=(tenth(x)) x2=(tenth(x)) y1=(TOP) y2=(BOTTOM) {}
            text.tick x=(tenth(x)) y=(BOTTOM + 16.0) text-anchor="middle" { (name) }
        }
        @for (y, name) in y_axis.ticks(8) {
            line.grid x1=(BESIDE) x2=(RIGHT - 8.0) y1=(tenth(y)) y2=(tenth(y)) {}
            text.tick x=(BESIDE - 6.0) y=(tenth(y + 4.0)) text-anchor="end" { (name) }
        }
        @for (number, line) in lines.iter().enumerate() {
            @let style = format!("series series{}", number % 8);
            @let position = |&(x, y): &(f64, f64)| (tenth(x_axis.position(x)), tenth(y_axis.position(y)));
            g class=(style) {
                polyline points=(line.points.iter().map(position).map(|(x, y)| format!("{x},{y}")).collect::<Vec<_>>().join(" ")) {}
                @for point in &line.points {
                    @let (x, y) = position(point);
                    circle.mark cx=(x) cy=(y) r="4" {
                        title { (line.label) ", " (point.0) ": " (scale.text(point.1)) }
                    }
                }
                @let y = names + number as f64 * NAME;
                polyline points=(format!("{LEFT},{} {},{}", y - 4.0, LEFT + 30.0, y - 4.0)) {}
                text.label x=(LEFT + 40.0) y=(y) { (line.label) }
            }
        }
    };
    (names + lines.len() as f64 * NAME, drawing)
}

/// Draws a grid of the powers of ten over so many rows, and their names below.
fn grid(axis: &Axis, rows: usize) -> Markup {
    let bottom = rows as f64 * ROW;
    let ticks = axis.ticks(5);
    let last = ticks.len().saturating_sub(1);
    html! {
        @for (number, (x, name)) in ticks.iter().enumerate() {
            line.grid x1=(tenth(*x)) x2=(tenth(*x)) y1="0" y2=(bottom) {}
            @let anchor = if number == 0 { "start" } else if number == last { "end" } else { "middle" };
            @let position = if number == 0 { 0.0 } else if number == last { WIDTH } else { *x };
            text.tick x=(tenth(position)) y=(bottom + 14.0) text-anchor=(anchor) { (name) }
        }
    }
}

/// Draws the label of a row and its value.
fn heading(y: f64, label: &str, value: &str) -> Markup {
    let mut short: String = label.chars().take(LABEL).collect();
    if short.len() < label.len() {
        short.pop();
        short.push('…');
    }
    html! {
        text.label x=(LEFT) y=(tenth(y + 14.0)) { (short) }
        text.value x=(RIGHT) y=(tenth(y + 14.0)) text-anchor="end" { (value) }
    }
}

/// Draws an interval.
fn whisker(low: f64, high: f64, y: f64) -> Markup {
    let [low, high] = [low, high].map(tenth);
    html! {
        path.whisker d=(format!("M{low},{} V{} M{low},{} H{high} M{high},{} V{}",
            tenth(y - 4.0), tenth(y + 4.0), tenth(y), tenth(y - 4.0), tenth(y + 4.0))) {}
    }
}

/// Rounds to tenths, to keep files small.
fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_shows_every_value_with_its_interval() {
        let bar = |label: &str, value| Bar {
            label: label.to_owned(),
            value,
            interval: Some([value / 2.0, value * 2.0]),
            text: "text".to_owned(),
        };
        let bars = vec![bar("one <&>", 1.0), bar("a name that is longer than there is room for", 10.0)];
        let svg =
            Plot::Bars { title: "title".to_owned(), scale: Scale::Seconds, bars }.figure().into_string();
        assert_eq!((svg.matches("class=\"bar\"").count(), svg.matches("class=\"whisker\"").count()), (2, 2));
        assert!(
            svg.contains("data-marks=\"2\"") && svg.contains("one &lt;&amp;&gt;") && svg.contains('…'),
            "{svg}"
        );
    }

    #[test]
    fn a_line_has_a_mark_for_each_point() {
        let line = Line { label: "gpg".to_owned(), points: vec![(1e3, 0.1), (1e4, 1.0), (1e5, 10.0)] };
        let plot = Plot::Lines { title: "import".to_owned(), scale: Scale::Seconds, lines: vec![line] };
        assert_eq!(plot.figure().into_string().matches("<circle class=\"mark\"").count(), 3);
    }
}
