//! `keyhoard-lab`: makes keyrings, measures programs.

mod bench;
mod call_records;
mod execution;
mod experiment_arguments;
mod experiments;
mod files;
mod findings;
mod format;
mod gpg_program;
mod laboratory;
mod machine;
mod plan;
mod programs;
mod progress;
mod records;
mod report;
mod root;
mod series;
mod statistics;
mod subject;
mod summary;
mod task;
mod tofu_databases;
mod trace;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use lab::made::{Flood, MadeKeyring, Web};
use lab::measure;

use experiment_arguments::Bench;

/// Experiments against other OpenPGP programs, and the keyrings they need.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// Makes a keyring of valid Ed25519 certificates, the same for the same seed
    MakeKeyring {
        #[command(flatten)]
        keyring: MadeKeyring,
        /// The file to write; stdout without this
        #[arg(long)]
        output: Option<PathBuf>,
    },
    /// Makes a web of trust: certificates with certifications of every kind, the same for the same seed
    MakeWeb {
        #[command(flatten)]
        web: Web,
        /// The file to write; stdout without this
        #[arg(long)]
        output: Option<PathBuf>,
        /// The file for the owner trust, as --import-ownertrust reads it
        #[arg(long)]
        owner_trust: Option<PathBuf>,
    },
    /// Makes one certificate with very many signatures on its user ID
    MakeFlood {
        #[command(flatten)]
        flood: Flood,
        /// The file to write; stdout without this
        #[arg(long)]
        output: Option<PathBuf>,
    },
    /// Measures every OpenPGP program on this machine, side by side, and writes a report with pictures
    #[command(subcommand)]
    Bench(Bench),
    /// Writes TOFU bindings into databases, each in a transaction of its own
    #[command(hide = true)]
    WriteBindings {
        /// Each binding has a file of its own
        #[arg(long)]
        split: bool,
        /// How many bindings
        bindings: u64,
        /// Where the databases are made, or written to
        directory: PathBuf,
    },
    /// Runs a program and writes its time and peak memory as JSON to a file
    Measure {
        /// The file to write
        #[arg(long)]
        output: PathBuf,
        /// The program and its arguments
        #[arg(trailing_var_arg = true, required = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
}

fn main() -> Result<ExitCode> {
    match Arguments::parse().experiment {
        Experiment::MakeKeyring { keyring, output } => to_file(output.as_deref(), |file| keyring.write(file)),
        Experiment::MakeWeb { web, output, owner_trust } => {
            if let Some(path) = owner_trust {
                fs::write(&path, web.owner_trust()).with_context(|| path.display().to_string())?;
            }
            to_file(output.as_deref(), |file| web.write(file))
        }
        Experiment::MakeFlood { flood, output } => to_file(output.as_deref(), |file| flood.write(file)),
        Experiment::Bench(bench) => bench.run(),
        Experiment::WriteBindings { split, bindings, directory } => {
            tofu_databases::write(bindings, split, &directory).map(|()| ExitCode::SUCCESS)
        }
        Experiment::Measure { output, command } => measure_to(&output, &command),
    }
}

fn to_file(
    path: Option<&Path>,
    write: impl FnOnce(&mut BufWriter<Box<dyn Write>>) -> io::Result<()>,
) -> Result<ExitCode> {
    let (file, name): (Box<dyn Write>, _) = match path {
        Some(path) => {
            let file = File::create(path).with_context(|| path.display().to_string())?;
            (Box::new(file), path.display().to_string())
        }
        None => (Box::new(io::stdout()), "stdout".to_owned()),
    };
    write(&mut BufWriter::with_capacity(1 << 16, file)).context(name)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs a program with this one's stdin, stdout and stderr, and returns its exit code.
fn measure_to(output: &Path, command: &[OsString]) -> Result<ExitCode> {
    let (program, arguments) = command.split_first().context("no program given")?;
    let cost = measure::run(Command::new(program).args(arguments))
        .with_context(|| program.to_string_lossy().into_owned())?;
    fs::write(output, serde_json::to_vec(&cost)?).with_context(|| output.display().to_string())?;
    Ok(cost.code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
