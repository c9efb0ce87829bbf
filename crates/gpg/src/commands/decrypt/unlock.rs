//! Finds the session key of a message, with gpg's messages: the recipients of the message, whose passphrase is
//! needed, what did not work.

use std::cell::RefCell;
use std::io;

use engine::message::{
    Addressee, EncryptedDataFormat, EncryptedSessionKey, Error, Pkesk, Result, SessionKey, Skesk, Unlock,
};
use engine::store::Query;
use engine::store::query::Name as KeyName;
use secret::{Name, SecretKeys, StoredKey};

use super::attempt::{self, Attempt, RecipientFailure, key_id};
use crate::code::Code;
use crate::commands::known_key::KnownKey;
use crate::failure::{Failure, reported};
use crate::keyrings::Keyrings;
use crate::passphrases::{Hint, Passphrases};
use crate::prompt;
use crate::secrets::secret_keys;
use crate::settings::Settings;
use crate::streams::Streams;
use crate::symmetric::{self, Purpose};
use engine::descriptor;

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

/// The session key of the options; `None` if it is malformed.
type Overriding = Option<SessionKey>;

impl<'a> Unlocker<'a> {
    pub(super) fn new(settings: &'a Settings, streams: &'a RefCell<&'a mut Streams>) -> Self {
        let unlocked = Unlocked { has_passphrases: false, outcome: Outcome::NotAsked };
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
        let mut search =
            Search { settings, streams: &mut streams, container, fits, is_cipher_reported: false };
        let (found, is_cipher_reported) = (search.all(encrypted_keys), search.is_cipher_reported);
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
            streams.info(format_args!("{} encrypted data", key.cipher()));
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

struct Search<'a> {
    settings: &'a Settings,
    streams: &'a mut Streams,
    container: &'a EncryptedDataFormat,
    fits: &'a dyn Fn(&SessionKey) -> bool,
    /// The cipher was reported with the passphrase.
    is_cipher_reported: bool,
}

impl Search<'_> {
    /// Tries the encrypted session keys one after the other, and reports each.
    fn all(&mut self, encrypted_keys: &[EncryptedSessionKey]) -> anyhow::Result<Option<SessionKey>> {
        let overriding = self.overriding()?;
        let passwords: Vec<&Skesk> = encrypted_keys
            .iter()
            .filter_map(|encrypted_key| match encrypted_key {
                EncryptedSessionKey::Password(password) => Some(password),
                EncryptedSessionKey::Recipient(_) => None,
            })
            .collect();
        let has_recipients = encrypted_keys.len() > passwords.len();
        let keyrings = has_recipients.then(|| Keyrings::open(self.settings, self.streams)).transpose()?;
        let mut found = None;
        let mut attempts = Vec::new();
        for encrypted_key in encrypted_keys {
            match encrypted_key {
                EncryptedSessionKey::Recipient(recipient) => {
                    let keyrings = keyrings.as_ref().expect("they were opened for this");
                    let attempt =
                        self.recipient(recipient, keyrings, overriding.as_ref(), found.is_some())?;
                    found = found.or_else(|| attempt.opened.as_ref().ok().cloned());
                    attempts.push(attempt);
                }
                EncryptedSessionKey::Password(password) if found.is_none() => {
                    found = self.password(password, &passwords, overriding.as_ref())?;
                }
                EncryptedSessionKey::Password(_) => {}
            }
        }
        if encrypted_keys.is_empty() {
            found = overriding.flatten();
        }
        if !self.settings.quiet {
            attempt::report(self.streams, passwords.len(), &attempts);
        }
        Ok(found)
    }

    /// Returns the session key of the options, if there is one.
    fn overriding(&self) -> anyhow::Result<Option<Overriding>> {
        let settings = &self.settings.message;
        let text = match (&settings.override_session_key, settings.override_session_key_fd) {
            (_, Some(number)) => {
                let mut file = std::fs::File::from(descriptor::duplicate(number)?);
                prompt::read_line(&mut file)?
            }
            (text, None) => text.clone(),
        };
        Ok(text.map(|text| SessionKey::from_text(&String::from_utf8_lossy(&text))))
    }

    fn recipient<'p>(
        &mut self,
        recipient: &'p Pkesk,
        keyrings: &Keyrings,
        overriding: Option<&Overriding>,
        is_found: bool,
    ) -> anyhow::Result<Attempt<'p>> {
        let key_id = key_id(recipient);
        if self.settings.verbose > 0 {
            self.streams.info(format_args!("public key is {key_id}"));
        }
        let algorithm = recipient.algorithm.0;
        self.streams.status(format!("ENC_TO {key_id} {algorithm} 0"));
        let known = match recipient.addressee {
            Addressee::Hidden => None,
            _ => KnownKey::find(self.settings, keyrings, key_id, None)?,
        };
        let settings = &self.settings.message;
        let is_hidden = recipient.addressee == Addressee::Hidden || settings.try_all_secrets;
        let opened = if settings.list_only {
            Err(RecipientFailure::NotTried)
        } else if let Some(given) = overriding {
            given.clone().ok_or(RecipientFailure::NoSuchSessionKey)
        } else if is_found || (is_hidden && settings.skip_hidden_recipients) {
            Err(RecipientFailure::NoSecretKey)
        } else if is_hidden {
            self.try_all(recipient, keyrings)?.ok_or(RecipientFailure::NoSecretKey)
        } else {
            self.try_named(recipient, known.as_ref())?
        };
        Ok(Attempt { recipient, known, opened })
    }

    /// Tries the secret key that a recipient's packet names.
    fn try_named(
        &mut self,
        recipient: &Pkesk,
        known: Option<&KnownKey>,
    ) -> anyhow::Result<std::result::Result<SessionKey, RecipientFailure>> {
        let stored = secret_keys(self.settings)?.list()?;
        let is_meant = |stored: &&StoredKey| match recipient.addressee {
            Addressee::KeyId(key_id) => stored.fingerprint.key_id() == key_id,
            Addressee::Fingerprint(fingerprint) => stored.fingerprint == fingerprint,
            Addressee::Hidden => false,
        };
        let Some(stored) = stored.iter().find(|stored| is_meant(stored) && stored.protection.has_secret())
        else {
            return Ok(Err(RecipientFailure::NoSecretKey));
        };
        if let Some(known) = known {
            self.streams.considered(&known.primary);
            self.streams.considered(&known.primary);
        }
        match self.open(recipient, stored, known) {
            Ok(key) => {
                self.report_found(stored, known, &key);
                Ok(Ok(key))
            }
            Err(failure) => Ok(Err(RecipientFailure::Code(failure.coded()?.code))),
        }
    }

    /// Tries one secret key after another, those that the options name first.
    fn try_all(&mut self, recipient: &Pkesk, keyrings: &Keyrings) -> anyhow::Result<Option<SessionKey>> {
        for stored in self.in_order()? {
            let key_id = stored.fingerprint.key_id();
            let Some(known) = KnownKey::find(self.settings, keyrings, key_id, None)? else {
                continue;
            };
            let is_fit = known.key.algorithm == recipient.algorithm && known.encrypts;
            if !is_fit || !stored.protection.has_secret() {
                continue;
            }
            self.streams.considered(&known.primary);
            let is_quiet = self.settings.quiet;
            if !is_quiet {
                let text = format!("anonymous recipient; trying secret key {key_id} ...");
                self.streams.info(text);
            }
            if let Some(key) = reported(self.open(recipient, &stored, Some(&known)))? {
                self.streams.considered(&known.primary);
                self.report_found(&stored, Some(&known), &key);
                if !is_quiet {
                    self.streams.info("okay, we are the anonymous recipient.");
                }
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// Returns the secret keys, those of `--try-secret-key` first.
    fn in_order(&self) -> anyhow::Result<Vec<StoredKey>> {
        let queries: Vec<Query> = self
            .settings
            .message
            .try_secret_keys
            .iter()
            .filter_map(|name| Some(KeyName::parse(name).ok()?.query))
            .collect();
        let mut stored = secret_keys(self.settings)?.list()?;
        stored.sort_by_key(|stored| {
            queries.iter().position(|query| query.names_key(&stored.fingerprint)).unwrap_or(queries.len())
        });
        Ok(stored)
    }

    fn open(
        &mut self,
        recipient: &Pkesk,
        stored: &StoredKey,
        known: Option<&KnownKey>,
    ) -> std::result::Result<SessionKey, Failure> {
        let keys = secret_keys(self.settings)?;
        let mut ask = Passphrases::new(self.settings, self.streams);
        if let Some(known) = known {
            ask = ask.with_hint(Hint { primary: known.primary, user_id: known.user_id.clone() });
        }
        let opened = keys
            .open(&Name::Fingerprint(stored.fingerprint), &mut ask)
            .and_then(|mut key| recipient.open(key.as_mut(), self.container.cipher()));
        match opened {
            Ok(Some(key)) => Ok(key),
            Ok(None) => Err(Code::WRONG_SECRET_KEY.into()),
            Err(error) => Err(ask.code(&error).into()),
        }
    }

    fn report_found(&mut self, stored: &StoredKey, known: Option<&KnownKey>, key: &SessionKey) {
        let Some(known) = known else { return };
        let cipher = key.cipher();
        if !self.settings.quiet && !known.reads(cipher.number()) {
            let text = format!("WARNING: cipher algorithm {cipher} not found in recipient preferences");
            self.streams.info(text);
        }
        let KnownKey { primary, owner_trust, .. } = known;
        self.streams.status(format!("DECRYPTION_KEY {} {primary} {owner_trust}", stored.fingerprint));
    }

    /// Asks for the passphrase; unlike gpg, tries it on every symmetric-key encrypted session key packet.
    fn password(
        &mut self,
        asked: &Skesk,
        all: &[&Skesk],
        overriding: Option<&Overriding>,
    ) -> anyhow::Result<Option<SessionKey>> {
        let cipher = asked.cipher;
        self.is_cipher_reported = !self.settings.quiet;
        let Self { settings, streams, .. } = self;
        if !settings.quiet {
            let mode = asked.mode().map_or("CFB", |mode| mode.name());
            let what = if asked.is_direct() { "data" } else { "session key" };
            streams.info(format_args!("{cipher}.{mode} encrypted {what}"));
        }
        if settings.message.list_only {
            return Ok(None);
        }
        if let Some(given) = overriding {
            return Ok(given.clone());
        }
        let purpose = Purpose { cipher: cipher.number(), s2k: &asked.s2k, is_new: false };
        let Some(password) = reported(symmetric::passphrase(&purpose, settings, streams))? else {
            return Ok(None);
        };
        let mut last = None;
        for packet in all {
            let opened = packet.open(password.as_bytes(), self.container.cipher());
            match opened.map_err(io::Error::from)? {
                Some(key) if (self.fits)(&key) => return Ok(Some(key)),
                other => last = last.or(other),
            }
        }
        symmetric::forget(&asked.s2k, self.settings);
        // A session key that does not fit is returned too: the passphrase was wrong then.
        Ok(last)
    }
}
