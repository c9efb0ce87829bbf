//! The benchmark: Debian's keyring and messages with both programs, made keyrings of growing size, and a big web of
//! trust.

mod engines;
mod engines_report;
mod growth;
mod homes;
mod keys;
mod library;
mod markdown;
mod messages;
mod report;
mod same_key;
mod signatures;
mod trust;
mod web;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::gpg_program::{GpgProgram, KEYRING};
use crate::machine::{Machine, Ticks};
use crate::task::{ImportedHome, Task};
use report::{Report, Row};

pub(crate) use library::run as library;

/// What is measured, and how often.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The directory for benchmarks.md and benchmarks.json
    #[arg(long, default_value = "target/bench")]
    output: PathBuf,
    /// How often gpg-keyhoard does everything, and gpg what takes it seconds
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// How often gpg does what takes it minutes (both imports), and everything about trust
    #[arg(long, default_value_t = 3)]
    slow_rounds: usize,
    /// Sizes of the made keyrings
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 1_000_000])]
    made: Vec<u64>,
    /// Sizes of the made webs of trust
    #[arg(long, value_delimiter = ',', default_values_t = [100_000])]
    webs: Vec<u64>,
    /// How many different certificates are looked up in each made keyring and web
    #[arg(long, default_value_t = 20)]
    lookups: usize,
    /// How many MiB are encrypted and decrypted
    #[arg(long, default_value_t = 256)]
    message: u64,
    /// How often each program encrypts and decrypts
    #[arg(long, default_value_t = 5)]
    message_rounds: usize,
    /// How many keys of each kind are made
    #[arg(long, default_value_t = 100)]
    keys: usize,
    /// Sizes of the made keyrings that a PostgreSQL server is measured with
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000, 1_000_000])]
    served: Vec<u64>,
    /// Leaves everything out but new keys
    #[arg(long, conflicts_with = "only_made")]
    only_keys: bool,
    /// Measures a PostgreSQL server beside SQLite, and nothing else
    #[arg(long, conflicts_with_all = ["only_made", "only_keys"])]
    only_postgres: bool,
    /// Leaves Debian's keyring, messages, new keys and gpg out
    #[arg(long)]
    only_made: bool,
    /// Leaves everything out but messages and signatures
    #[arg(long, conflicts_with_all = ["only_made", "only_keys", "only_postgres"])]
    only_messages: bool,
}

/// Runs the benchmark, writes the report as Markdown and JSON, and prints the Markdown.
pub(crate) fn run(options: &Options) -> Result<()> {
    let (machine, versions, begin) = (Machine::read(), versions()?, Ticks::now());
    let report = measure(options)?;
    write(options, &Report { machine, versions, stolen: begin.stolen_since(), ..report })
}

fn measure(options: &Options) -> Result<Report> {
    if options.only_postgres {
        return Ok(Report { engines: engines::measure(&options.served)?, ..Report::default() });
    }
    if options.only_messages {
        let [messages, signatures] = messages_and_signatures(options)?;
        return Ok(Report { messages, signatures, ..Report::default() });
    }
    let only_some = options.only_made || options.only_keys;
    let [debian, trust] = if only_some { Default::default() } else { debian(options)? };
    let keys = if options.only_made || options.keys == 0 { Vec::new() } else { keys::measure(options.keys)? };
    let [messages, signatures] =
        if only_some { Default::default() } else { messages_and_signatures(options)? };
    let (made, webs): (&[u64], &[u64]) =
        if options.only_keys { (&[], &[]) } else { (&options.made, &options.webs) };
    let made = made
        .iter()
        .map(|&certificates| growth::measure(certificates, options.rounds, options.lookups))
        .collect::<Result<_>>()?;
    let webs = webs
        .iter()
        .map(|&keys| web::measure(keys, options.rounds, options.lookups))
        .collect::<Result<_>>()?;
    Ok(Report { debian, trust, messages, signatures, keys, made, webs, ..Report::default() })
}

fn messages_and_signatures(options: &Options) -> Result<[Vec<Row>; 2]> {
    Ok([
        messages::measure(options.message, options.message_rounds)?,
        signatures::measure(options.rounds, options.slow_rounds)?,
    ])
}

fn write(options: &Options, report: &Report) -> Result<()> {
    fs::create_dir_all(&options.output).with_context(|| options.output.display().to_string())?;
    let markdown = report.markdown();
    for (name, text) in
        [("benchmarks.md", &markdown), ("benchmarks.json", &serde_json::to_string_pretty(report)?)]
    {
        let path = options.output.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    println!("{markdown}");
    Ok(())
}

/// Returns the version lines of the programs, and of the package that the keyring is from.
fn versions() -> Result<Vec<String>> {
    let mut versions = Vec::new();
    for gpg_program in [GpgProgram::gpg()?, GpgProgram::gpg_keyhoard()?] {
        versions.push(format!("{}: {}", gpg_program.name, gpg_program.version()?));
    }
    let package = Command::new("dpkg-query").args(["-W", "-f", "${Version}", "debian-keyring"]).output();
    let package =
        package.map_or("unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).into());
    versions.push(format!("{KEYRING}: package debian-keyring {package}"));
    Ok(versions)
}

/// Measures both programs on Debian's keyring; the second table is about trust.
fn debian(options: &Options) -> Result<[Vec<Row>; 2]> {
    let mut imported_homes =
        [ImportedHome::new(GpgProgram::gpg()?)?, ImportedHome::new(GpgProgram::gpg_keyhoard()?)?];
    let rows = Task::ALL.iter().map(|&task| {
        let of_gpg = if task.is_slow { options.slow_rounds } else { options.rounds };
        Row::measure(task.name, [of_gpg, options.rounds], |program| imported_homes[program].cost(task))
    });
    let rows = rows.collect::<Result<_>>()?;
    let trust = trust::measure(&imported_homes, options.rounds, options.slow_rounds)?;
    Ok([rows, trust])
}
