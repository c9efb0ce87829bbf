//! Messages made for the tests, and who reads them.

use keyhoard_message::{
    Allowed, Authenticity, Compression, DataProtection, EncryptedDataFormat, EncryptedSessionKey, Encryption,
    Error, Event, LiteralOptions, MessageRecipients, NoSigner, Result, S2k, SessionKey, Sink, Unlock,
    decrypt, encrypt,
};
use verify::HashAlgorithm;
use zeroize::Zeroizing;

pub(crate) const PASSWORD: &[u8] = b"a password";

/// Text that compresses, of so many bytes.
pub(crate) fn text(length: usize) -> Vec<u8> {
    (0..)
        .flat_map(|line: u32| format!("line {line} of {}\n", line.wrapping_mul(2_654_435_761)).into_bytes())
        .take(length)
        .collect()
}

pub(crate) fn encrypted_keys(passwords: &[&[u8]]) -> MessageRecipients<'static> {
    let s2k = || S2k::iterated(HashAlgorithm::SHA256, 1024).expect("random numbers");
    let passwords = passwords.iter().map(|password| (Zeroizing::new(password.to_vec()), s2k())).collect();
    MessageRecipients { passwords, recipients: Vec::new() }
}

pub(crate) fn encrypted(mut content: &[u8], encryption: &Encryption) -> Vec<u8> {
    let mut out = Vec::new();
    encrypt(&mut content, &mut out, &encrypted_keys(&[PASSWORD]), encryption, &mut NoSigner)
        .expect("a message");
    out
}

pub(crate) fn mdc(compression: Compression) -> Encryption {
    let content = LiteralOptions { compression, ..LiteralOptions::default() };
    Encryption { protection: DataProtection::Mdc, content, ..Encryption::default() }
}

/// Reads with one password, and keeps everything that comes.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) content: Vec<u8>,
    /// Bytes that came as part of what was encrypted.
    pub(crate) verified: usize,
    pub(crate) events: Vec<String>,
    pub(crate) literal: Option<keyhoard_message::Literal>,
}

impl Sink for Reading {
    fn event(&mut self, event: Event<'_>) -> Result<()> {
        if let Event::Literal { literal, .. } = event {
            self.literal = Some(literal.clone());
        }
        let event = format!("{event:?}");
        self.events.push(event.split([' ', '(']).next().unwrap_or_default().to_owned());
        Ok(())
    }

    fn data(&mut self, data: &[u8], standing: Authenticity) -> Result<()> {
        self.content.extend_from_slice(data);
        if standing == Authenticity::Verified {
            self.verified += data.len();
        }
        Ok(())
    }
}

pub(crate) struct Password<'a>(pub(crate) &'a [u8]);

impl Unlock for Password<'_> {
    fn session_key(
        &mut self,
        encrypted_keys: &[EncryptedSessionKey],
        container: &EncryptedDataFormat,
        fits: &dyn Fn(&SessionKey) -> bool,
    ) -> Result<SessionKey> {
        for encrypted_key in encrypted_keys {
            if let EncryptedSessionKey::Password(skesk) = encrypted_key
                && let Some(key) = skesk.open(self.0, container.cipher())?
                && fits(&key)
            {
                return Ok(key);
            }
        }
        Err(Error::NoKey)
    }
}

pub(crate) fn read_with(
    mut message: &[u8],
    allowed: Allowed,
    unlock: &mut dyn Unlock,
) -> (Reading, Result<()>) {
    let mut reading = Reading::default();
    let result = decrypt(&mut message, allowed, unlock, &mut reading);
    (reading, result)
}

pub(crate) fn read(message: &[u8]) -> (Reading, Result<()>) {
    read_with(message, Allowed::default(), &mut Password(PASSWORD))
}
