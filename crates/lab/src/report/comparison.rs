//! The comparison of programs, with which most sections begin.

use super::axis::Scale;
use super::plot::{Bar, Plot, PlotGroup};
use super::section::{Section, Table};
use crate::findings::Findings;
use crate::format::{bytes, seconds, times};
use crate::summary::{Measured, Row, warnings};

/// Returns a section with the times, ratios and memory of every task, the table of all numbers and that of refusals.
pub(crate) fn comparison(title: &str, findings: &Findings) -> Section {
    let rows = &findings.rows;
    let groups = [
        group("Time", rows, Scale::Seconds, |measured| {
            let interval = [measured.interval.low, measured.interval.high];
            Some((measured.wall, Some(interval)))
        }),
        group("Times as long as the fastest, run by run", rows, Scale::Times, |measured| {
            let ratio = measured.ratio?;
            Some((ratio.median, Some([ratio.interval.low, ratio.interval.high])))
        }),
        group("Peak memory", rows, Scale::Bytes, |measured| Some((measured.peak_memory as f64, None))),
    ];
    let tables = [Some(numbers(rows)), refusals(rows)];
    Section {
        title: title.to_owned(),
        warnings: warnings(rows),
        plots: groups.into_iter().filter(|group| !group.plots.is_empty()).collect(),
        tables: tables.into_iter().flatten().collect(),
        notes: notes(findings),
        commands: findings.commands.clone(),
        ..Section::default()
    }
}

/// A value with its interval.
type Value = (f64, Option<[f64; 2]>);

fn group(title: &str, rows: &[Row], scale: Scale, value: fn(&Measured) -> Option<Value>) -> PlotGroup {
    let plots = rows.iter().map(|row| {
        let bars = row.measured().into_iter().filter_map(|(subject, measured)| {
            let (value, interval) = value(measured)?;
            Some(Bar { label: subject.to_owned(), value, interval, text: scale.text(value) })
        });
        Plot::Bars { title: row.task.clone(), scale, bars: bars.collect() }
    });
    // A ratio needs two programs.
    let is_worth_it = |plot: &Plot| match plot {
        Plot::Bars { bars, .. } if scale == Scale::Times => bars.len() > 1,
        plot => !plot.is_empty(),
    };
    PlotGroup { title: title.to_owned(), plots: plots.filter(is_worth_it).collect() }
}

/// The headings of the table of all numbers.
const NUMBERS: [&str; 12] = [
    "work",
    "program",
    "median",
    "95 % interval",
    "runs",
    "times the fastest",
    "user",
    "system",
    "peak memory",
    "keys",
    "signatures",
    "size",
];

fn numbers(rows: &[Row]) -> Table {
    let mut table = Vec::new();
    for row in rows {
        for (subject, measured) in row.measured() {
            let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
            table.push(vec![
                row.task.clone(),
                subject.to_owned(),
                seconds(measured.wall),
                format!("{} to {}", seconds(measured.interval.low), seconds(measured.interval.high)),
                measured.walls.len().to_string(),
                measured.ratio.map_or_else(String::new, |ratio| times(ratio.median)),
                seconds(measured.user),
                seconds(measured.system),
                bytes(measured.peak_memory),
                count(measured.keys),
                count(measured.signatures),
                measured.bytes.map_or_else(String::new, bytes),
            ]);
        }
    }
    Table::new("All numbers", &NUMBERS, table)
}

fn refusals(rows: &[Row]) -> Option<Table> {
    let refused = rows.iter().flat_map(|row| {
        row.refused()
            .map(|(subject, message)| [row.task.as_str(), subject, message].map(str::to_owned).to_vec())
    });
    let rows: Vec<_> = refused.collect();
    let head = ["work", "program", "what it said"];
    (!rows.is_empty()).then(|| Table::new("What programs could not do", &head, rows))
}

fn notes(findings: &Findings) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for command in findings.commands.iter().filter(|command| !command.note.is_empty()) {
        let measured = findings.row(&command.task).is_some_and(|row| row.of(&command.subject).is_some());
        let note = format!("{}: {}.", command.subject, command.note);
        if measured && !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}
