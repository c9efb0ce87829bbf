//! The subpackets of a signature: policies, notations and keyservers as text, others as records.

use engine::cert::signature::{self, Signature};
use engine::cert::subpacket::{Kind, Notation, Subpacket, Subpackets};
use engine::listing::ListedSignature;

use super::digits::{decimal, hex};
use super::text;
use crate::settings::ListFlags;

/// Appends the lines below a signature that the style asks for.
pub(super) fn lines(listed: &ListedSignature<'_>, flags: &ListFlags, out: &mut Vec<u8>) {
    let Some(signature) = parsed(listed) else { return };
    if flags.policy_urls {
        urls(&signature, Kind::POLICY, ["Signature policy: ", "Critical signature policy: "], out);
    }
    if flags.std_notations || flags.user_notations {
        notations(&signature, flags, out);
    }
    if flags.keyserver_urls {
        let labels = ["Preferred keyserver: ", "Critical preferred keyserver: "];
        urls(&signature, Kind::PREFERRED_KEYSERVER, labels, out);
    }
}

/// Appends an `spk` record for every subpacket of the types that are asked for, the highest type first.
pub(super) fn records(listed: &ListedSignature<'_>, flags: &ListFlags, out: &mut Vec<u8>) {
    let mut kinds = flags.sig_subpackets.clone();
    kinds.sort_unstable_by(|kind, next| next.cmp(kind));
    let signature = if kinds.is_empty() { None } else { parsed(listed) };
    let Some(signature) = signature else { return };
    for kind in kinds {
        for (area, hashed) in [(signature.hashed, 1), (signature.unhashed, 0)] {
            of_kind(area, Kind(kind)).for_each(|subpacket| record(&subpacket, hashed, out));
        }
    }
}

fn parsed<'a>(listed: &ListedSignature<'a>) -> Option<Signature<'a>> {
    listed.body.and_then(|body| signature::parse(body).ok())
}

/// Walks the subpackets of one type, up to the first one that is too short for its type.
fn of_kind(area: &[u8], kind: Kind) -> impl Iterator<Item = Subpacket<'_>> {
    let all = Subpackets::new(area).map_while(Result::ok);
    all.filter(move |subpacket| subpacket.kind == kind).take_while(Subpacket::is_well_formed)
}

fn urls(signature: &Signature<'_>, kind: Kind, labels: [&str; 2], out: &mut Vec<u8>) {
    for subpacket in of_kind(signature.hashed, kind) {
        label(labels, subpacket.critical, out);
        text::for_people(subpacket.body, out);
        out.push(b'\n');
    }
}

/// Appends the notations, the last one first, as gpg does.
fn notations(signature: &Signature<'_>, flags: &ListFlags, out: &mut Vec<u8>) {
    let all: Vec<_> = of_kind(signature.hashed, Kind::NOTATION).collect();
    for subpacket in all.iter().rev() {
        let Some(notation) = Notation::parse(subpacket.body) else { continue };
        let name = until_nul(notation.name);
        let wanted = if name.contains(&b'@') { flags.user_notations } else { flags.std_notations };
        if wanted {
            label(["Signature notation: ", "Critical signature notation: "], subpacket.critical, out);
            text::for_people(name, out);
            out.push(b'=');
            match notation.readable {
                true => text::for_people(until_nul(notation.value), out),
                false => binary_value(notation.value, out),
            }
            out.push(b'\n');
        }
    }
}

fn label(labels: [&str; 2], critical: bool, out: &mut Vec<u8>) {
    out.extend(b"   ");
    out.extend(labels[usize::from(critical)].as_bytes());
}

/// Appends what gpg shows of a notation's value that is no text.
pub(crate) fn binary_value(value: &[u8], out: &mut Vec<u8>) {
    const PREVIEW: usize = 19;
    out.extend(b"[ not human readable (");
    decimal(value.len() as u32, out);
    out.extend(b" bytes: ");
    let preview = value.iter().take(PREVIEW);
    out.extend(preview.map(|&byte| if (0x20..0x7f).contains(&byte) { byte } else { b'?' }));
    out.extend(if value.len() > PREVIEW { &b"..."[..] } else { b"" });
    out.extend(b") ]");
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

fn record(subpacket: &Subpacket<'_>, hashed: u32, out: &mut Vec<u8>) {
    out.extend(b"spk:");
    decimal(subpacket.kind.0.into(), out);
    out.push(b':');
    decimal(hashed | u32::from(subpacket.critical) << 1, out);
    out.push(b':');
    decimal(subpacket.body.len() as u32, out);
    out.push(b':');
    for &byte in subpacket.body {
        match byte {
            b':' | b'%' | 0..0x20 | 0x7f.. => {
                out.push(b'%');
                hex(&[byte], out);
            }
            _ => out.push(byte),
        }
    }
    out.push(b'\n');
}
