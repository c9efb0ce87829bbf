//! Reads messages, encrypted and signed.

use std::io::{BufRead, BufReader, Cursor, Read};

use cert::Timestamp;
use cert::dearmor::DearmoredMessage;
use cert::packet::{Header, Tag};

use crate::clear_text::{self, HashHeaders};
use crate::compress::Compression;
use crate::decompress::Unpacked;
use crate::decrypt_stream::{self, EncryptedData};
use crate::encrypted_data::EncryptedDataFormat;
use crate::frame::{self, Body, Input};
use crate::literal::{Format, Literal};
use crate::recipient::Pkesk;
use crate::{Aead, Cipher, Error, Result, SessionKey, Skesk};

/// Bytes that are read to find packets; what they hold is read past this buffer where it is longer.
const BUFFER: usize = 8 << 10;
/// How deep packets may hold packets: nobody writes more than three levels.
pub(crate) const MAX_DEPTH: u8 = 8;
/// Bytes of one packet that is held in memory.
pub(crate) const MAX_PACKET: usize = 64 << 10;
/// Bytes of all packets that hand the session key to somebody: more than 10,000 recipients.
const MAX_OPENERS: usize = 8 << 20;
/// Passwords that open one message, at most: to try one takes up to a tenth of a second.
pub(crate) const MAX_PASSWORDS: usize = 32;
/// Signatures of one message.
pub(crate) const MAX_SIGNATURES: usize = 1 << 10;

/// What opens a message.
#[derive(Clone, Debug)]
pub enum EncryptedSessionKey {
    /// A password.
    Password(Skesk),
    /// A secret key.
    Recipient(Pkesk),
}

/// What is asked for the session key.
pub trait Unlock {
    /// Finds the session key.
    ///
    /// `fits` says whether a key may be the right one: passwords are told from wrong ones by that.
    ///
    /// # Errors
    ///
    /// [`Error::NoKey`] if nothing here opens the message, or whatever went wrong.
    fn session_key(
        &mut self,
        encrypted_keys: &[EncryptedSessionKey],
        container: &EncryptedDataFormat,
        fits: &dyn Fn(&SessionKey) -> bool,
    ) -> Result<SessionKey>;
}

/// Opens nothing: for who reads only what is not encrypted.
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

/// A session key that is known opens its message.
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

/// What a message holds, as it is read.
#[derive(Debug)]
pub enum Event<'a> {
    /// Encrypted data begin, and there is a key for them.
    Decrypting {
        /// What they are in.
        container: &'a EncryptedDataFormat,
        /// Their key.
        key: &'a SessionKey,
    },
    /// Compressed data begin.
    Compressed(Compression),
    /// A one-pass signature packet's body, before the content.
    OnePass(&'a [u8]),
    /// A signature packet's body.
    Signature(&'a [u8]),
    /// The content begins.
    Literal {
        /// What the message says about it.
        literal: &'a Literal,
        /// How long it is, if that is said.
        length: Option<u32>,
    },
    /// The content is over.
    LiteralEnd,
    /// The content begins: clear text, whose headers name these digests.
    ClearText(&'a HashHeaders),
    /// The clear text is over. Its last line ended so, which is not part of it.
    ClearTextEnd(&'a [u8]),
    /// Before the clear text or behind its signatures there is other text, which was passed over.
    TextAround,
    /// The encrypted data are over, and they were not changed (never said of data without protection).
    Unchanged,
    /// The encrypted data are over.
    Decrypted,
}

/// How far data are to be trusted when they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authenticity {
    /// Part of what the sender encrypted.
    Verified,
    /// Perhaps changed: that is known at the end.
    Unverified,
}

/// Who takes what a message holds.
pub trait Sink {
    /// Takes word of what comes.
    ///
    /// # Errors
    ///
    /// Whatever ends the reading.
    fn event(&mut self, event: Event<'_>) -> Result<()>;
    /// Takes content.
    ///
    /// # Errors
    ///
    /// Whatever ends the reading.
    fn data(&mut self, data: &[u8], standing: Authenticity) -> Result<()>;
}

/// What is read only when it is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Encrypted data without protection against changes.
    pub unprotected: bool,
    /// Content that is not encrypted at all.
    pub unencrypted: bool,
    /// Clear text with a `Hash` header that is no list of digests: whoever reads it must decline to verify its
    /// signatures ([`HashHeaders::has_unknown`]; RFC 9580, 6.2.2.3).
    pub unknown_digests: bool,
}

/// Reads a message, with armor or without.
///
/// Whatever came before an error must not be used, unless it came as [`Authenticity::Verified`]; and then it is only a
/// beginning.
///
/// # Errors
///
/// What the input says, what `unlock` and `sink` return, and everything that makes the message not a whole, unchanged
/// one.
pub fn decrypt(
    input: &mut (dyn Read + Send),
    allowed: Allowed,
    unlock: &mut dyn Unlock,
    sink: &mut dyn Sink,
) -> Result<()> {
    Reader::new(allowed, unlock, sink).read(input)
}

/// Takes the encryption off a message, and nothing else: the packets that are encrypted come as data, without a
/// [`Event::Literal`] before them.
///
/// What is not encrypted is read as [`decrypt`] reads it.
///
/// # Errors
///
/// Those of [`decrypt`], but for what is wrong with the packets themselves.
pub fn unwrap(
    input: &mut (dyn Read + Send),
    allowed: Allowed,
    unlock: &mut dyn Unlock,
    sink: &mut dyn Sink,
) -> Result<()> {
    Reader { unwraps: true, ..Reader::new(allowed, unlock, sink) }.read(input)
}

/// What an input begins with.
enum Beginning {
    /// Clear text, and whether other text comes before it.
    ClearText { text_before: bool },
    /// Something else.
    Other,
}

/// Looks for the first line of a message in text. `line` holds what was read then.
fn beginning(input: &mut dyn BufRead, line: &mut Vec<u8>) -> Result<Beginning> {
    // Packets begin with the high bit, text does not.
    let first = input.fill_buf().map_err(Error::reading)?.first();
    if first.is_none_or(|byte| byte & 0x80 != 0) {
        return Ok(Beginning::Other);
    }
    let (mut begins, mut text_before) = (true, false);
    loop {
        clear_text::read_line(input, line)?;
        let title = clear_text::trimmed(line);
        if begins && line.ends_with(b"\n") && title == clear_text::BEGIN {
            return Ok(Beginning::ClearText { text_before });
        }
        let is_message =
            [&b"-----BEGIN PGP MESSAGE"[..], b"-----BEGIN PGP SIGNATURE", b"-----BEGIN PGP ARMORED FILE"];
        if line.is_empty() || (begins && is_message.iter().any(|message| title.starts_with(message))) {
            return Ok(Beginning::Other);
        }
        begins = line.ends_with(b"\n");
        text_before |= !title.is_empty();
    }
}

struct Reader<'a> {
    allowed: Allowed,
    unlock: &'a mut dyn Unlock,
    sink: &'a mut dyn Sink,
    /// Packets that were encrypted are handed on as they are.
    unwraps: bool,
    /// That of the encrypted data being read.
    standing: Option<Authenticity>,
    has_content: bool,
    /// The content is clear text, which is nothing without a signature.
    is_clear_text: bool,
    signatures: usize,
    /// How many signatures were announced before the content and did not come yet.
    announced: usize,
}

impl<'a> Reader<'a> {
    fn new(allowed: Allowed, unlock: &'a mut dyn Unlock, sink: &'a mut dyn Sink) -> Self {
        Self {
            allowed,
            unlock,
            sink,
            unwraps: false,
            standing: None,
            has_content: false,
            is_clear_text: false,
            signatures: 0,
            announced: 0,
        }
    }

    fn read(mut self, input: &mut (dyn Read + Send)) -> Result<()> {
        let mut input = BufReader::with_capacity(BUFFER, input);
        let mut line = Vec::new();
        let mut has_text_around = false;
        if let Beginning::ClearText { text_before } = beginning(&mut input, &mut line)? {
            has_text_around = text_before;
            self.clear_text(&mut input, &mut line)?;
        }
        let rest = Cursor::new(line).chain(input);
        // Detached signatures may be in several blocks; a message is in one.
        let mut packets = BufReader::with_capacity(BUFFER, DearmoredMessage::new(rest));
        let read = self.packets(&mut packets, 0);
        if self.is_clear_text && read.is_ok() && (has_text_around || packets.get_ref().passed_text()) {
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

    /// Reads clear text to the line that begins its signatures, which is in `line` then.
    fn clear_text(&mut self, input: &mut dyn BufRead, line: &mut Vec<u8>) -> Result<()> {
        if !self.allowed.unencrypted {
            return Err(Error::NotEncrypted);
        }
        (self.has_content, self.is_clear_text) = (true, true);
        let announced = clear_text::read_headers(input)?;
        if announced.has_unknown && !self.allowed.unknown_digests {
            return Err(Error::Malformed("a \"Hash\" header of clear text that is no list of digests"));
        }
        self.sink.event(Event::ClearText(&announced))?;
        let end = clear_text::read_text(input, line, |data| self.sink.data(data, Authenticity::Unverified))?;
        self.sink.event(Event::ClearTextEnd(&end))
    }

    /// Reads packets to the end.
    fn packets(&mut self, input: &mut dyn Input, depth: u8) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(Error::Limit("packets inside of packets"));
        }
        let mut encrypted_keys = EncryptedSessionKeys::default();
        while let Some(header) = frame::header(input).map_err(|error| self.at_beginning(error, depth))? {
            match header.tag {
                Tag(1 | 3) => {
                    encrypted_keys.add(header.tag, &Body::new(input, header.length).whole(MAX_PACKET)?)?
                }
                Tag(9 | 18 | 20) => {
                    self.encrypted(input, header, std::mem::take(&mut encrypted_keys), depth)?
                }
                Tag::COMPRESSED => self.compressed(Body::new(input, header.length), depth)?,
                Tag(11) => self.literal(input, header)?,
                Tag(2 | 4) => {
                    self.signature(header.tag, &Body::new(input, header.length).whole(MAX_PACKET)?)?
                }
                Tag::MARKER | Tag::PADDING => Body::new(input, header.length).skip()?,
                _ if depth == 0 && !self.has_content => return Err(Error::NoMessage),
                _ => return Err(Error::Malformed("a packet that is no part of a message")),
            }
        }
        if encrypted_keys.is_empty() { Ok(()) } else { Err(Error::CutShort) }
    }

    /// Takes a first byte that is no packet for what it is: no message at all.
    fn at_beginning(&self, error: Error, depth: u8) -> Error {
        match error {
            Error::Malformed(_) if depth == 0 && !self.has_content => Error::NoMessage,
            other => other,
        }
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
        let sealed = EncryptedData::begin(body, &container)?;
        let encrypted_keys = encrypted_keys.of(&container);
        let key =
            self.unlock.session_key(&encrypted_keys, &container, &|key| sealed.fits(&container, key))?;
        drop(encrypted_keys);
        if !sealed.fits(&container, &key) {
            return Err(Error::WrongKey);
        }
        self.sink.event(Event::Decrypting { container: &container, key: &key })?;
        let outer = self.standing.take();
        self.standing = Some(match container.mode() {
            Some(_) => Authenticity::Verified,
            None => Authenticity::Unverified,
        });
        decrypt_stream::decrypt_stream(&container, &key, sealed, |plain| {
            if self.unwraps {
                self.has_content = true;
                return self.hand_on(plain);
            }
            let read = self.packets(plain, depth + 1);
            match read {
                // If it was changed, then that is what is wrong.
                Err(
                    error @ (Error::Malformed(_)
                    | Error::Unsupported { .. }
                    | Error::CutShort
                    | Error::NoMessage),
                ) => {
                    plain.skip()?;
                    Err(error)
                }
                read => read,
            }
        })?;
        self.standing = outer;
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
        let (mut unpacked, compression) = Unpacked::new(body)?;
        self.sink.event(Event::Compressed(compression))?;
        let signatures = self.signatures;
        self.packets(&mut unpacked, depth + 1)?;
        if !self.has_content && self.signatures == signatures {
            return Err(Error::Malformed("nothing is compressed"));
        }
        unpacked.finish()
    }

    /// Refuses what stands before or around content once there was content: only signatures follow it (RFC 9580, 10.3).
    fn expect_content(&self) -> Result<()> {
        if self.has_content { Err(Error::Malformed("more than one content")) } else { Ok(()) }
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
        if self.standing.is_none() && !self.allowed.unencrypted {
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
        self.hand_on(&mut body)?;
        self.sink.event(Event::LiteralEnd)
    }

    /// Hands on all of an input as data.
    fn hand_on(&mut self, input: &mut dyn BufRead) -> Result<()> {
        let standing = self.standing.unwrap_or(Authenticity::Unverified);
        loop {
            let data = input.fill_buf().map_err(Error::reading)?;
            let count = data.len();
            if count == 0 {
                return Ok(());
            }
            self.sink.data(data, standing)?;
            input.consume(count);
        }
    }
}

/// Reads what a packet of encrypted data says in the clear.
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

/// The packets before encrypted data.
#[derive(Default)]
pub(crate) struct EncryptedSessionKeys {
    encrypted_keys: Vec<(u8, EncryptedSessionKey)>,
    bytes: usize,
    count: usize,
    passwords: usize,
}

impl EncryptedSessionKeys {
    fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn add(&mut self, tag: Tag, body: &[u8]) -> Result<()> {
        self.count += 1;
        self.bytes += body.len() + size_of::<EncryptedSessionKey>();
        if self.bytes > MAX_OPENERS {
            return Err(Error::Limit("recipients of one message"));
        }
        let encrypted_key = match tag {
            Tag(1) => Pkesk::parse(body).map(EncryptedSessionKey::Recipient),
            _ => {
                self.passwords += 1;
                Skesk::parse(body).map(EncryptedSessionKey::Password)
            }
        };
        if self.passwords > MAX_PASSWORDS {
            return Err(Error::Limit("passwords of one message"));
        }
        // Those of unknown versions and algorithms are for others (RFC 9580, 5.1 and 5.3).
        match encrypted_key {
            Ok(encrypted_key) => self.encrypted_keys.push((body[0], encrypted_key)),
            Err(Error::Unsupported { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Keeps what belongs to a kind of encrypted data: what opens authenticated data opens nothing else, so that they
    /// cannot be passed off as data without authentication.
    pub(crate) fn of(self, container: &EncryptedDataFormat) -> Vec<EncryptedSessionKey> {
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

    struct Nobody;

    impl Sink for Nobody {
        fn event(&mut self, _: Event<'_>) -> Result<()> {
            Ok(())
        }

        fn data(&mut self, _: &[u8], _: Authenticity) -> Result<()> {
            Ok(())
        }
    }

    fn read_blocks(blocks: &[&[u8]]) -> Result<()> {
        let mut text = Vec::new();
        for packets in blocks {
            let mut armor = ArmorWriter::titled(&mut text, "MESSAGE");
            armor.write_all(packets).expect("a vector takes everything");
            armor.finish().expect("a vector takes everything");
        }
        let allowed = Allowed { unencrypted: true, ..Allowed::default() };
        decrypt(&mut &text[..], allowed, &mut NoKeys, &mut Nobody)
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
