//! Writes clear-signed text (RFC 9580, 7).

use std::io::{Read, Write};

use cert::armor_writer::{ArmorWriter, Headers};
use cert::signed::Form;
use verify::HashAlgorithm;

use crate::clear_text::CanonicalText;
use crate::content_writer::for_each_piece;
use crate::signing::Signing;
use crate::{ContentSigner as _, Error, Result};

/// The header of text whose dashes are not escaped, as GnuPG writes it.
const NOT_ESCAPED: &str = "NotDashEscaped: You need gpg to verify this message\n";

/// Clear-signs all of `input`, a text (RFC 9580, 7).
///
/// White space at the ends of lines and the last line end are written, but not signed, unless the signatures are over
/// [verbatim](Signing::verbatim) text, which is written as it is, dashes too; GnuPG alone reads that. The `headers` are those of the
/// armored signatures.
///
/// # Errors
///
/// Those of input and output and of signing; binary signatures are an error.
pub fn sign_clear(
    input: &mut dyn Read,
    output: &mut dyn Write,
    headers: Headers,
    mut signing: Signing<'_>,
) -> Result<()> {
    let is_verbatim = signing.is_over(Form::Verbatim);
    if !is_verbatim && !signing.is_over(Form::Text) {
        return Err(Error::Options("clear text is signed with text signatures"));
    }
    signing.begin_clear_text();
    // Only signatures of version 4 need the header (RFC 9580, 7.1).
    let names: Vec<&str> = signing.hashes().into_iter().filter_map(HashAlgorithm::name).collect();
    let not_escaped = if is_verbatim { NOT_ESCAPED } else { "" };
    let head = format!("-----BEGIN PGP SIGNED MESSAGE-----\nHash: {}\n{not_escaped}\n", names.join(","));
    output.write_all(head.as_bytes()).map_err(Error::Write)?;
    match is_verbatim {
        true => write_verbatim(input, output, &mut signing)?,
        false => write_escaped(input, output, &mut signing)?,
    }
    let mut armored = ArmorWriter::titled(output, "SIGNATURE").with_headers(headers);
    armored.write_all(&signing.finish()?).map_err(Error::Write)?;
    armored.finish().map(drop).map_err(Error::Write)
}

/// Writes a text as it is; it ends with a line end, which is signed.
fn write_verbatim(input: &mut dyn Read, output: &mut dyn Write, signing: &mut Signing<'_>) -> Result<()> {
    let mut is_line_start = false;
    for_each_piece(input, |piece| {
        signing.data(piece);
        is_line_start = piece.ends_with(b"\n");
        output.write_all(piece).map_err(Error::Write)
    })?;
    if !is_line_start {
        signing.data(b"\n");
        output.write_all(b"\n").map_err(Error::Write)?;
    }
    Ok(())
}

fn write_escaped(input: &mut dyn Read, output: &mut dyn Write, signing: &mut Signing<'_>) -> Result<()> {
    let (mut signed, mut out, mut escaped) = (CanonicalText::default(), Vec::new(), Vec::new());
    let mut is_line_start = true;
    // The first bytes of a line, which may be "From ".
    let mut pending = Vec::new();
    for_each_piece(input, |piece| {
        pending.extend_from_slice(piece);
        let complete = memchr::memrchr(b'\n', &pending)
            .map_or(if pending.len() > 8 { pending.len() } else { 0 }, |at| at + 1);
        for line in pending[..complete].split_inclusive(|byte| *byte == b'\n') {
            write_line(line, &mut is_line_start, &mut escaped);
            signed.line(line, &mut out)?;
        }
        pending.drain(..complete);
        signing.data(&out);
        output.write_all(&escaped).map_err(Error::Write)?;
        out.clear();
        escaped.clear();
        Ok(())
    })?;
    if !pending.is_empty() {
        write_line(&pending, &mut is_line_start, &mut escaped);
        signed.line(&pending, &mut out)?;
        signing.data(&out);
    }
    if !is_line_start {
        escaped.push(b'\n');
    }
    output.write_all(&escaped).map_err(Error::Write)
}

/// Writes a line, escaping a dash at its beginning, and "From ", which mailers take for the beginning of a mail.
fn write_line(line: &[u8], is_line_start: &mut bool, out: &mut Vec<u8>) {
    if *is_line_start && (line.starts_with(b"-") || line.starts_with(b"From ")) {
        out.extend_from_slice(b"- ");
    }
    out.extend_from_slice(line);
    *is_line_start = line.ends_with(b"\n");
}
