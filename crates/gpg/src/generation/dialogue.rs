//! The questions of `--generate-key` and `--full-generate-key`, with the keywords that programs know them by.
//!
//! - [`menu`]: algorithm, uses, curve and size;
//! - [`name`]: the parts of the user ID.

mod asker;
mod menu;
mod name;

use engine::cert::effective::Usage;

use super::parameters::Defaults;
use super::{Curve, Family, Kind, Part, Request, algorithm};
use crate::code::Code;
use crate::interval;
use crate::settings::Settings;
use crate::streams::Streams;
pub(crate) use asker::HeldKeys;
use asker::{Asker, Validated};

/// The result of a dialogue.
#[derive(Debug)]
pub(crate) enum Answer {
    Request(Box<Request>),
    /// The user cancelled.
    Cancelled,
    /// Such a key cannot be generated.
    Impossible(Code),
}

/// Asks how long a key is valid; returns seconds, 0 for ever.
///
/// # Errors
///
/// If there is no answer.
pub(crate) fn validity(settings: &Settings, streams: &mut Streams) -> anyhow::Result<u32> {
    Asker::of_new_keys(settings, streams).validity(Validated::Key, settings.now)
}

/// Asks how long a certification is valid; returns seconds, 0 for ever. An empty answer stands for `usual`.
///
/// # Errors
///
/// If there is no answer.
pub(crate) fn signature_validity(
    usual: &str,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<u32> {
    Asker::of_new_keys(settings, streams).validity(Validated::Signature(usual), settings.now)
}

/// Asks for a user ID that is not among the `known` ones; `None` if there is none to add.
///
/// # Errors
///
/// If there is no answer.
pub(crate) fn user_id(
    known: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Option<Vec<u8>>> {
    name::ask(&mut Asker::of_new_keys(settings, streams), true, known)
}

/// Asks for the algorithm and the uses of a subkey; `held` are the keys that exist.
///
/// # Errors
///
/// If there is no answer.
pub(crate) fn subkey(settings: &Settings, streams: &mut Streams, held: HeldKeys<'_>) -> anyhow::Result<Kind> {
    menu::ask_subkey(&mut Asker { settings, streams, held })
}

/// Asks for a curve.
///
/// # Errors
///
/// If there is no answer.
pub(crate) fn curve(settings: &Settings, streams: &mut Streams) -> anyhow::Result<Curve> {
    Asker::of_new_keys(settings, streams).curve()
}

/// Asks what a key is for that is for `current` now; `is_primary`: it may certify.
///
/// # Errors
///
/// If there is no answer.
pub(crate) fn usage(
    family: Family,
    current: Usage,
    is_primary: bool,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Usage> {
    Asker::of_new_keys(settings, streams).usage(family.usage(), Some(current), is_primary)
}

/// Asks for the properties of a key: for all of them in a `full` dialogue, else for the user ID.
/// `held` are the keys that exist.
///
/// # Errors
///
/// If there is no answer.
pub(crate) fn ask(
    full: bool,
    defaults: &Defaults<'_>,
    settings: &Settings,
    streams: &mut Streams,
    held: HeldKeys<'_>,
) -> anyhow::Result<Answer> {
    let mut asker = Asker { settings, streams, held };
    let (choice, valid_for) = match full {
        true => (menu::ask(&mut asker)?, asker.validity(Validated::Key, defaults.now)?),
        false => match algorithm::pair("", defaults.algorithm, defaults.compat) {
            Ok(choice) => (choice, interval::validity(defaults.validity, defaults.now).unwrap_or(0)),
            Err(code) => return Ok(Answer::Impossible(code)),
        },
    };
    let Some(user_id) = name::ask(&mut asker, full, &[])? else { return Ok(Answer::Cancelled) };
    let part = |kind| Part { kind, valid_for };
    Ok(Answer::Request(Box::new(Request {
        primary: part(choice.primary),
        subkeys: choice.subkey.into_iter().map(part).collect(),
        user_id,
        created: None,
        preferences: None,
        revoker: None,
        keyserver: None,
    })))
}
