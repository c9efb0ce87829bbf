//! The program `hn2nntp`: Hacker News for newsreaders.
//!
//! - [`arguments`]: the command line, declared once; help, completions and man pages come from it.
//! - [`run`]: calls [`get`], [`convert`] and [`post`] with the arguments, and turns their results into exit codes.
//! - [`item`]: the items of the API as a type.
//!
//! The three commands are independent of each other: the first writes lines of JSON for the second, which writes a
//! batch of articles for the third.

mod arguments;
mod convert;
mod get;
mod item;
mod post;
mod run;

use std::process::ExitCode;

use clap::Parser;
use time::OffsetDateTime;

fn main() -> ExitCode {
    run::report(run::run(arguments::Arguments::parse(), OffsetDateTime::now_utc()))
}
