//! The facts of a certificate.

use cert::facts::{Component, ComponentKind, SignatureFacts};
use cert::{Facts, Fingerprint, KeyId};
use crc32fast::hash;

use super::checksum::{self, WITH_CHECKSUM};
use super::component;
use super::reader::{Reader, VERSION};
use super::run::{Groups, Run};
use super::writer::Writer;
use super::{Result, signature};

/// The two blobs of one certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// Components and self-signatures.
    pub own: Vec<u8>,
    /// Certifications by others; empty if there are none.
    pub third_party: Vec<u8>,
}

/// Packs the facts of a certificate with these bytes.
pub fn pack(facts: &Facts, bytes: &[u8]) -> Packed {
    let mut own = Writer::default();
    let mut third_party = Writer::default();
    own.byte(WITH_CHECKSUM);
    own.number(facts.components.len() as u64);
    let mut end = 0;
    for (index, component) in facts.components.iter().enumerate() {
        pack_component(component, end, &mut own);
        pack_third_party(index, component, &mut third_party);
        end = component.span.end;
    }
    checksum::append(&mut own, bytes);
    Packed { own: own.bytes, third_party: third_party.bytes }
}

/// Unpacks facts; without the second blob, third-party certifications are missing.
pub fn unpack(own: &[u8], third_party: Option<&[u8]>) -> Result<Facts> {
    let (mut reader, count) = begin(own)?;
    let mut groups = Groups::new(third_party.unwrap_or_default())?;
    let mut components = Vec::with_capacity(count);
    let mut end = 0;
    for index in 0..count {
        let (kind, span) = component::read_head(&mut reader, end)?;
        end = span.end;
        let kind = component::read_kind(kind, &mut reader)?;
        let mut own = reader.section()?;
        let signatures = join(Run::new(&mut own, None, end)?, groups.of(index, end)?)?;
        let unread = component::read_unread(&mut reader, end)?;
        components.push(Component { span, kind, signatures, unread });
    }
    reader.finish()?;
    groups.finish()?;
    if !matches!(components.first(), Some(Component { kind: ComponentKind::Key(_), .. })) {
        return Err(reader.error("no primary key"));
    }
    Ok(Facts { components })
}

/// Hands the signatures of a third-party blob whose issuers are `wanted` to `visit`, each with its component's number.
/// Their spans are counted from the end of the component's own packet.
pub fn third_party(
    blob: &[u8],
    wanted: impl Fn(KeyId) -> bool,
    mut visit: impl FnMut(usize, SignatureFacts),
) -> Result<()> {
    let mut groups = Groups::new(blob)?;
    while let Some((component, mut run)) = groups.following()? {
        while run.next.is_some() {
            if let Some(signature) = run.read_wanted(&wanted)? {
                visit(component, signature);
            }
        }
    }
    Ok(())
}

/// Joins self-signatures and third-party ones in the order of the bytes.
fn join(mut own: Run<'_, '_>, mut others: Run<'_, '_>) -> Result<Vec<SignatureFacts>> {
    let mut signatures = Vec::with_capacity(own.estimate() + others.estimate());
    loop {
        let signature = match (own.next, others.next) {
            (Some(one), Some(other)) if one.start < other.start => own.read(),
            (_, Some(_)) => others.read(),
            (Some(_), None) => own.read(),
            (None, None) => return Ok(signatures),
        };
        signatures.push(signature?);
    }
}

/// Hands each key's fingerprint and its component's number to `visit`, without unpacking anything else.
pub fn fingerprints(own: &[u8], mut visit: impl FnMut(usize, Fingerprint)) -> Result<()> {
    let (mut reader, count) = begin(own)?;
    for index in 0..count {
        let (kind, span) = component::read_head(&mut reader, 0)?;
        let value = reader.rest();
        component::skip_kind(kind, &mut reader)?;
        if kind == component::KEY {
            visit(index, Reader::new(value).fingerprint()?);
        }
        reader.section()?;
        component::read_unread(&mut reader, span.end)?;
    }
    reader.finish()
}

/// Says whether a blob is whole, of the certificate with this fingerprint, and was packed with other bytes than these:
/// then it is the bytes that have changed.
pub fn is_checksum_of_other_bytes(own: &[u8], fingerprint: Option<Fingerprint>, bytes: &[u8]) -> bool {
    let Some((before, of_blob)) = own.split_last_chunk::<4>() else { return false };
    let Some((_, of_bytes)) = before.split_last_chunk::<4>() else { return false };
    let is_whole = own[0] == WITH_CHECKSUM && u32::from_le_bytes(*of_blob) == hash(before);
    is_whole && u32::from_le_bytes(*of_bytes) != hash(bytes) && primary(own) == fingerprint
}

fn primary(own: &[u8]) -> Option<Fingerprint> {
    let mut first = None;
    fingerprints(own, |_, fingerprint| first = first.or(Some(fingerprint))).ok()?;
    first
}

/// Returns a reader that stands before the first component, and how many there are.
fn begin(own: &[u8]) -> Result<(Reader<'_>, usize)> {
    let mut reader = Reader::new(checksum::without_checksum(own));
    if !matches!(reader.byte()?, VERSION | WITH_CHECKSUM) {
        return Err(reader.error("an unknown version"));
    }
    let count = reader.count(component::MIN)?;
    Ok((reader, count))
}

fn pack_component(component: &Component, end: u32, out: &mut Writer) {
    component::write(component, end, out);
    let mut signatures = Writer::default();
    let mut end = component.span.end;
    for signature in component.signatures.iter().filter(|signature| signature.own.is_some()) {
        signature::write(signature, end, &mut signatures);
        end = signature.span.end;
    }
    out.bytes(&signatures.bytes);
    component::write_unread(component, out);
}

fn pack_third_party(index: usize, component: &Component, out: &mut Writer) {
    let mut signatures = component.signatures.iter().filter(|signature| signature.own.is_none()).peekable();
    if signatures.peek().is_none() {
        return;
    }
    if out.bytes.is_empty() {
        out.byte(VERSION);
    }
    out.number(index as u64);
    out.number(signatures.clone().count() as u64);
    let mut end = component.span.end;
    for signature in signatures {
        signature::write(signature, end, out);
        end = signature.span.end;
    }
}
