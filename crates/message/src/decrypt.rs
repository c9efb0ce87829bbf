//! Reads messages, encrypted and signed.

use std::io::{BufRead, BufReader, Cursor, Read};

use cert::dearmor::DearmoredMessage;
use cert::packet::{Header, Tag};
use cert::{ArmorRules, Timestamp};

use crate::clear_text::{self, HashHeaders};
use crate::compress::Compression;
use crate::decompress::Decompressor;
use crate::decrypt_stream::{self, EncryptedData};
use crate::encrypted_data::EncryptedDataFormat;
use crate::error::SECOND_CONTENT;
use crate::frame::{self, Body, Input};
use crate::literal::{Format, Literal};
use crate::recipient::Pkesk;
use crate::{Aead, Cipher, Error, Result, SessionKey, Skesk};
use symmetric::MAX_ARGON2_WORK;

/// The size of the buffer for packet headers; longer bodies are read without it.
const BUFFER: usize = 8 << 10;
/// The deepest nesting of packets; messages have at most three levels in practice.
pub(crate) const MAX_DEPTH: u8 = 16;
/// The most bytes of a packet that is read into memory.
pub(crate) const MAX_PACKET: usize = 64 << 10;
/// The most bytes of all encrypted session keys: more than 10,000 recipients.
const MAX_ENCRYPTED_KEYS: usize = 8 << 20;
/// The most passwords of a message. Hashing for one takes up to a tenth of a second; for Argon2, all of them together
/// have the limit of one key ([`MAX_ARGON2_WORK`]).
pub(crate) const MAX_PASSWORDS: usize = 32;
/// The most signatures of a message.
pub(crate) const MAX_SIGNATURES: usize = 1 << 10;

/// An encrypted session key.
#[derive(Clone, Debug)]
pub enum EncryptedSessionKey {
    /// Encrypted with a password.
    Password(Skesk),
    /// Encrypted to a public key.
    Recipient(Pkesk),
}

/// Finds session keys.
pub trait Unlock {
    /// Finds the session key.
    ///
    /// `fits` returns whether a session key may be the right one, which detects wrong passwords.
    ///
    /// # Errors
    ///
    /// [`Error::NoKey`] if no key or password decrypts the message, or any other error.
    fn session_key(
        &mut self,
        encrypted_keys: &[EncryptedSessionKey],
        container: &EncryptedDataFormat,
        fits: &dyn Fn(&SessionKey) -> bool,
    ) -> Result<SessionKey>;
}

/// Finds no session keys, for messages that are not encrypted.
#[derive(Clone, Copy, Debug)]
pub struct NoKeys;

impl Unlock for NoKeys {
    fn session_key(
        &mut self,
        _: &[EncryptedSessionKey],
        _: &EncryptedDataFormat,
        _: &dyn Fn(&SessionKey) -> bool,
    ) -> Result<SessionKey> {
        Err(Error::NoKey)
    }
}

/// Uses a known session key.
impl Unlock for SessionKey {
    fn session_key(
        &mut self,
        _: &[EncryptedSessionKey],
        _: &EncryptedDataFormat,
        _: &dyn Fn(&SessionKey) -> bool,
    ) -> Result<SessionKey> {
        Ok(self.clone())
    }
}

/// An event while a message is read.
#[derive(Debug)]
pub enum Event<'a> {
    /// Encrypted data begin, and their session key was found.
    Decrypting {
        /// Their format.
        container: &'a EncryptedDataFormat,
        /// Their session key.
        key: &'a SessionKey,
    },
    /// Compressed data begin.
    Compressed(Compression),
    /// The body of a one-pass signature packet, before the content.
    OnePass(&'a [u8]),
    /// The body of a signature packet.
    Signature(&'a [u8]),
    /// The content begins.
    Literal {
        /// The fields of the literal data packet.
        literal: &'a Literal,
        /// The length of the content in bytes, if it is known.
        length: Option<u32>,
    },
    /// The content ends.
    LiteralEnd,
    /// Clear text begins; its `Hash` headers.
    ClearText(&'a HashHeaders),
    /// The clear text ends; the end of its last line, which is not signed.
    ClearTextEnd(&'a [u8]),
    /// There is other text before the clear text or after its signatures, which was skipped.
    TextAround,
    /// The encrypted data end and were unchanged; not for data without protection.
    Unchanged,
    /// The encrypted data end.
    Decrypted,
    /// Data that begin with no packet follow the message; they were passed over, to the end of the input.
    TrailingData {
        /// The first byte.
        first: u8,
        /// The second one.
        second: Option<u8>,
    },
}

/// Whether data were authenticated before they are passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authenticity {
    /// The data are what the sender encrypted.
    Verified,
    /// The data may have been changed, which is known only at the end.
    Unverified,
}

/// Takes the events and the content of a message.
pub trait Sink {
    /// Takes an event.
    ///
    /// # Errors
    ///
    /// Any error, which ends reading.
    fn event(&mut self, event: Event<'_>) -> Result<()>;
    /// Takes content.
    ///
    /// # Errors
    ///
    /// Any error, which ends reading.
    fn data(&mut self, data: &[u8], authenticity: Authenticity) -> Result<()>;
}

/// What is read only if it is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Encrypted data without protection against changes.
    pub unprotected: bool,
    /// Content that is not encrypted at all.
    pub unencrypted: bool,
    /// Armor by these rules.
    pub armor: ArmorRules,
    /// Clear text with a `Hash` header that is not a list of hash algorithms; its signatures must not be verified
    /// ([`HashHeaders::has_unknown`]; RFC 9580, 6.2.2.3).
    pub unknown_digests: bool,
    /// Clear text whose dashes are not escaped ([`HashHeaders::is_verbatim`]), which GnuPG alone writes and reads.
    pub verbatim_text: bool,
    /// Trust packets, and those of unknown types that are not critical (RFC 9580, 4.3), which are left aside.
    pub unknown_packets: bool,
    /// NUL bytes behind a message that is one compressed packet: the rest of a buffer that is longer than the message.
    pub trailing_zeros: bool,
    /// Data behind a complete message that begin with no packet; they are passed over, then comes an
    /// [`Event::TrailingData`].
    pub trailing_data: bool,
}

/// Reads a message, with armor or without.
///
/// After an error, data that were passed on must not be used, unless they are [`Authenticity::Verified`]; and then they
/// are incomplete.
///
/// # Errors
///
/// Those of the input, of `unlock` and of `sink`, and if the message is malformed, truncated or was changed.
pub fn decrypt(
    input: &mut (dyn Read + Send),
    allowed: Allowed,
    unlock: &mut dyn Unlock,
    sink: &mut dyn Sink,
) -> Result<()> {
    Reader::new(allowed, unlock, sink).read(input)
}

/// Removes only the encryption of a message: the encrypted packets are passed on as data, without an
/// [`Event::Literal`].
///
/// A message that is not encrypted is read as by [`decrypt`].
///
/// # Errors
///
/// Those of [`decrypt`], except for errors in the packets that were encrypted.
pub fn unwrap(
    input: &mut (dyn Read + Send),
    allowed: Allowed,
    unlock: &mut dyn Unlock,
    sink: &mut dyn Sink,
) -> Result<()> {
    Reader { unwraps: true, ..Reader::new(allowed, unlock, sink) }.read(input)
}

/// Searches the first line of a message in text, and leaves the last line that was read in `line`. Returns for clear text
/// whether there is other text before it, `None` for anything else.
fn find_clear_text(input: &mut dyn BufRead, line: &mut Vec<u8>) -> Result<Option<bool>> {
    // Packets begin with the high bit, text does not.
    let first = input.fill_buf().map_err(Error::reading)?.first();
    if first.is_none_or(|byte| byte & 0x80 != 0) {
        return Ok(None);
    }
    let (mut is_line_start, mut text_before) = (true, false);
    loop {
        clear_text::read_line(input, line)?;
        let title = clear_text::trimmed(line);
        if is_line_start && line.ends_with(b"\n") && title == clear_text::BEGIN {
            return Ok(Some(text_before));
        }
        let is_message =
            [&b"-----BEGIN PGP MESSAGE"[..], b"-----BEGIN PGP SIGNATURE", b"-----BEGIN PGP ARMORED FILE"];
        if line.is_empty() || (is_line_start && is_message.iter().any(|message| title.starts_with(message))) {
            return Ok(None);
        }
        is_line_start = line.ends_with(b"\n");
        text_before |= !title.is_empty();
    }
}

struct Reader<'a> {
    allowed: Allowed,
    unlock: &'a mut dyn Unlock,
    sink: &'a mut dyn Sink,
    /// Whether decrypted packets are passed on as data.
    unwraps: bool,
    /// The authenticity of the current encrypted data.
    authenticity: Option<Authenticity>,
    has_content: bool,
    /// Whether the content is clear text, which needs a signature.
    is_clear_text: bool,
    signatures: usize,
    /// The number of one-pass signatures whose signatures did not follow yet.
    announced: usize,
}

impl<'a> Reader<'a> {
    fn new(allowed: Allowed, unlock: &'a mut dyn Unlock, sink: &'a mut dyn Sink) -> Self {
        Self {
            allowed,
            unlock,
            sink,
            unwraps: false,
            authenticity: None,
            has_content: false,
            is_clear_text: false,
            signatures: 0,
            announced: 0,
        }
    }

    fn read(mut self, input: &mut (dyn Read + Send)) -> Result<()> {
        let mut input = BufReader::with_capacity(BUFFER, input);
        let mut line = Vec::new();
        let text_before = find_clear_text(&mut input, &mut line)?;
        if text_before.is_some() {
            self.clear_text(&mut input, &mut line)?;
        }
        let rest = Cursor::new(line).chain(input);
        // Detached signatures may be in several blocks, a message is in one block.
        let mut packets =
            BufReader::with_capacity(BUFFER, DearmoredMessage::new(rest).with(self.allowed.armor));
        let read = self.packets(&mut packets, 0);
        if text_before.is_some_and(|text_before| text_before || packets.get_ref().passed_text())
            && read.is_ok()
        {
            self.sink.event(Event::TextAround)?;
        }
        match (read, self) {
            (Err(Error::SecondBlock), Reader { has_content: false, signatures: 1.., .. }) => {
                Err(Error::Detached)
            }
            (Err(error), _) => Err(error),
            (Ok(()), Reader { is_clear_text: true, signatures: 0, .. }) => Err(Error::Unsigned),
            (Ok(()), Reader { has_content: true, .. }) => Ok(()),
            (Ok(()), Reader { signatures: 0, .. }) => Err(Error::NoMessage),
            (Ok(()), _) => Err(Error::Detached),
        }
    }

    /// Reads clear text up to the first line of its signatures, which is left in `line`.
    fn clear_text(&mut self, input: &mut dyn BufRead, line: &mut Vec<u8>) -> Result<()> {
        if !self.allowed.unencrypted {
            return Err(Error::NotEncrypted);
        }
        (self.has_content, self.is_clear_text) = (true, true);
        let announced = clear_text::read_headers(input, self.allowed.verbatim_text)?;
        if announced.has_unknown && !self.allowed.unknown_digests {
            return Err(Error::Malformed("a \"Hash\" header of clear text that is no list of digests"));
        }
        self.sink.event(Event::ClearText(&announced))?;
        if announced.is_verbatim {
            clear_text::read_verbatim(input, line, |data| self.sink.data(data, Authenticity::Unverified))?;
            return self.sink.event(Event::ClearTextEnd(&[]));
        }
        let end = clear_text::read_text(input, line, |data| self.sink.data(data, Authenticity::Unverified))?;
        self.sink.event(Event::ClearTextEnd(&end))
    }

    fn leaves_aside(&self, tag: Tag) -> bool {
        matches!(tag, Tag::MARKER | Tag::PADDING) || self.allowed.unknown_packets && is_left_aside(tag)
    }

    /// Reads packets to the end.
    fn packets(&mut self, input: &mut dyn Input, depth: u8) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(Error::Limit("packets inside of packets"));
        }
        let mut encrypted_keys = EncryptedSessionKeys::default();
        let next = |input: &mut dyn Input, has_content: bool| match frame::header(input) {
            // There is no message if the first byte is not a packet.
            Err(Error::Malformed(_)) if depth == 0 && !has_content => Err(Error::NoMessage),
            header => header,
        };
        loop {
            if depth == 0 && encrypted_keys.is_empty() && self.has_trailing_data(input)? {
                return self.trailing_data(input);
            }
            let Some(header) = next(input, self.has_content)? else { break };
            match header.tag {
                Tag(1 | 3) => {
                    encrypted_keys.add(header.tag, &Body::new(input, header.length).whole(MAX_PACKET)?)?
                }
                Tag(9 | 18 | 20) => {
                    self.encrypted(input, header, std::mem::take(&mut encrypted_keys), depth)?
                }
                Tag::COMPRESSED => {
                    self.compressed(Body::new(input, header.length), depth)?;
                    if depth == 0 && self.allowed.trailing_zeros {
                        skip_zeros(input)?;
                    }
                }
                Tag(11) => self.literal(input, header)?,
                Tag(2 | 4) => {
                    self.signature(header.tag, &Body::new(input, header.length).whole(MAX_PACKET)?)?
                }
                tag if self.leaves_aside(tag) => frame::skip(&mut Body::new(input, header.length))?,
                _ if depth == 0 && !self.has_content => return Err(Error::NoMessage),
                _ => return Err(Error::Malformed("a packet that is no part of a message")),
            }
        }
        if encrypted_keys.is_empty() { Ok(()) } else { Err(Error::CutShort) }
    }

    /// Says whether data follow the complete message that begin with no packet, and whether these are allowed.
    fn has_trailing_data(&self, input: &mut dyn Input) -> Result<bool> {
        let is_complete = self.has_content && !self.is_clear_text && self.announced == 0;
        Ok(self.allowed.trailing_data
            && is_complete
            && frame::fill(input)?.first().is_some_and(|first| first & 0x80 == 0))
    }

    fn trailing_data(&mut self, input: &mut dyn Input) -> Result<()> {
        let first = frame::byte(input)?;
        let second = frame::fill(input)?.first().copied();
        // Armor around them must be whole.
        frame::skip(input)?;
        self.sink.event(Event::TrailingData { first, second })
    }

    fn encrypted(
        &mut self,
        input: &mut dyn Input,
        header: Header,
        encrypted_keys: EncryptedSessionKeys,
        depth: u8,
    ) -> Result<()> {
        self.expect_content()?;
        let mut body = Body::new(input, header.length);
        let container = container(header.tag, &mut body)?;
        if container == EncryptedDataFormat::Unprotected && !self.allowed.unprotected {
            return Err(Error::Unprotected);
        }
        let (sealed, key) = encrypted_keys.unlock(self.unlock, &container, body)?;
        self.sink.event(Event::Decrypting { container: &container, key: &key })?;
        let outer = self.authenticity.take();
        self.authenticity = Some(match container.mode() {
            Some(_) => Authenticity::Verified,
            None => Authenticity::Unverified,
        });
        decrypt_stream::decrypt_stream(&container, &key, sealed, |plain| {
            if self.unwraps {
                self.has_content = true;
                return self.forward(plain);
            }
            let read = self.packets(plain, depth + 1);
            match read {
                // A change of the data is the error to report.
                Err(
                    error @ (Error::Malformed(_)
                    | Error::Unsupported { .. }
                    | Error::CutShort
                    | Error::NoMessage),
                ) => {
                    // Reading to the end verifies that nothing was changed.
                    frame::skip(plain)?;
                    Err(error)
                }
                read => read,
            }
        })?;
        self.authenticity = outer;
        if !self.has_content {
            return Err(Error::Malformed("nothing is encrypted"));
        }
        if container != EncryptedDataFormat::Unprotected {
            self.sink.event(Event::Unchanged)?;
        }
        self.sink.event(Event::Decrypted)
    }

    fn compressed(&mut self, body: Body<'_>, depth: u8) -> Result<()> {
        self.expect_content()?;
        let (mut unpacked, compression) = Decompressor::new(body)?;
        self.sink.event(Event::Compressed(compression))?;
        let signatures = self.signatures;
        self.packets(&mut unpacked, depth + 1)?;
        if !self.has_content && self.signatures == signatures {
            return Err(Error::Malformed("nothing is compressed"));
        }
        unpacked.finish()
    }

    /// Returns an error after content, which only signatures may follow (RFC 9580, 10.3).
    fn expect_content(&self) -> Result<()> {
        if self.has_content { Err(Error::Malformed(SECOND_CONTENT)) } else { Ok(()) }
    }

    fn signature(&mut self, tag: Tag, body: &[u8]) -> Result<()> {
        match (tag, self.has_content) {
            (Tag(4), false) => self.announced += 1,
            (Tag(4), true) => return Err(Error::Malformed("a one-pass signature after the content")),
            (_, true) if !self.is_clear_text => {
                let left = self.announced.checked_sub(1);
                self.announced = left.ok_or(Error::Malformed("a signature that nothing announces"))?;
            }
            _ => {}
        }
        self.signatures += 1;
        if self.signatures > MAX_SIGNATURES {
            return Err(Error::Limit("signatures of one message"));
        }
        self.sink.event(if tag == Tag(4) { Event::OnePass(body) } else { Event::Signature(body) })
    }

    fn literal(&mut self, input: &mut dyn Input, header: Header) -> Result<()> {
        self.expect_content()?;
        if self.authenticity.is_none() && !self.allowed.unencrypted {
            return Err(Error::NotEncrypted);
        }
        self.has_content = true;
        let mut body = Body::new(input, header.length);
        let [format, length] = frame::bytes(&mut body)?;
        let mut name = vec![0; length.into()];
        body.read_exact(&mut name).map_err(Error::reading)?;
        let time = Timestamp(u32::from_be_bytes(frame::bytes(&mut body)?));
        let literal = Literal { format: Format::of(format), name, time };
        let length = match header.length {
            cert::packet::Length::Definite(length) => Some(length - 6 - literal.name.len() as u32),
            _ => None,
        };
        self.sink.event(Event::Literal { literal: &literal, length })?;
        self.forward(&mut body)?;
        self.sink.event(Event::LiteralEnd)
    }

    /// Passes all of an input on as data.
    fn forward(&mut self, input: &mut dyn BufRead) -> Result<()> {
        let authenticity = self.authenticity.unwrap_or(Authenticity::Unverified);
        loop {
            let data = input.fill_buf().map_err(Error::reading)?;
            let count = data.len();
            if count == 0 {
                return Ok(());
            }
            self.sink.data(data, authenticity)?;
            input.consume(count);
        }
    }
}

fn skip_zeros(input: &mut dyn Input) -> Result<()> {
    loop {
        let data = input.fill_buf().map_err(Error::reading)?;
        let zeros = data.iter().take_while(|byte| **byte == 0).count();
        input.consume(zeros);
        if zeros == 0 {
            return Ok(());
        }
    }
}

/// Returns whether packets of a type mean nothing in a message: marker, padding and trust packets, and unknown ones that
/// are not critical (RFC 9580, 4.3).
pub(crate) fn is_left_aside(tag: Tag) -> bool {
    matches!(tag, Tag::MARKER | Tag::PADDING | Tag::TRUST | Tag(40..))
}

/// Reads the unencrypted fields of an encrypted data packet.
pub(crate) fn container(tag: Tag, body: &mut Body<'_>) -> Result<EncryptedDataFormat> {
    if tag == Tag(9) {
        return Ok(EncryptedDataFormat::Unprotected);
    }
    match (tag.0, frame::byte(body)?) {
        (18, 1) => Ok(EncryptedDataFormat::Version1),
        (18, 2) => {
            let (cipher, mode, chunk) = chunked(frame::bytes(body)?)?;
            Ok(EncryptedDataFormat::Version2 { cipher, mode, chunk, salt: frame::bytes(body)? })
        }
        (20, 1) => {
            let (cipher, mode, chunk) = chunked(frame::bytes(body)?)?;
            let mut nonce = vec![0; mode.nonce_size()];
            body.read_exact(&mut nonce).map_err(Error::reading)?;
            Ok(EncryptedDataFormat::Gnupg { cipher, mode, chunk, nonce })
        }
        (_, number) => Err(Error::Unsupported { what: "encrypted data of version", number }),
    }
}

fn chunked([cipher, mode, chunk]: [u8; 3]) -> Result<(Cipher, Aead, u8)> {
    let known = Cipher::of(cipher).filter(|cipher| !cipher.is_old());
    let cipher = known.ok_or(Error::Unsupported { what: "authenticated cipher", number: cipher })?;
    let mode = Aead::of(mode).ok_or(Error::Unsupported { what: "AEAD mode", number: mode })?;
    Ok((cipher, mode, chunk))
}

/// The encrypted session keys before encrypted data.
#[derive(Default)]
pub(crate) struct EncryptedSessionKeys {
    encrypted_keys: Vec<(u8, EncryptedSessionKey)>,
    bytes: usize,
    passwords: usize,
    /// The work of the passwords that use Argon2.
    argon2_work: u64,
}

impl EncryptedSessionKeys {
    fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub(crate) fn add(&mut self, tag: Tag, body: &[u8]) -> Result<()> {
        self.bytes += body.len() + size_of::<EncryptedSessionKey>();
        if self.bytes > MAX_ENCRYPTED_KEYS {
            return Err(Error::Limit("recipients of one message"));
        }
        let encrypted_key = match tag {
            Tag(1) => Pkesk::parse(body).map(EncryptedSessionKey::Recipient),
            _ => {
                self.passwords += 1;
                Skesk::parse(body).map(|mut skesk| {
                    let work = self.argon2_work.saturating_add(skesk.s2k.argon2_work());
                    skesk.is_beyond_limit = work > MAX_ARGON2_WORK;
                    if !skesk.is_beyond_limit {
                        self.argon2_work = work;
                    }
                    EncryptedSessionKey::Password(skesk)
                })
            }
        };
        if self.passwords > MAX_PASSWORDS {
            return Err(Error::Limit("passwords of one message"));
        }
        // Unknown versions, algorithms and forms are ignored (RFC 9580, 5.1 and 5.3).
        match encrypted_key {
            Ok(encrypted_key) => self.encrypted_keys.push((body[0], encrypted_key)),
            Err(Error::Unsupported { .. } | Error::Malformed(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Finds the session key of encrypted data, whose unencrypted fields were read.
    pub(crate) fn unlock<'a>(
        self,
        unlock: &mut dyn Unlock,
        container: &EncryptedDataFormat,
        body: Body<'a>,
    ) -> Result<(EncryptedData<'a>, SessionKey)> {
        let sealed = EncryptedData::begin(body, container)?;
        let key = unlock.session_key(&self.of(container), container, &|key| sealed.fits(container, key))?;
        if sealed.fits(container, &key) { Ok((sealed, key)) } else { Err(Error::WrongKey) }
    }

    /// Returns the encrypted session keys of the versions that belong to a format. Those for authenticated data decrypt
    /// no other format, so that an attacker cannot turn authenticated data into data without authentication.
    fn of(self, container: &EncryptedDataFormat) -> Vec<EncryptedSessionKey> {
        let belongs = |version, encrypted_key: &EncryptedSessionKey| match (container, encrypted_key) {
            (EncryptedDataFormat::Version2 { .. }, _) => version == 6,
            (EncryptedDataFormat::Gnupg { .. }, EncryptedSessionKey::Password(_)) => matches!(version, 4 | 5),
            (_, EncryptedSessionKey::Password(_)) => version == 4,
            (_, EncryptedSessionKey::Recipient(_)) => version == 3,
        };
        self.encrypted_keys
            .into_iter()
            .filter(|(version, encrypted_key)| belongs(*version, encrypted_key))
            .map(|(_, encrypted_key)| encrypted_key)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cert::armor_writer::ArmorWriter;
    use std::io::Write;

    struct NoSink;

    impl Sink for NoSink {
        fn event(&mut self, _: Event<'_>) -> Result<()> {
            Ok(())
        }

        fn data(&mut self, _: &[u8], _: Authenticity) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn all_passwords_together_have_a_limit_of_work() {
        let s2k = crate::S2k::Argon2 { salt: [1; 16], passes: 4, lanes: 1, exponent: 21 };
        let body = |s2k: crate::S2k| [&[4, Cipher::Aes256.number()], &s2k.to_bytes()[..]].concat();
        let iterated = crate::S2k::iterated(crate::DEFAULT_HASH, 1 << 20).expect("a count");
        let mut keys = EncryptedSessionKeys::default();
        for s2k in [s2k, s2k, s2k, iterated] {
            keys.add(Tag(3), &body(s2k)).expect("a packet");
        }
        let passwords = keys.of(&EncryptedDataFormat::Version1).into_iter().map(|key| match key {
            EncryptedSessionKey::Password(skesk) => skesk,
            EncryptedSessionKey::Recipient(_) => panic!("there is none"),
        });
        let passwords: Vec<Skesk> = passwords.collect();
        let is_beyond_limit: Vec<bool> = passwords.iter().map(|password| password.is_beyond_limit).collect();
        assert_eq!(is_beyond_limit, [false, false, true, false]);
        assert!(matches!(passwords[2].open(b"open", None), Err(Error::Limit(_))));
    }

    fn read_blocks(blocks: &[&[u8]]) -> Result<()> {
        let mut text = Vec::new();
        for packets in blocks {
            let mut armor = ArmorWriter::titled(&mut text, "MESSAGE");
            armor.write_all(packets).expect("a vector takes everything");
            armor.finish().expect("a vector takes everything");
        }
        let allowed = Allowed { unencrypted: true, ..Allowed::default() };
        decrypt(&mut &text[..], allowed, &mut NoKeys, &mut NoSink)
    }

    #[test]
    fn a_message_is_in_one_block_and_detached_signatures_may_be_in_more() {
        let content = &[0xcb, 7, b'b', 0, 0, 0, 0, 0, b'x'][..];
        let signature = &[0xc2, 2, 4, 0][..];
        assert!(read_blocks(&[content]).is_ok());
        assert!(matches!(read_blocks(&[content, content]), Err(Error::SecondBlock)));
        assert!(matches!(read_blocks(&[content, signature]), Err(Error::SecondBlock)));
        assert!(matches!(read_blocks(&[signature, signature]), Err(Error::Detached)));
    }
}
