//! A raw certificate, and how it is put together from the packets of a stream.

use crate::error::Flaw;
use crate::frame::Framed;
use crate::identity::Fingerprint;
use crate::origin::Origin;
use crate::packet::{self, Tag};
use crate::reduce::Reduction;
use crate::{key, signature};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use verify::limits;
use zeroize::Zeroizing;

/// One certificate as a stream holds it: split off, nothing verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawCertificate {
    /// Offset in the stream of its primary key packet.
    pub position: u64,
    /// Its packets in binary form with definite lengths, beginning with the public primary key.
    pub bytes: Vec<u8>,
    /// The secret keys of which `bytes` holds the public parts.
    pub secrets: Vec<SecretKey>,
    /// Packets that were left out, and why.
    pub notes: Vec<LeftOut>,
    /// Where the primary key and user IDs came from, by the number of the component in `bytes`; only what a program
    /// noted that kept the certificate, to be believed of one's own files only.
    pub origins: Vec<(usize, Origin)>,
    /// How many signatures by others were left out, since the certificate is far larger than
    /// [`limits::MAX_CERTIFICATE`].
    pub signatures_left_out: u64,
}

/// A secret key packet, for who wants more than its public part.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey {
    /// The key's fingerprint.
    pub fingerprint: Fingerprint,
    /// The type of the packet: [`Tag::SECRET_KEY`] or [`Tag::SECRET_SUBKEY`].
    pub tag: Tag,
    /// The body of the packet, public and secret part; wiped when it is dropped.
    pub body: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

/// Something that was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Offset in the stream.
    pub position: u64,
    /// Why.
    pub flaw: Flaw,
}

/// A certificate being put together.
///
/// Packets that are kept as they are wait as a `run` in the window, so that a certificate of which nothing is left
/// out is copied once, into memory of the right size.
#[derive(Debug)]
pub(crate) struct Assembly {
    bytes: Vec<u8>,
    run: Range<usize>,
    reduction: Option<Reduction>,
    secrets: Vec<SecretKey>,
    secret_bytes: usize,
    components: usize,
    components_left_out: usize,
    signatures: usize,
    origins: Vec<(usize, Origin)>,
    /// Whether the component that they belong to was left out.
    skips_signatures: bool,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    Taken,
    LeftOut(Flaw),
}

impl Assembly {
    /// Begins with the primary key.
    pub(crate) fn begin(primary: &Framed<'_>) -> Result<Self, Flaw> {
        let start = primary.place.start;
        let mut assembly = Self {
            bytes: Vec::new(),
            run: start..start,
            reduction: None,
            secrets: Vec::new(),
            secret_bytes: 0,
            components: 0,
            components_left_out: 0,
            signatures: 0,
            origins: Vec::new(),
            skips_signatures: false,
        };
        match primary.tag {
            Tag::PUBLIC_KEY => {
                key::parse_public(&primary.body)?;
                assembly.keep(primary)?;
            }
            _ => assembly.separate(primary, Tag::PUBLIC_KEY)?,
        }
        Ok(assembly)
    }

    /// Adds the next packet.
    ///
    /// # Errors
    ///
    /// If the certificate is too large, or the packet is not what its header says.
    pub(crate) fn add(&mut self, packet: &Framed<'_>) -> Result<Added, Flaw> {
        match packet.tag {
            Tag::TRUST => {
                let component = self.components - self.components_left_out;
                let is_noted = self.origins.last().is_some_and(|(noted, _)| *noted == component);
                if !is_noted && !self.skips_signatures {
                    let origin = Origin::from_trust_packet(&packet.body);
                    self.origins.extend(origin.map(|origin| (component, origin)));
                }
                Ok(Added::Taken)
            }
            tag if tag.is_void() => Ok(Added::Taken),
            // PGP 2 wrote comments that way, each with a number sign in the place of the version.
            Tag::PUBLIC_SUBKEY if packet.body.first() == Some(&b'#') => Ok(Added::Taken),
            Tag::SIGNATURE if self.skips_signatures => Ok(Added::Taken),
            Tag::SIGNATURE => {
                refuse_damage(signature::parse(&packet.body))?;
                self.signatures += 1;
                self.keep(packet)?;
                Ok(Added::Taken)
            }
            _ => self.add_component(packet),
        }
    }

    fn add_component(&mut self, packet: &Framed<'_>) -> Result<Added, Flaw> {
        self.components += 1;
        let length = packet.body.len();
        let kept = match packet.tag {
            tag if tag.belongs_to_messages() => Err(Flaw::Misplaced(tag.0)),
            tag @ Tag::USER_ID if length > limits::MAX_USER_ID => {
                Err(Flaw::TooLarge { tag: tag.0, length: length as u32 })
            }
            Tag::SECRET_SUBKEY => self.separate(packet, Tag::PUBLIC_SUBKEY),
            Tag::PUBLIC_SUBKEY => {
                refuse_damage(key::parse_public(&packet.body)).and_then(|()| self.keep(packet))
            }
            _ => self.keep(packet),
        };
        self.skips_signatures = kept.is_err();
        self.components_left_out += usize::from(kept.is_err());
        match kept {
            Ok(()) => Ok(Added::Taken),
            Err(flaw) if flaw.is_damage() || flaw == Flaw::CertificateTooLarge => Err(flaw),
            Err(flaw) => Ok(Added::LeftOut(flaw)),
        }
    }

    /// Reduces the certificate if it has become too large; `at` is where the last packet ends in the window.
    ///
    /// From then on nothing in the window is needed any more, which is what the answer says.
    pub(crate) fn reduce_if_too_large(&mut self, window: &[u8], at: usize) -> Result<bool, Flaw> {
        let is_large = at > limits::MAX_WHOLE_CERTIFICATE
            || self.signatures > limits::MAX_WHOLE_SIGNATURES
            || self.components > limits::MAX_COMPONENTS;
        if self.reduction.is_none() && is_large {
            self.flush(window);
            let bytes = std::mem::take(&mut self.bytes);
            self.reduction = Some(Reduction::begin(&bytes)?);
        }
        Ok(self.reduction.is_some())
    }

    /// Says whether there is anything in it that can be good without what follows: a signature, or a secret key.
    pub(crate) fn may_be_of_use(&self) -> bool {
        self.signatures > 0 || !self.secrets.is_empty()
    }

    /// Ends the certificate.
    pub(crate) fn finish(mut self, position: u64, notes: Vec<LeftOut>, window: &[u8]) -> RawCertificate {
        self.flush(window);
        let Self { bytes, secrets, reduction, mut origins, .. } = self;
        let (bytes, signatures_left_out) = match reduction {
            Some(reduction) => {
                // Components may have been left out: only the first keeps its number.
                origins.retain(|(component, _)| *component == 0);
                let (bytes, left_out, _) = reduction.finish();
                (bytes, left_out)
            }
            None => (bytes, 0),
        };
        RawCertificate { position, bytes, secrets, notes, origins, signatures_left_out }
    }

    fn keep(&mut self, packet: &Framed<'_>) -> Result<(), Flaw> {
        match &packet.body {
            Cow::Owned(body) => self.write(packet, packet.tag, body)?,
            Cow::Borrowed(body) => match &mut self.reduction {
                Some(reduction) => {
                    reduction.add(packet.tag, body, &packet.window[packet.place.clone()])?;
                }
                None if self.run.end == packet.place.start => self.run.end = packet.place.end,
                None => {
                    self.flush(packet.window);
                    self.run = packet.place.clone();
                }
            },
        }
        Ok(())
    }

    /// Keeps the public part of a secret key and puts the whole aside.
    fn separate(&mut self, packet: &Framed<'_>, public: Tag) -> Result<(), Flaw> {
        let key = key::parse_secret(&packet.body)?;
        self.secret_bytes += packet.body.len();
        if self.secret_bytes > limits::MAX_REDUCED_CERTIFICATE {
            return Err(Flaw::CertificateTooLarge);
        }
        self.write(packet, public, key.public)?;
        let fingerprint = key.fingerprint();
        self.secrets.push(SecretKey { fingerprint, tag: packet.tag, body: packet.body.to_vec().into() });
        Ok(())
    }

    /// Writes a packet anew, since it is not kept as it is.
    fn write(&mut self, packet: &Framed<'_>, tag: Tag, body: &[u8]) -> Result<(), Flaw> {
        let written = packet::write(tag, body);
        if let Some(reduction) = &mut self.reduction {
            return reduction.add(tag, body, &written);
        }
        self.flush(packet.window);
        self.run = packet.place.end..packet.place.end;
        self.bytes.extend_from_slice(&written);
        Ok(())
    }

    /// Copies the run.
    fn flush(&mut self, window: &[u8]) {
        if self.reduction.is_some() {
            return;
        }
        if self.bytes.is_empty() {
            self.bytes.reserve_exact(self.run.len());
        }
        self.bytes.extend_from_slice(&window[self.run.clone()]);
        self.run.start = self.run.end;
    }
}

/// Lets pass what is sound, and what is only of a version that is not known.
fn refuse_damage<T>(read: Result<T, Flaw>) -> Result<(), Flaw> {
    match read {
        Err(flaw) if flaw.is_damage() => Err(flaw),
        _ => Ok(()),
    }
}
