//! `--quick-generate-key`, `--generate-key` and `--full-generate-key`.

mod make;
mod parameter_file;
mod quick;

use std::io;

use secret::{Name, SecretKeys as _};

use super::Session;
use crate::algorithms::Choice;
use crate::code::Code;
use crate::generation::dialogue::{self, Answer};
use crate::generation::parameters::Defaults;
use crate::generation::{Family, algorithm, preferences};
use crate::settings::Settings;
use make::Order;

pub(super) use quick::run as quick;

/// Makes keys as a parameter file says, or after asking; with `full`, asking for everything.
pub(super) fn run(session: &mut Session<'_>, full: bool) -> anyhow::Result<()> {
    let name = if full { "--full-generate-key" } else { "--generate-key" };
    // A program that names a file means it, though it could be asked.
    let named_by_program = !full && session.settings.command_input.is_some() && !session.arguments.is_empty();
    session.settings.batch |= named_by_program && session.arguments.len() == 1;
    let most = usize::from(session.settings.batch || named_by_program);
    if session.arguments.len() > most {
        let parameter_file = if most == 1 { " [parameterfile]" } else { "" };
        session.usage(&format!("{name}{parameter_file}"));
        return Ok(());
    }
    if is_forbidden(session) {
        return Ok(());
    }
    if session.settings.batch {
        return parameter_file::run(session);
    }
    let defaults = defaults(&session.settings, session.now);
    let keys = session.file_keys()?;
    let held = |keygrip| {
        let key = keys.export(&Name::Keygrip(keygrip)).ok()?;
        Family::from_number(key.key().algorithm.0.into())
    };
    match dialogue::ask(full, &defaults, &session.settings, session.streams, &held)? {
        Answer::Request(request) => make::make(session, &Order::of(*request)),
        Answer::Cancelled => {
            session.streams.error("Key generation canceled.");
            Ok(())
        }
        Answer::Impossible(code) => {
            failed(session, code);
            Ok(())
        }
    }
}

/// Says whether `--forbid-gen-key` was given, which is told.
fn is_forbidden(session: &mut Session<'_>) -> bool {
    if session.settings.forbid_gen_key {
        session.streams.status_failure("gen-key", Code::NotEnabled);
        session.streams.error("This command is not allowed while in forbid-gen-key mode.");
    }
    session.settings.forbid_gen_key
}

/// Tells that what was asked for cannot be made.
fn failed(session: &mut Session<'_>, code: Code) {
    session.streams.error(format_args!("Key generation failed: {code}"));
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
fn defaults(settings: &Settings, now: keyhoard::cert::Timestamp) -> Defaults<'_> {
    let algorithm = settings.default_new_key_algorithm.as_deref().unwrap_or(algorithm::DEFAULT);
    Defaults { now, algorithm, preferences: default_list(settings) }
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
