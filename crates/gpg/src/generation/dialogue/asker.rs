//! Asks the questions of the dialogue.

use engine::cert::{Keygrip, Timestamp};

use crate::clock;
use crate::generation::{Family, Kind};
use crate::interval;
use crate::prompt::{self, Question};
use crate::settings::Settings;
use crate::streams::Streams;

/// What is valid for some time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Validated<'a> {
    Key,
    /// A certification, with the answer that an empty one stands for.
    Signature(&'a str),
}

/// Asks the user or a program.
pub(super) struct Asker<'a> {
    pub(super) settings: &'a Settings,
    pub(super) streams: &'a mut Streams,
    pub(super) held: HeldKeys<'a>,
}

/// The secret keys that exist and can become a key of a certificate.
#[derive(Clone, Copy)]
pub(crate) struct HeldKeys<'a> {
    /// Returns the algorithm of the key with a keygrip.
    pub(crate) family: &'a dyn Fn(Keygrip) -> Option<Family>,
    /// Returns the serial number of the card in the reader, and its keys with what they are for; or why it cannot be read.
    pub(crate) on_card: &'a dyn Fn(&Settings, &mut Streams) -> CardKeys,
}

/// What a card has to offer.
pub(crate) type CardKeys = Result<(String, Vec<Kind>), String>;

impl<'a> Asker<'a> {
    /// Asks where no key that exists can be chosen.
    pub(super) fn of_new_keys(settings: &'a Settings, streams: &'a mut Streams) -> Self {
        Self { settings, streams, held: HeldKeys { family: &|_| None, on_card: &|_, _| Err(String::new()) } }
    }
    /// Asks, and returns the answer without white space around it.
    pub(super) fn line(
        &mut self,
        keyword: &'static str,
        context: &str,
        text: &str,
    ) -> anyhow::Result<String> {
        let question = Question { keyword, context: context.as_bytes(), text };
        let answer = prompt::line(&question, self.settings, self.streams)?;
        Ok(String::from_utf8_lossy(answer.trim_ascii()).into_owned())
    }

    /// Says whether a program is asked, not a user at a terminal.
    pub(super) fn is_program(&self) -> bool {
        self.settings.command_input.is_some()
    }

    /// Asks for the validity period; returns seconds, 0 for what does not expire.
    pub(super) fn validity(&mut self, what: Validated<'_>, now: Timestamp) -> anyhow::Result<u32> {
        let (keyword, name, usual) = match what {
            Validated::Key => ("keygen.valid", "Key", "0"),
            Validated::Signature(usual) => ("siggen.valid", "Signature", usual),
        };
        let mut context = format!(
            "How long is the {} to be valid?\n   0 = it does not expire\n <n> = <n> days, with w, m or y after it \
             weeks, months or years\n",
            name.to_lowercase()
        );
        loop {
            let answer = self.line(keyword, &context, &format!("{name} is valid for? ({usual}) "))?;
            let answer = if answer.is_empty() { usual.to_owned() } else { answer };
            let Some(seconds) = interval::validity(answer.as_bytes(), now) else {
                context = "invalid value\n".to_owned();
                continue;
            };
            let expires = now.0.checked_add(seconds).map(Timestamp);
            context = match expires {
                _ if seconds == 0 => format!("{name} does not expire at all\n"),
                Some(time) => format!("{name} expires at {}\n", clock::long_string(time)),
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
