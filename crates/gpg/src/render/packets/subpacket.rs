//! Signature subpackets (RFC 9580, 5.2.3.7).

use engine::cert::Timestamp;
use engine::cert::subpacket::Subpacket;

use super::escape::sanitized;
use super::fields::Fields;
use crate::clock;

/// Appends a subpacket in a line of its own.
pub(super) fn report(subpacket: &Subpacket<'_>, is_hashed: bool, fields: &mut Fields<'_, '_>) {
    let Subpacket { kind, critical, body } = subpacket;
    let critical = if *critical { "critical " } else { "" };
    let hashed = if is_hashed { "hashed " } else { "" };
    if kind.0 == 10 && !is_hashed {
        // gpg warns of the additional recipients of commercial programs.
        fields.line(format_args!("\tsubpkt 10 len {} (additional recipient request)", body.len() + 1));
        fields.line(
            "WARNING: PGP versions > 5.0 and < 6.5.8 will automagically encrypt to this key and thereby reveal \
             the plaintext to the owner of this ARR key. Detailed info follows:",
        );
    }
    fields.text(format_args!("\t{critical}{hashed}subpkt {} len {} (", kind.0, body.len()));
    content(kind.0, body, fields);
    fields.line(")");
}

fn content(kind: u8, body: &[u8], fields: &mut Fields<'_, '_>) {
    let number = body.first_chunk().copied().map(u32::from_be_bytes);
    match (kind, body, number) {
        (2, _, Some(time)) => fields.text(format_args!("sig created {}", clock::day_string(Timestamp(time)))),
        (3, _, Some(0)) => fields.text("sig does not expire"),
        (3, _, Some(seconds)) => fields.text(format_args!("sig expires after {}", span(seconds))),
        (9, _, Some(0)) => fields.text("key does not expire"),
        (9, _, Some(seconds)) => fields.text(format_args!("key expires after {}", span(seconds))),
        (2 | 3 | 9, ..) => {}
        (4, [byte, ..], _) => fields.text(format_args!("{}exportable", not(*byte))),
        (7, [byte, ..], _) => fields.text(format_args!("{}revocable", not(*byte))),
        (4 | 7, ..) => {}
        (5, [depth, value], _) => {
            fields.text(format_args!("trust signature of depth {depth}, value {value}"));
        }
        (5, ..) => fields.text("[invalid trust subpacket]"),
        (6, [], _) => fields.text("[invalid regexp subpacket]"),
        (6, ..) => {
            fields.text("regular expression: \"");
            sanitized(body, b'"', fields.out);
            fields.text("\"");
        }
        (10, ..) => designated("Big Brother's key (ignored): ", body, fields),
        (11, ..) => list("pref-sym-algos:", body, fields),
        (12, ..) => designated("revocation key: ", body, fields),
        (16, ..) if body.len() >= 8 => key_id(&body[..8], fields),
        (16, ..) => {}
        (20, ..) => notation(body, fields),
        (21, ..) => list("pref-hash-algos:", body, fields),
        (22, ..) => list("pref-zip-algos:", body, fields),
        (23, ..) => flags("keyserver preferences:", body, fields),
        (24, ..) => url("preferred keyserver: ", body, fields),
        (25, ..) => fields.text("primary user ID"),
        (26, ..) => url("policy: ", body, fields),
        (27, ..) => flags("key flags:", body, fields),
        (28, ..) => fields.text("signer's user ID"),
        (29, [code, comment @ ..], _) => {
            fields.text(format_args!("revocation reason 0x{code:02x} ("));
            sanitized(comment, b')', fields.out);
            fields.text(")");
        }
        (29, ..) => {}
        (30, ..) => {
            fields.text("features:");
            body.iter().for_each(|byte| fields.text(format_args!(" {byte:02x}")));
        }
        (32, ..) => embedded(body, fields),
        (33, [version, fingerprint @ ..], _) if body.len() >= 21 => {
            fields.text(format_args!("issuer fpr v{version} "));
            fields.hex(fingerprint);
        }
        (33, ..) => {}
        (34, ..) => list("pref-aead-algos:", body, fields),
        (38, ..) => match body {
            [1..=255, ..] => fields.text("key-block: [unknown reserved octet]"),
            _ if body.len() < 50 => fields.text("key-block: [invalid subpacket]"),
            _ => fields.text(format_args!("key-block: [{} bytes]", body.len() - 1)),
        },
        (100..=110, ..) => fields.text("experimental / private subpacket"),
        _ => fields.text("?"),
    }
}

fn not(byte: u8) -> &'static str {
    if byte == 0 { "not " } else { "" }
}

fn key_id(issuer: &[u8], fields: &mut Fields<'_, '_>) {
    fields.text("issuer key ID ");
    fields.hex(issuer);
}

fn list(what: &str, numbers: &[u8], fields: &mut Fields<'_, '_>) {
    fields.text(what);
    numbers.iter().for_each(|number| fields.text(format_args!(" {number}")));
}

fn flags(what: &str, bytes: &[u8], fields: &mut Fields<'_, '_>) {
    fields.text(what);
    bytes.iter().for_each(|byte| fields.text(format_args!(" {byte:02X}")));
}

fn url(what: &str, text: &[u8], fields: &mut Fields<'_, '_>) {
    fields.text(what);
    sanitized(text, b')', fields.out);
}

/// A designated key: its class, algorithm and fingerprint.
fn designated(what: &str, body: &[u8], fields: &mut Fields<'_, '_>) {
    fields.text(what);
    match body {
        [class, algorithm, fingerprint @ ..] if body.len() >= 22 => {
            fields.text(format_args!("c={class:02x} a={algorithm} f="));
            fields.hex(fingerprint);
        }
        _ => fields.text("[too short]"),
    }
}

fn notation(body: &[u8], fields: &mut Fields<'_, '_>) {
    fields.text("notation: ");
    let [flags, _, _, _, n1, n2, v1, v2, rest @ ..] = body else { return fields.text("[too short]") };
    let (name, value) = (u16::from_be_bytes([*n1, *n2]), u16::from_be_bytes([*v1, *v2]));
    if usize::from(name) + usize::from(value) != rest.len() {
        return fields.text("[error]");
    }
    let (name, value) = rest.split_at(name.into());
    sanitized(name, b')', fields.out);
    fields.text("=");
    match flags & 0x80 {
        0 => fields.text("[not human readable]"),
        _ => sanitized(value, b')', fields.out),
    }
}

/// A signature in a signature.
fn embedded(body: &[u8], fields: &mut Fields<'_, '_>) {
    fields.text("signature: ");
    let (kind, algorithm, digest) = match body {
        _ if body.len() < 17 => return fields.text("[too short]"),
        [3, ..] => (body[2], body[15], body[16]),
        _ => (body[1], body[2], body[3]),
    };
    let version = body[0];
    fields.text(format_args!("v{version}, class 0x{kind:02X}, algo {algorithm}, digest algo {digest}"));
}

/// Returns a time span, in years of 365 days.
fn span(seconds: u32) -> String {
    let minutes = seconds / 60;
    let (minutes, hours) = (minutes % 60, minutes / 60);
    let (hours, days) = (hours % 24, hours / 24);
    match (days / 365, days % 365) {
        (0, 0) => format!("{hours}h{minutes}m"),
        (0, days) => format!("{days}d{hours}h{minutes}m"),
        (years, days) => format!("{years}y{days}d{hours}h{minutes}m"),
    }
}
