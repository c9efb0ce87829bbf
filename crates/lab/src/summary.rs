//! Summaries of the runs of each task and program.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::records::Run;
use crate::statistics::{Interval, median};

/// The largest half-width of an interval, relative to the median, on a quiet machine.
const MAX_UNCERTAINTY: f64 = 0.1;
/// The least number of runs for a meaningful interval.
const MIN_RUNS: usize = 5;

/// One task, with the results of every program.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    #[serde(rename = "work")]
    pub(crate) task: String,
    pub(crate) cells: Vec<Cell>,
}

/// The result of one program.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cell {
    pub(crate) subject: String,
    #[serde(flatten)]
    pub(crate) finding: Finding,
}

/// The result of one task and program.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Finding {
    Measured(Measured),
    /// It was refused, with the program's own message.
    Refused(String),
}

/// The summary of several runs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Measured {
    /// Seconds of each run.
    pub(crate) walls: Vec<f64>,
    /// The median in seconds.
    pub(crate) wall: f64,
    pub(crate) interval: Interval,
    /// Seconds, the median.
    pub(crate) user: f64,
    /// Seconds, the median.
    pub(crate) system: f64,
    /// Bytes, the highest.
    pub(crate) peak_memory: u64,
    pub(crate) keys: Option<u64>,
    pub(crate) signatures: Option<u64>,
    /// The size of the home afterwards.
    pub(crate) bytes: Option<u64>,
    /// The ratio to the fastest program, by pairs of runs of the same round.
    pub(crate) ratio: Option<Ratio>,
}

/// The ratio of the times of two programs.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    pub(crate) interval: Interval,
}

impl Row {
    /// Returns the programs that did the task, the fastest first.
    pub(crate) fn measured(&self) -> Vec<(&str, &Measured)> {
        let measured = self.cells.iter().filter_map(|cell| match &cell.finding {
            Finding::Measured(measured) => Some((cell.subject.as_str(), measured)),
            Finding::Refused(_) => None,
        });
        let mut measured: Vec<_> = measured.collect();
        measured.sort_by(|one, other| one.1.wall.total_cmp(&other.1.wall));
        measured
    }

    /// Returns the programs that did not do the task, and their messages.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (&str, &str)> {
        self.cells.iter().filter_map(|cell| match &cell.finding {
            Finding::Refused(message) => Some((cell.subject.as_str(), message.as_str())),
            Finding::Measured(_) => None,
        })
    }

    /// Returns the summary of a program's runs, if it did the task.
    pub(crate) fn of(&self, subject: &str) -> Option<&Measured> {
        self.measured().into_iter().find(|(name, _)| *name == subject).map(|(_, measured)| measured)
    }
}

/// Summarises runs. Tasks and programs are in the order of their first runs.
pub(crate) fn rows(runs: &[Run]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let subjects = distinct(runs.iter().map(|run| run.subject.as_str()));
    for task in distinct(runs.iter().map(|run| run.task.as_str())) {
        let mut cells = Vec::new();
        for subject in &subjects {
            let is_its = |run: &&Run| run.task == task && run.subject == **subject;
            if let Some(finding) = finding(runs.iter().filter(is_its)) {
                cells.push(Cell { subject: (*subject).to_owned(), finding });
            }
        }
        rows.push(Row { task: task.to_owned(), cells });
    }
    for row in &mut rows {
        compare(row, runs);
    }
    rows
}

/// Returns every name once, in the order in which they come first.
pub(crate) fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

/// Summarises one program's runs of one task; `None` if there is only round 0, which does not count.
fn finding<'a>(runs: impl Iterator<Item = &'a Run>) -> Option<Finding> {
    let runs: Vec<&Run> = runs.collect();
    if let Some(problem) = runs.iter().find_map(|run| run.problem.clone()) {
        return Some(Finding::Refused(problem));
    }
    let counted: Vec<&Run> = runs.iter().filter(|run| run.round > 0).copied().collect();
    let values =
        |value: fn(&Run) -> Option<f64>| counted.iter().filter_map(|run| value(run)).collect::<Vec<_>>();
    let walls = values(|run| run.wall);
    if walls.is_empty() {
        return None;
    }
    let any = |value: fn(&Run) -> Option<u64>| runs.iter().find_map(|run| value(run));
    Some(Finding::Measured(Measured {
        wall: median(&walls),
        interval: Interval::of_median(&walls),
        user: median(&values(|run| run.user)),
        system: median(&values(|run| run.system)),
        peak_memory: counted.iter().filter_map(|run| run.peak_memory).max().unwrap_or(0),
        keys: any(|run| run.keys),
        signatures: any(|run| run.signatures),
        bytes: any(|run| run.bytes),
        walls,
        ratio: None,
    }))
}

/// Compares each program with the fastest, by pairs of runs of the same round.
fn compare(row: &mut Row, runs: &[Run]) {
    let Some(fastest) = row.measured().first().map(|(name, _)| (*name).to_owned()) else { return };
    let rounds = |subject: &str| -> BTreeMap<u32, f64> {
        let is_its = |run: &&Run| run.task == row.task && run.subject == subject && run.round > 0;
        runs.iter().filter(is_its).filter_map(|run| Some((run.round, run.wall?))).collect()
    };
    let base = rounds(&fastest);
    let ratios: Vec<Vec<f64>> = row
        .cells
        .iter()
        .map(|cell| {
            let own = rounds(&cell.subject);
            own.iter().filter_map(|(round, wall)| Some(wall / base.get(round)?)).collect()
        })
        .collect();
    for (cell, ratios) in row.cells.iter_mut().zip(ratios) {
        if let Finding::Measured(measured) = &mut cell.finding
            && !ratios.is_empty()
        {
            let (median, interval) = (median(&ratios), Interval::of_median(&ratios));
            measured.ratio = Some(Ratio { median, interval });
        }
    }
}

/// Returns warnings: of noise, of programs that cannot be told apart, and of too few runs.
pub(crate) fn warnings(rows: &[Row]) -> Vec<String> {
    let (mut cells, mut noisy, mut few) = (0, 0, 0);
    let mut indistinguishable = Vec::new();
    for row in rows {
        let measured = row.measured();
        for (_, cell) in &measured {
            let half = (cell.interval.high - cell.interval.low) / 2.0;
            cells += 1;
            noisy += usize::from(half > MAX_UNCERTAINTY * cell.wall);
            few += usize::from(cell.walls.len() < MIN_RUNS);
        }
        if let [(fastest, _), (second, cell), ..] = measured[..]
            && cell.ratio.is_some_and(|ratio| ratio.interval.contains(1.0))
        {
            indistinguishable.push(format!("{}: {fastest}, {second}", row.task));
        }
    }
    let mut warnings = Vec::new();
    if noisy * 4 > cells {
        let what = format!("{noisy} of {cells} medians are uncertain by more than 10 %");
        warnings.push(format!("The machine was noisy: {what}."));
    }
    if few > 0 {
        warnings.push(format!("{few} of {cells} medians are of fewer than {MIN_RUNS} runs."));
    }
    if !indistinguishable.is_empty() {
        warnings.push(format!("The two fastest cannot be told apart in: {}.", indistinguishable.join("; ")));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::measure::Cost;

    fn runs(subject: &str, walls: &[f64]) -> Vec<Run> {
        let cost = |wall| Cost { wall, user: wall / 2.0, system: 0.0, peak_memory: 1, code: Some(0) };
        (0..).zip(walls).map(|(round, &wall)| Run::done("list", subject, round, &cost(wall))).collect()
    }

    #[test]
    fn the_first_time_does_not_count() {
        let rows = rows(&runs("one", &[100.0, 1.0, 2.0, 3.0]));
        let measured = rows[0].of("one").unwrap();
        assert_eq!((measured.wall, measured.user, measured.walls.len()), (2.0, 1.0, 3));
    }

    #[test]
    fn ratios_are_taken_pair_by_pair() {
        // The machine becomes slower, but in each round one program is twice as fast as the other.
        let both = [
            runs("slow", &[0.0, 2.0, 4.0, 8.0, 16.0, 32.0]),
            runs("quick", &[0.0, 1.0, 2.0, 4.0, 8.0, 16.0]),
        ];
        let rows = rows(&both.concat());
        let ratio = rows[0].of("slow").unwrap().ratio.unwrap();
        assert_eq!((ratio.median, ratio.interval), (2.0, Interval { low: 2.0, high: 2.0 }));
        assert!(warnings(&rows).iter().any(|warning| warning.contains("noisy")), "{:?}", warnings(&rows));
        assert!(!warnings(&rows).iter().any(|warning| warning.contains("told apart")));
    }

    #[test]
    fn what_cannot_be_told_apart_is_said() {
        let one = runs("one", &[0.0, 1.0, 1.02, 0.98, 1.01, 1.0]);
        let other = runs("other", &[0.0, 1.02, 0.98, 1.0, 1.01, 1.005]);
        let said = warnings(&rows(&[one, other].concat()));
        assert_eq!(said, ["The two fastest cannot be told apart in: list: one, other."]);
    }

    #[test]
    fn a_refusal_is_never_a_number() {
        let mut all = runs("one", &[0.0, 1.0]);
        all.push(Run::refused("list", "other", 0, "unknown command".to_owned()));
        let rows = rows(&all);
        assert!(rows[0].of("other").is_none());
        assert_eq!(rows[0].refused().collect::<Vec<_>>(), [("other", "unknown command")]);
    }
}
