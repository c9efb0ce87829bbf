//! Graphs as SVG, laid out by the library `dagre`.

use std::fmt::Write;

use dagre::graph::{Graph, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, Point, layout};
use unicode_width::UnicodeWidthStr;

/// A graph.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    pub(super) nodes: Vec<Node>,
    /// Arrows, by the indices of their ends in `nodes`.
    pub(super) edges: Vec<(usize, usize)>,
}

/// A node, drawn as a box.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) lines: Vec<String>,
    /// The colour of the box.
    pub(super) colour: &'static str,
    /// Whether it has a thick border.
    pub(super) is_bold: bool,
}

pub(super) const WHITE: &str = "#ffffff";
pub(super) const BLUE: &str = "#cfe2ff";
pub(super) const GREEN: &str = "#d6f5d6";
pub(super) const YELLOW: &str = "#fff3c4";

/// Sizes in pixels. CHARACTER is an upper bound of the average width of sans-serif letters.
const FONT: f64 = 12.0;
const CHARACTER: f64 = 6.8;
const LINE: f64 = 16.0;
const PADDING: f64 = 10.0;
const MARGIN: f64 = 12.0;

impl Picture {
    /// Returns the picture as an SVG document.
    pub(super) fn svg(&self) -> String {
        let graph = self.layout();
        let with_margin = |size: f64| size + 2.0 * MARGIN;
        let (width, height) = self.size(&graph);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0}\" height=\"{1:.0}\" viewBox=\"{2} {2} {0:.0} \
             {1:.0}\" font-family=\"sans-serif\" font-size=\"{FONT}\" text-anchor=\"middle\">\n{ARROW}",
            with_margin(width),
            with_margin(height),
            -MARGIN,
        );
        self.edges.iter().for_each(|&(from, to)| edge(&mut svg, &points(&graph, from, to)));
        for (number, node) in self.nodes.iter().enumerate() {
            if let Some((x, y)) = centre(&graph, number) {
                node.draw(&mut svg, x, y);
            }
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn layout(&self) -> Graph<NodeLabel, EdgeLabel> {
        let mut graph =
            Graph::with_options(GraphOptions { directed: true, multigraph: false, compound: false });
        for (number, node) in self.nodes.iter().enumerate() {
            let (width, height) = node.size();
            let label = NodeLabel { width, height, ..NodeLabel::default() };
            graph.set_node(number.to_string(), Some(label));
        }
        for (from, to) in &self.edges {
            graph.set_edge(from.to_string(), to.to_string(), Some(EdgeLabel::default()), None);
        }
        layout(&mut graph, Some(LayoutOptions::default()));
        graph
    }

    fn size(&self, graph: &Graph<NodeLabel, EdgeLabel>) -> (f64, f64) {
        let boxes = self.nodes.iter().enumerate().filter_map(|(number, node)| {
            let ((x, y), (width, height)) = (centre(graph, number)?, node.size());
            Some((x + width / 2.0, y + height / 2.0))
        });
        let points = self.edges.iter().flat_map(|&(from, to)| points(graph, from, to));
        boxes
            .chain(points.map(|point| (point.x, point.y)))
            .fold((0.0, 0.0), |(width, height): (f64, f64), (x, y)| (width.max(x), height.max(y)))
    }
}

const ARROW: &str = "<defs><marker id=\"arrow\" markerWidth=\"9\" markerHeight=\"8\" refX=\"8\" refY=\"4\" \
                     orient=\"auto\"><path d=\"M0 0 L9 4 L0 8 z\" fill=\"#555\"/></marker></defs>\n";

fn centre(graph: &Graph<NodeLabel, EdgeLabel>, number: usize) -> Option<(f64, f64)> {
    let label = graph.node(&number.to_string())?;
    label.x.zip(label.y)
}

fn points(graph: &Graph<NodeLabel, EdgeLabel>, from: usize, to: usize) -> Vec<Point> {
    let edge = graph.edge(&from.to_string(), &to.to_string(), None);
    edge.map(|label| label.points.clone()).unwrap_or_default()
}

fn edge(svg: &mut String, points: &[Point]) {
    let points: Vec<String> = points.iter().map(|point| format!("{:.1},{:.1}", point.x, point.y)).collect();
    let points = points.join(" ");
    // Writing to a string cannot fail.
    let _ = writeln!(
        svg,
        "<polyline points=\"{points}\" fill=\"none\" stroke=\"#555\" marker-end=\"url(#arrow)\"/>"
    );
}

impl Node {
    fn size(&self) -> (f64, f64) {
        let columns = self.lines.iter().map(|line| line.width()).max().unwrap_or(0);
        (columns as f64 * CHARACTER + 2.0 * PADDING, self.lines.len() as f64 * LINE + PADDING)
    }

    fn draw(&self, svg: &mut String, x: f64, y: f64) {
        let (width, height) = self.size();
        let (left, top) = (x - width / 2.0, y - height / 2.0);
        let border = if self.is_bold { 2.5 } else { 1.0 };
        let fill = self.colour;
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"5\" \
             fill=\"{fill}\" stroke=\"#333\" stroke-width=\"{border}\"/>"
        );
        for (number, line) in self.lines.iter().enumerate() {
            let baseline = top + PADDING / 2.0 + LINE * (number as f64 + 0.75);
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{baseline:.1}\">{}</text>", escaped(line));
        }
    }
}

/// Escapes text for XML; U+FFFE and U+FFFF, which XML cannot represent, are replaced.
fn escaped(text: &str) -> String {
    let text = text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> Node {
        Node { lines: vec![name.to_owned()], colour: WHITE, is_bold: false }
    }

    #[test]
    fn names_cannot_become_markup() {
        let svg = Picture { nodes: vec![node("<script>&\u{ffff}")], edges: Vec::new() }.svg();
        assert!(svg.contains(">&lt;script&gt;&amp;\u{fffd}</text>"), "{svg}");
    }

    #[test]
    fn every_key_is_a_box_and_every_certification_an_arrow() {
        let nodes = ["me", "a friend", "somebody"].map(node).to_vec();
        let svg = Picture { nodes, edges: vec![(0, 1), (1, 2), (0, 2)] }.svg();
        assert_eq!((svg.matches("<rect ").count(), svg.matches("<polyline ").count()), (3, 3));
    }

    #[test]
    fn an_arrow_leads_downwards_from_who_certified() {
        let graph = Picture { nodes: vec![node("me"), node("you")], edges: vec![(0, 1)] }.layout();
        let height = |number| centre(&graph, number).expect("it was placed").1;
        assert!(height(0) < height(1));
    }
}
