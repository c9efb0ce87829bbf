//! The questions of `--generate-key` and `--full-generate-key`, with the keywords that programs know them by.
//!
//! - [`menu`]: algorithm, uses, curve and size;
//! - [`name`]: the parts of the user ID.

mod menu;
mod name;

use keyhoard::cert::Keygrip;
use keyhoard::cert::effective::Usage;

use super::parameters::Defaults;
use super::{Family, Part, Request, algorithm};
use crate::clock;
use crate::code::Code;
use crate::interval;
use crate::prompt::{self, Question};
use crate::settings::Settings;
use crate::streams::Streams;
use menu::Choice;

/// How long a key is valid if nobody is asked.
pub(crate) const USUAL_VALIDITY: &[u8] = b"2y";

/// Who is asked.
struct Asker<'a> {
    settings: &'a Settings,
    streams: &'a mut Streams,
    held: &'a dyn Fn(Keygrip) -> Option<Family>,
}

/// What came of a dialogue.
#[derive(Debug)]
pub(crate) enum Answer {
    Request(Box<Request>),
    /// The user thought better of it.
    Cancelled,
    /// There is no such key.
    Impossible(Code),
}

/// Asks what key is to be made: for a `full` dialogue everything, else only the user ID. `held` knows the algorithms of
/// the secret keys that are there.
///
/// # Errors
///
/// If nobody answers.
pub(crate) fn ask(
    full: bool,
    defaults: &Defaults<'_>,
    settings: &Settings,
    streams: &mut Streams,
    held: &dyn Fn(Keygrip) -> Option<Family>,
) -> anyhow::Result<Answer> {
    let mut asker = Asker { settings, streams, held };
    let (choice, valid_for) = match full {
        true => (menu::ask(&mut asker)?, asker.validity(defaults)?),
        false => match usual(defaults) {
            Ok(choice) => (choice, interval::validity(USUAL_VALIDITY, defaults.now).unwrap_or(0)),
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

fn usual(defaults: &Defaults<'_>) -> Result<Choice, Code> {
    let pair = algorithm::pair("", defaults.algorithm)?;
    Ok(Choice { primary: pair.primary, subkey: pair.subkey })
}

impl Asker<'_> {
    /// Asks, and returns the answer without white space around it.
    fn line(&mut self, keyword: &'static str, context: &str, text: &str) -> anyhow::Result<String> {
        let question = Question { keyword, context: context.as_bytes(), text };
        let answer = prompt::line(&question, self.settings, self.streams)?;
        Ok(String::from_utf8_lossy(answer.trim_ascii()).into_owned())
    }

    fn is_program(&self) -> bool {
        self.settings.command_input.is_some()
    }

    fn validity(&mut self, defaults: &Defaults<'_>) -> anyhow::Result<u32> {
        let mut context =
            "How long is the key to be valid?\n   0 = it does not expire\n <n> = <n> days, with w, m \
                           or y after it weeks, months or years\n"
                .to_owned();
        loop {
            let answer = self.line("keygen.valid", &context, "Key is valid for? (0) ")?;
            let Some(seconds) = interval::validity(answer.as_bytes(), defaults.now) else {
                context = "invalid value\n".to_owned();
                continue;
            };
            let expires = defaults.now.0.checked_add(seconds).map(keyhoard::cert::Timestamp);
            context = match expires {
                _ if seconds == 0 => "Key does not expire at all\n".to_owned(),
                Some(time) => format!("Key expires at {}\n", clock::long_string(time)),
                None => "invalid value\n".to_owned(),
            };
            if expires.is_some() && (self.is_program() || self.agrees("keygen.valid.okay", &context)?) {
                return Ok(seconds);
            }
        }
    }

    fn agrees(&mut self, keyword: &'static str, context: &str) -> anyhow::Result<bool> {
        let question = Question { keyword, context: context.as_bytes(), text: "Is this correct? (y/N) " };
        prompt::ask(&question, self.settings, self.streams)
    }
}

/// Writes uses out for people.
fn named(usage: Usage) -> String {
    let names = [
        (Usage::SIGN, "Sign "),
        (Usage::CERTIFY, "Certify "),
        (Usage::ENCRYPT, "Encrypt "),
        (Usage::AUTHENTICATE, "Authenticate "),
    ];
    names.iter().filter(|(use_, _)| usage.contains(*use_)).map(|(_, name)| *name).collect()
}
