//! Export: from rows to certificates as bytes.

use std::borrow::Cow;
use std::io::Write;
use std::ops::ControlFlow;

use cert::certificate::Certificate;
use cert::facts::{Component, ComponentKind, Revoker, SignatureFacts};
use cert::packet::Span;
use store::{CertId, Detail, ReadCertificates, Record, Selection};

use crate::stored::try_visit;
use crate::{Error, Result};

/// Which packets of a certificate are exported.
///
/// The default is everything but local signatures and sensitive revoker designations.
#[derive(Clone, Copy, Debug)]
pub struct ExportOptions {
    /// Signatures that their makers marked as not exportable (RFC 9580, 5.2.3.19).
    pub local_signatures: bool,
    /// Signatures that GnuPG would have dropped at import as superseded.
    pub superseded: bool,
    /// User attributes (photographs).
    pub attributes: bool,
    /// Signatures that name a sensitive designated revoker.
    pub sensitive_revokers: bool,
    /// Certifications by others.
    pub certifications: bool,
    /// Signatures that cannot be read, and packets of unknown types.
    pub unreadable: bool,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            local_signatures: false,
            superseded: true,
            attributes: true,
            sensitive_revokers: false,
            certifications: true,
            unreadable: true,
        }
    }
}

impl ExportOptions {
    pub(crate) fn keep_component(&self, component: &Component) -> bool {
        match component.kind {
            ComponentKind::Attribute(_) => self.attributes,
            ComponentKind::Unknown(_) => self.unreadable,
            ComponentKind::Key(_) | ComponentKind::UserId(_) => true,
        }
    }

    /// Says whether a signature is exported.
    pub fn keep_signature(&self, signature: &SignatureFacts) -> bool {
        let own = signature.own.as_deref();
        let names_sensitive = own.is_some_and(|own| own.revokers.iter().any(Revoker::is_sensitive));
        (self.local_signatures || signature.flags.exportable)
            && (self.superseded || !signature.flags.superseded)
            && (self.sensitive_revokers || !names_sensitive)
            && (self.certifications || own.is_some())
    }
}

/// What an export wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportSummary {
    /// Certificates.
    pub certificates: u64,
    /// Bytes, before any armor.
    pub bytes: u64,
}

/// Changes a certificate before it is exported.
pub type Preparation<'a> = dyn FnMut(CertId, Certificate) -> Result<Certificate> + 'a;

/// Writes the selected certificates to `out`, one after the other, in database order, as `prepare` has changed them.
///
/// # Errors
///
/// The database's errors, those of `prepare`, and [`Error::Output`] with what `out` returned.
pub fn export(
    snapshot: &dyn ReadCertificates,
    selection: Selection<'_>,
    options: &ExportOptions,
    mut prepare: Option<&mut Preparation<'_>>,
    out: &mut dyn Write,
    mut on_certificate: impl FnMut(&Record),
) -> Result<ExportSummary> {
    let mut summary = ExportSummary::default();
    try_visit(snapshot, selection, Detail::Bytes, &mut |mut record| {
        if let (Some(facts), Some(bytes)) = (record.facts.take(), record.bytes.take()) {
            let certificate = Certificate { bytes, facts };
            let certificate = match &mut prepare {
                Some(prepare) => prepare(record.id, certificate)?,
                None => certificate,
            };
            let packets = packets(&certificate, options);
            out.write_all(&packets).map_err(Error::Output)?;
            summary.bytes += packets.len() as u64;
            summary.certificates += 1;
            on_certificate(&record);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(summary)
}

/// Returns the packets of one certificate that are exported; the primary key always is.
pub fn packets<'a>(certificate: &'a Certificate, options: &ExportOptions) -> Cow<'a, [u8]> {
    let mut kept = Vec::new();
    for (number, component) in certificate.facts.components.iter().enumerate() {
        if number > 0 && !options.keep_component(component) {
            continue;
        }
        kept.push(component.span);
        let read = component.signatures.iter().filter(|it| options.keep_signature(it)).map(|it| it.span);
        kept.extend(read);
        if options.unreadable && !component.unread.is_empty() {
            kept.extend(component.unread.iter().copied());
            kept.sort_unstable_by_key(|span| span.start);
        }
    }
    join(&certificate.bytes, &kept)
}

/// Joins spans, without copying if they are all of the bytes in one piece.
fn join<'a>(bytes: &'a [u8], spans: &[Span]) -> Cow<'a, [u8]> {
    let gapless = spans.windows(2).all(|pair| pair[0].end == pair[1].start);
    match (spans.first(), spans.last()) {
        (Some(first), Some(last)) if gapless => Cow::Borrowed(slice(bytes, first.start, last.end)),
        _ => Cow::Owned(spans.iter().flat_map(|span| slice(bytes, span.start, span.end)).copied().collect()),
    }
}

/// Returns a piece of the bytes; facts that do not fit the bytes yield nothing rather than a panic.
fn slice(bytes: &[u8], start: u32, end: u32) -> &[u8] {
    bytes.get(start as usize..end as usize).unwrap_or_default()
}
