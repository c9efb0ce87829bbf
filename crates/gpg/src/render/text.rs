//! Foreign text on its way to a terminal or a record.

use engine::foreign_text;

/// Appends text for people, as gpg does in a UTF-8 locale: control characters as `\n`, `\x1b` and so on, whatever
/// is not UTF-8 byte by byte as `\xff`. An incomplete character at the end vanishes. Unlike gpg, it escapes the bytes of
/// the other characters that control a terminal ([`foreign_text::is_control`]) too.
pub(crate) fn for_people(bytes: &[u8], out: &mut Vec<u8>) {
    // Every text but a handful takes this way. Looking at all bytes, whatever they are, is quicker than stopping.
    let (control, high) = bytes
        .iter()
        .fold((false, false), |(control, high), &byte| (control | is_control(byte), high | (byte >= 0x80)));
    let is_plain = |text: &str| !text.chars().any(foreign_text::is_control);
    if !control && (!high || std::str::from_utf8(bytes).is_ok_and(is_plain)) {
        out.extend_from_slice(bytes);
    } else {
        Decoder { out, pending: Vec::new(), missing: 0, lost: false }.decode(bytes);
    }
}

/// Appends text as a field of a record: control characters, colons and backslashes are escaped, everything else,
/// UTF-8 or not, stays.
pub(crate) fn field(bytes: &[u8], out: &mut Vec<u8>) {
    escape(bytes, |byte| is_control(byte) || byte == b':' || byte == b'\\', out);
}

/// Appends text with control characters escaped and everything else as it is. Unlike gpg, it takes the characters that
/// [`foreign_text::is_control`] names and the bytes of C1 for control characters.
pub(super) fn sanitized(bytes: &[u8], out: &mut Vec<u8>) {
    sanitized_with(bytes, |_| false, out);
}

/// Appends text as [`sanitized`] does, with other characters of ASCII escaped as well.
pub(super) fn sanitized_with(bytes: &[u8], also: impl Fn(u8) -> bool, out: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            match foreign_text::is_control(character) || (character.is_ascii() && also(bytes[0])) {
                true => bytes.iter().for_each(|&byte| escaped(byte, out)),
                false => out.extend_from_slice(bytes),
            }
        }
        escape(chunk.invalid(), |byte| matches!(byte, 0x80..0xa0), out);
    }
}

/// Returns the character that a sequence of bytes stands for by gpg's rules, by which it may be longer than needed.
fn lenient_character(sequence: &[u8]) -> Option<char> {
    let (first, rest) = sequence.split_first()?;
    let bits = first & (0x3f >> rest.len());
    char::from_u32(rest.iter().fold(u32::from(bits), |value, byte| value << 6 | u32::from(byte & 0x3f)))
}

/// Says whether a byte is a control character of ASCII.
pub(crate) fn is_control(byte: u8) -> bool {
    byte < 0x20 || byte == 0x7f
}

/// Appends text with the bytes escaped that need it.
pub(crate) fn escape(mut bytes: &[u8], needs: impl Fn(u8) -> bool, out: &mut Vec<u8>) {
    while let Some(position) = bytes.iter().position(|&byte| needs(byte)) {
        out.extend_from_slice(&bytes[..position]);
        escaped(bytes[position], out);
        bytes = &bytes[position + 1..];
    }
    out.extend_from_slice(bytes);
}

fn escaped(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'\n' => out.extend(b"\\n"),
        b'\r' => out.extend(b"\\r"),
        0x0c => out.extend(b"\\f"),
        0x0b => out.extend(b"\\v"),
        0x08 => out.extend(b"\\b"),
        0 => out.extend(b"\\0"),
        _ => hexadecimal(byte, out),
    }
}

fn hexadecimal(byte: u8, out: &mut Vec<u8>) {
    out.extend(b"\\x");
    super::digits::lower_hex(byte, out);
}

/// gpg's decoder of UTF-8, which takes sequences of up to six bytes and does not mind overlong ones.
struct Decoder<'o> {
    out: &'o mut Vec<u8>,
    /// The bytes of an incomplete character, and how many more it takes.
    pending: Vec<u8>,
    missing: u8,
    /// Bytes are escaped until one that can begin a character.
    lost: bool,
}

impl Decoder<'_> {
    fn decode(mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.lost &= !matches!(byte, 0..0x80 | 0xc0..=0xfd);
            if self.lost {
                hexadecimal(byte, self.out);
            } else if self.missing > 0 {
                self.go_on(byte);
            } else {
                self.begin(byte);
            }
        }
    }

    fn begin(&mut self, byte: u8) {
        self.missing = match byte {
            0..0x80 if is_control(byte) => return escaped(byte, self.out),
            0..0x80 => return self.out.push(byte),
            0xc0..0xe0 => 1,
            0xe0..0xf0 => 2,
            0xf0..0xf8 => 3,
            0xf8..0xfc => 4,
            0xfc..0xfe => 5,
            _ => {
                self.lost = true;
                return hexadecimal(byte, self.out);
            }
        };
        self.pending.push(byte);
    }

    fn go_on(&mut self, byte: u8) {
        self.pending.push(byte);
        if !(0x80..0xc0).contains(&byte) {
            // The byte that does not fit is escaped as well, even if it could begin a character.
            self.missing = 0;
            self.lost = true;
            self.pending.drain(..).for_each(|byte| hexadecimal(byte, self.out));
            return;
        }
        self.missing -= 1;
        if self.missing > 0 {
            return;
        }
        if lenient_character(&self.pending).is_some_and(foreign_text::is_control) {
            self.pending.drain(..).for_each(|byte| hexadecimal(byte, self.out));
        } else {
            self.out.append(&mut self.pending);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        for_people(bytes, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn in_field(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        field(bytes, &mut out);
        out
    }

    #[test]
    fn utf8_stays_as_it_is() {
        assert_eq!(shown("Zoë: €\\".as_bytes()), "Zoë: €\\");
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(shown(b"a\n\r\x0c\x0b\x08\0\t\x1b\x7fz"), r"a\n\r\f\v\b\0\x09\x1b\x7fz");
        assert_eq!(shown("ë\n\0\t".as_bytes()), r"ë\n\0\x09");
    }

    #[test]
    fn control_characters_beyond_ascii_are_escaped_byte_by_byte() {
        assert_eq!(shown("a\u{9b}31m".as_bytes()), r"a\xc2\x9b31m");
        assert_eq!(shown("a\u{202e}b\u{2066}\n".as_bytes()), r"a\xe2\x80\xaeb\xe2\x81\xa6\n");
        assert_eq!(
            shown(b"longer than needed: \xc0\x9b[2J \xe0\x82\x9b2J"),
            r"longer than needed: \xc0\x9b[2J \xe0\x82\x9b2J"
        );
        let mut out = Vec::new();
        sanitized("a\u{9b}b\u{202e}ë\n".as_bytes(), &mut out);
        sanitized(b"\x9b2J\xeb", &mut out);
        assert_eq!(out, b"a\\xc2\\x9bb\\xe2\\x80\\xae\xc3\xab\\n\\x9b2J\xeb");
    }

    #[test]
    fn latin1_is_escaped_with_the_byte_after_it() {
        assert_eq!(shown(b"Zo\xeb <zoe>"), r"Zo\xeb\x20<zoe>");
    }

    #[test]
    fn bytes_that_begin_nothing_are_escaped() {
        assert_eq!(shown(b"\xffa\x80b\xfe\xff\xbfc"), r"\xffa\x80b\xfe\xff\xbfc");
    }

    #[test]
    fn a_wrong_byte_that_could_begin_a_character_begins_none() {
        assert_eq!(shown(b"\xc3\xc3\xab-"), r"\xc3\xc3\xab-");
    }

    #[test]
    fn an_incomplete_character_at_the_end_vanishes() {
        assert_eq!(shown(b"a\xe2\x82"), "a");
    }

    #[test]
    fn a_field_escapes_its_delimiter_and_keeps_foreign_encodings() {
        assert_eq!(in_field(b"a:b\\c\n\xeb"), b"a\\x3ab\\x5cc\\n\xeb");
    }
}
