//! Splits a stream into raw certificates.

use crate::armor::ArmorRules;
use crate::error::{Error, Flaw, Result};
use crate::facts::SignatureType;
use crate::frame::{Framed, frame};
use crate::packet::{FIRST_NOT_CRITICAL, Fault, Header, Tag};
use crate::raw_certificate::Assembly;
use crate::search::{begins_like_primary_key, find_primary_key, swallowed_primary_key};
use crate::signature;
use crate::source::Segment;
use crate::window::Window;
use std::io::Read;
use verify::limits;

pub use crate::raw_certificate::{LeftOut, RawCertificate, SecretKey};

/// An item of a stream of certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A certificate.
    Certificate(RawCertificate),
    /// A revocation of a primary key without its certificate, as GnuPG writes it to `openpgp-revocs.d`.
    Revocation(RawRevocation),
    /// An armored block that contains no certificates and is skipped, such as a message.
    Ignored(LeftOut),
}

/// A key revocation without its certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRevocation {
    /// The offset in the stream.
    pub position: u64,
    /// The signature packet.
    pub bytes: Vec<u8>,
}

/// Iterates over the certificates of a stream.
///
/// After an error the iteration continues with the next certificate that is found; only an error of the stream itself
/// is the last item. If a certificate is damaged, the packets before the damage are returned first, then the error.
/// Memory is bounded by [`verify::limits`], independent of the size of the stream.
#[derive(Debug)]
pub struct Splitter<R> {
    window: Window<R>,
    rules: ArmorRules,
    state: State,
    /// The number of bytes that were searched again, see [`Splitter::search_start`].
    searched_again: u64,
    /// The error after the certificate that is returned.
    damage: Option<Error>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the beginning of a packet, without an error so far.
    Ready,
    /// At the beginning of a packet, after a rejected certificate or a misplaced packet.
    Skipping,
    /// At arbitrary bytes.
    Lost,
    Finished,
}

impl<R: Read> Splitter<R> {
    /// Splits a stream from its beginning, with GnuPG's rules for armor.
    pub fn new(reader: R) -> Self {
        Self::with(reader, ArmorRules::Gnupg)
    }

    /// Splits a stream from its beginning. By RFC 9580 (4.3) packets of unknown types before certificates are passed over
    /// if they are not critical.
    pub fn with(reader: R, armor: ArmorRules) -> Self {
        let window = Window::new(reader, armor);
        Self { window, rules: armor, state: State::Ready, searched_again: 0, damage: None }
    }

    fn piece(&mut self) -> Result<Option<Piece>> {
        loop {
            if self.state == State::Lost {
                self.state = State::Ready;
                find_primary_key(&mut self.window)?;
            }
            let (first, end) = match frame(&mut self.window, 0)? {
                Ok(Some(packet)) => (FirstPacket::of(&packet, self.rules), packet.range.end),
                Ok(None) => {
                    let segment = self.window.next_segment()?;
                    self.state = if segment == Segment::Remains { State::Lost } else { State::Ready };
                    match segment {
                        Segment::Packets | Segment::Remains => continue,
                        Segment::Foreign(position) => {
                            let flaw = Flaw::Armor("a block that holds no keys");
                            return Ok(Some(Piece::Ignored(LeftOut { position, flaw })));
                        }
                        Segment::End => return Ok(None),
                    }
                }
                Err(flaw) => return Err(self.lost(0, flaw)),
            };
            let position = self.window.position(0);
            match first {
                FirstPacket::PrimaryKey(Ok(assembly)) => {
                    return self.certificate(*assembly, end, usize::MAX).map(Piece::Certificate).map(Some);
                }
                // The length of an invalid key is not reliable.
                FirstPacket::PrimaryKey(Err(flaw)) if flaw.is_damage() => return Err(self.lost(0, flaw)),
                FirstPacket::PrimaryKey(Err(flaw)) => return Err(self.refused(position, end, flaw)),
                FirstPacket::Revocation(bytes) if self.state == State::Ready => {
                    self.window.take(end);
                    return Ok(Some(Piece::Revocation(RawRevocation { position, bytes })));
                }
                FirstPacket::Misplaced(tag) if self.state == State::Ready => {
                    return Err(self.refused(position, end, Flaw::Misplaced(tag.0)));
                }
                _ => self.window.take(end),
            }
        }
    }

    /// Reads the rest of the certificate whose primary key is at the front of the window and ends at `at`; none of its
    /// packets ends after `limit`.
    fn certificate(&mut self, mut assembly: Assembly, mut at: usize, limit: usize) -> Result<RawCertificate> {
        self.state = State::Ready;
        let position = self.window.position(0);
        let mut notes = Vec::new();
        loop {
            let step = frame(&mut self.window, at)?.and_then(|packet| match packet {
                Some(packet) if packet.range.end > limit => Err(Flaw::CutShort("a packet")),
                Some(packet) if !packet.tag.is_primary_key() => {
                    Ok(Some((packet.range.clone(), assembly.add(&packet))))
                }
                Some(packet) if !is_another_primary_key(&packet) => Err(Flaw::NotAPacket),
                _ => Ok(None),
            });
            let (place, added) = match step {
                Ok(Some(step)) => step,
                Ok(None) => break,
                // What is wrong is the next certificate.
                Err(_) if begins_like_primary_key(&self.window.bytes()[at..]) => break,
                Err(flaw) => return self.damaged(assembly, position, notes, at, flaw),
            };
            match added {
                Ok(left_out) => notes.extend(left_out.map(|flaw| {
                    let position = self.window.position(place.start);
                    LeftOut { position, flaw }
                })),
                Err(flaw) if flaw.is_damage() => {
                    return self.damaged(assembly, position, notes, place.start, flaw);
                }
                Err(flaw) => return Err(self.refused(position, place.end, flaw)),
            }
            at = place.end;
            match assembly.reduce_if_too_large(self.window.bytes(), at) {
                Ok(false) => {}
                Ok(true) => {
                    self.window.take(at);
                    at = 0;
                }
                Err(flaw) => return Err(self.refused(position, place.end, flaw)),
            }
        }
        let raw = assembly.finish(position, notes, self.window.bytes());
        self.window.take(at);
        Ok(raw)
    }

    /// Ends a certificate at damage at offset `at` of the window: the complete packets before it are returned, if they
    /// are usable.
    ///
    /// Where the next certificate begins before the damage, a packet with a wrong length contains its first bytes; then
    /// only the packets before that one were complete.
    fn damaged(
        &mut self,
        assembly: Assembly,
        position: u64,
        notes: Vec<LeftOut>,
        at: usize,
        flaw: Flaw,
    ) -> Result<RawCertificate> {
        let may_look = self.may_return() && self.window.position(0) == position;
        if may_look
            && let Some(next) = swallowed_primary_key(&mut self.window, at)?
            && let Ok(Some(primary)) = frame(&mut self.window, 0)?
            && primary.range.end <= next
            && let Ok(assembly) = Assembly::begin(&primary)
        {
            let end = primary.range.end;
            self.searched_again += at as u64;
            return self.certificate(assembly, end, next);
        }
        if !assembly.may_be_of_use() {
            return Err(self.lost(at, flaw));
        }
        let raw = assembly.finish(position, notes, self.window.bytes());
        self.damage = Some(self.lost(at, flaw));
        Ok(raw)
    }

    /// Returns the error for a rejected certificate, and skips the packet that ends at `end`.
    fn refused(&mut self, position: u64, end: usize, flaw: Flaw) -> Error {
        self.window.take(end);
        self.state = State::Skipping;
        Error::Malformed { position, flaw }
    }

    /// Returns the error for damage at offset `at` of the window, and skips to where the search for the next
    /// certificate begins.
    fn lost(&mut self, at: usize, flaw: Flaw) -> Error {
        let position = self.window.position(at);
        self.state = State::Lost;
        let start = self.search_start(at);
        self.window.take(start);
        Error::Malformed { position, flaw }
    }

    /// Returns where the search for the next certificate begins. Since a wrong length may skip the next certificate,
    /// that is just after the first byte of the damaged one, as long as this does not cost more than reading the stream
    /// a few times; else where reading ended.
    fn search_start(&mut self, at: usize) -> usize {
        self.searched_again += at as u64;
        let start = if self.may_return() { 1 } else { at.max(1) };
        start.min(self.window.bytes().len())
    }

    fn may_return(&self) -> bool {
        const FREE: u64 = 16 << 20;
        self.searched_again <= FREE + 4 * self.window.taken()
    }
}

impl<R: Read> Iterator for Splitter<R> {
    type Item = Result<Piece>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Finished {
            return None;
        }
        if let Some(damage) = self.damage.take() {
            return Some(Err(damage));
        }
        let piece = self.piece();
        if matches!(piece, Ok(None) | Err(Error::Read { .. })) {
            self.state = State::Finished;
        }
        piece.transpose()
    }
}

/// A packet outside of certificates.
enum FirstPacket {
    PrimaryKey(std::result::Result<Box<Assembly>, Flaw>),
    Revocation(Vec<u8>),
    Ignored,
    /// Anything else.
    Misplaced(Tag),
}

impl FirstPacket {
    fn of(packet: &Framed<'_>, rules: ArmorRules) -> Self {
        match packet.tag {
            tag if tag.is_primary_key() => Self::PrimaryKey(Assembly::begin(packet).map(Box::new)),
            tag if tag.is_ignored() => Self::Ignored,
            Tag(FIRST_NOT_CRITICAL..) if rules == ArmorRules::Rfc9580 => Self::Ignored,
            Tag::SIGNATURE if is_key_revocation(&packet.body) => Self::Revocation(packet.to_definite()),
            tag => Self::Misplaced(tag),
        }
    }
}

/// Returns whether an alleged primary key packet is one, possibly of an unknown version, and not bytes of the
/// certificate before it that are misread after a wrong length.
fn is_another_primary_key(packet: &Framed<'_>) -> bool {
    let after = &packet.window[packet.range.end..];
    let is_followed_by_a_packet = matches!(Header::parse(after), Ok(_) | Err(Fault::Short));
    begins_like_primary_key(&packet.window[packet.range.start..])
        || packet.range.len() <= limits::MAX_KEY_PACKET && is_followed_by_a_packet
}

fn is_key_revocation(body: &[u8]) -> bool {
    signature::parse(body).is_ok_and(|signature| signature.kind == SignatureType::KEY_REVOCATION)
}
