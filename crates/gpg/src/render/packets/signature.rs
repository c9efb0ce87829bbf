//! Signatures, and the announcements of some.

use engine::cert::Fingerprint;
use engine::cert::subpacket::{Kind, Subpackets};
use engine::configuration::Compat;

use super::fields::{Complaint, Fields};
use super::subpacket;

/// The longest area of subpackets that gpg reads.
const MAX_AREA: usize = 10000;
const PREFIX: &str = ":signature packet: ";

/// A signature (RFC 9580, 5.2; version 5 is LibrePGP's).
pub(super) fn signature(fields: &mut Fields<'_, '_>) -> Result<(), Complaint> {
    if fields.rest().len() < 16 {
        return too_short(fields);
    }
    let version = fields.byte().unwrap_or_default();
    match version {
        4 => since_version_4(version, fields).unwrap_or_else(|| too_short(fields)),
        5 if fields.compat >= Compat::V2_4 => {
            since_version_4(version, fields).unwrap_or_else(|| too_short(fields))
        }
        2 | 3 => version_3(version, fields).unwrap_or_else(|| too_short(fields)),
        _ => {
            fields.line(format_args!("{PREFIX}[unknown version]"));
            Err(format!("packet(2) with unknown version {version}"))
        }
    }
}

fn too_short(fields: &mut Fields<'_, '_>) -> Result<(), Complaint> {
    fields.line(format_args!("{PREFIX}[too short]"));
    Err("packet(2) too short".to_owned())
}

/// What all versions say.
struct Head {
    version: u8,
    hashed_length: u8,
    kind: u8,
    created: u32,
    issuer: [u8; 8],
    algorithm: u8,
    digest: u8,
    digest_begins: [u8; 2],
}

fn version_3(version: u8, fields: &mut Fields<'_, '_>) -> Option<Result<(), Complaint>> {
    let [hashed_length, kind] = fields.bytes()?;
    let (created, issuer) = (fields.number()?, fields.bytes()?);
    let [algorithm, digest] = fields.bytes()?;
    let digest_begins = fields.bytes()?;
    let head = Head { version, hashed_length, kind, created, issuer, algorithm, digest, digest_begins };
    report(&head, fields);
    Some(material(algorithm, fields))
}

fn since_version_4(version: u8, fields: &mut Fields<'_, '_>) -> Option<Result<(), Complaint>> {
    let [kind, algorithm, digest] = fields.bytes()?;
    let hashed = match area(fields, "hashed")? {
        Ok(hashed) => hashed,
        Err(complaint) => return Some(Err(complaint)),
    };
    let unhashed = match area(fields, "unhashed")? {
        Ok(unhashed) => unhashed,
        Err(complaint) => return Some(Err(complaint)),
    };
    let digest_begins = fields.bytes()?;
    let created = Subpackets::new(hashed).first(Kind::CREATION_TIME);
    let created = created.and_then(|body| body.first_chunk().copied()).map_or(0, u32::from_be_bytes);
    let issuer =
        |area| Subpackets::new(area).first(Kind::ISSUER).and_then(|body| body.first_chunk().copied());
    let named = issuer_of_fingerprint(hashed).filter(|_| fields.compat >= Compat::V2_4);
    let issuer = named.or_else(|| issuer(hashed)).or_else(|| issuer(unhashed)).unwrap_or_default();
    let head = Head { version, hashed_length: 0, kind, created, issuer, algorithm, digest, digest_begins };
    report(&head, fields);
    for (area, is_hashed) in [(hashed, true), (unhashed, false)] {
        for subpacket in Subpackets::new(area).map_while(Result::ok) {
            subpacket::report(&subpacket, is_hashed, fields);
        }
    }
    Some(material(algorithm, fields))
}

/// Returns the key ID of the fingerprint that names the issuer.
fn issuer_of_fingerprint(area: &[u8]) -> Option<[u8; 8]> {
    match *Subpackets::new(area).first(Kind::ISSUER_FINGERPRINT)? {
        [version @ (4 | 5), ref bytes @ ..] => {
            Fingerprint::new(version, bytes).map(|fingerprint| fingerprint.key_id().0.to_be_bytes())
        }
        _ => None,
    }
}

/// Takes an area of subpackets.
fn area<'b>(fields: &mut Fields<'b, '_>, what: &str) -> Option<Result<&'b [u8], Complaint>> {
    let length = usize::from(fields.short()?);
    if length > fields.rest().len() {
        return None;
    }
    if length > MAX_AREA {
        fields.line(format_args!("{PREFIX}[{what} data too long]"));
        return Some(Err(format!("signature packet: {what} data too long")));
    }
    fields.take(length).map(Ok)
}

fn report(head: &Head, fields: &mut Fields<'_, '_>) {
    let Head { version, hashed_length, kind, created, issuer, algorithm, digest, digest_begins } = head;
    fields.text(format_args!("{PREFIX}algo {algorithm}, keyid "));
    fields.hex(issuer);
    fields.line(format_args!(
        "\n\tversion {version}, created {created}, md5len {hashed_length}, sigclass 0x{kind:02x}"
    ));
    let [first, second] = digest_begins;
    fields.line(format_args!("\tdigest algo {digest}, begin of digest {first:02x} {second:02x}"));
}

/// The numbers that the algorithm made.
fn material(algorithm: u8, fields: &mut Fields<'_, '_>) -> Result<(), Complaint> {
    let integers = match algorithm {
        1..=3 => 1,
        17 | 19 | 20 | 22 => 2,
        _ => {
            fields.line(format_args!("\tunknown algorithm {algorithm}"));
            return Ok(());
        }
    };
    let mut result = Ok(());
    for _ in 0..integers {
        fields.text("\tdata: ");
        if fields.report_integer(algorithm).is_none() {
            result = Err("Invalid packet".to_owned());
        }
        fields.line("");
    }
    result
}

/// The announcement of a signature (RFC 9580, 5.4).
pub(super) fn one_pass(fields: &mut Fields<'_, '_>) -> Result<(), Complaint> {
    const PREFIX: &str = ":onepass_sig packet: ";
    let (version, rest) = (fields.rest().first().copied(), fields.rest().len());
    let (Some(3), Some([version, kind, digest, algorithm])) =
        (version.filter(|_| rest >= 13), fields.bytes())
    else {
        return match version {
            Some(version) if rest >= 13 => {
                fields.line(format_args!("{PREFIX}[unknown version]"));
                Err(format!("onepass_sig with unknown version {version}"))
            }
            _ => {
                fields.line(format_args!("{PREFIX}[too short]"));
                Err("packet(4) too short".to_owned())
            }
        };
    };
    let (issuer, last) = (fields.bytes::<8>().unwrap_or_default(), fields.byte().unwrap_or_default());
    fields.text(format_args!("{PREFIX}keyid "));
    fields.hex(&issuer);
    fields.line(format_args!(
        "\n\tversion {version}, sigclass 0x{kind:02x}, digest {digest}, pubkey {algorithm}, last={last}"
    ));
    Ok(())
}
