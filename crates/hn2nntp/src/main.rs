//! The program `hn2nntp`: Hacker News for newsreaders.
//!
//! - [`arguments`]: what can be typed, declared once; help, completions and man pages come from it.
//! - [`run`]: from arguments to what [`get`], [`convert`] and [`post`] take, and from their answers to exit codes.
//! - [`item`]: what the API says, as a type.
//!
//! The three commands know nothing of each other: lines of JSON lead from the first to the second, a batch of articles
//! from the second to the third.

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
