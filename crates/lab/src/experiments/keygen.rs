//! `bench keygen`: the time of key generation, and the factors that affect it.

use std::path::Path;

use anyhow::Result;

use super::Experiment;
use super::grid::Grid;
use crate::execution::Execution;
use crate::findings::Findings;
use crate::format::{seconds, times};
use crate::plan::{Plan, Sequence, Start, Step};
use crate::programs::values;
use crate::report::{BoxPlot, Plot, PlotGroup, Scale, Section, comparison};
use crate::statistics::quantile;

/// The experiment.
#[derive(Debug)]
pub(crate) struct Keygen {
    /// How many keys each program makes of each algorithm.
    pub(crate) keys: u32,
    pub(crate) grid: Grid,
}

const ALGORITHMS: [&str; 4] = ["rsa2048", "rsa3072", "rsa4096", "ed25519"];

fn task(algorithm: &str) -> String {
    format!("new key, {algorithm}")
}

impl Experiment for Keygen {
    fn name(&self) -> &'static str {
        "keygen"
    }

    fn measure(&self, execution: &mut Execution<'_>, directory: &Path) -> Result<()> {
        let sequences = ALGORITHMS.map(|algorithm| {
            let values = values([("algorithm", algorithm.to_owned())]);
            let steps = vec![Step::new(task(algorithm), "generate", &values)];
            Sequence { start: Start::Filled, steps }
        });
        let plan = Plan { fill: None, sequences: sequences.into(), rounds: self.keys, trace: false };
        self.grid.expect(execution);
        execution.run(&plan)?;
        self.grid.measure(execution, directory)
    }

    fn section(&self, findings: &Findings, directory: &Path) -> Result<Section> {
        let mut section = comparison("New keys", findings);
        section.question = "What does the time to make a key depend on? Each program makes keys of each algorithm: a \
             primary key and a subkey for encryption, unless a note says otherwise. One program makes keys with every \
             combination of preferences and size: a search for primes is a matter of luck, so that single times scatter."
            .to_owned();
        // Boxes show the distribution; bars would not.
        section.plots.retain(|group| group.title == "Peak memory");
        section.plots.insert(0, boxes(findings));
        let mut conclusion = vec![four_over_two(findings)];
        if let Some(grid) = self.grid.summary(directory)? {
            conclusion.push(grid.conclusion());
            section.plots.insert(1, grid.plots());
            section.tables.extend(grid.tables());
        }
        section.conclusion = conclusion.into_iter().flatten().collect::<Vec<_>>().join(" ");
        Ok(section)
    }
}

fn boxes(findings: &Findings) -> PlotGroup {
    let plots = ALGORITHMS.iter().filter_map(|algorithm| {
        let row = findings.row(&task(algorithm))?;
        let boxes =
            row.measured().into_iter().map(|(subject, measured)| BoxPlot::of(subject, &measured.walls));
        Some(Plot::Boxes { title: (*algorithm).to_owned(), scale: Scale::Seconds, boxes: boxes.collect() })
    });
    PlotGroup {
        title: "Time, by program and algorithm".to_owned(),
        plots: plots.filter(|plot| !plot.is_empty()).collect(),
    }
}

impl BoxPlot {
    /// Returns the box plot of some times.
    pub(super) fn of(label: &str, walls: &[f64]) -> BoxPlot {
        let five = [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| quantile(walls, part));
        BoxPlot { label: label.to_owned(), five, text: seconds(five[2]) }
    }
}

fn four_over_two(findings: &Findings) -> Option<String> {
    let (small, big) = (findings.row(&task("rsa2048"))?, findings.row(&task("rsa4096"))?);
    let both: Vec<String> = big
        .measured()
        .into_iter()
        .filter_map(|(subject, big)| {
            Some(format!("{} with {subject}", times(big.wall / small.of(subject)?.wall)))
        })
        .collect();
    (!both.is_empty()).then(|| {
        format!("A key of 4096 bits takes as many times as long as one of 2048: {}.", both.join(", "))
    })
}
