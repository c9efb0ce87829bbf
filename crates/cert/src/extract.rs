//! Reads the facts of a certificate from its bytes.

use crate::attribute;
use crate::error::{Error, Flaw, Result};
use crate::facts::{Component, ComponentKind, Facts};
use crate::identity::Fingerprint;
use crate::packet::{Packet, Packets, Tag};
use crate::{key, signature};

/// Reads the facts of a certificate.
///
/// `bytes` are the packets of one certificate in binary form, with definite lengths, the primary key first, as
/// [`crate::split`] returns them. The spans of the facts cover them completely: every packet is a component, one of its
/// signatures, or listed as unread.
///
/// # Errors
///
/// If the first packet is not a usable key, a second primary key follows, or `bytes` are not a sequence of packets.
pub fn extract(bytes: &[u8]) -> Result<Facts> {
    let mut packets = Packets::new(bytes);
    let first = packets.next().unwrap_or(Err(malformed(0, Flaw::CutShort("a certificate"))))?;
    if first.tag != Tag::PUBLIC_KEY {
        return Err(malformed(0, Flaw::Misplaced(first.tag.0)));
    }
    let primary = key::parse_public(first.body).map_err(|flaw| malformed(0, flaw))?.facts();
    let fingerprint = primary.fingerprint;
    let mut components = vec![component(first, ComponentKind::Key(primary))];
    for packet in packets {
        let packet = packet?;
        match packet.tag {
            Tag::SIGNATURE => {
                let last = components.last_mut().expect("the primary key is there from the start");
                add_signature(last, packet, &fingerprint);
            }
            Tag::PUBLIC_KEY | Tag::SECRET_KEY | Tag::SECRET_SUBKEY => {
                return Err(malformed(packet.span.start, Flaw::Misplaced(packet.tag.0)));
            }
            _ => components.push(component(packet, component_kind(packet))),
        }
    }
    Ok(Facts { components })
}

fn malformed(position: u32, flaw: Flaw) -> Error {
    Error::Malformed { position: position.into(), flaw }
}

fn component(packet: Packet<'_>, kind: ComponentKind) -> Component {
    Component { span: packet.span, kind, signatures: Vec::new(), unread: Vec::new() }
}

/// Reads a component that is not the primary key.
pub(crate) fn component_kind(packet: Packet<'_>) -> ComponentKind {
    match packet.tag {
        Tag::USER_ID => ComponentKind::UserId(packet.body.to_vec()),
        Tag::ATTRIBUTE => ComponentKind::Attribute(attribute::facts(packet.body)),
        Tag::PUBLIC_SUBKEY => match key::parse_public(packet.body) {
            Ok(key) => ComponentKind::Key(key.facts()),
            Err(_) => ComponentKind::Unknown(packet.tag.0),
        },
        tag => ComponentKind::Unknown(tag.0),
    }
}

fn add_signature(component: &mut Component, packet: Packet<'_>, primary: &Fingerprint) {
    match signature::parse(packet.body) {
        Ok(signature) => component.signatures.push(signature.facts(packet.span, primary)),
        Err(_) => component.unread.push(packet.span),
    }
}
