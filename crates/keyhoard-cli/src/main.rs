//! The program `keyhoard`: arguments in, text or JSON out.
//!
//! Started by a name of gpg's, it is `gpg-keyhoard`, which the crate `keyhoard-gpg` is all of.
//!
//! - [`arguments`]: the command line, declared once; help, completions and man pages come from it. Options that several
//!   commands share: [`global_options`], [`passphrase_options`], [`trust_options`], [`destination`] (the output file).
//! - [`commands`]: one file for each subcommand.
//! - [`session`]: what every command is given; [`exit`]: the exit code; [`error_code`]: kinds of
//!   errors for scripts.
//! - [`listing`]: certificates as text and as JSON; [`naming`]: names for the numbers of OpenPGP.
//! - [`input`]: files and standard input; [`output`]: results on standard output; [`stderr`]: notes, warnings and
//!   errors; [`question`]: questions on the terminal.
//! - [`hint`]: the commands that messages suggest; [`gpg_words`]: commands for words of gpg's; [`usage`]: arguments that
//!   were not understood; [`help`]: help on one screen.
//! - [`json`], [`table`], [`style`], [`printable`], [`timestamp`], [`expiry`], [`progress`]: the parts of both.
//!
//! This crate holds the command line: arguments and output. What a command does is in the crate `engine`.

mod arguments;
mod commands;
mod destination;
mod error_code;
mod exit;
mod expiry;
mod global_options;
mod gpg_words;
mod help;
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
mod usage;

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    process::protect_memory();
    engine::descriptor::keep_from_children();
    engine::message::use_batch_scheduling();
    if std::env::args_os().next().is_some_and(|name| is_name_of_gpg(&name)) {
        return keyhoard_gpg::run(std::env::args_os().skip(1));
    }
    let request = help::Request::of(std::env::args_os());
    match arguments::Arguments::try_parse_from(&request.arguments) {
        Ok(arguments) if arguments.command.is_none() && !std::io::stdout().is_terminal() => {
            // On a terminal it shows the status.
            usage::report_missing_command(arguments.global.json)
        }
        Ok(arguments) => {
            let is_json = arguments.global.json;
            exit::report(commands::run(arguments), is_json)
        }
        Err(error) if error.use_stderr() && commands::sop::is_requested() => {
            // An error here could not be reported anywhere.
            let _ = error.print();
            ExitCode::from(commands::sop::misunderstood(&error).exit_code())
        }
        Err(error) if error.use_stderr() && arguments::is_json_requested() => usage::report_as_json(&error),
        Err(error) => usage::explain(error, &request),
    }
}

/// Returns whether a program that is started by this path is gpg: `gpg-keyhoard`, `gpg`, `gpg2`.
fn is_name_of_gpg(path: &OsStr) -> bool {
    let name = Path::new(path).file_name();
    name.is_some_and(|name| ["gpg", "gpg2", "gpg-keyhoard"].into_iter().any(|gpg| name == gpg))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_gpg_by_three_names_whatever_the_directory() {
        for path in ["gpg", "gpg2", "/usr/bin/gpg", "gpg-keyhoard", "./gpg-keyhoard"] {
            assert!(is_name_of_gpg(OsStr::new(path)), "{path}");
        }
        for path in ["keyhoard", "gpgv", "gpgsm", "/opt/gpg/keyhoard", "", "/"] {
            assert!(!is_name_of_gpg(OsStr::new(path)), "{path}");
        }
    }
}
