//! The search for the session key of a message: the recipients' packets, whose passphrase is needed, what did not work.

use std::io;
use std::ops::ControlFlow;

use engine::configuration::Compat;
use engine::descriptor;
use engine::message::{Addressee, EncryptedDataFormat, EncryptedSessionKey, Pkesk, SessionKey, Skesk};
use engine::store::query::Name as KeyName;
use engine::store::{Detail, Fingerprint, Query, Selection};
use secret::{Name, SecretKeys, StoredKey};

use super::attempt::{self, Attempt, RecipientFailure, key_id};
use crate::code::Code;
use crate::commands::known_key::KnownKey;
use crate::failure::{Failure, reported};
use crate::keyrings::Keyrings;
use crate::passphrases::{Hint, Passphrases};
use crate::prompt;
use crate::secrets::{Secrets, secret_keys};
use crate::settings::Settings;
use crate::streams::Streams;
use crate::symmetric::{self, Purpose};

/// The session key of the options; `None` if it is malformed.
type Overriding = Option<SessionKey>;

/// Searches the session key of a message.
pub(super) struct Search<'a> {
    settings: &'a Settings,
    streams: &'a mut Streams,
    container: &'a EncryptedDataFormat,
    fits: &'a dyn Fn(&SessionKey) -> bool,
    /// The cipher was reported with the passphrase.
    pub(super) is_cipher_reported: bool,
    /// Why there is no session key, where gpg says it.
    pub(super) code: Option<Code>,
}

impl<'a> Search<'a> {
    /// Begins a search; `fits` says whether a session key may be that of the data in `container`.
    pub(super) fn new(
        settings: &'a Settings,
        streams: &'a mut Streams,
        container: &'a EncryptedDataFormat,
        fits: &'a dyn Fn(&SessionKey) -> bool,
    ) -> Self {
        Self { settings, streams, container, fits, is_cipher_reported: false, code: None }
    }

    /// Tries the encrypted session keys one after the other, and reports each.
    pub(super) fn all(
        &mut self,
        encrypted_keys: &[EncryptedSessionKey],
    ) -> anyhow::Result<Option<SessionKey>> {
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
        let tries_later = self.settings.compat >= Compat::V2_4;
        let mut found = None;
        let mut attempts = Vec::new();
        for encrypted_key in encrypted_keys {
            match encrypted_key {
                EncryptedSessionKey::Recipient(recipient) => {
                    let keyrings = keyrings.as_ref().expect("they were opened for this");
                    let mut attempt = self.announced(recipient, keyrings)?;
                    if !tries_later {
                        attempt.opened =
                            self.opened(&attempt, keyrings, overriding.as_ref(), found.is_some())?;
                    }
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
            found = overriding.clone().flatten();
        }
        if !self.settings.quiet {
            attempt::report_passwords(self.streams, passwords.len());
        }
        if tries_later {
            return self.try_later(found, overriding, keyrings.as_ref(), &mut attempts);
        }
        if !self.settings.quiet {
            attempt::report(self.streams, &attempts);
        }
        Ok(found)
    }

    /// Ends the search as gpg 2.4 does: if no passphrase has found the session key, the one of the options is taken, else
    /// each secret key is tried.
    fn try_later(
        &mut self,
        found: Option<SessionKey>,
        overriding: Option<Overriding>,
        keyrings: Option<&Keyrings>,
        attempts: &mut [Attempt<'_>],
    ) -> anyhow::Result<Option<SessionKey>> {
        if self.settings.message.list_only {
            return Ok(found);
        }
        if let Some(given) = overriding {
            if given.is_none() {
                attempt::report_bad_session_key(self.streams);
                self.code = Some(Code::BAD_SESSION_KEY);
            }
            return Ok(given);
        }
        if !self.settings.quiet {
            attempt::list(self.streams, attempts);
        }
        let Some(keyrings) = keyrings.filter(|_| found.is_none()) else {
            self.code = found.is_none().then_some(Code::BAD_SESSION_KEY);
            return Ok(found);
        };
        let found = self.by_secret_keys(attempts, keyrings)?;
        attempt::report_without_secret_key(self.streams, attempts);
        if found.is_none() {
            self.code = Some(attempt::report_none(self.streams, attempts));
        }
        Ok(found)
    }

    /// Tries each secret key on every recipient's packet that may be for it, the last packet first.
    fn by_secret_keys(
        &mut self,
        attempts: &mut [Attempt<'_>],
        keyrings: &Keyrings,
    ) -> anyhow::Result<Option<SessionKey>> {
        let Self { settings, .. } = *self;
        let mut certificate = None;
        for stored in self.in_order(keyrings)? {
            let key_id = stored.fingerprint.key_id();
            let known = KnownKey::find(settings, keyrings, key_id, None)?;
            if let Some(primary) = known.as_ref().map(|known| known.primary)
                && certificate.replace(primary) != Some(primary)
            {
                self.streams.considered(&primary);
            }
            if !stored.protection.has_secret() {
                continue;
            }
            for attempt in attempts.iter_mut().rev() {
                let recipient = attempt.recipient;
                let is_hidden = recipient.addressee == Addressee::Hidden;
                let is_meant = is_for(recipient, &stored)
                    || (is_hidden || settings.message.try_all_secrets)
                        && known
                            .as_ref()
                            .is_some_and(|it| it.encrypts && it.key.algorithm == recipient.algorithm);
                if !is_meant || (is_hidden && settings.message.skip_hidden_recipients) {
                    continue;
                }
                attempt.opened = self.open_as_one_of(recipient, &stored, known.as_ref())?;
                match &attempt.opened {
                    Ok(key) => return Ok(Some(key.clone())),
                    Err(RecipientFailure::Code(Code::FULLY_CANCELLED)) => return Ok(None),
                    Err(_) => {}
                }
            }
        }
        Ok(None)
    }

    /// Tries a secret key on a recipient's packet, and tells that where the packet names no key.
    fn open_as_one_of(
        &mut self,
        recipient: &Pkesk,
        stored: &StoredKey,
        known: Option<&KnownKey>,
    ) -> anyhow::Result<Result<SessionKey, RecipientFailure>> {
        let is_told = recipient.addressee == Addressee::Hidden && !self.settings.quiet;
        if is_told {
            let key_id = stored.fingerprint.key_id();
            self.streams.info(format_args!("anonymous recipient; trying secret key {key_id} ..."));
        }
        match self.open(recipient, stored, known) {
            Ok(key) => {
                if let Some(known) = known {
                    self.streams.considered(&known.primary);
                }
                self.report_found(stored, known, &key);
                if is_told {
                    self.streams.info("okay, we are the anonymous recipient.");
                }
                Ok(Ok(key))
            }
            Err(failure) => Ok(Err(RecipientFailure::Code(failure.coded()?.code))),
        }
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

    /// Announces a recipient.
    fn announced<'p>(&mut self, recipient: &'p Pkesk, keyrings: &Keyrings) -> anyhow::Result<Attempt<'p>> {
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
        let not_tried = if self.settings.message.list_only {
            RecipientFailure::NotTried
        } else {
            RecipientFailure::NoSecretKey
        };
        Ok(Attempt { recipient, known, opened: Err(not_tried) })
    }

    fn opened(
        &mut self,
        attempt: &Attempt<'_>,
        keyrings: &Keyrings,
        overriding: Option<&Overriding>,
        is_found: bool,
    ) -> anyhow::Result<Result<SessionKey, RecipientFailure>> {
        let recipient = attempt.recipient;
        let settings = &self.settings.message;
        let is_hidden = recipient.addressee == Addressee::Hidden || settings.try_all_secrets;
        Ok(if settings.list_only {
            Err(RecipientFailure::NotTried)
        } else if let Some(given) = overriding {
            given.clone().ok_or(RecipientFailure::NoSuchSessionKey)
        } else if is_found || (is_hidden && settings.skip_hidden_recipients) {
            Err(RecipientFailure::NoSecretKey)
        } else if is_hidden {
            self.try_all(recipient, keyrings)?.ok_or(RecipientFailure::NoSecretKey)
        } else {
            self.try_named(recipient, attempt.known.as_ref())?
        })
    }

    /// Tries the secret key that a recipient's packet names.
    fn try_named(
        &mut self,
        recipient: &Pkesk,
        known: Option<&KnownKey>,
    ) -> anyhow::Result<Result<SessionKey, RecipientFailure>> {
        let stored = secret_keys(self.settings)?.list()?;
        let is_meant = |stored: &&StoredKey| is_for(recipient, stored) && stored.protection.has_secret();
        let Some(stored) = stored.iter().find(is_meant) else {
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
        for stored in self.in_order(keyrings)? {
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

    /// Returns the secret keys in the order of the keyrings, those of `--try-secret-key` first.
    fn in_order(&self, keyrings: &Keyrings) -> anyhow::Result<Vec<StoredKey>> {
        let queries: Vec<Query> = self
            .settings
            .message
            .try_secret_keys
            .iter()
            .filter_map(|name| Some(KeyName::parse(name).ok()?.query))
            .collect();
        let mut stored = secret_keys(self.settings)?.list()?;
        let order = in_keyrings(&stored, keyrings)?;
        stored.sort_by_key(|stored| {
            order.iter().position(|key| *key == stored.fingerprint).unwrap_or(order.len())
        });
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
    ) -> Result<SessionKey, Failure> {
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

/// Says whether a recipient's packet names a key.
fn is_for(recipient: &Pkesk, stored: &StoredKey) -> bool {
    match recipient.addressee {
        Addressee::KeyId(key_id) => stored.fingerprint.key_id() == key_id,
        Addressee::Fingerprint(fingerprint) => stored.fingerprint == fingerprint,
        Addressee::Hidden => false,
    }
}

/// Returns the keys of the certificates that secret keys belong to, in the order of the keyrings.
fn in_keyrings(stored: &[StoredKey], keyrings: &Keyrings) -> anyhow::Result<Vec<Fingerprint>> {
    let secrets = Secrets::of(stored);
    let mut order = Vec::new();
    for (_, snapshot) in keyrings.snapshots()?.iter() {
        let ids = secrets.certificates(snapshot.as_ref())?;
        snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
            order.extend(record.facts.iter().flat_map(|facts| facts.keys()).map(|key| key.fingerprint));
            ControlFlow::Continue(())
        })?;
    }
    Ok(order)
}
