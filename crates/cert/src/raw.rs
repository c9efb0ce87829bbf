//! A raw certificate, and how it is put together from the packets of a stream.

use crate::error::Flaw;
use crate::identity::Fingerprint;
use crate::key;
use crate::packet::{self, Tag};
use std::fmt;
use std::ops::Range;
use verify::limits;

/// One certificate as a stream holds it: split off, nothing verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawCertificate {
    /// Offset in the stream of its primary key packet.
    pub position: u64,
    /// Its packets in binary form with definite lengths, beginning with the public primary key.
    pub bytes: Vec<u8>,
    /// The secret keys of which `bytes` holds the public parts.
    pub secrets: Vec<SecretKey>,
    /// What was left out, and why.
    pub notes: Vec<Note>,
}

/// A secret key packet, for who wants more than its public part.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey {
    /// The key's fingerprint.
    pub fingerprint: Fingerprint,
    /// The body of the packet, public and secret part.
    pub body: Vec<u8>,
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

/// Something that was left out of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Offset in the stream.
    pub position: u64,
    /// Why.
    pub flaw: Flaw,
}

/// A packet in the window.
#[derive(Debug)]
pub(crate) struct Framed<'a> {
    pub(crate) tag: Tag,
    /// Its place in the window, header included.
    pub(crate) place: Range<usize>,
    pub(crate) body: Body<'a>,
    /// The whole window.
    pub(crate) window: &'a [u8],
}

/// A packet's body in the window.
#[derive(Debug)]
pub(crate) enum Body<'a> {
    /// In one piece.
    Whole(&'a [u8]),
    /// Put together from the parts of a partial length, which a certificate does not keep.
    Joined(Vec<u8>),
}

impl Framed<'_> {
    pub(crate) fn body(&self) -> &[u8] {
        match &self.body {
            Body::Whole(body) => body,
            Body::Joined(body) => body,
        }
    }
}

/// A certificate being put together.
///
/// Packets that are kept as they are wait as a `run` in the window, so that a certificate of which nothing is left
/// out is copied once, into memory of the right size.
#[derive(Debug)]
pub(crate) struct Assembly {
    position: u64,
    bytes: Vec<u8>,
    run: Range<usize>,
    secrets: Vec<SecretKey>,
    notes: Vec<Note>,
    components: usize,
    /// Whether the component that they belong to was left out.
    skips_signatures: bool,
}

impl Assembly {
    /// Begins with the primary key, which stands at the window's front.
    pub(crate) fn begin(position: u64, primary: &Framed<'_>) -> Result<Self, Flaw> {
        let mut assembly = Self {
            position,
            bytes: Vec::new(),
            run: primary.place.start..primary.place.start,
            secrets: Vec::new(),
            notes: Vec::new(),
            components: 0,
            skips_signatures: false,
        };
        match primary.tag {
            Tag::PUBLIC_KEY => {
                key::parse_public(primary.body())?;
                assembly.keep(primary);
            }
            _ => assembly.separate(primary, Tag::PUBLIC_KEY)?,
        }
        Ok(assembly)
    }

    /// Adds the next packet.
    pub(crate) fn add(&mut self, packet: &Framed<'_>) -> Result<(), Flaw> {
        let length = packet.body().len();
        match packet.tag {
            tag if tag.is_void() => {}
            Tag::SIGNATURE if self.skips_signatures => {}
            Tag::SIGNATURE => self.keep(packet),
            tag if tag.belongs_to_messages() => self.leave_out(packet, Flaw::Misplaced(tag.0)),
            Tag::USER_ID if length > limits::MAX_USER_ID => {
                self.leave_out(packet, Flaw::TooLarge { tag: packet.tag.0, length: length as u32 })
            }
            Tag::SECRET_SUBKEY => {
                self.begin_component()?;
                if let Err(flaw) = self.separate(packet, Tag::PUBLIC_SUBKEY) {
                    self.leave_out(packet, flaw);
                }
            }
            _ => {
                self.begin_component()?;
                self.keep(packet);
            }
        }
        Ok(())
    }

    /// Ends the certificate.
    pub(crate) fn finish(mut self, window: &[u8]) -> RawCertificate {
        self.flush(window);
        let Self { position, bytes, secrets, notes, .. } = self;
        RawCertificate { position, bytes, secrets, notes }
    }

    fn begin_component(&mut self) -> Result<(), Flaw> {
        self.skips_signatures = false;
        self.components += 1;
        if self.components > limits::MAX_COMPONENTS { Err(Flaw::CertificateTooLarge) } else { Ok(()) }
    }

    fn leave_out(&mut self, packet: &Framed<'_>, flaw: Flaw) {
        self.skips_signatures = true;
        self.notes.push(Note { position: self.position + packet.place.start as u64, flaw });
    }

    fn keep(&mut self, packet: &Framed<'_>) {
        match &packet.body {
            Body::Joined(body) => self.write(packet, packet.tag, body),
            Body::Whole(_) if self.run.end == packet.place.start => self.run.end = packet.place.end,
            Body::Whole(_) => {
                self.flush(packet.window);
                self.run = packet.place.clone();
            }
        }
    }

    /// Keeps the public part of a secret key and puts the whole aside.
    fn separate(&mut self, packet: &Framed<'_>, public: Tag) -> Result<(), Flaw> {
        let key = key::parse_secret(packet.body())?;
        self.write(packet, public, key.public);
        self.secrets.push(SecretKey { fingerprint: key.fingerprint(), body: packet.body().to_vec() });
        Ok(())
    }

    fn write(&mut self, packet: &Framed<'_>, tag: Tag, body: &[u8]) {
        self.flush(packet.window);
        self.run = packet.place.end..packet.place.end;
        packet::write_header(&mut self.bytes, tag, body.len() as u32);
        self.bytes.extend_from_slice(body);
    }

    /// Copies the run.
    fn flush(&mut self, window: &[u8]) {
        if self.bytes.is_empty() {
            self.bytes.reserve_exact(self.run.len());
        }
        self.bytes.extend_from_slice(&window[self.run.clone()]);
        self.run.start = self.run.end;
    }
}
