//! Text that everybody can read, with signatures behind it (RFC 9580, 7), written and read.
//!
//! White space at the ends of lines is not signed, nor is the end of the last line.

use std::io::{BufRead, Read, Write};

use cert::armor_writer::{ArmorWriter, Headers};
use verify::HashAlgorithm;

use crate::content::for_each_piece;
use crate::signing::Signing;
use crate::{Companion, Error, Result};

/// The first line.
pub(crate) const BEGIN: &[u8] = b"-----BEGIN PGP SIGNED MESSAGE-----";
const BEGIN_SIGNATURE: &[u8] = b"-----BEGIN PGP SIGNATURE-----";
/// White space in one place that waits to be known as the end of a line, or not.
const MAX_SPACE: usize = 1 << 20;
/// A longer line is read in parts.
const MAX_PART: usize = 16 << 10;
/// Lines of headers.
const MAX_HEADERS: usize = 100;

/// The digests that the headers of clear text name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announced {
    /// Those that are known, in their order.
    pub digests: Vec<HashAlgorithm>,
    /// There are names of others too: a signature with one of those cannot be checked.
    pub has_unknown: bool,
}

impl Announced {
    fn add(&mut self, names: &str) {
        for name in names.split(',') {
            match HashAlgorithm::named(name.trim()) {
                Some(digest) => self.digests.push(digest),
                None => self.has_unknown = true,
            }
        }
    }
}

/// Takes text, and gives what of it is signed.
#[derive(Default)]
struct Signed {
    /// White space that may be a line's end.
    space: Vec<u8>,
    /// The end of the last line, if it has ended.
    end: Vec<u8>,
}

impl Signed {
    /// Appends to `out` what is signed of a line or a part of one, with the end of the line before it.
    fn line(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let (text, ends) = text.strip_suffix(b"\n").map_or((text, false), |text| (text, true));
        let kept =
            text.iter().rposition(|octet| !matches!(octet, b' ' | b'\t' | b'\r')).map_or(0, |at| at + 1);
        out.append(&mut self.end);
        if kept > 0 {
            out.append(&mut self.space);
            out.extend_from_slice(&text[..kept]);
        }
        self.space.extend_from_slice(&text[kept..]);
        if ends {
            self.end.extend_from_slice(if self.space.ends_with(b"\r") { b"\r\n" } else { b"\n" });
            self.space.clear();
        }
        if self.space.len() > MAX_SPACE { Err(Error::Limit("white space in clear text")) } else { Ok(()) }
    }
}

/// Writes all of `input`, its dashes escaped, and the signatures behind it.
pub(crate) fn write(
    input: &mut dyn Read,
    output: &mut dyn Write,
    hashes: &[HashAlgorithm],
    headers: Headers,
    signing: &mut Signing<'_>,
) -> Result<()> {
    let names: Vec<&str> = hashes.iter().filter_map(|hash| hash.name()).collect();
    let head = format!("-----BEGIN PGP SIGNED MESSAGE-----\nHash: {}\n\n", names.join(","));
    output.write_all(head.as_bytes()).map_err(Error::Write)?;
    let (mut signed, mut out, mut escaped) = (Signed::default(), Vec::new(), Vec::new());
    let mut begins = true;
    // The first octets of a line that may become "From ".
    let mut held = Vec::new();
    for_each_piece(input, |piece| {
        held.extend_from_slice(piece);
        let whole =
            memchr::memrchr(b'\n', &held).map_or(if held.len() > 8 { held.len() } else { 0 }, |at| at + 1);
        for line in held[..whole].split_inclusive(|octet| *octet == b'\n') {
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

/// Reads a line, or a part of one that is very long; nothing at the end of the input.
pub(crate) fn read_line(input: &mut (impl BufRead + ?Sized), line: &mut Vec<u8>) -> Result<()> {
    line.clear();
    let mut input = input;
    Read::take(&mut input, MAX_PART as u64).read_until(b'\n', line).map(drop).map_err(Error::reading)
}

/// Reads the headers after the first line, and the empty line that ends them; returns the digests that they name.
pub(crate) fn read_headers(input: &mut (impl BufRead + ?Sized)) -> Result<Announced> {
    let mut announced = Announced::default();
    let mut line = Vec::new();
    for _ in 0..MAX_HEADERS {
        read_line(input, &mut line)?;
        if line.is_empty() {
            return Err(Error::CutShort);
        }
        let text = line.trim_ascii_end();
        if text.is_empty() {
            return Ok(announced);
        }
        // Another header could make the text mean something else.
        let names = text.strip_prefix(b"Hash:").and_then(|names| std::str::from_utf8(names).ok());
        announced.add(names.ok_or(Error::Malformed("a header of clear text other than \"Hash\""))?);
    }
    Err(Error::Limit("headers of clear text"))
}

/// Reads the text, whose headers were read, to the line that begins the signatures, which is in `line` then.
///
/// `take` gets what is signed; what is returned is the end of the last line.
pub(crate) fn read_text(
    input: &mut (impl BufRead + ?Sized),
    line: &mut Vec<u8>,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Vec<u8>> {
    let (mut signed, mut out) = (Signed::default(), Vec::with_capacity(2 * MAX_PART));
    let mut begins = true;
    loop {
        read_line(input, line)?;
        if line.is_empty() {
            return Err(Error::CutShort);
        }
        let mut text = &line[..];
        if begins && text.starts_with(b"-") {
            if text.trim_ascii_end() == BEGIN_SIGNATURE {
                take(&out)?;
                return Ok(signed.end);
            }
            let escaped = text.strip_prefix(b"- ");
            text = escaped.ok_or(Error::Malformed("a dash in clear text that is not escaped"))?;
        }
        begins = line.ends_with(b"\n");
        signed.line(text, &mut out)?;
        if out.len() >= MAX_PART {
            take(&out)?;
            out.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_lines_and_of_the_text_are_not_signed() {
        for (text, signed) in [
            (&b"one \t\ntwo\r\n  three \r\n"[..], &b"one\ntwo\r\n  three"[..]),
            (b"\n\nx\n\n", b"\n\nx\n"),
            (b"no end ", b"no end"),
            (b"a\rb\r\r\n", b"a\rb"),
            (b"", b""),
            (b"\n", b""),
        ] {
            for size in 1..=text.len().max(1) {
                let (mut state, mut out) = (Signed::default(), Vec::new());
                for piece in text.chunks(size) {
                    for line in piece.split_inclusive(|octet| *octet == b'\n') {
                        state.line(line, &mut out).expect("little white space");
                    }
                }
                assert_eq!(out, signed, "{text:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn text_is_read_as_it_was_before_its_dashes_were_escaped() {
        let mut text = &b"- -----BEGIN\n- - x\n- From me\n-----BEGIN PGP SIGNATURE-----\nrest"[..];
        let (mut line, mut out) = (Vec::new(), Vec::new());
        let end = read_text(&mut text, &mut line, |data| {
            out.extend_from_slice(data);
            Ok(())
        });
        assert_eq!(end.expect("text"), b"\n");
        assert_eq!(out, b"-----BEGIN\n- x\nFrom me");
        assert_eq!(text, b"rest");
    }

    #[test]
    fn a_dash_that_is_not_escaped_and_other_headers_are_refused() {
        let read = |mut text: &[u8]| read_text(&mut text, &mut Vec::new(), |_| Ok(()));
        assert!(matches!(read(b"-x\n-----BEGIN PGP SIGNATURE-----\n"), Err(Error::Malformed(_))));
        assert!(matches!(read(b"x\n"), Err(Error::CutShort)));
        let headers = |mut text: &[u8]| read_headers(&mut text);
        let announced = headers(b"Hash: SHA512, SHA256\r\n \r\n").expect("headers");
        let digests = vec![HashAlgorithm::SHA512, HashAlgorithm::SHA256];
        assert_eq!(announced, Announced { digests: digests.clone(), has_unknown: false });
        let announced = headers(b"Hash: SHA512, unknown\nHash:SHA256\n\n").expect("headers");
        assert_eq!(announced, Announced { digests, has_unknown: true });
        assert!(matches!(headers(b"Comment: You owe me\n\n"), Err(Error::Malformed(_))));
    }
}
