//! The program `keyhoard`: arguments in, text or JSON out.
//!
//! - [`arguments`]: the command line, declared once; help, completions and man pages come from it. Options that several
//!   commands share: [`global_options`], [`passphrase_options`], [`trust_options`], [`destination`] (the output file).
//! - [`commands`]: one file for each subcommand.
//! - [`session`]: what every command is given; [`exit`]: the exit code.
//! - [`listing`]: certificates as text and as JSON; [`naming`]: names for the numbers of OpenPGP.
//! - [`input`]: files and standard input; [`output`]: results on standard output; [`stderr`]: notes, warnings and
//!   errors; [`question`]: questions on the terminal.
//! - [`hint`]: the commands that messages suggest.
//! - [`json`], [`table`], [`style`], [`printable`], [`timestamp`], [`expiry`], [`progress`]: the parts of both.
//!
//! The library `keyhoard` decides what a command does; this crate parses arguments and prints results.

mod arguments;
mod commands;
mod destination;
mod exit;
mod expiry;
mod global_options;
mod hint;
mod input;
mod json;
mod listing;
mod naming;
mod output;
mod passphrase_options;
mod printable;
mod progress;
mod question;
mod session;
mod stderr;
mod style;
mod table;
mod timestamp;
mod trust_options;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    process::protect_memory();
    engine::message::use_batch_scheduling();
    match arguments::Arguments::try_parse() {
        Ok(arguments) => {
            let is_json = arguments.global.json;
            exit::report(commands::run(arguments), is_json)
        }
        Err(error) if error.use_stderr() && commands::sop::is_requested() => {
            // An error here could not be reported anywhere.
            let _ = error.print();
            ExitCode::from(commands::sop::misunderstood(&error).exit_code())
        }
        Err(error) if error.use_stderr() && arguments::is_json_requested() => exit::report_usage(&error),
        Err(error) => error.exit(),
    }
}
