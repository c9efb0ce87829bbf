//! Reads clear-signed text (RFC 9580, 7).
//!
//! White space at the ends of lines is not signed, nor is the last line end.

use std::io::{BufRead, Read};

use verify::HashAlgorithm;

use crate::{Error, Result};

/// The first line.
pub(crate) const BEGIN: &[u8] = b"-----BEGIN PGP SIGNED MESSAGE-----";
const BEGIN_SIGNATURE: &[u8] = b"-----BEGIN PGP SIGNATURE-----";
/// GnuPG's header of text whose dashes are not escaped; whatever follows a space, it counts.
const NOT_ESCAPED: &[u8] = b"NotDashEscaped:";
/// The most bytes of consecutive white space, which is buffered since it may be the end of a line.
const MAX_SPACE: usize = 1 << 20;
/// The longest line in bytes that is read at once; longer ones are read in parts.
const MAX_PART: usize = 16 << 10;
/// The most header lines.
const MAX_HEADERS: usize = 100;

/// The `Hash` headers of clear text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HashHeaders {
    /// The known hash algorithms in order.
    pub digests: Vec<HashAlgorithm>,
    /// Whether a header is not a list of known hash algorithms; then no signature may be verified (RFC 9580, 6.2.2.3).
    pub has_unknown: bool,
    /// Whether the text is as it was signed, its dashes not escaped (GnuPG's header `NotDashEscaped`).
    pub is_verbatim: bool,
}

impl HashHeaders {
    /// Parses the value of a `Hash:` header.
    fn add(&mut self, names: &[u8]) {
        let Some(names) = names.strip_prefix(b" ") else {
            self.has_unknown = true;
            return;
        };
        for name in names.split(|byte| *byte == b',') {
            let begins = name.iter().position(|byte| !is_space(*byte)).unwrap_or(name.len());
            match std::str::from_utf8(trimmed(&name[begins..])).ok().and_then(HashAlgorithm::named) {
                Some(digest) => self.digests.push(digest),
                None => self.has_unknown = true,
            }
        }
    }
}

/// Returns a line without the white space at its end, which is not signed. Only spaces, tabs and CR are white space.
pub(crate) fn trimmed(line: &[u8]) -> &[u8] {
    let kept = line.iter().rposition(|byte| !is_space(*byte) && *byte != b'\n').map_or(0, |at| at + 1);
    &line[..kept]
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// Converts clear text to the bytes that are signed.
#[derive(Default)]
pub(crate) struct CanonicalText {
    /// White space that may be the end of a line.
    space: Vec<u8>,
    /// The end of the last complete line.
    end: Vec<u8>,
}

impl CanonicalText {
    /// Appends the signed bytes of a line or a part of one to `out`, with the end of the line before it.
    pub(crate) fn line(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let (text, ends) = text.strip_suffix(b"\n").map_or((text, false), |text| (text, true));
        let kept = text.iter().rposition(|byte| !is_space(*byte)).map_or(0, |at| at + 1);
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

/// Reads a line, or a part of a very long one; nothing at the end of the input.
pub(crate) fn read_line(input: &mut (impl BufRead + ?Sized), line: &mut Vec<u8>) -> Result<()> {
    line.clear();
    let mut input = input;
    Read::take(&mut input, MAX_PART as u64).read_until(b'\n', line).map(drop).map_err(Error::reading)
}

/// Reads the headers after the first line, up to the empty line; `allows_verbatim` lets GnuPG's `NotDashEscaped` be one.
pub(crate) fn read_headers(
    input: &mut (impl BufRead + ?Sized),
    allows_verbatim: bool,
) -> Result<HashHeaders> {
    let mut announced = HashHeaders::default();
    let mut line = Vec::new();
    for _ in 0..MAX_HEADERS {
        read_line(input, &mut line)?;
        if !line.ends_with(b"\n") {
            let is_cut = line.len() < MAX_PART;
            return Err(if is_cut { Error::CutShort } else { Error::Limit("a header of clear text") });
        }
        let text = trimmed(&line);
        if text.is_empty() {
            return Ok(announced);
        }
        if allows_verbatim && text.strip_prefix(NOT_ESCAPED).is_some_and(|value| value.starts_with(b" ")) {
            announced.is_verbatim = true;
            continue;
        }
        // Other headers could change the meaning of the text.
        let names = text.strip_prefix(b"Hash:");
        announced.add(names.ok_or(Error::Malformed("a header of clear text other than \"Hash\""))?);
    }
    Err(Error::Limit("headers of clear text"))
}

/// Reads text that is signed as it is, up to the first line of the signatures, which is left in `line`.
pub(crate) fn read_verbatim(
    input: &mut (impl BufRead + ?Sized),
    line: &mut Vec<u8>,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut begins = true;
    loop {
        read_line(input, line)?;
        if line.is_empty() {
            return Err(Error::CutShort);
        }
        let ends = line.ends_with(b"\n");
        if begins && ends && trimmed(line) == BEGIN_SIGNATURE {
            return Ok(());
        }
        begins = ends;
        take(line)?;
    }
}

/// Reads the text after the headers, up to the first line of the signatures, which is left in `line`.
///
/// Calls `take` with the signed bytes, and returns the end of the last line.
pub(crate) fn read_text(
    input: &mut (impl BufRead + ?Sized),
    line: &mut Vec<u8>,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Vec<u8>> {
    let (mut signed, mut out) = (CanonicalText::default(), Vec::with_capacity(2 * MAX_PART));
    let mut begins = true;
    loop {
        read_line(input, line)?;
        if line.is_empty() {
            return Err(Error::CutShort);
        }
        let mut text = &line[..];
        if begins && text.starts_with(b"-") {
            if text.ends_with(b"\n") && trimmed(text) == BEGIN_SIGNATURE {
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
                let (mut state, mut out) = (CanonicalText::default(), Vec::new());
                for piece in text.chunks(size) {
                    for line in piece.split_inclusive(|byte| *byte == b'\n') {
                        state.line(line, &mut out).expect("little white space");
                    }
                }
                assert_eq!(out, signed, "{text:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn text_that_is_not_escaped_is_read_as_it_is() {
        let mut text = &b"- x \r\n-----BEGIN PGP SIGNATURE-----x\n\n-----BEGIN PGP SIGNATURE----- \nrest"[..];
        let (mut line, mut out) = (Vec::new(), Vec::new());
        let read = read_verbatim(&mut text, &mut line, |data| {
            out.extend_from_slice(data);
            Ok(())
        });
        assert!(read.is_ok());
        assert_eq!(out, b"- x \r\n-----BEGIN PGP SIGNATURE-----x\n\n");
        assert_eq!(text, b"rest");
        assert!(matches!(read_verbatim(&mut &b"x\n"[..], &mut line, |_| Ok(())), Err(Error::CutShort)));
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
    fn a_dash_that_is_not_escaped_is_refused_and_so_is_text_without_end() {
        let read = |mut text: &[u8]| read_text(&mut text, &mut Vec::new(), |_| Ok(()));
        assert!(matches!(read(b"-x\n-----BEGIN PGP SIGNATURE-----\n"), Err(Error::Malformed(_))));
        assert!(matches!(read(b"-----BEGIN PGP SIGNATURE-----x\n"), Err(Error::Malformed(_))));
        assert!(matches!(read(b"x\n"), Err(Error::CutShort)));
        // Behind this title there may be more on the same line.
        let long = [b"-----BEGIN PGP SIGNATURE-----", &[b' '; MAX_PART][..], b"text\n"].concat();
        assert!(matches!(read(&long), Err(Error::Malformed(_))));
    }

    #[test]
    fn a_hash_header_is_a_list_of_digests_and_nothing_else() {
        let headers = |mut text: &[u8]| read_headers(&mut text, true);
        let [sha256, sha512] = [HashAlgorithm::SHA256, HashAlgorithm::SHA512];
        for (text, digests) in [
            (&b"Hash: SHA512, SHA256\r\n \r\n"[..], &[sha512, sha256][..]),
            (b"Hash: SHA512,\tsha256 \t\r\n\n", &[sha512, sha256]),
            (b"Hash: SHA512\nHash: SHA256\n \t\n", &[sha512, sha256]),
            (b"\n", &[]),
        ] {
            let announced = headers(text).expect("headers");
            assert_eq!(announced, HashHeaders { digests: digests.to_vec(), ..HashHeaders::default() });
        }
        for text in [
            &b"Hash: SHA256 You owe me\n\n"[..],
            b"Hash: SHA256, unknown\n\n",
            b"Hash: SHA256,\n\n",
            b"Hash:\n\n",
            b"Hash: \n\n",
            b"Hash:SHA256\n\n",
            b"Hash: SHA256\nHash: You owe me\n\n",
            b"Hash: SHA256\x0b,\x0bSHA512\n\n",
            b"Hash: SHA256\0You owe me\n\n",
            b"Hash: \x0cSHA256\n\n",
            "Hash: SHA256\u{a0}\n\n".as_bytes(),
            "Hash: SHA256\u{2028}\n\n".as_bytes(),
        ] {
            assert!(headers(text).expect("headers").has_unknown, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn no_line_but_hash_headers_stands_between_the_title_and_the_empty_line() {
        let headers = |mut text: &[u8]| read_headers(&mut text, false);
        for text in [
            &b"Comment: You owe me\n\n"[..],
            b"You owe me\n\n",
            b"hash: SHA256\n\n",
            b"NotDashEscaped: You need GnuPG to verify this message\n\n",
            b"Hash: SHA256\n SHA512\n\n",
            b"Hash: SHA256\n\x0c\n",
            b"-----BEGIN PGP SIGNED MESSAGE-----\n\n",
        ] {
            assert!(matches!(headers(text), Err(Error::Malformed(_))), "{}", text.escape_ascii());
        }
        let not_escaped = |text: &[u8]| read_headers(&mut &text[..], true).is_ok_and(|it| it.is_verbatim);
        assert!(not_escaped(b"NotDashEscaped: x\nHash: SHA256\n\n") && !not_escaped(b"NotDashEscaped:\n\n"));
        let long = [b"Hash: SHA256", &[b' '; MAX_PART][..], b"\ntext\n"].concat();
        assert!(matches!(headers(&long), Err(Error::Limit(_))));
        assert!(matches!(headers(b"Hash: SHA256"), Err(Error::CutShort)));
        assert!(matches!(headers(b"Hash: SHA256\n"), Err(Error::CutShort)));
    }
}
