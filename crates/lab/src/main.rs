//! `keyhoard-lab`: makes keyrings, measures programs.

mod bench;
mod demo;
mod execution;
mod experiment_arguments;
mod experiments;
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
use clap::{Parser, Subcommand, ValueEnum};
use lab::made::{Flood, FloodIssuer, MadeKeyring, Web};
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
        /// How many certificates
        certificates: u64,
        /// Another number makes other keys
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The file to write; stdout without this
        #[arg(long)]
        output: Option<PathBuf>,
    },
    /// Makes a web of trust: certificates with certifications of every kind, the same for the same seed
    MakeWeb {
        /// How many keys, at least 2
        #[arg(value_parser = clap::value_parser!(u64).range(2..))]
        keys: u64,
        /// How many certifications a key has on average
        #[arg(long, default_value_t = 10)]
        certifications: u64,
        /// How many keys have an owner trust
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
        introducers: u64,
        /// Another number makes other keys
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The file to write; stdout without this
        #[arg(long)]
        output: Option<PathBuf>,
        /// The file for the owner trust, as --import-ownertrust reads it
        #[arg(long)]
        owner_trust: Option<PathBuf>,
    },
    /// Makes one certificate with very many signatures on its user ID
    MakeFlood {
        /// How many signatures
        signatures: u64,
        /// Who they say they are by
        #[arg(long, value_enum, default_value_t = By::Unknown)]
        by: By,
        /// Another number makes other keys
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The file to write; stdout without this
        #[arg(long)]
        output: Option<PathBuf>,
    },
    /// Imports and lists Debian's keyring, each time beside the installed gpg's
    Demo,
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

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    /// A different key for each, none of which exists
    Unknown,
    /// The certificate itself
    Itself,
}

fn main() -> Result<ExitCode> {
    match Arguments::parse().experiment {
        Experiment::MakeKeyring { certificates, seed, output } => {
            to_file(output.as_deref(), |file| MadeKeyring { certificates, seed }.write(file))
        }
        Experiment::MakeWeb { keys, certifications, introducers, seed, output, owner_trust } => {
            let web = Web { keys, certifications, introducers, seed };
            if let Some(path) = owner_trust {
                fs::write(&path, web.owner_trust()).with_context(|| path.display().to_string())?;
            }
            to_file(output.as_deref(), |file| web.write(file))
        }
        Experiment::MakeFlood { signatures, by, seed, output } => {
            let issuer = match by {
                By::Unknown => FloodIssuer::Unknown,
                By::Itself => FloodIssuer::Itself,
            };
            to_file(output.as_deref(), |file| Flood { signatures, issuer, seed }.write(file))
        }
        Experiment::Demo => demo::run().map(|()| ExitCode::SUCCESS),
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
