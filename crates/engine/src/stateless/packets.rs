//! Certificates in memory: reading their components, and adding packets.

use cert::Timestamp;
use cert::certificate::Certificate;
use cert::clean::rebuild;
use cert::effective::{Effective, EvaluationContext, PacketView, evaluate};
use cert::facts::Component;
use cert::key::{self, Key};
use cert::merge::merge;
use cert::packet::Span;
use cert::signature::{self, Signature};
use cert::split::{Piece, RawCertificate, Splitter};

use super::{Failure, Result};

/// Reads the certificates and keys of a file.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<RawCertificate>> {
    let mut found = Vec::new();
    for piece in Splitter::new(bytes) {
        match piece.map_err(Failure::bad_data)? {
            Piece::Certificate(raw) => found.push(raw),
            Piece::Revocation(_) | Piece::Ignored(_) => {
                return Err(Failure::bad_data("something else among certificates"));
            }
        }
    }
    Ok(found)
}

/// Reads a certificate, all its packets.
pub(super) fn certificate(raw: &RawCertificate) -> Result<Certificate> {
    rebuild(&raw.bytes, &[]).map_err(Failure::bad_data)
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
        *certificate = merged.certificate;
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
