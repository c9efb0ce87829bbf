//! `--quick-generate-key`, `--generate-key` and `--full-generate-key`.

mod make;
mod parameter_file;
mod quick;

use std::io;

use secret::{Name, SecretKeys as _};

use crate::algorithms::Choice;
use crate::code::Code;
use crate::generation::dialogue::{self, Answer};
use crate::generation::parameters::Defaults;
use crate::generation::{Family, algorithm, preferences};
use crate::settings::Settings;
use crate::streams::Streams;
use make::Order;

pub(super) use quick::run as quick;

/// Makes keys as a parameter file says, or after asking; with `full`, asking for everything.
pub(super) fn run(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    full: bool,
) -> anyhow::Result<()> {
    let name = if full { "--full-generate-key" } else { "--generate-key" };
    // A program that names a file means it, though it could be asked.
    let named_by_program = !full && settings.command_input.is_some() && !arguments.is_empty();
    let most = usize::from(settings.batch || named_by_program);
    if arguments.len() > most {
        let parameter_file = if most == 1 { " [parameterfile]" } else { "" };
        streams.usage(&format!("{name}{parameter_file}"));
        return Ok(());
    }
    if is_forbidden(settings, streams) {
        return Ok(());
    }
    if settings.batch {
        return parameter_file::run(arguments, settings, streams);
    }
    let defaults = defaults(settings);
    let keys = settings.home.file_keys()?;
    let held = |keygrip| {
        let key = keys.export(&Name::Keygrip(keygrip)).ok()?;
        Family::from_number(key.key().algorithm.0.into())
    };
    match dialogue::ask(full, &defaults, settings, streams, &held)? {
        Answer::Request(request) => make::make(settings, streams, &Order::of(*request)),
        Answer::Cancelled => {
            streams.error("Key generation canceled.");
            Ok(())
        }
        Answer::Impossible(code) => {
            failed(streams, code);
            Ok(())
        }
    }
}

/// Says whether `--forbid-gen-key` was given, which is told.
fn is_forbidden(settings: &Settings, streams: &mut Streams) -> bool {
    if settings.forbid_gen_key {
        streams.status_failure("gen-key", Code::NotEnabled);
        streams.error("This command is not allowed while in forbid-gen-key mode.");
    }
    settings.forbid_gen_key
}

/// Tells that what was asked for cannot be made.
fn failed(streams: &mut Streams, code: Code) {
    streams.error(format_args!("Key generation failed: {code}"));
}

/// Returns what new keys prefer where nothing else is said. In gpg a default list of `none` is no compression then.
fn key_preferences(settings: &Settings) -> keygen::Preferences {
    read_preferences("default", settings)
}

/// Returns what new user IDs say that their key prefers. In gpg a default list of `none` is no preferences then.
pub(super) fn user_id_preferences(settings: &Settings) -> keygen::Preferences {
    read_preferences(default_list(settings), settings)
}

fn read_preferences(list: &str, settings: &Settings) -> keygen::Preferences {
    let read = crate::generation::Preferences::read(list, default_list(settings));
    read.map_or_else(|_| keygen::Preferences::gnupg(), Into::into)
}

/// Returns what requests are read with.
fn defaults(settings: &Settings) -> Defaults<'_> {
    let algorithm = settings.default_new_key_algorithm.as_deref().unwrap_or(algorithm::DEFAULT);
    Defaults { now: settings.now, algorithm, preferences: default_list(settings) }
}

fn default_list(settings: &Settings) -> &str {
    let list = settings.choices.iter().rev().find_map(|choice| match choice {
        Choice::Preferences("default", list) => std::str::from_utf8(list).ok(),
        _ => None,
    });
    list.unwrap_or(preferences::DEFAULT)
}

/// Says whether somebody sits at a terminal.
fn is_at_terminal() -> bool {
    use io::IsTerminal as _;
    io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
}
