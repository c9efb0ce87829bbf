//! Export: from rows to bytes that others can read.

use std::borrow::Cow;
use std::io::Write;
use std::ops::ControlFlow;

use cert::facts::{Component, ComponentKind, Facts, SignatureFacts, Span};
use store::{CertId, Detail, Record, Selection, Snapshot};

use crate::{Error, Result};

/// The class bit of a designated revoker that is not to be shown to others (RFC 9580, 5.2.3.23).
const SENSITIVE: u8 = 0x40;

/// Which packets of a certificate are exported.
///
/// The default is what a certificate's owner means others to have: everything but local signatures and sensitive
/// revoker designations.
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
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            local_signatures: false,
            superseded: true,
            attributes: true,
            sensitive_revokers: false,
            certifications: true,
        }
    }
}

impl ExportOptions {
    /// Says whether a component, or one of its signatures, is exported.
    fn keep(&self, component: &Component, signature: Option<&SignatureFacts>) -> bool {
        let attribute = matches!(component.kind, ComponentKind::Attribute(_));
        (self.attributes || !attribute) && signature.is_none_or(|signature| self.keep_signature(signature))
    }

    fn keep_signature(&self, signature: &SignatureFacts) -> bool {
        let own = signature.own.as_deref();
        let names_sensitive = own.is_some_and(|own| own.revokers.iter().any(|it| it.class & SENSITIVE != 0));
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
    /// Octets, before any armor.
    pub bytes: u64,
}

/// Writes the selected certificates to `out`, one after the other, in database order.
///
/// # Errors
///
/// The database's errors, and [`Error::Output`] with what `out` returned.
pub fn export(
    snapshot: &dyn Snapshot,
    selection: Selection<'_>,
    options: &ExportOptions,
    out: &mut dyn Write,
    on_certificate: impl FnMut(&Record),
) -> Result<ExportSummary> {
    export_chosen(snapshot, selection, options, &mut |_, _| None, out, on_certificate)
}

/// Does what [`export()`] does, without the components that `choose` says `false` of; `None` keeps all of a certificate.
/// The primary key is always kept.
///
/// # Errors
///
/// Those of [`export()`].
pub fn export_chosen(
    snapshot: &dyn Snapshot,
    selection: Selection<'_>,
    options: &ExportOptions,
    choose: &mut dyn FnMut(CertId, &Facts) -> Option<Vec<bool>>,
    out: &mut dyn Write,
    mut on_certificate: impl FnMut(&Record),
) -> Result<ExportSummary> {
    let mut summary = ExportSummary::default();
    let mut failed = None;
    snapshot.visit(selection, Detail::Bytes, &mut |record| {
        let (Some(facts), Some(bytes)) = (&record.facts, &record.bytes) else {
            return ControlFlow::Continue(());
        };
        let chosen = choose(record.id, facts);
        let packets = packets(bytes, facts, |number, component, signature| {
            let is_chosen = |chosen: &Vec<bool>| number == 0 || chosen.get(number) != Some(&false);
            chosen.as_ref().is_none_or(is_chosen) && options.keep(component, signature)
        });
        if let Err(source) = out.write_all(&packets) {
            failed = Some(Error::Output(source));
            return ControlFlow::Break(());
        }
        summary.certificates += 1;
        summary.bytes += packets.len() as u64;
        on_certificate(&record);
        ControlFlow::Continue(())
    })?;
    failed.map_or(Ok(summary), Err)
}

/// Returns the packets of one certificate that `keep` lets pass.
///
/// `keep` is asked for each component with its number, and then for each signature of a component that it kept. The primary key is
/// always kept, and so are signatures that nobody here can read.
pub fn packets<'a>(
    bytes: &'a [u8],
    facts: &Facts,
    mut keep: impl FnMut(usize, &Component, Option<&SignatureFacts>) -> bool,
) -> Cow<'a, [u8]> {
    let mut kept = Vec::new();
    for (number, component) in facts.components.iter().enumerate() {
        if number > 0 && !keep(number, component, None) {
            continue;
        }
        kept.push(component.span);
        let signatures = component.signatures.iter();
        kept.extend(
            signatures
                .filter(|&signature| keep(number, component, Some(signature)))
                .map(|signature| signature.span),
        );
    }
    join(bytes, &kept)
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
