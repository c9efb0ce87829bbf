//! The questions of `--generate-key` and `--full-generate-key`, with the keywords that programs know them by.
//!
//! - [`menu`]: algorithm, uses, curve and size;
//! - [`name`]: the parts of the user ID.

mod asker;
mod menu;
mod name;

use engine::cert::Keygrip;

use super::parameters::Defaults;
use super::{Family, Part, Request, algorithm};
use crate::code::Code;
use crate::interval;
use crate::settings::Settings;
use crate::streams::Streams;
use asker::Asker;

/// The result of a dialogue.
#[derive(Debug)]
pub(crate) enum Answer {
    Request(Box<Request>),
    /// The user cancelled.
    Cancelled,
    /// Such a key cannot be generated.
    Impossible(Code),
}

/// Asks for the properties of a key: for all of them in a `full` dialogue, else for the user ID.
/// `secret_key_family` returns the algorithm of an existing secret key.
///
/// # Errors
///
/// If there is no answer.
pub(crate) fn ask(
    full: bool,
    defaults: &Defaults<'_>,
    settings: &Settings,
    streams: &mut Streams,
    secret_key_family: &dyn Fn(Keygrip) -> Option<Family>,
) -> anyhow::Result<Answer> {
    let mut asker = Asker { settings, streams, secret_key_family };
    let (choice, valid_for) = match full {
        true => (menu::ask(&mut asker)?, asker.validity(defaults)?),
        false => match algorithm::pair("", defaults.algorithm) {
            Ok(choice) => (choice, interval::validity(defaults.validity, defaults.now).unwrap_or(0)),
            Err(code) => return Ok(Answer::Impossible(code)),
        },
    };
    let Some(user_id) = name::ask(&mut asker, full)? else { return Ok(Answer::Cancelled) };
    let part = |kind| Part { kind, valid_for };
    Ok(Answer::Request(Box::new(Request {
        primary: part(choice.primary),
        subkey: choice.subkey.map(part),
        user_id,
        created: None,
        preferences: None,
        revoker: None,
        keyserver: None,
    })))
}
