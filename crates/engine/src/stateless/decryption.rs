//! Decrypting messages.

use std::collections::HashMap;
use std::io::{Read, Write};

use cert::{ArmorRules, Fingerprint, Timestamp};
use message::{
    Addressee, Allowed, EncryptedDataFormat, EncryptedSessionKey, Error, MessageVerifier, Pkesk, SessionKey,
    Skesk, Unlock,
};
use secret::{StoredKey, Unlocked};

use super::signatures::examined;
use super::{Failure, Keys, Kind, Password, Period, Result, Signers, Verification};
use crate::decryption::PlaintextOutput;
use crate::mail::Mail;

/// The keys and passwords for a message, and its possible signers.
#[derive(Clone, Default)]
pub struct Decryption {
    /// Session keys.
    pub session_keys: Vec<SessionKey>,
    /// Passwords of messages.
    pub passwords: Vec<Password>,
    /// Secret keys.
    pub keys: Vec<Keys>,
    /// What unlocks them.
    pub key_passwords: Vec<Password>,
    /// Who may have signed.
    pub signers: Vec<Signers>,
    /// When they may have signed.
    pub period: Period,
}

/// The result of decrypting a message.
#[derive(Debug)]
pub struct Decrypted {
    /// Its session key.
    pub session_key: SessionKey,
    /// The valid signatures, possibly none.
    pub verifications: Vec<Verification>,
}

/// Decrypts a message. Only authenticated content is written.
///
/// # Errors
///
/// [`Kind::MissingArg`] if nothing is given that could open it, [`Kind::CannotDecrypt`], [`Kind::KeyIsProtected`],
/// [`Kind::BadData`] for what is no encrypted message.
pub fn decrypt(
    message: &mut (dyn Read + Send),
    out: Box<dyn Write + '_>,
    decryption: &Decryption,
    now: Timestamp,
) -> Result<Decrypted> {
    let Decryption { session_keys, passwords, keys, .. } = decryption;
    if session_keys.is_empty() && passwords.is_empty() && keys.is_empty() {
        return Err(Failure::new(
            Kind::MissingArg,
            "give a key, a password or a session key to decrypt with",
        ));
    }
    let secret_keys = keys
        .iter()
        .flat_map(|keys| keys.stored_keys().into_iter().map(move |stored| (keys, stored)))
        .collect();
    let mut unlock = Unlocking {
        given: decryption,
        secret_keys,
        unlocked: HashMap::new(),
        failure: None,
        was_asked: false,
        opened_by: None,
    };
    let mut release = PlaintextOutput::to_stream(out, false).without_limit();
    let mut verifier = MessageVerifier::new(&mut release).with_signatures_around_encryption();
    let allowed = Allowed { armor: ArmorRules::Rfc9580, unknown_packets: true, ..Allowed::default() };
    let mut mail = Mail::read(message)?;
    let read = message::decrypt(&mut mail, allowed, &mut unlock, &mut verifier);
    let signatures = read.and_then(|()| verifier.finish()).map_err(|error| unlock.explained(error))?;
    let Decryption { signers, period, .. } = decryption;
    let verifications = examined(signatures, signers, *period, unlock.opened_by.as_slice(), now)?.holding;
    let opened = release.decrypted.as_ref().map(|(_, key)| key.clone());
    let session_key = opened.ok_or_else(|| Failure::bad_data(Error::NotEncrypted))?;
    release.finish()?;
    Ok(Decrypted { session_key, verifications })
}

/// Tries everything that was given.
struct Unlocking<'a> {
    given: &'a Decryption,
    secret_keys: Vec<(&'a Keys, StoredKey)>,
    /// Keys that were unlocked; `None` if no password unlocks one.
    unlocked: HashMap<Fingerprint, Option<Unlocked>>,
    /// Why a key or password did not open it.
    failure: Option<Failure>,
    was_asked: bool,
    /// The primary key of the certificate whose key opened it.
    opened_by: Option<Fingerprint>,
}

impl Unlock for Unlocking<'_> {
    fn session_key(
        &mut self,
        encrypted_keys: &[EncryptedSessionKey],
        container: &EncryptedDataFormat,
        fits: &dyn Fn(&SessionKey) -> bool,
    ) -> message::Result<SessionKey> {
        self.was_asked = true;
        if let Some(key) = self.given.session_keys.iter().find(|key| fits(key)) {
            return Ok(key.clone());
        }
        // Keys that are named come first; then every key is tried: recipients may be hidden, or named wrongly.
        for is_named in [true, false] {
            for encrypted_key in encrypted_keys {
                if let EncryptedSessionKey::Recipient(recipient) = encrypted_key
                    && let Some(key) = self.by_secret_key(recipient, is_named, container, fits)
                {
                    return Ok(key);
                }
            }
        }
        for encrypted_key in encrypted_keys {
            if let EncryptedSessionKey::Password(packet) = encrypted_key
                && let Some(key) = self.by_password(packet, container, fits)
            {
                return Ok(key);
            }
        }
        Err(Error::NoKey)
    }
}

impl Unlocking<'_> {
    /// Tries the keys that a recipient's packet names, or all others.
    fn by_secret_key(
        &mut self,
        recipient: &Pkesk,
        is_named: bool,
        container: &EncryptedDataFormat,
        fits: &dyn Fn(&SessionKey) -> bool,
    ) -> Option<SessionKey> {
        let is_hidden = recipient.addressee == Addressee::Hidden;
        let names = |stored: &StoredKey| !is_hidden && recipient.addressee.may_be(&stored.fingerprint);
        let tried = |stored: &StoredKey| stored.protection.has_secret() && names(stored) == is_named;
        for (keys, stored) in self.secret_keys.iter().filter(|(_, stored)| tried(stored)) {
            // A key is unlocked once, however many recipients there are.
            let unlocked = self.unlocked.entry(stored.fingerprint).or_insert_with(|| {
                let unlocked = keys.unlock(&stored.fingerprint, &self.given.key_passwords);
                unlocked.map_err(|failure| self.failure = Some(failure)).ok()
            });
            let opened = unlocked.as_mut().map(|key| recipient.open(key, container.cipher()));
            if let Some(Ok(Some(key))) = opened
                && fits(&key)
            {
                self.opened_by = keys.primary_of(&stored.fingerprint);
                return Some(key);
            }
        }
        None
    }

    fn by_password(
        &mut self,
        packet: &Skesk,
        container: &EncryptedDataFormat,
        fits: &dyn Fn(&SessionKey) -> bool,
    ) -> Option<SessionKey> {
        let mut passwords = self.given.passwords.iter().flat_map(Password::variants);
        passwords.find_map(|password| match packet.open(password.as_bytes(), container.cipher()) {
            Ok(key) => key.filter(|key| fits(key)),
            Err(error) => {
                self.failure = Some(Failure::of(Kind::CannotDecrypt)(&error));
                None
            }
        })
    }

    /// Returns the failure for an error; of encrypted data, that it cannot be decrypted.
    fn explained(&mut self, error: Error) -> Failure {
        match (error, self.failure.take()) {
            (Error::NoKey, Some(failure)) => failure,
            (error @ (Error::Read(_) | Error::Write(_)), _) => error.into(),
            (error, _) if self.was_asked => Failure::of(Kind::CannotDecrypt)(&error),
            (error, _) => error.into(),
        }
    }
}
