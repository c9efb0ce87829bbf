//! Key IDs and fingerprints as people read them.

use engine::cert::{Fingerprint, KeyId};
use engine::configuration::Compat;

use super::digits::{hex, hex_text};
use crate::settings::{KeyIdFormat, ListSettings};

impl KeyIdFormat {
    /// Appends a key's ID, or nothing where keys have none.
    pub(super) fn key(self, key_id: KeyId, out: &mut Vec<u8>) {
        let bytes = key_id.0.to_be_bytes();
        match self {
            Self::None => return,
            Self::Short | Self::Long => {}
            Self::ShortWith0x | Self::LongWith0x => out.extend(b"0x"),
        }
        let short = matches!(self, Self::Short | Self::ShortWith0x);
        hex(&bytes[if short { 4 } else { 0 }..], out);
    }

    /// Appends the key ID of a signature's issuer, which is never left out.
    pub(crate) fn issuer(self, key_id: KeyId, out: &mut Vec<u8>) {
        let format = if self == Self::None { Self::Long } else { self };
        format.key(key_id, out);
    }

    /// Returns the columns user IDs are moved to the right for it.
    pub(super) fn columns(self) -> usize {
        match self {
            Self::None | Self::ShortWith0x => 10,
            Self::Short => 8,
            Self::Long => 16,
            Self::LongWith0x => 18,
        }
    }
}

/// Appends the line with a key's fingerprint. `brief` is the line that stands in for a key ID.
pub(super) fn fingerprint_line(
    fingerprint: &Fingerprint,
    brief: bool,
    settings: &ListSettings,
    out: &mut Vec<u8>,
) {
    const LABEL: &[u8] = b"      Key fingerprint =";
    let asked = settings.fingerprint > 0;
    let labelled = settings.key_id_format != KeyIdFormat::None;
    let compact = brief || !labelled || (!asked && settings.with_subkey_fingerprint);
    match (compact, asked) {
        (true, false) => {
            out.extend(b"      ");
            hex(fingerprint.as_bytes(), out);
        }
        (true, true) => {
            out.extend(b"      ");
            grouped(fingerprint, out);
        }
        (false, _) => {
            out.extend(LABEL);
            out.push(b' ');
            grouped(fingerprint, out);
        }
    }
    out.push(b'\n');
    if settings.with_icao_spelling {
        spell(fingerprint, if labelled { LABEL.len() + 1 } else { 6 }, settings.compat, out);
    }
}

/// Appends groups of four digits, with a gap in the middle; of version 5 the first fifty digits in groups of five, of
/// version 6 all of them without groups.
pub(crate) fn grouped(fingerprint: &Fingerprint, out: &mut Vec<u8>) {
    let bytes = match fingerprint {
        Fingerprint::V4(bytes) => bytes,
        Fingerprint::V5(bytes) => {
            let digits = hex_text(&bytes[..25]);
            return out.extend(digits.as_bytes().chunks(5).collect::<Vec<_>>().join(&b' '));
        }
        _ => return hex(fingerprint.as_bytes(), out),
    };
    for (number, group) in bytes.chunks(2).enumerate() {
        match number {
            0 => {}
            5 => out.extend(b"  "),
            _ => out.push(b' '),
        }
        hex(group, out);
    }
}

/// Appends the digits as words of the ICAO alphabet, ten to a line (2.2: eight), with a gap in the middle.
fn spell(fingerprint: &Fingerprint, indent: usize, compat: Compat, out: &mut Vec<u8>) {
    #[rustfmt::skip]
    const WORDS: [&str; 16] = [
        "Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven",
        "Eight", "Niner", "Alfa", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot",
    ];
    let on_line = if compat >= Compat::V2_4 { 10 } else { 8 };
    let digits = fingerprint.as_bytes().iter().flat_map(|byte| [byte >> 4, byte & 15]);
    pad(indent, out);
    out.push(b'"');
    for (number, digit) in digits.enumerate() {
        match number % on_line {
            _ if number == 0 => {}
            0 => {
                out.push(b'\n');
                pad(indent + 1, out);
            }
            middle if middle == on_line / 2 => out.extend(b"  "),
            _ => out.push(b' '),
        }
        out.extend(WORDS[usize::from(digit)].as_bytes());
    }
    out.extend(b"\"\n");
}

/// Appends spaces.
pub(super) fn pad(count: usize, out: &mut Vec<u8>) {
    out.resize(out.len() + count, b' ');
}
