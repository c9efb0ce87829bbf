//! Packets that hold session keys.

use engine::configuration::Compat;
use engine::message::decode_count;

use super::fields::{Complaint, Fields};

const ECDH: u8 = 18;

/// Session keys for a public key (RFC 9580, 5.1).
pub(super) fn for_key(fields: &mut Fields<'_, '_>) -> Result<(), Complaint> {
    const PREFIX: &str = ":pubkey enc packet: ";
    if fields.rest().len() < 12 {
        fields.line(format_args!("{PREFIX}[too short]"));
        return Err("packet(1) too short".to_owned());
    }
    let version = fields.byte().unwrap_or_default();
    if !matches!(version, 2 | 3) {
        fields.line(format_args!("{PREFIX}[unknown version]"));
        return Err(format!("packet(1) with unknown version {version}"));
    }
    let key_id = fields.bytes::<8>().unwrap_or_default();
    let algorithm = fields.byte().unwrap_or_default();
    fields.text(format_args!("{PREFIX}version {version}, algo {algorithm}, keyid "));
    fields.hex(&key_id);
    fields.line("");
    let integers = match algorithm {
        1..=3 => 1,
        16 | 20 => 2,
        ECDH => return agreed(fields),
        _ => {
            fields.line(format_args!("\tunsupported algorithm {algorithm}"));
            return Ok(());
        }
    };
    for _ in 0..integers {
        let Some(bits) = fields.integer() else { return Err("Invalid packet".to_owned()) };
        fields.line(format_args!("\tdata: [{bits} bits]"));
    }
    Ok(())
}

/// What ECDH makes: a point and a wrapped key.
fn agreed(fields: &mut Fields<'_, '_>) -> Result<(), Complaint> {
    let invalid = || "Invalid packet".to_owned();
    let bits = fields.integer_of(ECDH).ok_or_else(invalid)?;
    fields.line(format_args!("\tdata: [{bits} bits]"));
    let wrapped = fields.sized().ok_or_else(invalid)?;
    fields.line(format_args!("\tdata: [{} bits]", 8 * (wrapped.len() + 1)));
    Ok(())
}

/// Session keys for a passphrase (RFC 9580, 5.3; version 5 is GnuPG's).
pub(super) fn for_passphrase(fields: &mut Fields<'_, '_>) -> Result<(), Complaint> {
    const PREFIX: &str = ":symkey enc packet: ";
    let too_short = |fields: &mut Fields<'_, '_>| {
        fields.line(format_args!("{PREFIX}[too short]"));
        Err("packet(3) too short".to_owned())
    };
    if fields.rest().len() < 4 {
        return too_short(fields);
    }
    let version = fields.byte().unwrap_or_default();
    if !matches!(version, 4 | 5) {
        fields.line(format_args!("{PREFIX}[unknown version]"));
        return Err(format!("packet(3) with unknown version {version}"));
    }
    let cipher = fields.byte().unwrap_or_default();
    let mode = if version == 5 { fields.byte().unwrap_or_default() } else { 0 };
    let Some([s2k, digest]) = fields.bytes() else { return too_short(fields) };
    let salted = match s2k {
        0 => 0,
        1 => 8,
        3 => 9,
        _ => {
            fields.line(format_args!("{PREFIX}[unknown S2K mode]"));
            return Err(format!("unknown S2K mode {s2k}"));
        }
    };
    let Some(salt) = fields.take(salted) else {
        fields.line(format_args!("{PREFIX}[too short]"));
        return Err(format!("packet with S2K {s2k} too short"));
    };
    let space = if fields.compat >= Compat::V2_4 { " " } else { "" };
    fields.text(format_args!(
        "{PREFIX}version {version}, cipher {cipher}, aead {mode},{space}s2k {s2k}, hash {digest}"
    ));
    match (fields.rest().len(), mode) {
        (0, _) => {}
        (length, 0) => fields.text(format_args!(", seskey {} bits", (length - 1) * 8)),
        (length, _) => fields.text(format_args!(", encrypted seskey {length} bytes")),
    }
    fields.line("");
    if let Some((salt, count)) = salt.split_at_checked(8) {
        fields.text("\tsalt ");
        fields.hex(salt);
        if let [count] = *count {
            fields.text(format_args!(", count {} ({count})", decode_count(count)));
        }
        fields.line("");
    }
    Ok(())
}
