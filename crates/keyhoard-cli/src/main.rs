//! The program `keyhoard`: arguments in, text or JSON out.
//!
//! - [`arguments`]: what can be typed, declared once; help, completions and man pages come from it.
//! - [`commands`]: one file for each subcommand.
//! - [`session`]: what every command is given.
//! - [`listing`]: certificates as text and as JSON; [`naming`]: names for the numbers of OpenPGP.
//! - [`destination`]: what exports are written to; [`passphrase_options`]: where passphrases come from.
//! - [`output`]: where and how results are written, [`json`] among it; [`stderr`]: what a person is told besides; [`style`], [`printable`],
//!   [`table`], [`moment`], [`progress`] are their means; [`question`]: what a person is asked.
//!
//! What a command does is decided in the library `keyhoard`; nothing is decided here.

mod arguments;
mod commands;
mod destination;
mod exit;
mod input;
mod json;
mod listing;
mod moment;
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
mod trust_options;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    process::protect_memory();
    match arguments::Arguments::try_parse() {
        Ok(arguments) => exit::report(commands::run(arguments)),
        Err(error) if error.use_stderr() && commands::sop::is_meant() => {
            // There is nobody left to tell if messages cannot be written.
            let _ = error.print();
            ExitCode::from(commands::sop::misunderstood(&error).exit_code())
        }
        Err(error) => error.exit(),
    }
}
