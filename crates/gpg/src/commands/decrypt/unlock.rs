//! Finds the session key of a message, with gpg's messages: the recipients of the message, whose passphrase is
//! needed, what did not work.

use std::cell::RefCell;

use engine::configuration::Compat;
use engine::message::{EncryptedDataFormat, EncryptedSessionKey, Error, Result, SessionKey, Unlock};

use super::search::Search;
use crate::code::Code;
use crate::settings::Settings;
use crate::streams::Streams;

/// The result of the search for a session key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was not needed: there are no encrypted data.
    NotAsked,
    /// There is none.
    NoKey,
    /// There is one.
    Key,
    /// It was not looked for (`--list-only`).
    ListedOnly,
}

/// What the search for a session key found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unlocked {
    /// Whether the message can be opened with a passphrase.
    pub(super) has_passphrases: bool,
    pub(super) outcome: Outcome,
    /// Why there is none, where gpg says it.
    pub(super) code: Option<Code>,
}

/// Finds session keys.
pub(super) struct Unlocker<'a> {
    settings: &'a Settings,
    streams: &'a RefCell<&'a mut Streams>,
    unlocked: Unlocked,
    /// The error that ends the run.
    failure: Option<anyhow::Error>,
}

impl Unlocked {
    /// Says whether there were encrypted data.
    pub(super) fn is_asked(&self) -> bool {
        self.outcome != Outcome::NotAsked
    }
}

impl<'a> Unlocker<'a> {
    pub(super) fn new(settings: &'a Settings, streams: &'a RefCell<&'a mut Streams>) -> Self {
        let unlocked = Unlocked { has_passphrases: false, outcome: Outcome::NotAsked, code: None };
        Self { settings, streams, unlocked, failure: None }
    }

    /// Returns the result of the search, or the error that ends the run.
    pub(super) fn end(self) -> anyhow::Result<Unlocked> {
        self.failure.map_or(Ok(self.unlocked), Err)
    }
}

impl Unlock for Unlocker<'_> {
    fn session_key(
        &mut self,
        encrypted_keys: &[EncryptedSessionKey],
        container: &EncryptedDataFormat,
        fits: &dyn Fn(&SessionKey) -> bool,
    ) -> Result<SessionKey> {
        let settings = self.settings;
        let mut streams = self.streams.borrow_mut();
        self.unlocked.has_passphrases = encrypted_keys
            .iter()
            .any(|encrypted_key| matches!(encrypted_key, EncryptedSessionKey::Password(_)));
        let mut search = Search::new(settings, &mut streams, container, fits);
        let found = search.all(encrypted_keys);
        let is_cipher_reported = search.is_cipher_reported;
        self.unlocked.code = search.code;
        let found = match found {
            Ok(found) => found,
            Err(failure) => {
                self.failure = Some(failure);
                return Err(Error::NoKey);
            }
        };
        streams.status("BEGIN_DECRYPTION");
        self.unlocked.outcome = match &found {
            _ if settings.message.list_only => Outcome::ListedOnly,
            Some(_) => Outcome::Key,
            None => Outcome::NoKey,
        };
        let key = found.filter(|_| self.unlocked.outcome == Outcome::Key).ok_or(Error::NoKey)?;
        if settings.verbose > 0 && !is_cipher_reported {
            let (cipher, mode) = (key.cipher(), container.mode().map_or("CFB", |mode| mode.name()));
            streams.info(match settings.compat {
                Compat::V2_2 => format!("{cipher} encrypted data"),
                Compat::V2_4 => format!("{cipher}.{mode} encrypted data"),
            });
        }
        report_key(settings, &mut streams, container, &key);
        Ok(key)
    }
}

fn report_key(settings: &Settings, streams: &mut Streams, container: &EncryptedDataFormat, key: &SessionKey) {
    let protection = if *container == EncryptedDataFormat::Version1 { 2 } else { 0 };
    let mode = container.mode().map_or(0, |mode| mode.number());
    streams.status(format!("DECRYPTION_INFO {protection} {} {mode}", key.cipher().number()));
    if settings.message.show_session_key {
        let text = key.to_text();
        streams.info(format_args!("session key: '{}'", *text));
        streams.status(format!("SESSION_KEY {}", *text));
    }
}
