//! How messages are opened, and where their content goes: a file appears, and a pipe gets bytes, only once they were
//! authenticated.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek, Write};

use cert::Fingerprint;
use message::{
    Addressee, Authenticity, EncryptedDataFormat, EncryptedSessionKey, Error, Event, Literal, Pkesk, Result,
    SessionKey, Sink, Skesk, Unlock,
};
use secret::{Ask, Name, OpenKey, Passphrase, Protection, SecretKeys, StoredKey};
use zeroize::Zeroizing;

use crate::output_file::OutputFile;

/// Bytes that are buffered for a pipe until they are authenticated at their end. With the memory for reading this stays
/// below 32 MB.
const MAX_BUFFERED_BYTES: usize = 12 << 20;

/// How often a key is tried on a recipient that names another one.
const MAX_OTHER_KEYS: usize = 256;

/// How often a password is asked for.
const MAX_TRIES: u8 = secret::ask::MAX_TRIES;

/// Finds session keys with secret keys and passwords.
pub struct SessionKeyFinder<'a> {
    /// Where secret keys are.
    pub secret_keys: &'a dyn SecretKeys,
    /// What asks for their passphrases.
    pub ask: &'a mut dyn Ask,
    /// Asks for a password of a message; `None` means that there are no more.
    pub password: &'a mut dyn FnMut() -> secret::Result<Option<Passphrase>>,
    /// The session key, if it is known.
    pub known: Option<SessionKey>,
    /// Why a secret key did not open the message, if one was found.
    pub failure: Option<secret::Error>,
    /// The secret key that opened it, if one did.
    pub opened_by: Option<Fingerprint>,
}

impl Unlock for SessionKeyFinder<'_> {
    fn session_key(
        &mut self,
        encrypted_keys: &[EncryptedSessionKey],
        container: &EncryptedDataFormat,
        fits: &dyn Fn(&SessionKey) -> bool,
    ) -> Result<SessionKey> {
        if let Some(known) = &self.known {
            return Ok(known.clone());
        }
        let recipients = encrypted_keys.iter().filter_map(|encrypted_key| match encrypted_key {
            EncryptedSessionKey::Recipient(recipient) => Some(recipient),
            EncryptedSessionKey::Password(_) => None,
        });
        let recipients: Vec<&Pkesk> = recipients.collect();
        let mut is_wrong = false;
        let found = self.by_secret_key(&recipients, container, &mut |key| {
            let fits = fits(key);
            is_wrong |= !fits;
            fits
        });
        if let Some(key) = found {
            return Ok(key);
        }
        let passwords = encrypted_keys.iter().filter_map(|encrypted_key| match encrypted_key {
            EncryptedSessionKey::Password(password) => Some(password),
            EncryptedSessionKey::Recipient(_) => None,
        });
        match self.by_password(&passwords.collect::<Vec<_>>(), container, fits) {
            Err(Error::NoKey) if is_wrong => Err(Error::WrongKey),
            found => found,
        }
    }
}

impl SessionKeyFinder<'_> {
    fn by_secret_key(
        &mut self,
        recipients: &[&Pkesk],
        container: &EncryptedDataFormat,
        fits: &mut dyn FnMut(&SessionKey) -> bool,
    ) -> Option<SessionKey> {
        if recipients.is_empty() {
            return None;
        }
        let stored_keys =
            self.secret_keys.list().map_err(|error| self.failure = Some(error)).unwrap_or_default();
        // Recipients that are named come before hidden ones, for which every key has to be tried.
        let (hidden, named): (Vec<&Pkesk>, Vec<&Pkesk>) =
            recipients.iter().copied().partition(|recipient| recipient.addressee == Addressee::Hidden);
        let named_first = named.iter().chain(&hidden).copied();
        let pairs = named_first
            .flat_map(|recipient| stored_keys.iter().map(move |key| (recipient, key)))
            .filter(|(recipient, key)| may_open(recipient, key));
        // A recipient may be named wrongly: then the keys are tried for which nobody has to be asked.
        let others = named
            .iter()
            .flat_map(|recipient| stored_keys.iter().map(move |key| (*recipient, key)))
            .filter(|(recipient, key)| !may_open(recipient, key) && key.protection == Protection::None)
            .take(MAX_OTHER_KEYS);
        // A key is unlocked once, however many recipients there are.
        let mut opened = HashMap::new();
        for (recipient, key) in pairs.chain(others) {
            let unlocked = opened.entry(key.fingerprint).or_insert_with(|| self.unlocked(recipient, key));
            let Some(unlocked) = unlocked else { continue };
            let session_key = recipient.open(unlocked.as_mut(), container.cipher());
            let session_key = session_key.unwrap_or_else(|error| self.fail(recipient, key, error));
            if let Some(found) = session_key.filter(&mut *fits) {
                self.opened_by = Some(key.fingerprint);
                return Some(found);
            }
        }
        None
    }

    fn unlocked(&mut self, recipient: &Pkesk, key: &StoredKey) -> Option<Box<dyn OpenKey>> {
        let opened = self.secret_keys.open(&Name::Fingerprint(key.fingerprint), self.ask);
        opened.map(Some).unwrap_or_else(|error| self.fail(recipient, key, error))
    }

    /// Notes why a key did not open the message. A recipient that does not name it may be somebody else, so that is no
    /// failure.
    fn fail<T>(&mut self, recipient: &Pkesk, key: &StoredKey, error: secret::Error) -> Option<T> {
        if recipient.addressee != Addressee::Hidden && recipient.addressee.may_be(&key.fingerprint) {
            self.failure = Some(error);
        }
        None
    }

    fn by_password(
        &mut self,
        packets: &[&Skesk],
        container: &EncryptedDataFormat,
        fits: &dyn Fn(&SessionKey) -> bool,
    ) -> Result<SessionKey> {
        if packets.is_empty() {
            return Err(Error::NoKey);
        }
        for tried in 0..MAX_TRIES {
            let asked = (self.password)().map_err(|error| Error::Read(io::Error::other(error)))?;
            let Some(password) = asked else {
                return Err(if tried == 0 { Error::NoKey } else { Error::WrongKey });
            };
            for packet in packets {
                if let Some(key) = packet.open(password.as_bytes(), container.cipher())?
                    && fits(&key)
                {
                    return Ok(key);
                }
            }
        }
        Err(Error::WrongKey)
    }
}

/// Says whether a secret key is here that a recipient's packet may be for.
fn may_open(recipient: &Pkesk, key: &StoredKey) -> bool {
    key.protection.has_secret() && recipient.addressee.may_be(&key.fingerprint)
}

/// Where content goes.
pub struct PlaintextOutput<'a> {
    target: Target<'a>,
    /// Line ends of text become those of this system.
    text: Option<LineEnds>,
    /// The literal packet's metadata.
    pub literal: Option<Literal>,
    /// The encrypted data's packet, and their key.
    pub decrypted: Option<(EncryptedDataFormat, SessionKey)>,
    /// How many bytes came.
    pub bytes: u64,
    /// There were signature packets, good or not.
    pub is_signed: bool,
    /// There is text around clear text, which was left out.
    pub has_text_around: bool,
}

enum Target<'a> {
    /// A file, which appears at the end.
    File(OutputFile),
    /// A stream, with the plaintext that is not authenticated yet.
    Stream { out: Box<dyn Write + 'a>, buffer: BufferedPlaintext, overflow: Overflow, buffers: bool },
}

/// Where plaintext goes that is too much for the buffer.
enum Overflow {
    /// Nowhere: that is an error.
    Refused,
    /// Into a file without a name, which is gone when the program ends.
    InFile(Option<File>),
}

impl<'a> PlaintextOutput<'a> {
    /// Writes to a file; one that is not regular is written as by [`PlaintextOutput::to_stream`].
    pub fn to_file(file: OutputFile, unverified: bool) -> Self {
        match file.is_regular() {
            true => Self::new(Target::File(file)),
            false => Self::to_stream(Box::new(file), unverified),
        }
    }

    /// Writes to a stream: authenticated bytes at once, the others once they are authenticated, or at once if
    /// `unverified`.
    pub fn to_stream(out: Box<dyn Write + 'a>, unverified: bool) -> Self {
        Self::new(Target::Stream {
            out,
            buffer: BufferedPlaintext::default(),
            overflow: Overflow::Refused,
            buffers: !unverified,
        })
    }

    /// Buffers any amount, in a temporary file what is too much for memory.
    pub fn without_limit(mut self) -> Self {
        if let Target::Stream { overflow, .. } = &mut self.target {
            *overflow = Overflow::InFile(None);
        }
        self
    }

    fn new(target: Target<'a>) -> Self {
        Self {
            target,
            text: None,
            literal: None,
            decrypted: None,
            bytes: 0,
            is_signed: false,
            has_text_around: false,
        }
    }

    /// Writes what was buffered: everything was read and authenticated.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn finish(self) -> io::Result<()> {
        match self.target {
            Target::File(file) => file.commit(),
            Target::Stream { mut out, buffer, overflow, .. } => {
                buffer.parts.iter().try_for_each(|part| out.write_all(part))?;
                if let Overflow::InFile(Some(mut file)) = overflow {
                    file.rewind()?;
                    io::copy(&mut file, &mut out)?;
                }
                out.flush()
            }
        }
    }

    fn write(&mut self, data: &[u8], authenticity: Authenticity) -> Result<()> {
        match &mut self.target {
            Target::File(file) => file.write_all(data).map_err(Error::Write),
            Target::Stream { buffer, overflow, buffers: true, .. }
                if authenticity == Authenticity::Unverified =>
            {
                if overflow.is_begun() || buffer.bytes + data.len() > MAX_BUFFERED_BYTES {
                    return overflow.write(data);
                }
                buffer.add(data);
                Ok(())
            }
            Target::Stream { out, .. } => out.write_all(data).map_err(Error::Write),
        }
    }
}

impl Overflow {
    fn is_begun(&self) -> bool {
        matches!(self, Self::InFile(Some(_)))
    }

    fn write(&mut self, data: &[u8]) -> Result<()> {
        let Self::InFile(file) = self else {
            return Err(Error::UnverifiedOverflow);
        };
        let file = match file {
            Some(file) => file,
            None => file.insert(tempfile::tempfile().map_err(Error::Write)?),
        };
        file.write_all(data).map_err(Error::Write)
    }
}

/// Buffered plaintext, in chunks that are never moved, so that no copies of it stay in memory.
#[derive(Default)]
struct BufferedPlaintext {
    parts: Vec<Zeroizing<Vec<u8>>>,
    bytes: usize,
}

impl BufferedPlaintext {
    /// Bytes of a chunk.
    const PART: usize = 256 << 10;

    fn add(&mut self, mut data: &[u8]) {
        self.bytes += data.len();
        while !data.is_empty() {
            if self.parts.last().is_none_or(|part| part.len() == Self::PART) {
                self.parts.push(Zeroizing::new(Vec::with_capacity(Self::PART)));
            }
            let part = self.parts.last_mut().expect("there is one with room");
            let (fits, rest) = data.split_at(data.len().min(Self::PART - part.len()));
            part.extend_from_slice(fits);
            data = rest;
        }
    }
}

impl Sink for PlaintextOutput<'_> {
    fn event(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::Decrypting { container, key } => self.decrypted = Some((container.clone(), key.clone())),
            Event::Literal { literal, .. } => {
                self.text = literal.format.is_text().then(LineEnds::default);
                self.literal = Some(literal.clone());
            }
            Event::LiteralEnd if self.text.take().is_some_and(|text| text.after_return) => {
                self.write(b"\r", Authenticity::Unverified)?;
            }
            Event::ClearTextEnd(end) => self.write(end, Authenticity::Unverified)?,
            Event::OnePass(_) | Event::Signature(_) => self.is_signed = true,
            Event::TextAround => self.has_text_around = true,
            _ => {}
        }
        Ok(())
    }

    fn data(&mut self, data: &[u8], authenticity: Authenticity) -> Result<()> {
        self.bytes += data.len() as u64;
        match &mut self.text {
            Some(text) => {
                let converted = text.convert(data);
                self.write(&converted, authenticity)
            }
            None => self.write(data, authenticity),
        }
    }
}

/// Makes line ends of messages those of this system.
#[derive(Default)]
struct LineEnds {
    after_return: bool,
}

impl LineEnds {
    /// Leaves out each carriage return before a line feed.
    fn convert(&mut self, data: &[u8]) -> Zeroizing<Vec<u8>> {
        let mut out = Zeroizing::new(Vec::with_capacity(data.len() + 1));
        for &byte in data {
            if self.after_return && byte != b'\n' {
                out.push(b'\r');
            }
            self.after_return = byte == b'\r';
            if !self.after_return {
                out.push(byte);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_file::{Content, Existing};
    use std::fs;

    #[test]
    fn line_ends_of_text_become_those_of_this_system_however_they_are_cut() {
        let text = b"a\r\nb\rc\r\r\n";
        for size in 1..text.len() {
            let mut ends = LineEnds::default();
            let converted: Vec<u8> =
                text.chunks(size).flat_map(|piece| ends.convert(piece).to_vec()).collect();
            assert_eq!(converted, b"a\nb\rc\r\n");
        }
    }

    #[test]
    fn a_file_has_no_name_before_its_content_was_checked() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("content");
        let file = OutputFile::create(&path, Content::Ordinary, Existing::Kept, &[]).expect("a file");
        let mut release = PlaintextOutput::to_file(file, false);
        release.data(b"text", Authenticity::Unverified).expect("space");
        assert!(!path.exists());
        release.finish().expect("a name");
        assert_eq!(fs::read(&path).expect("content"), b"text");
    }

    #[test]
    fn a_pipe_gets_what_was_checked_at_once_and_the_rest_at_the_end() {
        let mut out = Vec::new();
        let mut release = PlaintextOutput::to_stream(Box::new(&mut out), false);
        release.data(b"text", Authenticity::Unverified).expect("space");
        drop(release);
        assert!(out.is_empty());
        let mut release = PlaintextOutput::to_stream(Box::new(&mut out), false);
        release.data(b"text", Authenticity::Verified).expect("space");
        drop(release);
        assert_eq!(out, b"text");
        let mut release = PlaintextOutput::to_stream(Box::new(&mut out), false);
        release.data(b" more", Authenticity::Unverified).expect("space");
        release.finish().expect("space");
        assert_eq!(out, b"text more");
    }

    #[test]
    fn a_pipe_is_not_held_back_from_for_ever() {
        let mut release = PlaintextOutput::to_stream(Box::new(io::sink()), false);
        let megabyte = vec![0; 1 << 20];
        assert!(
            (0..MAX_BUFFERED_BYTES >> 20).all(|_| release.data(&megabyte, Authenticity::Unverified).is_ok())
        );
        assert!(matches!(release.data(b"x", Authenticity::Unverified), Err(Error::UnverifiedOverflow)));
        let mut release = PlaintextOutput::to_stream(Box::new(io::sink()), true);
        assert!(
            (0..=MAX_BUFFERED_BYTES >> 20).all(|_| release.data(&megabyte, Authenticity::Unverified).is_ok())
        );
    }

    #[test]
    fn what_is_too_much_for_memory_comes_from_disk_after_the_check_in_its_order() {
        let mut out = Vec::new();
        let mut release = PlaintextOutput::to_stream(Box::new(&mut out), false).without_limit();
        let pieces: Vec<Vec<u8>> = (0..27).map(|number| vec![number; 1 << 20]).collect();
        pieces.iter().for_each(|piece| release.data(piece, Authenticity::Unverified).expect("space"));
        release.data(b"end", Authenticity::Unverified).expect("space");
        release.finish().expect("space");
        assert_eq!(out, [pieces.concat(), b"end".to_vec()].concat());
    }
}
