//! `gpg-keyhoard`: gpg's command line on a Keyhoard database; `gpgv-keyhoard`: gpgv's, with keyring files.
//!
//! This crate holds gpg's command line: options, output and gpg's defaults. What a command does is in the crate `engine`.
//!
//! - `options` reads the command line and `gpg.conf` by gpg's rules into `settings`;
//! - `commands` holds one file per command;
//! - `streams`, `status` and `code` are what the calling program sees;
//! - `home` finds GnuPG's home directory and the database that belongs to it, `keyrings` what else is searched.

mod algorithms;
mod clock;
mod code;
mod commands;
mod compat;
mod failure;
mod filter;
mod filter_properties;
mod generation;
mod home;
mod input;
mod interval;
mod keyrings;
mod migration;
mod names;
mod number;
mod options;
mod output;
mod passphrases;
mod program;
mod progress;
mod prompt;
mod pubring;
mod render;
mod secrets;
mod settings;
mod signature_notations;
mod status;
mod streams;
mod symmetric;
mod system_error;
mod terminal;
mod trust;
mod trust_database_file;
mod trusted_keys;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use code::Code;
use engine::configuration::Compat;
use engine::{causes, lacks_search_index};
use failure::CommandFailed;
use options::load::{self, Loaded, Stop};
use program::Program;
use settings::Settings;
use streams::Streams;

/// Runs gpg with these words of a command line, the program's name not among them; returns its exit code.
pub fn run(words: impl Iterator<Item = OsString>) -> ExitCode {
    run_as(Program::Gpg, words, commands::run)
}

/// Runs gpgv, which only verifies, with the keys of keyring files.
pub fn run_gpgv(words: impl Iterator<Item = OsString>) -> ExitCode {
    run_as(Program::Gpgv, words, commands::verify)
}

/// Runs a command with arguments; gpgv has only one, and so nothing of the others is in its executable.
type Run = fn(&[Vec<u8>], &Settings, &mut Streams) -> anyhow::Result<()>;

fn run_as(program: Program, words: impl Iterator<Item = OsString>, run: Run) -> ExitCode {
    let words: Vec<Vec<u8>> = words.map(OsString::into_vec).collect();
    let Ok(mut streams) = Streams::new(program) else { return ExitCode::from(2) };
    let code = match load::load(program, &words, clock::system_time(), &mut streams) {
        Ok(loaded) => run_command(&loaded, &mut streams, run),
        Err(stop) => stopped(program, &stop, &mut streams),
    };
    match streams.out().flush() {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            // Who reads no further knows that.
            if error.kind() != ErrorKind::BrokenPipe {
                streams.error(format_args!(
                    "error writing standard output: {}",
                    system_error::system_words(&error)
                ));
            }
            ExitCode::from(2)
        }
    }
}

/// Runs the command and returns the exit code: 2 if an error was reported, but 1 for [`CommandFailed`].
fn run_command(Loaded { settings, arguments }: &Loaded, streams: &mut Streams, run: Run) -> u8 {
    let outcome = run(arguments, settings, streams).and(pubring::write(settings, streams));
    if let Some(fault) = secrets::agent_fault(settings) {
        streams.info(format_args!("WARNING: this was done without gpg-agent's secret keys: {fault}"));
    }
    if let Err(error) = outcome {
        if error.is::<CommandFailed>() {
            return 1;
        }
        streams.error(causes(error.as_ref()) + advice(&error));
    }
    let is_missed = !settings.assert_signers.is_empty() && !streams.is_signer_asserted();
    let code = match streams.exit_code(settings.batch) {
        0 if is_missed || streams.is_algorithm_denied() => 1,
        code => code,
    };
    if code != 0 && settings.compat >= Compat::V2_4 && settings.program == Program::Gpg {
        streams.status_failure("gpg-exit", Code::GENERAL);
    }
    code
}

/// Returns what helps where the engine refuses something, to follow the error's text.
fn advice(error: &anyhow::Error) -> &'static str {
    match error.downcast_ref() {
        Some(engine::Error::NoHome) => ": name the database with KEYHOARD_DB",
        _ if lacks_search_index(error.as_ref()) => ", then run `keyhoard db migrate`",
        _ => "",
    }
}

fn stopped(program: Program, stop: &Stop, streams: &mut Streams) -> u8 {
    let text = match stop {
        Stop::Inform(information, home, compat) => {
            commands::about::text(program, *compat, *information, home)
        }
        Stop::Help(text) => text.clone(),
        Stop::Exit(code) => return *code,
    };
    match streams.out().write_all(text.as_bytes()) {
        Ok(()) => 0,
        Err(_) => 2,
    }
}
