//! Cutting a stream into raw certificates.

use crate::error::{Error, Flaw, Result};
use crate::facts::SignatureType;
use crate::packet::{Fault, Header, Length, MAX_HEADER, Tag};
use crate::raw::{Assembly, Body, Framed};
use crate::window::Window;
use crate::{key, signature};
use std::io::Read;
use verify::limits;

pub use crate::raw::{Note, RawCertificate, SecretKey};

/// What a stream of certificates is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A certificate.
    Certificate(RawCertificate),
    /// A revocation of a primary key that stands alone, as GnuPG writes it to `openpgp-revocs.d`.
    Revocation(RawRevocation),
}

/// A key revocation without its certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRevocation {
    /// Offset in the stream.
    pub position: u64,
    /// The signature packet.
    pub bytes: Vec<u8>,
}

/// Cuts a stream into certificates: an iterator over them and over what is wrong.
///
/// After an error it goes on with the next certificate that can be found; only an error of the stream itself is the
/// last item. Memory is bounded by [`verify::limits`], whatever the stream's size.
#[derive(Debug)]
pub struct Splitter<R> {
    window: Window<R>,
    state: State,
    /// Bytes that were walked in vain and are looked at again, see [`Splitter::search_start`].
    walked_in_vain: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At a packet's beginning, nothing wrong so far.
    Ready,
    /// At a packet's beginning, after a certificate that is not taken or a packet out of place.
    Skipping,
    /// At bytes that may be anything.
    Lost,
    Finished,
}

impl<R: Read> Splitter<R> {
    /// Begins at the stream's beginning.
    pub fn new(reader: R) -> Self {
        Self { window: Window::new(reader), state: State::Ready, walked_in_vain: 0 }
    }

    fn piece(&mut self) -> Result<Option<Piece>> {
        loop {
            if self.state == State::Lost {
                self.find_primary_key()?;
            }
            let position = self.window.position();
            let packet = match frame(&mut self.window, 0)? {
                Ok(Some(packet)) => packet,
                Ok(None) => return Ok(None),
                Err(flaw) => return Err(self.lost(0, flaw)),
            };
            let (tag, end) = (packet.tag, packet.place.end);
            if tag.is_primary_key() {
                self.state = State::Ready;
                return self.certificate().map(|raw| Some(Piece::Certificate(raw)));
            }
            let was_ready = self.state == State::Ready;
            if was_ready && tag == Tag::SIGNATURE && is_key_revocation(packet.body()) {
                let bytes = self.window.bytes()[..end].to_vec();
                self.window.take(end);
                return Ok(Some(Piece::Revocation(RawRevocation { position, bytes })));
            }
            self.window.take(end);
            if was_ready && !tag.is_void() {
                self.state = State::Skipping;
                return Err(Error::Malformed { position, flaw: Flaw::Misplaced(tag.0) });
            }
        }
    }

    /// Reads the certificate whose primary key stands at the window's front.
    fn certificate(&mut self) -> Result<RawCertificate> {
        let position = self.window.position();
        let mut assembly: Option<Assembly> = None;
        let mut at = 0;
        loop {
            let packet = match frame(&mut self.window, at)? {
                Ok(Some(packet)) if assembly.is_some() && packet.tag.is_primary_key() => break,
                Ok(Some(packet)) => packet,
                Ok(None) => break,
                Err(flaw) => return Err(self.lost(at, flaw)),
            };
            let end = packet.place.end;
            let added = match &mut assembly {
                Some(assembly) => assembly.add(&packet),
                None => Assembly::begin(position, &packet).map(|begun| assembly = Some(begun)),
            };
            if let Err(flaw) = added {
                self.window.take(end);
                self.state = State::Skipping;
                return Err(Error::Malformed { position, flaw });
            }
            at = end;
        }
        let assembly = assembly.expect("the packet at the front is a primary key");
        let raw = assembly.finish(self.window.bytes());
        self.window.take(at);
        Ok(raw)
    }

    /// Makes the error for what is wrong `at` bytes after the window's front, and goes where the search for the next
    /// certificate begins.
    fn lost(&mut self, at: usize, flaw: Flaw) -> Error {
        let position = self.window.position() + at as u64;
        self.state = State::Lost;
        let start = self.search_start(at);
        self.window.take(start);
        Error::Malformed { position, flaw }
    }

    /// A wrong length swallows what follows it, so the search begins just after the damaged certificate's first
    /// octet; but only while that costs no more than reading the stream a few times, else where the walk ended.
    fn search_start(&mut self, at: usize) -> usize {
        const FREE: u64 = 16 << 20;
        self.walked_in_vain += at as u64;
        let may_return = self.walked_in_vain <= FREE + 4 * self.window.position();
        if may_return { 1.min(self.window.bytes().len()) } else { at }
    }

    /// Goes to the next thing that looks like a primary key, or to the end.
    fn find_primary_key(&mut self) -> Result<()> {
        self.state = State::Ready;
        loop {
            self.window.fill(1)?;
            let bytes = self.window.bytes();
            if bytes.is_empty() {
                return Ok(());
            }
            let candidate = bytes.iter().position(|&octet| may_begin_primary_key(octet));
            let Some(candidate) = candidate else {
                let all = bytes.len();
                self.window.take(all);
                continue;
            };
            self.window.take(candidate);
            if looks_like_primary_key(&mut self.window)? {
                return Ok(());
            }
            self.window.take(1);
        }
    }
}

impl<R: Read> Iterator for Splitter<R> {
    type Item = Result<Piece>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Finished {
            return None;
        }
        let piece = self.piece();
        if matches!(piece, Ok(None) | Err(Error::Read { .. })) {
            self.state = State::Finished;
        }
        piece.transpose()
    }
}

fn is_key_revocation(body: &[u8]) -> bool {
    signature::parse(body).is_ok_and(|signature| signature.kind == SignatureType::KEY_REVOCATION)
}

/// Reads the packet that stands `at` bytes after the window's front; `None` at the end of the stream.
fn frame<R: Read>(
    window: &mut Window<R>,
    at: usize,
) -> Result<std::result::Result<Option<Framed<'_>>, Flaw>> {
    const CUT: Flaw = Flaw::CutShort("a packet");
    window.fill(at + MAX_HEADER)?;
    let rest = &window.bytes()[at..];
    if rest.is_empty() {
        return Ok(Ok(None));
    }
    let header = match Header::parse(rest) {
        Ok(header) => header,
        Err(Fault::Short) => return Ok(Err(CUT)),
        Err(Fault::NotAPacket) => return Ok(Err(Flaw::NotAPacket)),
    };
    let Length::Definite(length) = header.length else {
        return Ok(Err(Flaw::OpenLength(header.tag.0)));
    };
    if length as usize > limits::MAX_PACKET {
        return Ok(Err(Flaw::TooLarge { tag: header.tag.0, length }));
    }
    let body = at + header.size;
    let end = body + length as usize;
    window.fill(end)?;
    let bytes = window.bytes();
    Ok(match bytes.get(body..end) {
        None => Err(CUT),
        Some(slice) => {
            Ok(Some(Framed { tag: header.tag, place: at..end, body: Body::Whole(slice), window: bytes }))
        }
    })
}

/// Says whether the octet may begin a primary key packet, public or secret, of definite length.
fn may_begin_primary_key(octet: u8) -> bool {
    matches!(octet, 0x94..=0x96 | 0x98..=0x9a | 0xc5 | 0xc6)
}

/// Says whether a primary key stands at the window's front, beyond doubt: complete, of a known algorithm, and
/// followed by another packet or the end.
fn looks_like_primary_key<R: Read>(window: &mut Window<R>) -> Result<bool> {
    window.fill(MAX_HEADER)?;
    let Ok(Header { tag, length: Length::Definite(length), size }) = Header::parse(window.bytes()) else {
        return Ok(false);
    };
    let length = length as usize;
    if length > limits::MAX_KEY_PACKET {
        return Ok(false);
    }
    window.fill(size + length + MAX_HEADER)?;
    let Some((body, after)) = window.bytes()[size..].split_at_checked(length) else {
        return Ok(false);
    };
    let key = if tag == Tag::PUBLIC_KEY { key::parse_public(body) } else { key::parse_secret(body) };
    Ok(key.is_ok_and(|key| key.is_of_known_algorithm()) && (after.is_empty() || Header::parse(after).is_ok()))
}
