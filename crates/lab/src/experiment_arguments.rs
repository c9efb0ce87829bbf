//! The arguments of `bench`: from words to experiments.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::bench;
use crate::experiments::Experiment;
use crate::experiments::grid::Grid;
use crate::experiments::keygen::Keygen;
use crate::experiments::keyring::Keyring;
use crate::experiments::scale::Scale;
use crate::experiments::symmetric::Symmetric;
use crate::experiments::tofu::Tofu;
use crate::laboratory::{self, Options};

/// What was stopped with Ctrl-C exits as the shell would say it.
const INTERRUPTED: u8 = 130;

/// What is measured.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    #[command(flatten)]
    Experiment(Arguments),
    /// Makes the tables of docs/benchmarks.md: gpg beside Keyhoard
    Tables(bench::Options),
    /// Measures the Python package beside python-gnupg and pysequoia (in a clone of the repository)
    Library {
        /// Options of scripts/bench-library
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
}

/// An experiment, and what it takes.
#[derive(Debug, Subcommand)]
pub(crate) enum Arguments {
    /// Imports and lists a keyring, checks signatures, computes trust
    Keyring {
        /// The keyring [default: Debian's, with --quick its smallest]
        file: Option<PathBuf>,
        /// The key ID that is trusted in the trustdb run [default: the key that has certified most]
        #[arg(long, value_name = "KEY")]
        trusted_key: Option<String>,
        /// Counts no system calls
        #[arg(long)]
        no_strace: bool,
        #[command(flatten)]
        options: Options,
    },
    /// Builds the TOFU database from nothing, alone and with four processes at once
    Tofu {
        /// The keyring that is listed [default: Debian's, with --quick its smallest]
        file: Option<PathBuf>,
        /// How many bindings are written into either form of database [default: 615, with --quick 100]
        #[arg(long, value_name = "N")]
        bindings: Option<u64>,
        #[command(flatten)]
        options: Options,
    },
    /// Makes keys with each program, and with every combination of size and preferences
    Keygen {
        /// How many keys of each kind [default: 20, with --quick 5]
        #[arg(long, value_name = "N")]
        keys: Option<u32>,
        /// How many keys of each combination; with --quick only every sixth combination is made [default: 20, with
        /// --quick 2]
        #[arg(long, value_name = "N")]
        grid_keys: Option<u32>,
        /// The program that makes the combinations [default: gpg-keyhoard]
        #[arg(long, value_name = "NAME")]
        grid_program: Option<String>,
        #[command(flatten)]
        options: Options,
    },
    /// Encrypts and decrypts with every cipher
    Symmetric {
        /// How much is encrypted, like 64M or 1G [default: 256M, with --quick 16M]
        #[arg(long, value_parser = size)]
        size: Option<u64>,
        /// The size of the backup that the answer is about
        #[arg(long, value_parser = size, default_value = "100G")]
        backup: u64,
        #[command(flatten)]
        options: Options,
    },
    /// Imports and lists made keyrings of growing size
    Scale {
        /// The numbers of certificates [default: 1000,10000,100000,1000000, with --quick 250,500,1000,2000]
        #[arg(long, value_delimiter = ',', value_name = "N")]
        sizes: Option<Vec<u64>>,
        /// How many seconds an import may be expected to take; after twice as many it is ended [default: 300, with
        /// --quick 3]
        #[arg(long, value_name = "SECONDS")]
        limit: Option<f64>,
        #[command(flatten)]
        options: Options,
    },
    /// Does all of these, for one report
    All {
        #[command(flatten)]
        options: Options,
    },
}

impl Bench {
    /// Conducts the experiment.
    ///
    /// # Errors
    ///
    /// Those of files and programs.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let arguments = match self {
            Self::Experiment(arguments) => arguments,
            Self::Tables(options) => return bench::run(&options).map(|()| ExitCode::SUCCESS),
            Self::Library { options } => return bench::library(&options).map(|()| ExitCode::SUCCESS),
        };
        let (experiments, options) = arguments.experiments();
        let is_whole = laboratory::run(&experiments, &options)?;
        Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(INTERRUPTED) })
    }
}

impl Arguments {
    fn experiments(self) -> (Vec<Box<dyn Experiment>>, Options) {
        let one = |experiment: Box<dyn Experiment>, options| (vec![experiment], options);
        match self {
            Self::Keyring { file, trusted_key: trusted, no_strace, options } => {
                let (rounds, quick) = (options.rounds(), options.quick);
                one(Box::new(Keyring { file, trusted, rounds, quick, trace: !no_strace }), options)
            }
            Self::Tofu { file, bindings, options } => {
                let (rounds, quick) = (options.rounds(), options.quick);
                let bindings = bindings.unwrap_or(if quick { 100 } else { 615 });
                one(Box::new(Tofu { file, bindings, rounds, quick }), options)
            }
            Self::Keygen { keys, grid_keys, grid_program: program, options } => {
                let quick = options.quick;
                let keys = keys.unwrap_or(if quick { 5 } else { 20 });
                let grid_keys = grid_keys.unwrap_or(if quick { 2 } else { 20 });
                one(
                    Box::new(Keygen { keys, grid: Grid { program, keys: grid_keys, sample: quick } }),
                    options,
                )
            }
            Self::Symmetric { size, backup, options } => {
                let size = size.unwrap_or(if options.quick { 16_000_000 } else { 256_000_000 });
                one(Box::new(Symmetric { size, backup, rounds: options.rounds() }), options)
            }
            Self::Scale { sizes, limit, options } => {
                let small = || match options.quick {
                    true => vec![250, 500, 1000, 2000],
                    false => vec![1000, 10_000, 100_000, 1_000_000],
                };
                let sizes = sizes.unwrap_or_else(small);
                let limit = limit.unwrap_or(if options.quick { 3.0 } else { 300.0 });
                one(Box::new(Scale { sizes, limit, rounds: options.rounds() }), options)
            }
            Self::All { options } => {
                let experiments = Self::all(&options).into_iter().flat_map(|one| one.experiments().0);
                (experiments.collect(), options)
            }
        }
    }

    /// Returns every experiment as it is without further arguments.
    fn all(options: &Options) -> [Self; 5] {
        let options = || options.clone();
        [
            Self::Keyring { file: None, trusted_key: None, no_strace: false, options: options() },
            Self::Tofu { file: None, bindings: None, options: options() },
            Self::Keygen { keys: None, grid_keys: None, grid_program: None, options: options() },
            Self::Symmetric { size: None, backup: 100_000_000_000, options: options() },
            Self::Scale { sizes: None, limit: None, options: options() },
        ]
    }
}

/// Reads a number of bytes, whose units are powers of 1000.
fn size(text: &str) -> Result<u64, String> {
    let units = [("K", 1000), ("M", 1_000_000), ("G", 1_000_000_000), ("T", 1_000_000_000_000)];
    let unit = units.iter().find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, *bytes)));
    let (number, bytes) = unit.unwrap_or((text, 1));
    let size = number.parse::<u64>().ok().and_then(|number| number.checked_mul(bytes));
    size.filter(|size| *size > 0).ok_or_else(|| "a number of bytes, like 64M or 1G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_with_units() {
        assert_eq!(
            ["512", "64K", "256M", "2T"].map(|text| size(text).unwrap()),
            [512, 64_000, 256_000_000, 2_000_000_000_000]
        );
        assert!(["", "0", "M", "1X", "99999999999T"].iter().all(|text| size(text).is_err()));
    }
}
