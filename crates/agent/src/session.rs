//! Connections to the agent of a home directory.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cert::{Fingerprint, Keygrip};
use zeroize::Zeroizing;

use crate::connection::{Connection, Respond, Silent, Wait};
use crate::socket::agent_socket;
use crate::start::{self, is_absent};
use crate::{Error, Result, environment};

/// How the agent asks for passphrases (gpg's `--pinentry-mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PinentryMode {
    /// With its pinentry.
    #[default]
    Ask,
    /// Not at all, as if the user had cancelled.
    Cancel,
    /// Not at all.
    Error,
    /// By asking this program.
    Loopback,
}

impl PinentryMode {
    fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Cancel => "cancel",
            Self::Error => "error",
            Self::Loopback => "loopback",
        }
    }
}

/// Which program is started if no agent listens.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Start {
    Installed,
    Program(PathBuf),
    None,
}

/// The agent of a GnuPG home directory.
#[derive(Clone, Debug)]
pub struct Agent {
    home: PathBuf,
    socket: PathBuf,
    start: Start,
    pinentry: PinentryMode,
    state: Arc<Mutex<State>>,
}

/// What is known of an agent.
#[derive(Debug, Default)]
struct State {
    connection: Option<Connection>,
    /// Why it could not be started, which is not tried again.
    not_started: Option<(PathBuf, String)>,
    /// Why something was done without its keys.
    fault: Option<String>,
    /// Its name for the passphrase of the key that it exported last, which it remembers for some seconds, and the primary
    /// key of that certificate.
    cache_nonce: Option<(Fingerprint, String)>,
}

/// Passes on what comes before the end of an answer, and notes the name of a passphrase.
struct NotesNonce<'a> {
    respond: &'a mut dyn Respond,
    nonce: Option<String>,
}

impl Respond for NotesNonce<'_> {
    fn status_bytes(&mut self, keyword: &str, text: &[u8]) {
        if keyword == "CACHE_NONCE" && text.iter().all(u8::is_ascii_hexdigit) {
            self.nonce = String::from_utf8(text.to_vec()).ok();
        }
        self.respond.status_bytes(keyword, text);
    }

    fn inquire(&mut self, keyword: &str, text: &str) -> Option<Zeroizing<Vec<u8>>> {
        self.respond.inquire(keyword, text)
    }
}

impl Agent {
    /// Finds the agent of a home directory, which is started when it is first needed; `is_default` says that the
    /// directory is `~/.gnupg`.
    pub fn of_home(home: &Path, is_default: bool) -> Self {
        Self {
            home: home.to_owned(),
            socket: agent_socket(home, is_default),
            start: Start::Installed,
            pinentry: PinentryMode::Ask,
            state: Arc::default(),
        }
    }

    /// Starts this program instead of the installed one.
    pub fn with_program(self, program: PathBuf) -> Self {
        Self { start: Start::Program(program), ..self }
    }

    /// Starts none (gpg's `--no-autostart`).
    pub fn without_start(self) -> Self {
        Self { start: Start::None, ..self }
    }

    /// Has passphrases asked for in this way.
    pub fn asking(self, pinentry: PinentryMode) -> Self {
        Self { pinentry, ..self }
    }

    /// Returns the directory of the agent's files.
    pub fn key_directory(&self) -> PathBuf {
        self.home.join("private-keys-v1.d")
    }

    /// Returns the path of its socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Says whether it runs or can be started.
    pub fn is_available(&self) -> bool {
        self.socket.exists() || self.program().is_some()
    }

    /// Notes why something is done without its keys.
    pub(crate) fn note_fault(&self, fault: String) {
        self.state().fault.get_or_insert(fault);
    }

    /// Returns why something was done without its keys.
    pub fn fault(&self) -> Option<String> {
        self.state().fault.clone()
    }

    /// Returns how passphrases are asked for.
    pub(crate) fn pinentry(&self) -> PinentryMode {
        self.pinentry
    }

    /// Returns the program to start, if there is one and it may be.
    fn program(&self) -> Option<PathBuf> {
        match &self.start {
            Start::Installed => start::program(),
            Start::Program(program) => Some(program.clone()),
            Start::None => None,
        }
    }

    /// Sends a command and returns the data of the answer.
    ///
    /// # Errors
    ///
    /// Those of connecting and of the answer.
    pub fn transact(
        &self,
        command: &str,
        wait: Wait,
        respond: &mut dyn Respond,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let mut state = self.state();
        let answer = self.connected(&mut state)?.transact(command, wait, respond);
        if let Err(Error::Io(_) | Error::Protocol(_)) = answer {
            state.connection = None;
        }
        answer
    }

    /// Sends commands at once, each of which must succeed, and asks nobody; then one more, whose answer is returned.
    ///
    /// # Errors
    ///
    /// The first one's that fails, and those of [`transact`](Self::transact).
    pub(crate) fn transact_after(
        &self,
        before: &[String],
        command: &str,
        respond: &mut dyn Respond,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let mut state = self.state();
        let connection = self.connected(&mut state)?;
        let answer = connection.transact_all(before).and_then(|answers| {
            answers.into_iter().try_for_each(|answer| answer.map(drop))?;
            connection.transact(command, Wait::User, respond)
        });
        if let Err(Error::Io(_) | Error::Protocol(_)) = answer {
            state.connection = None;
        }
        answer
    }

    /// Exports a key, after commands that ask nobody. It asks for its passphrase, unless that of the key of the same
    /// certificate before opens it, too.
    ///
    /// # Errors
    ///
    /// Those of [`transact_after`](Self::transact_after).
    pub(crate) fn export(
        &self,
        primary: Fingerprint,
        before: &[String],
        key: &str,
        respond: &mut dyn Respond,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let known = self.state().cache_nonce.clone().filter(|(of, _)| *of == primary);
        let known = known.map(|(_, nonce)| format!("--cache-nonce={nonce} ")).unwrap_or_default();
        let mut respond = NotesNonce { respond, nonce: None };
        let exported = self.transact_after(before, &format!("EXPORT_KEY {known}{key}"), &mut respond)?;
        if let Some(nonce) = respond.nonce {
            self.state().cache_nonce = Some((primary, nonce));
        }
        Ok(exported)
    }

    /// Deletes a key without a question.
    ///
    /// # Errors
    ///
    /// If it has no such key, and those of [`transact`](Self::transact).
    pub fn delete(&self, keygrip: Keygrip) -> Result<()> {
        self.transact(&format!("DELETE_KEY --force {keygrip}"), Wait::Machine, &mut Silent).map(drop)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A connection in an unknown state answers with an error, and is closed then.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connected<'s>(&self, state: &'s mut State) -> Result<&'s mut Connection> {
        if state.connection.is_none() {
            if let Some((program, reason)) = state.not_started.clone() {
                return Err(Error::Start { program, reason });
            }
            let opened = self.open().inspect_err(|error| {
                if let Error::Start { program, reason } = error {
                    state.not_started = Some((program.clone(), reason.clone()));
                }
            })?;
            state.connection = Some(opened);
        }
        state.connection.as_mut().ok_or(Error::Protocol("there is no connection"))
    }

    fn open(&self) -> Result<Connection> {
        let mut connection = match Connection::open(&self.socket) {
            Err(Error::Io(error)) if is_absent(&error) => match self.program() {
                Some(program) => start::started(&program, &self.home, &self.socket)?,
                None => return Err(Error::NoAgent { socket: self.socket.clone() }),
            },
            opened => opened?,
        };
        let mut commands = environment::commands();
        commands.push("OPTION allow-pinentry-notify".to_owned());
        commands.push("OPTION agent-awareness=2.1.0".to_owned());
        // Old agents do not know every option, and restricted ones refuse them.
        connection.transact_all(&commands)?;
        if self.pinentry != PinentryMode::Ask {
            let command = format!("OPTION pinentry-mode={}", self.pinentry.word());
            connection.transact(&command, Wait::Machine, &mut Silent)?;
        }
        Ok(connection)
    }
}
