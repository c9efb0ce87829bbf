//! Writes text that everybody can read, with signatures behind it (RFC 9580, 7).

use std::io::{Read, Write};

use cert::armor_writer::{ArmorWriter, Headers};
use verify::HashAlgorithm;

use crate::clear_text::CanonicalText;
use crate::content_writer::for_each_piece;
use crate::signing::Signing;
use crate::{ContentSigner as _, Error, Result};

/// Signs all of `input`, a text, into a text that everybody can read (RFC 9580, 7).
///
/// White space at the ends of lines is written but not signed, as the last line's end. The `headers` are those of the
/// signatures' armor.
///
/// # Errors
///
/// What input and output say, what keeps a key from signing, and binary signatures.
pub fn sign_clear(
    input: &mut dyn Read,
    output: &mut dyn Write,
    headers: Headers,
    mut signing: Signing<'_>,
) -> Result<()> {
    if !signing.is_of_text() {
        return Err(Error::Options("clear text is signed with text signatures"));
    }
    // Only signatures of version 4 have use for the header (RFC 9580, 7.1).
    let hashes = signing.hashes();
    write(input, output, &hashes, headers, &mut signing)
}

/// Writes all of `input`, its dashes escaped, and the signatures behind it.
fn write(
    input: &mut dyn Read,
    output: &mut dyn Write,
    hashes: &[HashAlgorithm],
    headers: Headers,
    signing: &mut Signing<'_>,
) -> Result<()> {
    let names: Vec<&str> = hashes.iter().filter_map(|hash| hash.name()).collect();
    let head = format!("-----BEGIN PGP SIGNED MESSAGE-----\nHash: {}\n\n", names.join(","));
    output.write_all(head.as_bytes()).map_err(Error::Write)?;
    let (mut signed, mut out, mut escaped) = (CanonicalText::default(), Vec::new(), Vec::new());
    let mut begins = true;
    // The first bytes of a line that may become "From ".
    let mut held = Vec::new();
    for_each_piece(input, |piece| {
        held.extend_from_slice(piece);
        let whole =
            memchr::memrchr(b'\n', &held).map_or(if held.len() > 8 { held.len() } else { 0 }, |at| at + 1);
        for line in held[..whole].split_inclusive(|byte| *byte == b'\n') {
            write_line(line, &mut begins, &mut escaped);
            signed.line(line, &mut out)?;
        }
        held.drain(..whole);
        signing.data(&out);
        output.write_all(&escaped).map_err(Error::Write)?;
        out.clear();
        escaped.clear();
        Ok(())
    })?;
    if !held.is_empty() {
        write_line(&held, &mut begins, &mut escaped);
        signed.line(&held, &mut out)?;
        signing.data(&out);
    }
    if !begins {
        escaped.push(b'\n');
    }
    output.write_all(&escaped).map_err(Error::Write)?;
    let mut armored = ArmorWriter::titled(output, "SIGNATURE").with_headers(headers);
    armored.write_all(&signing.finish()?).map_err(Error::Write)?;
    armored.finish().map(drop).map_err(Error::Write)
}

/// Escapes a line's first dash, and what mailers take for the beginning of a mail.
fn write_line(line: &[u8], begins: &mut bool, out: &mut Vec<u8>) {
    if *begins && (line.starts_with(b"-") || line.starts_with(b"From ")) {
        out.extend_from_slice(b"- ");
    }
    out.extend_from_slice(line);
    *begins = line.ends_with(b"\n");
}
