//! Keys, user IDs and attributes.

use cert::facts::{AttributeFacts, AttributeSubpacket, Component, ComponentKind, Image, KeyFacts};
use cert::packet::Span;
use cert::{Keygrip, Timestamp};
use verify::PublicKeyAlgorithm;

use super::Result;
use super::reader::Reader;
use super::writer::Writer;

pub(super) const KEY: u8 = 0;
pub(super) const USER_ID: u8 = 1;
const ATTRIBUTE: u8 = 2;
const UNKNOWN: u8 = 3;

/// Kind, gap, length, one byte of value, size, count.
pub(super) const MIN: usize = 6;

/// Reads what every component begins with: its kind, and where its packet stands; the packet before it ended at `end`.
pub(super) fn read_head(reader: &mut Reader<'_>, end: u32) -> Result<(u8, Span)> {
    Ok((reader.byte()?, read_span(reader, end)?))
}

/// Reads where a packet stands, as the gap since `end` and a length.
#[inline]
pub(super) fn read_span(reader: &mut Reader<'_>, end: u32) -> Result<Span> {
    let start = end.checked_add(reader.number32()?);
    let end = reader.number32()?;
    match start.and_then(|start| Some(Span { start, end: start.checked_add(end)? })) {
        Some(span) => Ok(span),
        None => Err(reader.error("a position that is too large")),
    }
}

/// Writes where a packet stands, as the gap since `end` and a length.
pub(super) fn write_span(span: Span, end: u32, out: &mut Writer) {
    debug_assert!(end <= span.start && span.start <= span.end, "packets follow each other");
    out.number(u64::from(span.start - end));
    out.number(u64::from(span.end - span.start));
}

/// Writes a component without its signatures; the packet before it ended at `end`.
pub(super) fn write(component: &Component, end: u32, out: &mut Writer) {
    out.byte(match component.kind {
        ComponentKind::Key(_) => KEY,
        ComponentKind::UserId(_) => USER_ID,
        ComponentKind::Attribute(_) => ATTRIBUTE,
        ComponentKind::Unknown(_) => UNKNOWN,
    });
    write_span(component.span, end, out);
    match &component.kind {
        ComponentKind::Key(key) => write_key(key, out),
        ComponentKind::UserId(value) => out.bytes(value),
        ComponentKind::Attribute(attribute) => write_attribute(attribute, out),
        ComponentKind::Unknown(tag) => out.byte(*tag),
    }
}

/// Writes where the packets stand that could not be read.
pub(super) fn write_unread(component: &Component, out: &mut Writer) {
    out.number(component.unread.len() as u64);
    let mut end = component.span.end;
    for &span in &component.unread {
        write_span(span, end, out);
        end = span.end;
    }
}

/// Reads where the packets stand that could not be read; the component's own packet ended at `end`.
pub(super) fn read_unread(reader: &mut Reader<'_>, mut end: u32) -> Result<Vec<Span>> {
    let count = reader.count(2)?;
    let mut unread = Vec::with_capacity(count);
    for _ in 0..count {
        let span = read_span(reader, end)?;
        end = span.end;
        unread.push(span);
    }
    Ok(unread)
}

pub(super) fn read_kind(kind: u8, reader: &mut Reader<'_>) -> Result<ComponentKind> {
    match kind {
        KEY => read_key(reader).map(ComponentKind::Key),
        USER_ID => reader.bytes().map(|value| ComponentKind::UserId(value.to_vec())),
        ATTRIBUTE => read_attribute(reader).map(ComponentKind::Attribute),
        UNKNOWN => reader.byte().map(ComponentKind::Unknown),
        _ => Err(reader.error("a component of an unknown kind")),
    }
}

/// Moves past a component's value.
pub(super) fn skip_kind(kind: u8, reader: &mut Reader<'_>) -> Result<()> {
    match kind {
        USER_ID => reader.bytes().map(drop),
        _ => read_kind(kind, reader).map(drop),
    }
}

fn write_key(key: &KeyFacts, out: &mut Writer) {
    out.fingerprint(&key.fingerprint);
    out.u32(key.created.0);
    out.byte(key.algorithm.0);
    out.number(u64::from(key.bits));
    let subgroup = key.subgroup_bits != 0;
    out.byte(u8::from(key.curve.is_some()) | u8::from(key.keygrip.is_some()) << 1 | u8::from(subgroup) << 2);
    if let Some(curve) = &key.curve {
        out.bytes(curve);
    }
    if let Some(keygrip) = &key.keygrip {
        out.raw(&keygrip.0);
    }
    if subgroup {
        out.raw(&key.subgroup_bits.to_le_bytes());
    }
}

fn read_key(reader: &mut Reader<'_>) -> Result<KeyFacts> {
    let fingerprint = reader.fingerprint()?;
    let created = Timestamp(reader.u32()?);
    let algorithm = PublicKeyAlgorithm(reader.byte()?);
    let bits = reader.number32()?;
    let present = reader.byte()?;
    if present > 7 {
        return Err(reader.error("an unknown key field"));
    }
    let curve = if present & 1 != 0 { Some(reader.bytes()?.to_vec()) } else { None };
    let keygrip = if present & 2 != 0 { Some(Keygrip(reader.array()?)) } else { None };
    let subgroup_bits = if present & 4 != 0 { reader.u16()? } else { 0 };
    Ok(KeyFacts { fingerprint, created, algorithm, bits, curve, keygrip, subgroup_bits })
}

fn write_attribute(attribute: &AttributeFacts, out: &mut Writer) {
    out.raw(&attribute.name_hash);
    out.number(u64::from(attribute.length));
    out.number(attribute.subpackets.len() as u64);
    for subpacket in &attribute.subpackets {
        out.byte(subpacket.kind);
        out.number(u64::from(subpacket.length));
        out.byte(u8::from(subpacket.image.is_some()));
        if let Some(Image { encoding, length }) = subpacket.image {
            out.byte(encoding);
            out.number(u64::from(length));
        }
    }
}

fn read_attribute(reader: &mut Reader<'_>) -> Result<AttributeFacts> {
    let name_hash = reader.array()?;
    let length = reader.number32()?;
    let count = reader.count(3)?;
    let subpackets = (0..count).map(|_| {
        let kind = reader.byte()?;
        let length = reader.number32()?;
        let image = match reader.byte()? {
            0 => None,
            1 => Some(Image { encoding: reader.byte()?, length: reader.number32()? }),
            _ => return Err(reader.error("an unknown attribute field")),
        };
        Ok(AttributeSubpacket { kind, length, image })
    });
    Ok(AttributeFacts { subpackets: subpackets.collect::<Result<_>>()?, name_hash, length })
}
