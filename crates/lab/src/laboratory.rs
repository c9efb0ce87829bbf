//! Runs experiments and writes `runs.csv` during them, then `results.json` and `report.html`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail, ensure};
use signal_hook::consts::SIGINT;
use time::OffsetDateTime;
use time::macros::format_description;

use crate::call_records::CallRecords;
use crate::execution::Execution;
use crate::experiments::Experiment;
use crate::findings::Findings;
use crate::machine::Machine;
use crate::programs;
use crate::progress::Progress;
use crate::records::Records;
use crate::report::{Page, Program, html};
use crate::root::Root;
use crate::subject::{self, Subject};
use crate::summary;

/// The options of every experiment.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Every experiment")]
pub(crate) struct Options {
    /// Measures with less data and fewer runs: minutes instead of hours
    #[arg(long)]
    pub(crate) quick: bool,
    /// The directory for the report, and for the results as CSV and JSON
    #[arg(long, default_value = "keyhoard-bench", value_name = "DIR")]
    out: PathBuf,
    /// Goes on with what is in that directory
    #[arg(long)]
    resume: bool,
    /// How often each program does each work, after a first time that does not count [default: 7, with --quick 5]
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Runs a work only once if its first time takes longer than this; that time counts
    #[arg(long, value_name = "SECONDS")]
    once_over: Option<f64>,
    /// A file that describes further programs (docs/lab.md)
    #[arg(long, value_name = "FILE")]
    programs: Option<PathBuf>,
    /// Measures the programs in the directories of this folder, too: unpacked Debian systems, or directories with bin
    #[arg(long, value_name = "FOLDER")]
    roots: Option<PathBuf>,
    /// Measures these programs alone; by default all that are found
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,
}

impl Options {
    /// Returns how often each task is measured.
    pub(crate) fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 5 } else { 7 })
    }

    fn subjects(&self) -> Result<(Vec<Subject>, Vec<String>)> {
        let further = self
            .programs
            .as_deref()
            .map(|path| fs::read_to_string(path).with_context(|| path.display().to_string()));
        let mut descriptions = programs::descriptions(further.transpose()?.as_deref())?;
        if !self.only.is_empty() {
            for name in &self.only {
                let is_known = descriptions.iter().any(|description| description.name == *name);
                ensure!(is_known, "{name}: no such program is described");
            }
            descriptions.retain(|description| self.only.contains(&description.name));
        }
        let roots = self.roots.as_deref().map(Root::all).transpose()?.unwrap_or_default();
        let (subjects, missing) = subject::find(descriptions, &roots)?;
        ensure!(!subjects.is_empty(), "none of these programs is here: {}", missing.join("; "));
        Ok((subjects, missing))
    }
}

/// Runs experiments in sequence and writes one report. Returns `false` if it was interrupted.
///
/// # Errors
///
/// Those of files and programs; not that a program refuses a task.
pub(crate) fn run(experiments: &[Box<dyn Experiment>], options: &Options) -> Result<bool> {
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGINT, Arc::clone(&stop)).context("waiting for interrupts")?;
    let (subjects, missing) = options.subjects()?;
    let begun = format_description!("[year]-[month]-[day] [hour]:[minute]");
    let mut page = Page {
        begun: OffsetDateTime::now_utc().format(&begun).context("writing the time")?,
        command: command_line(),
        machine: Machine::read(),
        programs: Vec::new(),
        missing,
        interrupted: false,
        sections: Vec::new(),
    };
    let mut results = Vec::new();
    for experiment in experiments {
        let directory = match experiments {
            [_] => options.out.clone(),
            _ => options.out.join(experiment.name()),
        };
        prepare(experiment.as_ref(), &directory, options.resume)?;
        let mut records = Records::open(&directory.join("runs.csv"), options.resume)?;
        let mut call_records = CallRecords::open(&directory.join("calls.csv"))?;
        let mut progress = Progress::new();
        let mut execution = Execution {
            subjects: &subjects,
            records: &mut records,
            progress: &mut progress,
            stop: &stop,
            once_over: options.once_over.unwrap_or(f64::INFINITY),
            commands: Vec::new(),
            calls: &mut call_records,
            choices: BTreeMap::new(),
        };
        if !execution.is_stopped() {
            experiment.measure(&mut execution, &directory)?;
        }
        let commands = execution.commands;
        drop(progress);
        let rows = summary::rows(&records.runs);
        let findings = Findings { experiment: experiment.name(), rows, calls: call_records.calls, commands };
        page.sections.push(experiment.section(&findings, &directory)?);
        results.push(findings);
    }
    page.interrupted = stop.load(Ordering::Relaxed);
    page.programs = subjects
        .iter()
        .map(|subject| Program { name: subject.name().to_owned(), version: subject.version.clone() })
        .collect();
    write(&options.out, &page, &results)?;
    Ok(!page.interrupted)
}

/// Makes the directory, and checks that existing results are of the same experiment.
fn prepare(experiment: &dyn Experiment, directory: &Path, resume: bool) -> Result<()> {
    fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
    let path = directory.join("experiment.txt");
    let settings = format!("{experiment:?}\n");
    if resume && path.exists() {
        let before = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        if before != settings {
            bail!("{} holds another experiment:\n{before}this is\n{settings}", directory.display());
        }
        return Ok(());
    }
    ensure!(
        !path.exists(),
        "{} holds results already: --resume goes on with them, --out names another directory",
        directory.display()
    );
    fs::write(&path, settings).with_context(|| path.display().to_string())
}

fn write(directory: &Path, page: &Page, results: &[Findings]) -> Result<()> {
    let all = BTreeMap::from([
        ("report", serde_json::to_value(page)?),
        ("results", serde_json::to_value(results)?),
    ]);
    let files = [("report.html", html(page)), ("results.json", serde_json::to_string_pretty(&all)? + "\n")];
    for (name, text) in files {
        let path = directory.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    for section in &page.sections {
        println!("{}: {}", section.title, section.conclusion);
        for warning in &section.warnings {
            println!("  {warning}");
        }
    }
    if page.interrupted {
        println!("Stopped: --resume goes on.");
    }
    println!("{}", directory.join("report.html").display());
    Ok(())
}

/// Returns the command line, as typed to `keyhoard`.
fn command_line() -> String {
    let arguments = env::args().skip(1).collect::<Vec<_>>().join(" ");
    format!("keyhoard {arguments}")
}
