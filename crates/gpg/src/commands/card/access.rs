//! The card in the reader. The agent passes commands on to scdaemon, and asks for PINs and for cards with its pinentry.

use std::fmt;

use agent::Agent;
use agent::card::Card;
use agent::connection::{Respond, Silent, Wait, escaped};
use engine::foreign_text::harmless;
use zeroize::Zeroizing;

use crate::code::Code;
use crate::passphrases::MAX_PASSPHRASE;
use crate::prompt::{self, Question};
use crate::secrets;
use crate::settings::{PinentryMode, Settings};
use crate::status;
use crate::streams::Streams;
use crate::terminal;

/// The longest command.
const MAX_COMMAND: usize = 990;

/// Why a card did not do what it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CardFailure {
    /// Libgpg-error's number; 0 if the agent could not be asked.
    code: u16,
    words: String,
}

impl CardFailure {
    /// Libgpg-error's `GPG_ERR_OBJ_TERM_STATE`: the card has to be activated.
    const TERMINATED: u16 = 225;
    /// `GPG_ERR_NO_SCDAEMON`.
    const NO_SCDAEMON: u16 = 119;

    /// `GPG_ERR_USE_CONDITIONS`.
    const CONDITIONS: u16 = 131;

    pub(super) fn terminated() -> Self {
        Self { code: Self::TERMINATED, words: "Object is in termination state".to_owned() }
    }

    pub(super) fn conditions_of_use() -> Self {
        Self { code: Self::CONDITIONS, words: "Conditions of use not satisfied".to_owned() }
    }

    /// Returns the value of a status line, with scdaemon as the part of GnuPG that found the failure.
    pub(super) fn value(&self) -> u32 {
        const SCDAEMON: u32 = 6;
        SCDAEMON << 24 | u32::from(self.code)
    }

    /// Returns whether the card may not do this as it is.
    pub(super) fn is_conditions_of_use(&self) -> bool {
        self.code == Self::CONDITIONS
    }

    /// Returns whether the card was terminated, and can do nothing until it is activated.
    pub(super) fn is_terminated(&self) -> bool {
        self.code == Self::TERMINATED
    }

    fn is(&self, code: Code) -> bool {
        u32::from(self.code) == code.bare()
    }

    /// Returns the status line about the operation.
    fn status(&self) -> &'static str {
        match () {
            () if self.is(Code::CANCELLED) || self.is(Code::FULLY_CANCELLED) => "SC_OP_FAILURE 1",
            () if self.is(Code::BAD_PIN) => "SC_OP_FAILURE 2",
            () => "SC_OP_FAILURE",
        }
    }
}

impl fmt::Display for CardFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl From<Code> for CardFailure {
    fn from(code: Code) -> Self {
        Self { code: code.bare() as u16, words: code.to_string() }
    }
}

impl From<agent::Error> for CardFailure {
    fn from(error: agent::Error) -> Self {
        let code = error.code().unwrap_or_default();
        let words = match error {
            agent::Error::Refused { text, .. } => harmless(&text),
            error => harmless(&error.to_string()),
        };
        Self { code, words }
    }
}

/// What became of a command.
pub(crate) type Outcome<T> = Result<T, CardFailure>;

/// The card in the reader.
pub(crate) struct CardAccess<'a> {
    pub(super) settings: &'a Settings,
    pub(super) streams: &'a mut Streams,
    pub(super) agent: &'a Agent,
}

impl<'a> CardAccess<'a> {
    pub(crate) fn new(settings: &'a Settings, streams: &'a mut Streams) -> Self {
        Self { settings, streams, agent: secrets::agent(settings) }
    }

    /// Finds a card, and says which or why there is none; unless the run has found one already.
    fn select(&mut self) -> Outcome<()> {
        let found = self.find();
        if let Err(failure) = &found {
            if failure.is(Code::NOT_SUPPORTED) || failure.code == CardFailure::NO_SCDAEMON {
                self.streams.info(format_args!("error getting version from 'scdaemon': {failure}"));
                self.streams.status("CARDCTRL 6");
            } else if failure.is_terminated() {
                self.streams.status("CARDCTRL 7");
            } else {
                self.streams.status("CARDCTRL 4");
                self.streams.info(format_args!("selecting card failed: {failure}"));
            }
        }
        found
    }

    /// Does the same, and says nothing if there is none.
    pub(super) fn find(&mut self) -> Outcome<()> {
        if self.streams.is_card_found() {
            return Ok(());
        }
        let command = match self.settings.agent.only_openpgp_cards {
            true => "SCD SERIALNO openpgp",
            false => "SCD SERIALNO",
        };
        let (card, _) = self.send(command, None)?;
        if let Some(serial) = card.serial {
            self.streams.status(format!("CARDCTRL 3 {serial}"));
        }
        self.streams.note_found_card();
        Ok(())
    }

    /// Sends a command without looking for a card first; returns what status lines say of the card, and the data.
    pub(super) fn send(
        &mut self,
        command: &str,
        inquiry: Option<Inquiry<'_>>,
    ) -> Outcome<(Card, Zeroizing<Vec<u8>>)> {
        let mut card = Card::default();
        let data = self.send_into(command, inquiry, &mut card)?;
        Ok((card, data))
    }

    fn send_into(
        &mut self,
        command: &str,
        inquiry: Option<Inquiry<'_>>,
        card: &mut Card,
    ) -> Outcome<Zeroizing<Vec<u8>>> {
        let mut answers = Answers {
            card,
            serials: Vec::new(),
            inquiry,
            shows_progress: command.starts_with("SCD GENKEY "),
            settings: self.settings,
            streams: self.streams,
        };
        Ok(self.agent.transact(command, Wait::User, &mut answers)?)
    }

    /// Returns the serial numbers of the cards in all readers.
    pub(super) fn cards(&mut self) -> Vec<String> {
        let mut card = Card::default();
        let mut answers = Answers {
            card: &mut card,
            serials: Vec::new(),
            inquiry: None,
            shows_progress: false,
            settings: self.settings,
            streams: self.streams,
        };
        let answer = self.agent.transact("SCD GETINFO card_list", Wait::User, &mut answers);
        answer.map(|_| answers.serials).unwrap_or_default()
    }

    /// Sends a command to the card.
    pub(super) fn command(&mut self, command: &str) -> Outcome<(Card, Zeroizing<Vec<u8>>)> {
        self.select()?;
        self.send(command, None)
    }

    /// Reads everything about the card; the agent notes which keys are on it.
    pub(super) fn learn(&mut self) -> Outcome<Card> {
        let (mut card, _) = self.command("LEARN --sendinfo")?;
        if let Ok((attributes, _)) = self.command("SCD GETATTR KEY-ATTR") {
            for (key, with_algorithm) in card.keys.iter_mut().zip(attributes.keys) {
                key.algorithm = with_algorithm.algorithm;
            }
        }
        Ok(card)
    }

    /// Reads one thing about the card.
    pub(super) fn attribute(&mut self, name: &str) -> Outcome<Card> {
        Ok(self.command(&format!("SCD GETATTR {name}"))?.0)
    }

    /// Reads one thing about the card and adds it to what is known.
    pub(super) fn attribute_into(&mut self, name: &str, card: &mut Card) -> Outcome<()> {
        self.select()?;
        self.send_into(&format!("SCD GETATTR {name}"), None, card).map(drop)
    }

    /// Changes something of the card.
    pub(super) fn set(&mut self, name: &str, value: &[u8]) -> Outcome<()> {
        let command = format!("SCD SETATTR {name} {}", escaped(value));
        if value.is_empty() {
            return Err(Code::INVALID_VALUE.into());
        }
        if command.len() > MAX_COMMAND {
            return Err(Code::TOO_LARGE.into());
        }
        self.operate(&command)
    }

    /// Sends a command of which a status line tells when it fails.
    pub(super) fn operate(&mut self, command: &str) -> Outcome<()> {
        let outcome = self.command(command).map(drop);
        self.report_failure(&outcome);
        outcome
    }

    /// Tells by a status line if an operation failed.
    pub(super) fn report_failure<T>(&mut self, outcome: &Outcome<T>) {
        if let Err(failure) = outcome {
            self.streams.status(failure.status());
        }
    }

    /// Tells by a status line what became of an operation.
    pub(super) fn report<T>(&mut self, outcome: &Outcome<T>) {
        match outcome {
            Ok(_) => self.streams.status("SC_OP_SUCCESS"),
            Err(failure) => self.streams.status(failure.status()),
        }
    }

    /// Reports what failed as an error, and by a status line what became of an operation.
    pub(super) fn finish<T>(&mut self, what: &str, outcome: Outcome<T>) {
        if let Err(failure) = &outcome {
            self.streams.error(format_args!("{what}: {failure}"));
        }
        self.report(&outcome);
    }

    /// Writes text to the terminal.
    pub(super) fn tell(&self, text: impl AsRef<[u8]>) {
        terminal::tell(self.settings, text.as_ref());
    }

    /// Asks for a line, and returns it without white space around it.
    pub(super) fn line(&mut self, keyword: &'static str, text: &str) -> anyhow::Result<Vec<u8>> {
        let question = Question { keyword, context: b"", text };
        Ok(prompt::line(&question, self.settings, self.streams)?.trim_ascii().to_vec())
    }

    /// Asks a question that is answered with yes or no.
    pub(super) fn confirm(&mut self, keyword: &'static str, text: &str) -> anyhow::Result<bool> {
        prompt::ask(&Question { keyword, context: b"", text }, self.settings, self.streams)
    }
}

/// What answers an inquiry of the card's daemon: its keyword and the bytes.
pub(super) type Inquiry<'a> = (&'static str, &'a [u8]);

/// Gathers what status lines say of a card, and passes on what programs are told.
struct Answers<'a> {
    card: &'a mut Card,
    /// The serial numbers of cards, if there are several.
    serials: Vec<String>,
    inquiry: Option<Inquiry<'a>>,
    /// The command is one whose progress gpg passes on: the card makes a key.
    shows_progress: bool,
    settings: &'a Settings,
    streams: &'a mut Streams,
}

impl Answers<'_> {
    /// Returns a PIN in loopback mode, in which the agent asks for none itself: the passphrase that was given with the
    /// command, or what the program answers.
    fn pin(&mut self) -> Option<Zeroizing<Vec<u8>>> {
        if let Some(given) = &self.settings.passphrase.given {
            return Some(Zeroizing::new(given.as_bytes().to_vec()));
        }
        self.streams.status(format!("INQUIRE_MAXLEN {MAX_PASSPHRASE}"));
        prompt::hidden("passphrase.enter", self.settings, self.streams).ok().flatten()
    }
}

impl Respond for Answers<'_> {
    fn status_bytes(&mut self, keyword: &str, text: &[u8]) {
        self.card.take(keyword, text);
        if self.shows_progress && keyword == "PROGRESS" {
            self.streams.status(status::with_text(keyword, text));
        }
        if keyword == "SERIALNO" {
            self.serials.extend(self.card.serial.clone());
        }
    }

    fn inquire(&mut self, keyword: &str, text: &str) -> Option<Zeroizing<Vec<u8>>> {
        if keyword == "PINENTRY_LAUNCHED" {
            self.streams.status(format!("PINENTRY_LAUNCHED {text}"));
        }
        let is_loopback = self.settings.passphrase.pinentry == PinentryMode::Loopback;
        match self.inquiry.filter(|(wanted, _)| *wanted == keyword) {
            Some((_, answer)) => Some(Zeroizing::new(answer.to_vec())),
            None if is_loopback && matches!(keyword, "PASSPHRASE" | "NEW_PASSPHRASE") => self.pin(),
            None => Silent.inquire(keyword, text),
        }
    }
}
