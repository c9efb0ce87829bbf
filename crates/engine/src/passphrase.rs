//! Passphrases: asked for on the terminal, or read where the user says.
//!
//! Nothing is ever read from standard input, and no window opens, unless the user said so.

mod terminal;

use std::env;
use std::fmt::Display;
use std::fs::File;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use secret::ask::{KeyName, MAX_TRIES};
use secret::{Ask, Error, Passphrase, Question, Result};
use store::Fingerprint;

use crate::configuration::Configuration;
use crate::descriptor::duplicate;
use crate::foreign_text::harmless;
use terminal::{Terminal, first_line};

/// Where passphrases come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassphraseSource {
    /// They are typed on the controlling terminal, without being shown.
    Terminal,
    /// The first line of a file descriptor, for every key.
    Descriptor(RawFd),
    /// The first line of a file, for every key.
    File(PathBuf),
    /// The first line that a program writes, which is started with the question as its only argument.
    Program(PathBuf),
    /// This one, for every key.
    Given(Passphrase),
    /// Nobody is asked.
    Nobody,
}

impl PassphraseSource {
    /// Returns the source that counts where a command names none: the program of `KEYHOARD_PASSPHRASE_PROGRAM`, that of
    /// the [`Configuration`], else the terminal.
    ///
    /// # Errors
    ///
    /// What is wrong with the configuration.
    pub fn usual() -> crate::Result<Self> {
        if let Some(source) = Self::of_environment() {
            return Ok(source);
        }
        Ok(Configuration::read()?.passphrase_program.map_or(Self::Terminal, Self::Program))
    }

    /// Returns the program of `KEYHOARD_PASSPHRASE_PROGRAM`.
    pub fn of_environment() -> Option<Self> {
        let named = env::var_os("KEYHOARD_PASSPHRASE_PROGRAM").filter(|program| !program.is_empty());
        named.map(|program| Self::Program(program.into()))
    }
}

/// Returns the name of a key's owner.
pub type OwnerOf<'a> = dyn Fn(&Fingerprint) -> Option<String> + 'a;

/// Answers questions for passphrases from one source.
///
/// The last passphrase is tried for the next key before it is asked for.
pub struct Passphrases<'a> {
    source: PassphraseSource,
    owner: Box<OwnerOf<'a>>,
    /// What the source gives for every key, once it was read.
    read: Option<Passphrase>,
    last: Option<Passphrase>,
}

impl<'a> Passphrases<'a> {
    /// Takes passphrases from a source; `owner` says in questions whose a key is.
    pub fn new(source: PassphraseSource, owner: impl Fn(&Fingerprint) -> Option<String> + 'a) -> Self {
        Self { source, owner: Box::new(owner), read: None, last: None }
    }

    /// Asks for the password of a message: twice where it is typed and `is_new`. `None` if there is nobody to be asked.
    ///
    /// # Errors
    ///
    /// [`Error::Asking`] if asking fails.
    pub fn password(&mut self, is_new: bool) -> Result<Option<Passphrase>> {
        let question = "Password of the message: ";
        match &self.source {
            PassphraseSource::Nobody => Ok(None),
            PassphraseSource::Terminal if is_new => typed_twice(question),
            PassphraseSource::Terminal => {
                Terminal::open()?.map_or(Ok(None), |mut terminal| terminal.ask(question))
            }
            PassphraseSource::Program(program) => answer_of(program, question).map(Some),
            _ => self.read_once().map(Some),
        }
    }

    fn unlocking(&mut self, key: &KeyName, wrong: u8) -> Result<Option<Passphrase>> {
        let question = format!("Passphrase of {}: ", self.called(key));
        match &self.source {
            PassphraseSource::Nobody => Ok(None),
            PassphraseSource::Terminal => {
                let Some(mut terminal) = Terminal::open()? else { return Ok(None) };
                if wrong > 0 {
                    terminal.say(format_args!("Wrong passphrase; try {} of {MAX_TRIES}.", wrong + 1))?;
                }
                terminal.ask(&question)
            }
            PassphraseSource::Program(program) => answer_of(program, &question).map(Some),
            // The source gives the same one again.
            _ if wrong > 0 => Err(Error::WrongPassphrase { key: key.fingerprint }),
            _ => self.read_once().map(Some),
        }
    }

    fn renewing(&mut self, key: &KeyName) -> Result<Option<Passphrase>> {
        let question = format!("New passphrase of {} (empty for none): ", self.called(key));
        match &self.source {
            PassphraseSource::Nobody => Ok(None),
            PassphraseSource::Terminal => typed_twice(&question),
            PassphraseSource::Program(program) => {
                let first = answer_of(program, &question)?;
                let again = answer_of(program, &format!("Once more. {question}"))?;
                if first == again { Ok(Some(first)) } else { Err(failed("the two passphrases differ")) }
            }
            PassphraseSource::Given(passphrase) => Ok(Some(passphrase.clone())),
            // Only an option, and not an empty file by accident, takes the passphrase away.
            _ => match self.read_once()? {
                empty if empty.is_empty() => Err(Error::EmptyPassphrase),
                new => Ok(Some(new)),
            },
        }
    }

    /// Reads a source that gives one passphrase for all.
    fn read_once(&mut self) -> Result<Passphrase> {
        if let Some(read) = &self.read {
            return Ok(read.clone());
        }
        let read = match &self.source {
            PassphraseSource::Given(passphrase) => passphrase.clone(),
            PassphraseSource::Descriptor(number) => of_descriptor(*number)?,
            PassphraseSource::File(path) => of_file(path)?,
            PassphraseSource::Terminal | PassphraseSource::Program(_) | PassphraseSource::Nobody => {
                unreachable!("asked each time")
            }
        };
        Ok(self.read.insert(read).clone())
    }

    /// Calls a key by its owner, algorithm and fingerprint.
    fn called(&self, key: &KeyName) -> String {
        let fingerprint = key.fingerprint;
        match (self.owner)(&fingerprint) {
            Some(owner) => format!("the secret key {fingerprint} of {}", harmless(&owner)),
            None => format!("the secret key {fingerprint}"),
        }
    }
}

impl Ask for Passphrases<'_> {
    fn passphrase(&mut self, question: &Question<'_>) -> Result<Option<Passphrase>> {
        match question {
            Question::Unlock { key, wrong } => {
                let answer = self.unlocking(key, *wrong)?;
                self.last.clone_from(&answer);
                Ok(answer)
            }
            Question::New { key } => self.renewing(key),
        }
    }

    fn known(&mut self) -> Option<Passphrase> {
        // Other sources give the same passphrase for every key.
        matches!(self.source, PassphraseSource::Terminal | PassphraseSource::Program(_))
            .then(|| self.last.clone())
            .flatten()
    }
}

fn typed_twice(question: &str) -> Result<Option<Passphrase>> {
    let Some(mut terminal) = Terminal::open()? else { return Ok(None) };
    for _ in 0..MAX_TRIES {
        let Some(first) = terminal.ask(question)? else { return Ok(None) };
        let Some(again) = terminal.ask("Once more: ")? else { return Ok(None) };
        if first == again {
            return Ok(Some(first));
        }
        terminal.say("They differ; try again.")?;
    }
    Err(failed("the two passphrases differ"))
}

fn answer_of(program: &Path, question: &str) -> Result<Passphrase> {
    let named = |what: &dyn Display| failed(format_args!("{}: {what}", program.display()));
    let mut child = Command::new(program)
        .arg(question)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| named(&error))?;
    let mut output = child.stdout.take().expect("it was piped");
    let answer = first_line(&mut output).map_err(|error| named(&error));
    drop(output);
    let status = child.wait().map_err(|error| named(&error))?;
    if status.success() { answer } else { Err(named(&status)) }
}

fn of_file(path: &Path) -> Result<Passphrase> {
    let read = File::open(path).and_then(|mut file| first_line(&mut file));
    read.map_err(|error| failed(format_args!("{}: {error}", path.display())))
}

/// Reads the first line of an inherited descriptor, which stays open after it.
fn of_descriptor(number: RawFd) -> Result<Passphrase> {
    let read = duplicate(number).map_err(std::io::Error::from);
    let read = read.and_then(|descriptor| first_line(&mut File::from(descriptor)));
    read.map_err(|error| failed(format_args!("file descriptor {number}: {error}")))
}

fn failed(what: impl Display) -> Error {
    Error::Asking(what.to_string())
}
