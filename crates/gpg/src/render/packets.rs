//! Packets as gpg's `--list-packets` shows them.

mod escape;
mod fields;
mod key;
mod session_key;
mod signature;
mod subpacket;

use engine::cert::attribute;
use engine::cert::packet::Length;
use engine::configuration::Compat;
use engine::message::Found;

use escape::plain;
use fields::{Complaint, Fields};

/// Appends a packet; returns what is wrong with it.
pub(crate) fn packet(found: &Found<'_>, compat: Compat, out: &mut Vec<u8>) -> Result<(), Complaint> {
    position(found, out);
    let tag = found.header.tag.0;
    let mut fields = Fields::new(found.body, compat, out);
    match tag {
        1 => return session_key::for_key(&mut fields),
        2 => return signature::signature(&mut fields),
        3 => return session_key::for_passphrase(&mut fields),
        4 => return signature::one_pass(&mut fields),
        5..=7 | 14 => return key::key(tag, found.body, &mut fields),
        8 => fields.line(format_args!(":compressed packet: algo={}", found.body[0])),
        9 | 18 | 20 => encrypted(tag, length(found), &mut fields),
        10 => return marker(&mut fields),
        11 => literal(found, &mut fields),
        12 => trust(&mut fields),
        13 => named(":user ID packet: ", found.body, fields.out),
        16 => named(":OpenPGP draft comment packet: ", found.body, fields.out),
        17 => {
            let name = attribute::name(&attribute::facts(found.body));
            fields.line(format_args!(":attribute packet: {name}"));
        }
        19 => fields.line(format_args!(":mdc packet: length={}", found.body.len())),
        61 => named(":comment packet: ", found.body, fields.out),
        63 => return private(&mut fields),
        _ => {
            fields.line(format_args!(":unknown packet: type {tag:2}, length {}", length(found)));
            fields.text("dump:");
            dump(found.body, fields.out);
        }
    }
    Ok(())
}

/// Appends the position and the header of a packet.
fn position(found: &Found<'_>, out: &mut Vec<u8>) {
    let Found { position, first, header, .. } = found;
    let is_new = first & 0x40 != 0;
    let kind = match header.length {
        Length::Definite(_) => "",
        Length::Partial(_) => " partial",
        Length::Open => " indeterminate",
    };
    let new = if is_new { " new-ctb" } else { "" };
    let (tag, size, length) = (header.tag.0, header.size, length(found));
    let line = format!("# off={position} ctb={first:02x} tag={tag} hlen={size} plen={length}{kind}{new}\n");
    out.extend(line.into_bytes());
}

/// Returns the length that a packet's header says, 0 if that is not known.
fn length(found: &Found<'_>) -> u32 {
    match found.header.length {
        Length::Definite(length) => length,
        Length::Partial(_) | Length::Open => 0,
    }
}

fn encrypted(tag: u8, length: u32, fields: &mut Fields<'_, '_>) {
    let (version, [cipher, mode, chunk]) = (fields.byte(), fields.bytes().unwrap_or_default());
    if tag == 20 {
        fields.line(format_args!(":aead encrypted packet: cipher={cipher} aead={mode} cb={chunk}"));
    } else {
        fields.line(":encrypted data packet:");
    }
    match length {
        0 => fields.line("\tlength: unknown"),
        length => fields.line(format_args!("\tlength: {length}")),
    }
    match (tag, version) {
        (18, Some(1)) => fields.line("\tmdc_method: 2"),
        // gpg does not know this version.
        (18, Some(2)) => fields.line(format_args!("\tversion 2, cipher={cipher} aead={mode} cb={chunk}")),
        _ => {}
    }
}

fn marker(fields: &mut Fields<'_, '_>) -> Result<(), Complaint> {
    if fields.rest() == b"PGP" {
        fields.line(":marker packet: PGP");
        Ok(())
    } else {
        fields.line(":marker packet: [invalid]");
        Err("invalid marker packet".to_owned())
    }
}

fn literal(found: &Found<'_>, fields: &mut Fields<'_, '_>) {
    let (Some([mode, name_length]), length) = (fields.bytes(), length(found)) else { return };
    let Some(name) = fields.take(name_length.into()) else { return };
    let Some(created) = fields.number() else { return };
    let shown = if (b' '..b'z').contains(&mode) { char::from(mode) } else { '?' };
    fields.line(":literal data packet:");
    fields.text(format_args!("\tmode {shown} ({mode:X}), created {created}, name=\""));
    plain(name, fields.out);
    fields.text("\",\n\traw data: ");
    match length {
        0 => fields.line("unknown length"),
        length => {
            fields.line(format_args!("{} bytes", u64::from(length).saturating_sub(6 + name.len() as u64)))
        }
    }
}

/// A trust packet (RFC 9580, 5.10) as gpg writes it into keyrings.
fn trust(fields: &mut Fields<'_, '_>) {
    let Some(value) = fields.byte() else { return fields.line(":trust packet: empty") };
    let cache = fields.byte().filter(|cache| value == 0 && cache & 0x80 == 0).unwrap_or_default();
    let kind = fields.bytes::<4>();
    match kind {
        Some([b'g', b'p', b'g', 0]) => {
            fields.line(format_args!(":trust packet: sig flag={value:02x} sigcache={cache:02x}"));
        }
        Some([b'g', b'p', b'g', kind @ (1 | 2)]) => {
            let word = if kind == 1 { "key" } else { "uid" };
            let origin = fields.byte().unwrap_or_default();
            let updated = fields.number().unwrap_or_default();
            fields.text(format_args!(":trust packet: {word} upd={updated} src={origin}"));
            let url = fields.byte().filter(|length| *length > 0).map(|_| fields.rest());
            if let Some(url) = url.filter(|url| !url.is_empty()) {
                fields.text(" url=");
                plain(url, fields.out);
            }
            fields.line("");
        }
        Some([b'g', b'p', b'g', kind]) => fields.line(format_args!(":trust packet: subtype={kind:02x}")),
        Some(_) => fields.line(":trust packet: not created by gpg"),
        None => fields.line(format_args!(":trust packet: sig flag={value:02x} sigcache={cache:02x}")),
    }
}

fn private(fields: &mut Fields<'_, '_>) -> Result<(), Complaint> {
    let length = fields.rest().len();
    fields.line(format_args!(":packet 63: length {length} - private (rest length {length})"));
    dump(fields.rest(), fields.out);
    Err("Invalid packet".to_owned())
}

fn named(what: &str, name: &[u8], out: &mut Vec<u8>) {
    out.extend(what.as_bytes());
    out.push(b'"');
    plain(name, out);
    out.extend(b"\"\n");
}

/// Appends bytes, 24 in a line.
fn dump(bytes: &[u8], out: &mut Vec<u8>) {
    for (index, byte) in bytes.iter().enumerate() {
        match index {
            0 => {}
            _ if index % 24 == 0 => out.extend(format!("\n{index:4}:").into_bytes()),
            _ if index % 8 == 0 => out.push(b' '),
            _ => {}
        }
        out.extend(format!(" {byte:02x}").into_bytes());
    }
    out.push(b'\n');
}
