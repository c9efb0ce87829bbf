//! The options that every command takes.

use std::path::PathBuf;

use engine::cert::Timestamp;

use crate::output::Colour;
use crate::timestamp;

/// What every command takes.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalOptions {
    /// The database: a file, or postgres://user@host/name [default: KEYHOARD_DB, else keyhoard/keyhoard.db in the XDG
    /// data directory].
    #[arg(long, global = true, value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
    pub(crate) db: Option<PathBuf>,

    /// Write JSON: one document per line, as docs/json.md describes.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Write results and errors only.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// Use colours: auto means on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) color: Colour,

    /// Answer as of this time (seconds since 1970, or like 20260101T000000).
    #[arg(long, global = true, value_name = "TIME", value_parser = timestamp::parse)]
    pub(crate) faked_system_time: Option<Timestamp>,
}
