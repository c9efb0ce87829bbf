//! Decrypting messages.

use std::io::{Read, Write};

use engine::cert::ArmorRules;
use engine::decryption::{PlaintextOutput, SessionKeyFinder};
use engine::message::{
    self, Addressee, Allowed, DataSignature, EncryptedDataFormat, EncryptedSessionKey, MessageVerifier,
    SessionKey, Unlock,
};
use engine::secret;
use engine::secret_keys::owners_of;

use crate::passphrase::Passphrases;
use crate::time::from_timestamp;
use crate::verdict::Verdicts;
use crate::verify::examine;
use crate::{Error, Fingerprint, KeyId, Keyhoard, Passphrase, Result};

/// Decrypts a message with the secret keys of the database, or with passwords.
#[derive(Clone, Debug)]
#[must_use = "nothing is decrypted before stream() or bytes() is called"]
pub struct Decrypt<'k> {
    keyhoard: &'k Keyhoard,
    pub(crate) passphrases: Passphrases,
    passwords: Vec<Passphrase>,
}

/// What is known of a message that was decrypted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Decrypted {
    /// The verdicts on the signatures in it; none of them is bad.
    pub verdicts: Verdicts,
    /// The cipher, such as `AES256`.
    pub cipher: String,
    /// The name of the file that it says to hold: foreign text, not to be used as a path.
    pub file_name: String,
    /// The time of that file, if it says one.
    pub time: Option<std::time::SystemTime>,
    /// The bytes of its content.
    pub bytes: u64,
}

impl<'k> Decrypt<'k> {
    pub(crate) fn new(keyhoard: &'k Keyhoard) -> Self {
        Self { keyhoard, passphrases: keyhoard.handle.passphrases.clone(), passwords: Vec::new() }
    }

    /// Tries this password, with which the message itself was encrypted; may be called again.
    pub fn password(mut self, password: impl Into<Passphrase>) -> Self {
        self.passwords.push(password.into());
        self
    }

    /// Decrypts from a stream to another. Only what was authenticated is written: what is authenticated at its end only
    /// is kept until then, up to 12 MiB in memory, the rest in a temporary file.
    ///
    /// # Errors
    ///
    /// `cannot-decrypt`, `passphrase`, `secret-key`, `manipulated`, `malformed`; `bad-signature` if a signature is not
    /// over the content, of which then perhaps a part was written; `io`, `database`.
    pub fn stream(self, mut message: impl Read + Send, output: impl Write) -> Result<Decrypted> {
        let mut content = PlaintextOutput::to_stream(Box::new(output), false).without_limit();
        let (signatures, recipients) = self.read(&mut message, &mut content)?;
        let verdicts = examine(&self.keyhoard.handle, signatures, recipients)?;
        if verdicts.iter().any(|verdict| verdict.status == crate::Status::Bad) {
            return Err(Error::BadSignature { verdicts: Box::new(verdicts) });
        }
        let literal = content.literal.take().unwrap_or_default();
        let decrypted = Decrypted {
            verdicts,
            cipher: content
                .decrypted
                .as_ref()
                .map(|(_, key)| key.cipher().name().to_owned())
                .unwrap_or_default(),
            file_name: String::from_utf8_lossy(&literal.name).into_owned(),
            time: Some(literal.time).filter(|time| time.0 != 0).map(from_timestamp),
            bytes: content.bytes,
        };
        content.finish()?;
        Ok(decrypted)
    }

    /// Decrypts bytes.
    ///
    /// # Errors
    ///
    /// Those of [`Decrypt::stream`].
    pub fn bytes(self, message: impl AsRef<[u8]>) -> Result<(Vec<u8>, Decrypted)> {
        let mut content = Vec::new();
        let decrypted = self.stream(message.as_ref(), &mut content)?;
        Ok((content, decrypted))
    }

    /// Returns the key IDs of the keys that a message is encrypted to, without decrypting it; hidden recipients are not
    /// among them.
    ///
    /// # Errors
    ///
    /// `malformed`; `io`.
    pub fn recipients(self, mut message: impl Read + Send) -> Result<Vec<KeyId>> {
        self.keyhoard.handle.check_process()?;
        let mut named = NamedRecipients(None);
        let mut content = PlaintextOutput::to_stream(Box::new(std::io::sink()), true);
        let read = message::decrypt(&mut message, Allowed::default(), &mut named, &mut content);
        match (read, named.0) {
            (_, Some(recipients)) => Ok(recipients),
            (read, None) => read.map(|()| Vec::new()).map_err(Error::from),
        }
    }

    /// Decrypts a message; returns its signatures, and the primary keys of the certificates that claim the secret
    /// key that opened it.
    fn read(
        &self,
        message: &mut (dyn Read + Send),
        content: &mut PlaintextOutput<'_>,
    ) -> Result<(Vec<DataSignature>, Vec<Fingerprint>)> {
        let mut passwords = self.passwords.iter();
        let mut password = || Ok(passwords.next().map(|password| password.0.clone()));
        let mut ask = self.passphrases.clone();
        let handle = &self.keyhoard.handle;
        handle.with_secrets(|secret_keys| {
            let mut keys = SessionKeyFinder {
                secret_keys,
                ask: &mut ask,
                password: &mut password,
                known: None,
                failure: None,
                opened_by: None,
            };
            let mut verifier = MessageVerifier::new(content).with_signatures_around_encryption();
            let allowed = Allowed { armor: ArmorRules::Rfc9580, unknown_packets: true, ..Allowed::default() };
            let read = message::decrypt(message, allowed, &mut keys, &mut verifier);
            let (failure, opened_by): (Option<secret::Error>, _) = (keys.failure, keys.opened_by);
            let signatures = match (read.and_then(|()| verifier.finish()), failure) {
                (Err(message::Error::NoKey), Some(failure)) => return Err(failure.into()),
                (read, _) => read?,
            };
            let Some(key) = opened_by else { return Ok((signatures, Vec::new())) };
            let stored = secret_keys.list()?;
            let owners = handle.read(|snapshot| Ok(owners_of(snapshot, &key, &stored)?))?;
            Ok((signatures, owners.into_iter().map(|(_, primary)| primary).collect()))
        })
    }
}

/// Notes whom a message is encrypted to, and opens nothing.
struct NamedRecipients(Option<Vec<KeyId>>);

impl Unlock for NamedRecipients {
    fn session_key(
        &mut self,
        encrypted_keys: &[EncryptedSessionKey],
        _: &EncryptedDataFormat,
        _: &dyn Fn(&SessionKey) -> bool,
    ) -> message::Result<SessionKey> {
        let recipients = encrypted_keys.iter().filter_map(|key| match key {
            EncryptedSessionKey::Recipient(recipient) => match &recipient.addressee {
                Addressee::KeyId(key_id) => Some(*key_id),
                Addressee::Fingerprint(fingerprint) => Some(fingerprint.key_id()),
                Addressee::Hidden => None,
            },
            EncryptedSessionKey::Password(_) => None,
        });
        self.0 = Some(recipients.collect());
        Err(message::Error::NoKey)
    }
}

impl Keyhoard {
    /// Decrypts, and verifies the signatures in the message.
    pub fn decrypt(&self) -> Decrypt<'_> {
        Decrypt::new(self)
    }
}
