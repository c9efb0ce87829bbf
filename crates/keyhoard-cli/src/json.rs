//! JSON in which all control characters are escaped.

use std::io::{self, BufWriter, Write};

use engine::foreign_text::is_control;
use serde::Serialize;

/// The size of the buffer whose contents are scanned at once, in bytes.
const BUFFER_SIZE: usize = 1 << 16;

/// Writes a value as one document without line ends.
///
/// All characters of [`is_control`] are escaped; JSON itself requires that only below U+0020.
pub(crate) fn write(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut escaping = BufWriter::with_capacity(BUFFER_SIZE, Escaping(out));
    serde_json::to_writer(&mut escaping, value)?;
    escaping.flush()
}

/// Writes a value as text.
pub(crate) fn text(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    write(&mut out, value).expect("a vector takes everything");
    String::from_utf8(out).expect("JSON is text")
}

/// Escapes control characters in JSON. Each write must hold whole characters, as those of serde_json and `BufWriter`
/// do.
struct Escaping<'a, W>(&'a mut W);

impl<W: Write> Write for Escaping<'_, W> {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        // The common case. Scanning all bytes without an early exit is faster.
        if chunk.iter().fold(0, |found, &byte| found | u8::from(may_begin_control(byte))) == 0 {
            self.0.write_all(chunk)?;
            return Ok(chunk.len());
        }
        let mut rest = str::from_utf8(chunk).map_err(io::Error::other)?;
        // JSON is ASCII outside of strings.
        while let Some((start, character)) = rest.char_indices().find(|(_, character)| is_control(*character))
        {
            write!(self.0, "{}\\u{:04x}", &rest[..start], u32::from(character))?;
            rest = &rest[start + character.len_utf8()..];
        }
        self.0.write_all(rest.as_bytes())?;
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns whether a byte may begin a character of [`is_control`] in UTF-8, unless JSON has escaped it already.
#[inline]
fn may_begin_control(byte: u8) -> bool {
    // Without short-circuiting, so that the compiler vectorises it.
    (byte == 0x7f) | (byte == 0xc2) | (byte == 0xd8) | (byte == 0xe2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_marks_of_direction_are_escaped() {
        let raw = "a\x1b\x7f\u{9b}31m\u{61c}\u{200e}\u{200f}\u{202e}\u{2066}\u{2028}\u{2029}\nz";
        let written = text(&raw);
        let expected = r#""a\u001b\u007f\u009b31m\u061c\u200e\u200f\u202e\u2066\u2028\u2029\nz""#;
        assert_eq!(written, expected);
        assert_eq!(serde_json::from_str::<String>(&written).expect("JSON"), raw);
    }

    #[test]
    fn no_control_character_begins_with_another_byte() {
        for character in ('\u{20}'..=char::MAX).filter(|&character| is_control(character)) {
            assert!(may_begin_control(character.to_string().as_bytes()[0]), "{character:?}");
        }
    }

    #[test]
    fn text_of_any_length_is_escaped_wherever_it_is_cut() {
        for length in BUFFER_SIZE - 8..BUFFER_SIZE + 8 {
            let name = format!("{}\u{202e}ë\u{9b}", "x".repeat(length));
            let written = text(&[name.as_str(), name.as_str()]);
            assert!(!written.chars().any(is_control));
            assert_eq!(serde_json::from_str::<[String; 2]>(&written).expect("JSON"), [name.clone(), name]);
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        assert_eq!(text(&"Zoë \"山田\" \\ 😀"), r#""Zoë \"山田\" \\ 😀""#);
    }

    #[test]
    fn names_of_members_are_escaped_too() {
        let map = std::collections::BTreeMap::from([("\u{202e}", 1)]);
        assert_eq!(text(&map), r#"{"\u202e":1}"#);
    }
}
