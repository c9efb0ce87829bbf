//! Keys, public and secret.

use engine::cert::key::{parse_public, parse_secret};
use engine::configuration::Compat;
use engine::message::{Cipher, decode_count};

use super::escape::plain;
use super::fields::{Complaint, Fields};
use crate::algorithms;
use crate::render::algorithm::dotted;

/// The longest key that gpg reads.
const MAX_KEY: usize = 256 * 1024;

/// A key (RFC 9580, 5.5; version 5 is LibrePGP's) of which `tag` says what it is.
pub(super) fn key(tag: u8, body: &[u8], fields: &mut Fields<'_, '_>) -> Result<(), Complaint> {
    let is_2_4 = fields.compat >= Compat::V2_4;
    let version = match fields.byte() {
        Some(b'#') if tag == 14 => {
            fields.text(":rfc1991 comment packet: \"");
            plain(fields.rest(), fields.out);
            fields.line("\"");
            return Ok(());
        }
        Some(4) => 4,
        Some(5) if is_2_4 => 5,
        Some(version @ (2 | 3)) => {
            fields.line(format_args!(":key packet: [obsolete version {version}]"));
            return Ok(());
        }
        version => {
            fields.line(":key packet: [unknown version]");
            return Err(format!("packet({tag}) with unknown version {}", version.unwrap_or_default()));
        }
    };
    match fields.rest().len() {
        length if length < if version == 5 { 15 } else { 11 } => {
            fields.line(":key packet: [too short]");
            return Err(format!("packet({tag}) too short"));
        }
        length if length > MAX_KEY => {
            let end = if is_2_4 { "" } else { "t" };
            fields.line(format_args!(":key packet: [too large{end}]"));
            return Err(format!("packet({tag}) too large"));
        }
        _ => {}
    }
    let (created, algorithm) = (fields.number().unwrap_or_default(), fields.byte().unwrap_or_default());
    let what = match tag {
        5 => "secret",
        6 => "public",
        7 => "secret sub",
        _ => "public sub",
    };
    fields.line(format_args!(":{what} key packet:"));
    fields.text(format_args!("\tversion {version}, algo {algorithm}, created {created}, expires 0"));
    if version == 5 {
        let length = fields.number().unwrap_or_default();
        fields.text(format_args!(", pkbytes {length}"));
    }
    fields.line("");
    let Some(count) = public_parameters(algorithm) else {
        fields.line(format_args!("\tunknown algorithm {algorithm}"));
        return Ok(());
    };
    let key = PublicPart { version, algorithm, count };
    let parts = material(&key, fields);
    let parts = parts.and_then(|()| end(&key, body, matches!(tag, 5 | 7), fields));
    parts.ok_or_else(|| "Invalid packet".to_owned())
}

/// What the secret part is read by.
struct PublicPart {
    version: u8,
    algorithm: u8,
    /// How many parameters the public key has.
    count: usize,
}

/// Returns how many parameters a public key has, if the algorithm is known.
fn public_parameters(algorithm: u8) -> Option<usize> {
    match algorithm {
        1..=3 | 19 | 22 => Some(2),
        16 | 18 | 20 => Some(3),
        17 => Some(4),
        _ => None,
    }
}

/// The parameters of a public key.
fn material(key: &PublicPart, fields: &mut Fields<'_, '_>) -> Option<()> {
    let &PublicPart { algorithm, count, .. } = key;
    let has_curve = matches!(algorithm, 18 | 19 | 22);
    for index in 0..count {
        if (has_curve && index == 0) || (algorithm == 18 && index == 2) {
            let bytes = fields.sized()?;
            fields.text(format_args!("\tpkey[{index}]: [{} bits]", 8 * (bytes.len() + 1)));
            if index == 0 {
                curve(bytes, fields);
            }
        } else {
            let bits = fields.integer_of(algorithm)?;
            fields.text(format_args!("\tpkey[{index}]: [{bits} bits]"));
        }
        fields.line("");
    }
    Some(())
}

/// The secret part and the key ID.
fn end(key: &PublicPart, body: &[u8], is_secret: bool, fields: &mut Fields<'_, '_>) -> Option<()> {
    if is_secret {
        secret(key, fields)?;
    }
    let key = if is_secret { parse_secret(body) } else { parse_public(body) };
    let key_id = key.ok()?.fingerprint().key_id();
    fields.line(format_args!("\tkeyid: {key_id}"));
    Some(())
}

/// Reports a curve's name and object identifier.
fn curve(oid: &[u8], fields: &mut Fields<'_, '_>) {
    let name = algorithms::curve_name(oid, fields.compat).unwrap_or_default();
    fields.text(format_args!(" {name} ({})", dotted(oid)));
}

/// How a secret part is kept.
enum Kept {
    Plain,
    Locked,
    /// There is none here: GnuPG's extension says so (`doc/DETAILS`).
    Elsewhere,
}

fn secret(key: &PublicPart, fields: &mut Fields<'_, '_>) -> Option<()> {
    let &PublicPart { version, algorithm, count: public } = key;
    let kept = locking(version, fields)?;
    if version == 5 {
        let length = fields.number()?;
        fields.line(format_args!("\tskbytes: {length}"));
    }
    match kept {
        Kept::Elsewhere => {}
        Kept::Locked => {
            fields.rest().get(1)?;
            fields.line(format_args!("\tskey[{public}]: [v4 protected]"));
        }
        Kept::Plain => {
            let count = if matches!(algorithm, 1..=3) { 4 } else { 1 };
            for index in public..public + count {
                fields.text(format_args!("\tskey[{index}]: "));
                let outcome = fields.report_integer(algorithm);
                fields.line("");
                outcome?;
            }
            let sum = fields.short()?;
            fields.line(format_args!("\tchecksum: {sum:04x}"));
        }
    }
    Some(())
}

/// Reports how the secret part is locked.
fn locking(version: u8, fields: &mut Fields<'_, '_>) -> Option<Kept> {
    let usage = fields.byte()?;
    if version == 5 {
        let length = fields.byte()?;
        fields.line(format_args!("\tprotbytes: {length}"));
    }
    let (cipher, mode, serial) = match usage {
        0 => return Some(Kept::Plain),
        254 | 255 => s2k(usage, fields)?,
        cipher => {
            fields.line(format_args!("\tprotect algo: {cipher}  (hash algo: 1)"));
            (cipher, 0, 0)
        }
    };
    let (size, what) = match mode {
        1001 => (0, "protect IV"),
        1002 => (serial.min(16), "serial-number"),
        _ => (Cipher::of(cipher).map_or(0, Cipher::block_size), "protect IV"),
    };
    let bytes = fields.take(size)?;
    fields.text(format_args!("\t{what}: "));
    bytes.iter().for_each(|byte| fields.text(format_args!(" {byte:02x}")));
    fields.line("");
    Some(if mode > 1000 { Kept::Elsewhere } else { Kept::Locked })
}

/// Reports how a passphrase becomes a key; returns the cipher, the mode and the length of a card's serial number.
fn s2k(usage: u8, fields: &mut Fields<'_, '_>) -> Option<(u8, u16, usize)> {
    let [cipher, mode, digest] = fields.bytes()?;
    let mut mode = u16::from(mode);
    if mode == 101 {
        let Some([b'G', b'N', b'U', kind]) = fields.bytes() else {
            fields.line("\tunknown S2K 101");
            return None;
        };
        mode = 1000 + u16::from(kind);
    }
    let salt = if matches!(mode, 1 | 3) { Some(fields.bytes::<8>()?) } else { None };
    let name = match mode {
        0 => "simple",
        1 => "salted",
        3 => "iter+salt",
        1001 => "gnu-dummy",
        1002 => "gnu-divert-to-card",
        _ => {
            let gnu = if mode < 1000 { "" } else { "GNU " };
            fields.line(format_args!("\tunknown {gnu}S2K {mode}"));
            return None;
        }
    };
    let check = if usage == 254 { "SHA1 protection" } else { "simple checksum" };
    // gpg 2.4 does not call its own extension so.
    let kind = if mode > 1000 && fields.compat >= Compat::V2_4 { "" } else { " S2K" };
    fields.text(format_args!("\t{name}{kind}, algo: {cipher}, {check}, hash: {digest}"));
    if let Some(salt) = salt {
        fields.text(", salt: ");
        fields.hex(&salt);
    }
    fields.line("");
    let mut serial = 0;
    if mode == 3 {
        let count = fields.byte()?;
        fields.line(format_args!("\tprotect count: {} ({count})", decode_count(count)));
    } else if mode == 1002 {
        serial = fields.byte()?.into();
    }
    Some((cipher, mode, serial))
}
