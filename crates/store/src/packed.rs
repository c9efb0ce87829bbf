//! Facts as blobs: compact, versioned, quick to unpack.
//!
//! One certificate is two blobs. *Own* holds its components and what it says about itself, *third party* the
//! certifications by others; a listing without signatures reads the first one only. A third one keeps the verdicts on
//! those certifications, and what they prove stands once more by issuer. All begin with [`VERSION`], *own* with
//! [`SEALED`] and a seal at its end, which tells whether bytes or blob have changed since.
//!
//! Integers are LEB128 unless a width is given, widths are little-endian. Positions are stored as the gap since the
//! packet before.
//!
//! ```text
//! own         = version count component* seal
//! component   = kind gap length value size signature* count unread*
//!                                                              size: of all the signatures, in bytes
//! unread      = gap length                                     a packet that is kept and never shown
//! third-party = version group*                                 ends with the blob
//! group       = index count signature*                         index: of the component
//! seal        = crc32:4 crc32:4                                of the certificate's bytes, of the blob before it
//! ```

mod binding_change;
mod component;
mod proven;
mod reader;
mod run;
mod seal;
mod signature;
mod verdicts;

use cert::facts::{Component, ComponentKind, SignatureFacts};
use cert::{Facts, Fingerprint, KeyId};

use component::Head;
use reader::{Reader, Writer};
use run::{Groups, Run};

pub use binding_change::{pack_binding_change, unpack_binding_change};
pub use proven::{pack_proven, unpack_proven};
pub use seal::{SEALED, is_same, is_sealed_over_other_bytes};
pub use verdicts::{pack_verdicts, unpack_verdicts, unpack_wanted_verdicts};

/// The version every blob begins with, but for the own facts; those of before the seals too.
pub const VERSION: u8 = 1;

/// Why a blob cannot be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("packed facts: {what} at byte {position}")]
pub struct Error {
    /// Offset in the blob.
    pub position: usize,
    /// What is wrong.
    pub what: &'static str,
}

impl Error {
    pub(crate) const FINGERPRINT: Self = Self { position: 0, what: "a fingerprint that is none" };
}

/// A result of unpacking.
pub type Result<T> = std::result::Result<T, Error>;

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
    own.byte(SEALED);
    own.number(facts.components.len() as u64);
    let mut end = 0;
    for (index, component) in facts.components.iter().enumerate() {
        pack_component(component, end, &mut own);
        pack_third_party(index, component, &mut third_party);
        end = component.span.end;
    }
    seal::seal(&mut own, bytes);
    Packed { own: own.bytes, third_party: third_party.bytes }
}

/// Unpacks facts; without the second blob, third-party certifications are missing.
pub fn unpack(own: &[u8], third_party: Option<&[u8]>) -> Result<Facts> {
    let (mut reader, count) = begin(own)?;
    let mut groups = Groups::new(third_party.unwrap_or_default())?;
    let mut components = Vec::with_capacity(count);
    let mut end = 0;
    for index in 0..count {
        let head = Head::read(&mut reader, end)?;
        end = head.span.end;
        let kind = component::read_kind(head.kind, &mut reader)?;
        let mut own = reader.section()?;
        let signatures = join(Run::to_the_end(&mut own, end)?, groups.of(index, end)?)?;
        let unread = component::read_unread(&mut reader, end)?;
        components.push(Component { span: head.span, kind, signatures, unread });
    }
    reader.finish()?;
    groups.finish()?;
    if !matches!(components.first(), Some(Component { kind: ComponentKind::Key(_), .. })) {
        return Err(reader.error("no primary key"));
    }
    Ok(Facts { components })
}

/// Hands the signatures of a third-party blob whose issuers are `wanted` to `visit`, each with its component's number.
/// The other blob tells where they stand: these spans do not.
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

/// Hands each user ID and its component's number to `visit`, without unpacking anything else.
pub fn user_ids(own: &[u8], mut visit: impl FnMut(usize, &[u8])) -> Result<()> {
    walk(own, |index, kind, value| {
        if kind == component::USER_ID {
            visit(index, Reader::new(value).bytes()?);
        }
        Ok(())
    })
}

/// Hands each key's fingerprint and its component's number to `visit`, without unpacking anything else.
pub fn fingerprints(own: &[u8], mut visit: impl FnMut(usize, Fingerprint)) -> Result<()> {
    walk(own, |index, kind, value| {
        if kind == component::KEY {
            visit(index, Reader::new(value).fingerprint()?);
        }
        Ok(())
    })
}

/// Packs ascending positions in a certificate.
pub fn pack_positions(positions: &[u32]) -> Vec<u8> {
    let mut out = Writer::default();
    let mut last = 0;
    for &position in positions {
        debug_assert!(position >= last, "positions ascend");
        out.number(u64::from(position - last));
        last = position;
    }
    out.bytes
}

/// Unpacks positions in a certificate.
pub fn unpack_positions(blob: &[u8]) -> Result<Vec<u32>> {
    let mut reader = Reader::new(blob);
    let mut positions = Vec::with_capacity(blob.len());
    let mut last = 0_u32;
    while reader.remaining() > 0 {
        let gap = reader.number32()?;
        last = last.checked_add(gap).ok_or(reader.error("a position that is too large"))?;
        positions.push(last);
    }
    Ok(positions)
}

fn walk(own: &[u8], mut visit: impl FnMut(usize, u8, &[u8]) -> Result<()>) -> Result<()> {
    let (mut reader, count) = begin(own)?;
    for index in 0..count {
        let head = Head::read(&mut reader, 0)?;
        let value = reader.rest();
        component::skip_kind(head.kind, &mut reader)?;
        visit(index, head.kind, value)?;
        reader.section()?;
        component::read_unread(&mut reader, head.span.end)?;
    }
    reader.finish()
}

/// Returns a reader that stands before the first component, and how many there are.
fn begin(own: &[u8]) -> Result<(Reader<'_>, usize)> {
    let mut reader = Reader::new(seal::without_seal(own));
    if !matches!(reader.byte()?, VERSION | SEALED) {
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
