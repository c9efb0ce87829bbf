//! Writes ASCII armor as GnuPG does: lines of 64 characters, a checksum, and only the requested headers.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::checksum::Checksum;

/// The number of bytes of a line of 64 characters.
const LINE: usize = 48;

/// The number of bytes that are encoded at once.
const PART: usize = 1024 * LINE;

/// The capacity for the text of a part with the lines before and after it. The buffer must not grow, since the memory
/// that a growing vector frees is not wiped, and a block may contain secret keys.
const TEXT: usize = PART / LINE * 65 + 1024;

/// Header lines of an armored block (RFC 9580, 6.2.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(Vec<u8>);

impl Headers {
    /// Appends a header; as in GnuPG, characters that end lines are escaped as `\n`, `\r` or `\v`.
    pub fn with(mut self, name: &str, value: &[u8]) -> Self {
        self.0.extend(format!("{name}: ").into_bytes());
        for byte in value {
            match byte {
                b'\n' => self.0.extend(b"\\n"),
                b'\r' => self.0.extend(b"\\r"),
                b'\x0b' => self.0.extend(b"\\v"),
                other => self.0.push(*other),
            }
        }
        self.0.push(b'\n');
        self
    }
}

/// Encodes the bytes that are written as one armored block (RFC 9580, 6.2).
///
/// [`ArmorWriter::finish`] completes the block; if no bytes were written, there is none. Buffers are wiped.
#[derive(Debug)]
pub struct ArmorWriter<W> {
    inner: W,
    title: &'static str,
    /// The bytes of an incomplete line.
    pending: Zeroizing<Vec<u8>>,
    text: Zeroizing<Vec<u8>>,
    checksum: Checksum,
    headers: Headers,
    begun: bool,
}

impl<W: Write> ArmorWriter<W> {
    /// Starts a block of public keys; its first line is written with the first byte.
    pub fn new(inner: W) -> Self {
        Self::titled(inner, "PUBLIC KEY BLOCK")
    }

    /// Starts a block of another kind, such as a `MESSAGE`.
    pub fn titled(inner: W, title: &'static str) -> Self {
        Self {
            inner,
            title,
            pending: Zeroizing::new(Vec::with_capacity(LINE)),
            text: Zeroizing::new(Vec::with_capacity(TEXT)),
            checksum: Checksum::default(),
            headers: Headers::default(),
            begun: false,
        }
    }

    /// Sets the headers.
    pub fn with_headers(self, headers: Headers) -> Self {
        Self { headers, ..self }
    }

    /// Returns the inner writer.
    pub fn inner_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// Writes the rest of the block and returns the inner writer.
    ///
    /// # Errors
    ///
    /// Those of the inner writer.
    pub fn finish(mut self) -> io::Result<W> {
        if self.begun {
            encode(&self.pending, &mut self.text);
            self.text.push(b'=');
            self.text.extend(STANDARD.encode(self.checksum.bytes()).into_bytes());
            self.text.extend(format!("\n-----END PGP {}-----\n", self.title).into_bytes());
            self.inner.write_all(&self.text)?;
        }
        self.inner.flush()?;
        Ok(self.inner)
    }
}

/// Appends lines of text; only the last call may end in the middle of a line.
fn encode(bytes: &[u8], text: &mut Vec<u8>) {
    for line in bytes.chunks(LINE) {
        let start = text.len();
        text.resize(start + line.len().div_ceil(3) * 4, 0);
        let written = STANDARD.encode_slice(line, &mut text[start..]);
        debug_assert_eq!(written.ok(), Some(text.len() - start));
        text.push(b'\n');
    }
}

impl<W: Write> Write for ArmorWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        if !self.begun {
            self.begun = true;
            // Headers may be longer than the text's buffer, which must not grow.
            self.inner.write_all(format!("-----BEGIN PGP {}-----\n", self.title).as_bytes())?;
            self.inner.write_all(&self.headers.0)?;
            self.inner.write_all(b"\n")?;
        }
        self.checksum.add(bytes);
        let (first, others) = bytes.split_at(bytes.len().min(LINE - self.pending.len()));
        self.pending.extend_from_slice(first);
        if self.pending.len() == LINE {
            encode(&self.pending, &mut self.text);
            self.pending.clear();
        }
        let (lines, rest) = others.split_at(others.len() / LINE * LINE);
        for part in lines.chunks(PART) {
            encode(part, &mut self.text);
            self.inner.write_all(&self.text)?;
            self.text.clear();
        }
        self.pending.extend_from_slice(rest);
        self.inner.write_all(&self.text)?;
        self.text.clear();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn armored(pieces: &[&[u8]]) -> String {
        let mut writer = ArmorWriter::new(Vec::new());
        pieces.iter().for_each(|piece| writer.write_all(piece).expect("a vector takes everything"));
        String::from_utf8(writer.finish().expect("a vector takes everything")).expect("armor is text")
    }

    #[test]
    fn lines_have_64_characters_and_the_checksum_its_own_line() {
        let text = armored(&[&[0; 50]]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "-----BEGIN PGP PUBLIC KEY BLOCK-----");
        assert_eq!(lines[1], "");
        assert_eq!(lines[2], "A".repeat(64));
        assert_eq!(lines[3], "AAA=");
        assert!(lines[4].starts_with('=') && lines[4].len() == 5);
        assert_eq!(lines[5], "-----END PGP PUBLIC KEY BLOCK-----");
        assert_eq!(lines.len(), 6);
    }

    #[test]
    fn how_the_bytes_are_cut_into_writes_makes_no_difference() {
        let bytes: Vec<u8> = (0..=255).collect();
        let whole = armored(&[&bytes]);
        for size in [1, 2, 3, 47, 48, 49, 95, 96, 97] {
            assert_eq!(armored(&bytes.chunks(size).collect::<Vec<_>>()), whole, "writes of {size}");
        }
    }

    #[test]
    fn headers_stand_in_their_order_each_in_one_line() {
        let headers = Headers::default().with("Comment", b"one").with("Comment", b"two\r\nlines");
        let mut writer = ArmorWriter::new(Vec::new()).with_headers(headers);
        writer.write_all(b"x").expect("a vector takes everything");
        let text = String::from_utf8(writer.finish().expect("a vector takes everything")).expect("text");
        let lines: Vec<&str> = text.lines().skip(1).take(3).collect();
        assert_eq!(lines, ["Comment: one", "Comment: two\\r\\nlines", ""]);
    }

    #[test]
    fn nothing_written_makes_no_block() {
        assert_eq!(armored(&[]), "");
        assert_eq!(armored(&[b""]), "");
    }
}
