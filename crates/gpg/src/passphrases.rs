//! Passphrases: given with the command, asked for, or refused, as the options say.

use std::fs::File;

use agent::description::{self, KeyOperation};
use agent::{Agent, PassphraseQuestion};
use engine::cert::Fingerprint;
use engine::passphrase::{self, PassphraseSource};
use secret::ask::KeyName;
use secret::{Ask, Error, Passphrase, Question};
use zeroize::Zeroizing;

use crate::code::Code;
use crate::failure::Failure;
use crate::prompt;
use crate::secrets;
use crate::settings::{CommandInput, PassphraseSettings, PinentryMode, Settings};
use crate::status;
use crate::streams::Streams;

/// Maximum length in bytes of a passphrase that is asked for.
pub(crate) const MAX_PASSPHRASE: u32 = 100;

/// Reads the passphrase that was given with the command; `None` if there is none, or if gpg would ask the user.
///
/// # Errors
///
/// If it cannot be read.
pub(crate) fn given(settings: &Settings) -> anyhow::Result<Option<Passphrase>> {
    let PassphraseSettings { text, input, pinentry, .. } = &settings.passphrase;
    let read = match input {
        // A file that cannot be opened is no passphrase, as in gpg.
        Some(input @ CommandInput::File(_)) => prompt::open(input).ok(),
        Some(input @ CommandInput::Fd(_)) => Some(
            prompt::open(input)
                .map_err(|error| anyhow::anyhow!("passphrase-fd is invalid: {}", error.root_cause()))?,
        ),
        None => None,
    };
    // The line is always read: the input of the command may follow it.
    let line = read.map(|mut file| prompt::read_line(&mut file)).transpose()?;
    let given = line.map(Option::unwrap_or_default).or_else(|| text.clone());
    let counts = settings.batch || *pinentry == PinentryMode::Loopback;
    Ok(given.map(Zeroizing::new).filter(|_| counts).map(|bytes| Passphrase::new(&bytes)))
}

/// Returns the passphrase that a program gives for a new subkey, with the command or because it is asked; `None` where the
/// subkey is locked as the primary key is.
///
/// # Errors
///
/// Those of asking.
pub(crate) fn of_new_subkey(
    settings: &Settings,
    streams: &mut Streams,
    key: &KeyName,
) -> Result<Option<Passphrase>, Failure> {
    let PassphraseSettings { given, pinentry, .. } = &settings.passphrase;
    let is_asked = *pinentry == PinentryMode::Loopback && settings.command_input.is_some();
    if given.is_none() && !is_asked {
        return Ok(None);
    }
    let mut ask = Passphrases::new(settings, streams);
    let answer = ask.passphrase(&Question::New { key });
    match answer {
        Ok(None) if ask.answers_ended => Err(Code::CANCELLED.into()),
        Ok(passphrase) => Ok(passphrase.filter(|passphrase| !passphrase.is_empty())),
        Err(error) => Err(ask.failure(&error)),
    }
}

/// Returns the agent whose pinentry asks for passphrases of what is not in it; `None` if a program or a terminal does.
pub(crate) fn pinentry(settings: &Settings) -> Option<&Agent> {
    let agent = secrets::agent(settings);
    let is_wanted = !settings.agent.keys_in_files && PassphraseSource::of_environment().is_none();
    (is_wanted && agent.is_available()).then_some(agent)
}

/// Says whether an error means that a program or the terminal has to ask, since there is no pinentry.
pub(crate) fn lacks_pinentry(error: &agent::Error) -> bool {
    let code = error.code().and_then(Code::of_agent);
    code == Some(Code::NO_PINENTRY) || code == Some(Code::NO_AGENT)
}

/// Asks for the passphrases of secret keys.
pub(crate) struct Passphrases<'a> {
    settings: &'a Settings,
    streams: &'a mut Streams,
    given: Option<&'a Passphrase>,
    hint: Option<Hint>,
    /// The last answer.
    last: Option<Passphrase>,
    /// Why there was no answer.
    refused: Option<Code>,
    /// The answers of the program that is asked have ended.
    answers_ended: bool,
}

/// The key and user ID in the status lines that ask a program for a passphrase.
#[derive(Clone, Debug)]
pub(crate) struct Hint {
    pub(crate) primary: Fingerprint,
    pub(crate) user_id: Vec<u8>,
}

impl<'a> Passphrases<'a> {
    /// Asks as the settings say, unless a passphrase was given with the command.
    pub(crate) fn new(settings: &'a Settings, streams: &'a mut Streams) -> Self {
        let given = settings.passphrase.given.as_ref();
        Self { settings, streams, given, hint: None, last: None, refused: None, answers_ended: false }
    }

    /// Uses this passphrase, if there is one, instead of the one that was given with the command.
    pub(crate) fn with_given(self, given: Option<&'a Passphrase>) -> Self {
        Self { given: given.or(self.given), ..self }
    }

    /// Names the key and user ID in the status lines that ask a program for the passphrase.
    pub(crate) fn with_hint(self, hint: Hint) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// Returns the output streams.
    pub(crate) fn streams(&mut self) -> &mut Streams {
        self.streams
    }

    /// Returns gpg's code for why secret keys could not be used; if gpg has none, the reason is reported.
    pub(crate) fn code(&mut self, error: &Error) -> Code {
        match error {
            Error::WrongPassphrase { .. } | Error::TooManyTries { .. } => Code::BAD_PASSPHRASE,
            Error::NoPassphrase { .. } => self.refused.unwrap_or(Code::NO_PINENTRY),
            Error::Missing { .. } | Error::Stub { .. } | Error::OnCard { .. } => Code::NO_SECRET_KEY,
            Error::Unsupported { .. } | Error::UnknownProtection { .. } => Code::UNSUPPORTED_ALGORITHM,
            Error::Damaged { .. } | Error::Malformed { .. } => Code::BAD_SECRET_KEY,
            Error::Agent { code, .. } => match code.and_then(Code::of_agent) {
                Some(code) => code,
                None => self.general(error),
            },
            _ => self.general(error),
        }
    }

    /// Returns gpg's failure for why secret keys could not be used, which its agent finds, but for the end of the answers.
    pub(crate) fn failure(&mut self, error: &Error) -> Failure {
        let code = self.code(error);
        if self.answers_ended { Failure::from(code) } else { Failure::of_agent(code) }
    }

    fn general(&mut self, error: &Error) -> Code {
        self.streams.info(error);
        Code::GENERAL
    }

    /// Remembers the passphrase of a key for the next key.
    fn answered(
        &mut self,
        question: &Question<'_>,
        answer: secret::Result<Option<Passphrase>>,
    ) -> secret::Result<Option<Passphrase>> {
        if let (Question::Unlock { .. }, Ok(answer)) = (question, &answer) {
            self.last.clone_from(answer);
        }
        match answer {
            Ok(None) => Ok(self.refuse(Code::NO_PINENTRY)),
            other => other,
        }
    }

    fn refuse<T>(&mut self, code: Code) -> Option<T> {
        self.refused = Some(code);
        None
    }

    /// Says whether there is a program or a terminal that asks the user.
    fn can_ask(&self) -> bool {
        pinentry(self.settings).is_some()
            || match PassphraseSource::usual() {
                Ok(PassphraseSource::Terminal) => !self.settings.no_tty && File::open("/dev/tty").is_ok(),
                source => source.is_ok(),
            }
    }

    /// Returns the question in gpg's words. The agent is not to remember the answer: it would tell it to any program.
    fn for_pinentry(&self, question: &Question<'_>) -> PassphraseQuestion {
        let (key, wrong) = match question {
            Question::Unlock { key, wrong } => (key, *wrong),
            Question::New { .. } => {
                let description = "Please enter the passphrase to\nprotect your new key".to_owned();
                return PassphraseQuestion { description, is_new: true, ..PassphraseQuestion::default() };
            }
        };
        let (primary, user_id) = match &self.hint {
            Some(Hint { primary, user_id }) => (primary, user_id.as_slice()),
            None => (&key.fingerprint, b"".as_slice()),
        };
        let tries = secret::ask::MAX_TRIES;
        PassphraseQuestion {
            error: (wrong > 0).then(|| format!("Bad Passphrase (try {} of {tries})", wrong + 1)),
            description: description::question(key, primary, user_id, KeyOperation::Unlock),
            ..PassphraseQuestion::default()
        }
    }

    fn ask_program(&mut self, question: &Question<'_>) -> anyhow::Result<Option<Passphrase>> {
        if let (Question::Unlock { key, .. }, Some(Hint { primary, user_id })) = (question, &self.hint) {
            let (key_id, primary, algorithm) = (key.fingerprint.key_id(), primary.key_id(), key.algorithm.0);
            self.streams.status(status::with_text(format_args!("USERID_HINT {key_id}"), user_id));
            self.streams.status(format!("NEED_PASSPHRASE {key_id} {primary} {algorithm} 0"));
        }
        self.streams.status(format!("INQUIRE_MAXLEN {MAX_PASSPHRASE}"));
        let answer = prompt::hidden("passphrase.enter", self.settings, self.streams)?;
        Ok(answer.map(|answer| Passphrase::new(&answer)))
    }
}

impl Ask for Passphrases<'_> {
    fn passphrase(&mut self, question: &Question<'_>) -> secret::Result<Option<Passphrase>> {
        let is_repeated = matches!(question, Question::Unlock { wrong: 1.., .. });
        if let Some(given) = self.given {
            if !is_repeated {
                return Ok(Some(given.clone()));
            }
            // It may have been given for something else: a message, for example.
            if self.settings.passphrase.pinentry != PinentryMode::Ask || !self.can_ask() {
                return Ok(self.refuse(Code::BAD_PASSPHRASE));
            }
        }
        match self.settings.passphrase.pinentry {
            PinentryMode::Cancel => Ok(self.refuse(Code::CANCELLED)),
            PinentryMode::Error => Ok(self.refuse(Code::NO_PINENTRY)),
            PinentryMode::Loopback if is_repeated => Ok(self.refuse(Code::BAD_PASSPHRASE)),
            PinentryMode::Loopback => {
                let asked = self.ask_program(question);
                match asked.map_err(|error| Error::Asking(format!("{error:#}")))? {
                    None => {
                        self.answers_ended = true;
                        Ok(self.refuse(Code::CANCELLED))
                    }
                    answer => self.answered(question, Ok(answer)),
                }
            }
            PinentryMode::Ask => {
                if let Some(agent) = pinentry(self.settings) {
                    match agent.passphrase(&self.for_pinentry(question)) {
                        Err(error) if lacks_pinentry(&error) => {}
                        Err(error) => match error.code().and_then(Code::of_agent) {
                            Some(code) => return Ok(self.refuse(code)),
                            None => return Err(error.into()),
                        },
                        Ok(answer) => return self.answered(question, Ok(Some(answer))),
                    }
                }
                let source =
                    PassphraseSource::usual().map_err(|error| Error::Asking(engine::causes(&error)))?;
                if source == PassphraseSource::Terminal && self.settings.no_tty {
                    return Ok(self.refuse(Code::NO_PINENTRY));
                }
                let owner =
                    self.hint.as_ref().map(|hint| String::from_utf8_lossy(&hint.user_id).into_owned());
                let mut asked = passphrase::Passphrases::new(source, |_| owner.clone());
                let answer = asked.passphrase(question);
                drop(asked);
                self.answered(question, answer)
            }
        }
    }

    fn known(&mut self) -> Option<Passphrase> {
        self.last.clone()
    }
}
