//! `bench scale`: the growth of times with the size of a keyring.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use lab::made::MadeKeyring;
use tempfile::TempDir;

use super::Experiment;
use crate::execution::Execution;
use crate::files::make_keyring;
use crate::findings::Findings;
use crate::format::seconds;
use crate::plan::{Plan, Sequence, Start, Step};
use crate::programs::values;
use crate::records::{NOT_MEASURED, Run};
use crate::report::{Line, Plot, PlotGroup, Scale as Axis, Section, Table, comparison};
use crate::statistics::{log_log_slope, median};
use crate::summary::distinct;

/// The experiment.
#[derive(Debug)]
pub(crate) struct Scale {
    pub(crate) sizes: Vec<u64>,
    /// The expected seconds of an import above which a size is not measured.
    pub(crate) limit: f64,
    pub(crate) rounds: u32,
}

const IMPORT: &str = "import";
const TASKS: [(&str, &str); 3] =
    [(IMPORT, "import"), ("look one key up", "lookup"), ("list keys", "list-keys")];

/// An import is ended after so many times the expected seconds that are allowed.
const ENDED_AFTER: f64 = 2.0;

fn task(name: &str, certificates: u64) -> String {
    format!("{name}, {certificates} certificates")
}

impl Experiment for Scale {
    fn name(&self) -> &'static str {
        "scale"
    }

    fn measure(&self, execution: &mut Execution<'_>, _: &Path) -> Result<()> {
        let directory = TempDir::with_prefix("kh-").context("making a directory")?;
        for &certificates in &self.sizes {
            if execution.is_stopped() {
                break;
            }
            self.leave_out(execution, certificates)?;
            let import = task(IMPORT, certificates);
            if execution.subjects.iter().all(|subject| execution.records.is_refused(&import, subject.name()))
            {
                continue;
            }
            let file = directory.path().join("made.pgp");
            make_keyring(certificates, &file)?;
            let mail = MadeKeyring { certificates, seed: 1 }.certificate(certificates / 2).mail();
            let values =
                values([("file", file.display().to_string()), ("name", format!("<{mail}>")), ("mail", mail)]);
            let step =
                |(name, action): (&str, &'static str)| Step::new(task(name, certificates), action, &values);
            let limit = Duration::try_from_secs_f64(ENDED_AFTER * self.limit).ok();
            let import = Step { measures_size: true, limit, ..step(TASKS[0]) };
            let mut sequences = vec![Sequence { start: Start::Empty, steps: vec![import.clone()] }];
            for named in &TASKS[1..] {
                sequences.push(Sequence { start: Start::Filled, steps: vec![step(*named)] });
            }
            let plan = Plan { fill: Some(import), sequences, rounds: self.rounds, trace: false };
            execution.run(&plan)?;
        }
        Ok(())
    }

    fn section(&self, findings: &Findings, _: &Path) -> Result<Section> {
        let mut section = comparison("Growing keyrings", findings);
        section.question = format!(
            "How do the times grow with the keyring? Keyrings are made of valid Ed25519 certificates with two user IDs and \
             certifications by up to five others. A program leaves a size out that it is expected to need more than {} \
             for, by how its times have grown so far; an import that takes {} is ended. A slope of 1 means: ten times the \
             keys, ten times the time; 2 means a hundred times.",
            seconds(self.limit),
            seconds(ENDED_AFTER * self.limit)
        );
        // The lines replace a bar for every size.
        section.plots = vec![self.lines(findings)];
        let slopes = self.slopes(findings);
        section.conclusion = conclusion(&slopes);
        section.tables.insert(0, slope_table(&slopes));
        Ok(section)
    }
}

/// The slope of a program's times for a task.
struct Slope {
    task: &'static str,
    subject: String,
    slope: f64,
}

impl Scale {
    /// Records a refusal for each task of a program that is expected to take too long, and for all of them if its import
    /// is.
    fn leave_out(&self, execution: &mut Execution<'_>, certificates: u64) -> Result<()> {
        for subject in execution.subjects {
            let too_long = |runs: &[Run], name| self.too_long(runs, name, subject.name(), certificates);
            let import = too_long(&execution.records.runs, IMPORT);
            for (name, _) in TASKS {
                if let Some(why) = import.clone().or_else(|| too_long(&execution.records.runs, name)) {
                    let run = Run::refused(&task(name, certificates), subject.name(), 0, why);
                    execution.records.record(run)?;
                }
            }
        }
        Ok(())
    }

    /// Returns why a task of a program is not measured, extrapolated from smaller keyrings.
    fn too_long(&self, runs: &[Run], name: &str, subject: &str, certificates: u64) -> Option<String> {
        let mut points = Vec::new();
        for &size in self.sizes.iter().filter(|size| **size < certificates) {
            let smaller = task(name, size);
            let its = || runs.iter().filter(|run| run.task == smaller && run.subject == subject);
            let walls: Vec<f64> = its().filter_map(|run| run.wall).collect();
            if !walls.is_empty() {
                points.push((size as f64, median(&walls)));
            } else if its().any(|run| run.problem.as_ref().is_some_and(|why| why.starts_with(NOT_MEASURED))) {
                return Some(format!("{NOT_MEASURED} a smaller keyring would have taken too long"));
            }
        }
        let last = *points.last()?;
        let slope = log_log_slope(&points[points.len().saturating_sub(2)..]).unwrap_or(1.0);
        let expected = last.1 * (certificates as f64 / last.0).powf(slope.max(0.0));
        (expected > self.limit).then(|| {
            format!("{NOT_MEASURED} {} expected, of {} allowed", seconds(expected), seconds(self.limit))
        })
    }

    fn points(&self, findings: &Findings, name: &str, subject: &str, bytes: bool) -> Vec<(f64, f64)> {
        let point = |&size: &u64| {
            let measured = findings.row(&task(name, size))?.of(subject)?;
            Some((size as f64, if bytes { measured.bytes? as f64 } else { measured.wall }))
        };
        self.sizes.iter().filter_map(point).collect()
    }

    fn lines(&self, findings: &Findings) -> PlotGroup {
        let plot = |title: &str, name: &str, scale: Axis, bytes: bool| {
            let lines = subjects(findings).into_iter().filter_map(|subject| {
                let points = self.points(findings, name, subject, bytes);
                (!points.is_empty()).then(|| Line { label: subject.to_owned(), points })
            });
            Plot::Lines { title: title.to_owned(), scale, lines: lines.collect() }
        };
        let mut plots: Vec<Plot> =
            TASKS.map(|(name, _)| plot(name, name, Axis::Seconds, false)).into_iter().collect();
        plots.push(plot("size on disk", IMPORT, Axis::Bytes, true));
        plots.retain(|plot| !plot.is_empty());
        PlotGroup { title: "Times and size, by the number of certificates".to_owned(), plots }
    }

    fn slopes(&self, findings: &Findings) -> Vec<Slope> {
        let mut slopes = Vec::new();
        for (name, _) in TASKS {
            for subject in subjects(findings) {
                if let Some(slope) = log_log_slope(&self.points(findings, name, subject, false)) {
                    slopes.push(Slope { task: name, subject: subject.to_owned(), slope });
                }
            }
        }
        slopes
    }
}

fn subjects(findings: &Findings) -> Vec<&str> {
    distinct(findings.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.subject.as_str()))
}

fn slope_table(slopes: &[Slope]) -> Table {
    let row =
        |slope: &Slope| vec![slope.task.to_owned(), slope.subject.clone(), format!("{:.2}", slope.slope)];
    let rows = slopes.iter().map(row).collect();
    Table::new("Slopes on logarithmic axes", &["work", "program", "slope"], rows)
}

fn conclusion(slopes: &[Slope]) -> String {
    let said: Vec<String> = slopes
        .iter()
        .filter(|slope| slope.task == IMPORT)
        .map(|slope| format!("{} {:.2}", slope.subject, slope.slope))
        .collect();
    match said.is_empty() {
        true => "Too little was measured to say how times grow.".to_owned(),
        false => format!(
            "The time of an import grows with the number of certificates to the power of: {}.",
            said.join(", ")
        ),
    }
}
