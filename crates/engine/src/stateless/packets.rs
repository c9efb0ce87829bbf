//! Certificates in memory: reading their components, and adding packets.

use cert::certificate::Certificate;
use cert::clean::{rebuild, rebuild_repaired};
use cert::effective::{Effective, EvaluationContext, PacketView, evaluate};
use cert::facts::{Component, SignatureFacts};
use cert::key::{self, Key};
use cert::mail_armor::mended;
use cert::merge::merge;
use cert::packet::Span;
use cert::signature::{self, Signature};
use cert::split::{Piece, RawCertificate, Splitter};
use cert::{ArmorRules, Timestamp};
use zeroize::Zeroizing;

use super::{Failure, Result};

/// What a file holds.
#[derive(Default)]
pub(super) struct Read {
    /// Certificates and keys.
    pub(super) certificates: Vec<RawCertificate>,
    /// Revocations of primary keys without their certificates.
    pub(super) revocations: Vec<Vec<u8>>,
}

/// Reads the certificates and keys of a file. Certificates of unknown versions are left out if there are others.
///
/// # Errors
///
/// [`BadData`](super::Kind::BadData) for damage and for other packets.
pub(super) fn read(bytes: &[u8]) -> Result<Read> {
    let as_it_is = read_armored(bytes);
    let mended = match &as_it_is {
        Ok(read) if !read.certificates.is_empty() || !read.revocations.is_empty() => None,
        _ => mended(bytes).map(Zeroizing::new),
    };
    mended.map_or(as_it_is, |mended| read_armored(&mended))
}

fn read_armored(bytes: &[u8]) -> Result<Read> {
    let (mut read, mut unknown) = (Read::default(), None);
    for piece in Splitter::with(bytes, ArmorRules::Rfc9580) {
        match piece {
            Ok(Piece::Certificate(raw)) => read.certificates.push(raw),
            Ok(Piece::Revocation(raw)) => read.revocations.push(raw.bytes),
            Ok(Piece::Ignored(_)) => return Err(Failure::bad_data("something else among certificates")),
            Err(error) if error.is_of_unknown_version() => unknown = unknown.or(Some(error)),
            Err(error) => return Err(Failure::bad_data(error)),
        }
    }
    match unknown {
        Some(error) if read.certificates.is_empty() => Err(Failure::bad_data(error)),
        _ => Ok(read),
    }
}

/// Reads the certificates and keys of a file that holds nothing else.
///
/// # Errors
///
/// Those of [`read`], and [`BadData`](super::Kind::BadData) for revocations without certificates.
pub(super) fn read_certificates(bytes: &[u8]) -> Result<Vec<RawCertificate>> {
    let Read { certificates, revocations } = read(bytes)?;
    match revocations.is_empty() {
        true => Ok(certificates),
        false => Err(Failure::bad_data("a revocation without its certificate")),
    }
}

/// Reads a certificate, all its packets; misplaced self-signatures are moved to where they belong.
pub(super) fn certificate(raw: &RawCertificate) -> Result<Certificate> {
    let certificate = rebuild_repaired(&raw.bytes).map_err(Failure::bad_data)?;
    Ok(certificate.read_by_rfc9580())
}

/// Adds a certificate, or merges it into the one with the same primary key.
pub(super) fn join(certificates: &mut Vec<Certificate>, new: Certificate) {
    let primary = new.facts.primary().fingerprint;
    match certificates.iter_mut().find(|known| known.facts.primary().fingerprint == primary) {
        Some(known) => absorb(known, &new),
        None => certificates.push(new),
    }
}

/// Adds what another copy of a certificate has.
pub(super) fn absorb(certificate: &mut Certificate, copy: &Certificate) {
    if let Some(merged) = merge(certificate, copy) {
        *certificate = merged.certificate.read_by_rfc9580();
    }
}

/// Adds a revocation of the primary key, if the key made it.
pub(super) fn absorb_revocation(certificate: &mut Certificate, revocation: &[u8]) {
    let primary = certificate.packet(certificate.facts.components[0].span);
    if let Ok(copy) = rebuild(&[primary, revocation].concat(), &[])
        && copy.facts.components[0].signatures.iter().any(SignatureFacts::is_good)
    {
        absorb(certificate, &copy);
    }
}

/// Returns the state of a certificate now.
pub(super) fn effective(certificate: &Certificate, now: Timestamp) -> Effective {
    evaluate(&certificate.facts, EvaluationContext::new(now, PacketView::Full))
}

/// New packets for a certificate, as a certificate of their own.
pub(super) struct Addition<'a> {
    certificate: &'a Certificate,
    bytes: Vec<u8>,
    is_empty: bool,
}

impl<'a> Addition<'a> {
    /// Begins with the primary key.
    pub(super) fn new(certificate: &'a Certificate) -> Self {
        let primary = certificate.facts.components[0].span;
        Self { certificate, bytes: certificate.packet(primary).to_vec(), is_empty: true }
    }

    /// Adds a component of the certificate; further packets follow it.
    pub(super) fn behind(&mut self, component: &Component) {
        self.bytes.extend_from_slice(self.certificate.packet(component.span));
    }

    /// Adds a packet.
    pub(super) fn add(&mut self, packet: &[u8]) {
        self.bytes.extend_from_slice(packet);
        self.is_empty = false;
    }

    /// Returns the certificate with what was added.
    pub(super) fn finish(self) -> Result<Certificate> {
        let mut grown = self.certificate.clone();
        if !self.is_empty {
            absorb(&mut grown, &rebuild(&self.bytes, &[]).map_err(Failure::bad_data)?);
        }
        Ok(grown)
    }
}

/// Returns the body of a packet of a certificate.
pub(super) fn body(certificate: &Certificate, span: Span) -> Result<&[u8]> {
    certificate.body(span).ok_or_else(|| Failure::bad_data("a packet is malformed"))
}

/// Reads the key of a component.
pub(super) fn key<'c>(certificate: &'c Certificate, component: &Component) -> Result<Key<'c>> {
    key::parse_public(body(certificate, component.span)?).map_err(Failure::bad_data)
}

/// Reads the primary key.
pub(super) fn primary(certificate: &Certificate) -> Result<Key<'_>> {
    key(certificate, &certificate.facts.components[0])
}

/// Reads a signature of a component.
pub(super) fn signature<'c>(
    certificate: &'c Certificate,
    component: &Component,
    index: usize,
) -> Result<Signature<'c>> {
    signature::parse(body(certificate, component.signatures[index].span)?).map_err(Failure::bad_data)
}
