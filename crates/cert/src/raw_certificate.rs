//! Raw certificates, assembled from the packets of a stream.

use crate::error::Flaw;
use crate::frame::Framed;
use crate::identity::Fingerprint;
use crate::origin::Origin;
use crate::packet::{self, Tag};
use crate::reduce::Reduction;
use crate::removed_signatures::RemovedSignatures;
use crate::{key, signature};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use verify::limits;
use zeroize::Zeroizing;

/// A certificate from a stream, without any verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawCertificate {
    /// The offset of the primary key packet in the stream.
    pub position: u64,
    /// The packets in binary form with definite lengths, the public primary key first.
    pub bytes: Vec<u8>,
    /// The secret keys whose public parts are in `bytes`.
    pub secrets: Vec<SecretKey>,
    /// The packets that were left out, and why.
    pub notes: Vec<LeftOut>,
    /// The origins of the primary key and user IDs, by the index of the component in `bytes`, as noted by the program
    /// that stored the certificate; only to be trusted in the user's own files.
    pub origins: Vec<(usize, Origin)>,
    /// The signatures that were left out, since the certificate is far larger than [`limits::MAX_CERTIFICATE`].
    pub signatures_left_out: RemovedSignatures,
}

/// A secret key packet.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey {
    /// The fingerprint.
    pub fingerprint: Fingerprint,
    /// The type of the packet: [`Tag::SECRET_KEY`] or [`Tag::SECRET_SUBKEY`].
    pub tag: Tag,
    /// The body of the packet, public and secret part; wiped when dropped.
    pub body: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

/// A packet that was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The offset in the stream.
    pub position: u64,
    /// The reason.
    pub flaw: Flaw,
}

/// A certificate that is being assembled.
///
/// Consecutive packets that are kept unchanged stay in the window as a `run`, so that a certificate without left-out
/// packets is copied only once, into memory of the right size.
#[derive(Debug, Default)]
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
    /// Whether the current component was left out, and its signatures with it.
    skips_signatures: bool,
}

impl Assembly {
    /// Begins a certificate with its primary key.
    pub(crate) fn begin(primary: &Framed<'_>) -> Result<Self, Flaw> {
        let start = primary.range.start;
        let mut assembly = Self { run: start..start, ..Self::default() };
        match primary.tag {
            Tag::PUBLIC_KEY => {
                key::parse_public(&primary.body)?;
                assembly.keep(primary)?;
            }
            _ => assembly.separate(primary, Tag::PUBLIC_KEY)?,
        }
        Ok(assembly)
    }

    /// Adds the next packet; returns why it was left out, if it was.
    ///
    /// # Errors
    ///
    /// If the certificate is too large, or the packet is not what its header says.
    pub(crate) fn add(&mut self, packet: &Framed<'_>) -> Result<Option<Flaw>, Flaw> {
        match packet.tag {
            Tag::TRUST => {
                let component = self.components - self.components_left_out;
                let is_noted = self.origins.last().is_some_and(|(noted, _)| *noted == component);
                if !is_noted && !self.skips_signatures {
                    let origin = Origin::from_trust_packet(&packet.body);
                    self.origins.extend(origin.map(|origin| (component, origin)));
                }
            }
            tag if tag.is_ignored() => {}
            // PGP 2 wrote comments in such packets, with a number sign in place of the version.
            Tag::PUBLIC_SUBKEY if packet.body.first() == Some(&b'#') => {}
            Tag::SIGNATURE if self.skips_signatures => {}
            Tag::SIGNATURE => {
                refuse_damage(packet, signature::parse(&packet.body))?;
                self.signatures += 1;
                self.keep(packet)?;
            }
            _ => return self.add_component(packet),
        }
        Ok(None)
    }

    fn add_component(&mut self, packet: &Framed<'_>) -> Result<Option<Flaw>, Flaw> {
        self.components += 1;
        let length = packet.body.len();
        let kept = match packet.tag {
            tag if tag.belongs_to_messages() => Err(Flaw::Misplaced(tag.0)),
            tag @ Tag::USER_ID if length > limits::MAX_USER_ID => {
                Err(Flaw::TooLarge { tag: tag.0, length: length as u32 })
            }
            Tag::SECRET_SUBKEY => self.separate(packet, Tag::PUBLIC_SUBKEY),
            Tag::PUBLIC_SUBKEY => {
                refuse_damage(packet, key::parse_public(&packet.body)).and_then(|()| self.keep(packet))
            }
            _ => self.keep(packet),
        };
        self.skips_signatures = kept.is_err();
        self.components_left_out += usize::from(kept.is_err());
        match kept.err() {
            Some(flaw) if is_damage(packet, flaw) || flaw == Flaw::CertificateTooLarge => Err(flaw),
            left_out => Ok(left_out),
        }
    }

    /// Reduces the certificate if it has become too large; `at` is the end of the last packet in the window.
    ///
    /// Returns whether it was reduced; then the bytes in the window are no longer needed.
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

    /// Returns whether it is usable without the packets that follow: it has a signature or a secret key.
    pub(crate) fn may_be_of_use(&self) -> bool {
        self.signatures > 0 || !self.secrets.is_empty()
    }

    /// Ends the certificate.
    pub(crate) fn finish(mut self, position: u64, notes: Vec<LeftOut>, window: &[u8]) -> RawCertificate {
        self.flush(window);
        let Self { bytes, secrets, reduction, mut origins, .. } = self;
        let (bytes, signatures_left_out) = match reduction {
            Some(reduction) => {
                // Components may have been left out: only the first one keeps its index.
                origins.retain(|(component, _)| *component == 0);
                let (bytes, left_out, _) = reduction.finish();
                (bytes, left_out)
            }
            None => (bytes, RemovedSignatures::default()),
        };
        RawCertificate { position, bytes, secrets, notes, origins, signatures_left_out }
    }

    fn keep(&mut self, packet: &Framed<'_>) -> Result<(), Flaw> {
        match &packet.body {
            Cow::Owned(body) => self.write(packet, packet.tag, body)?,
            Cow::Borrowed(body) => match &mut self.reduction {
                Some(reduction) => {
                    reduction.add(packet.tag, body, &packet.window[packet.range.clone()])?;
                }
                None if self.run.end == packet.range.start => self.run.end = packet.range.end,
                None => {
                    self.flush(packet.window);
                    self.run = packet.range.clone();
                }
            },
        }
        Ok(())
    }

    /// Keeps the public part of a secret key, and stores the whole packet separately.
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

    /// Writes a packet that is changed.
    fn write(&mut self, packet: &Framed<'_>, tag: Tag, body: &[u8]) -> Result<(), Flaw> {
        let written = packet::write_like(packet.window[packet.range.start], tag, body);
        if let Some(reduction) = &mut self.reduction {
            return reduction.add(tag, body, &written);
        }
        self.flush(packet.window);
        self.run = packet.range.end..packet.range.end;
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

/// Accepts valid packets, and those that cannot be read but are no damage: empty and short ones, of unknown versions, or
/// with fields in an unknown form.
fn refuse_damage<T>(packet: &Framed<'_>, read: Result<T, Flaw>) -> Result<(), Flaw> {
    match read {
        Err(flaw) if is_damage(packet, flaw) => Err(flaw),
        _ => Ok(()),
    }
}

/// Returns whether a packet is damaged, rather than one of which only the length can be read.
fn is_damage(packet: &Framed<'_>, flaw: Flaw) -> bool {
    flaw.is_damage() && !packet.is_followed_by_a_packet()
}
