//! Foreign text on its way to a terminal or a record.

/// Appends text for people, as gpg does in a UTF-8 locale: control characters as `\n`, `\x1b` and so on, whatever
/// is not UTF-8 octet by octet as `\xff`. An incomplete character at the end vanishes.
pub(crate) fn for_people(bytes: &[u8], out: &mut Vec<u8>) {
    // Every text but a handful takes this way. Looking at all octets, whatever they are, is quicker than stopping.
    let (control, high) = bytes
        .iter()
        .fold((false, false), |(control, high), &byte| (control | is_control(byte), high | (byte >= 0x80)));
    if !control && (!high || std::str::from_utf8(bytes).is_ok()) {
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

/// Appends text with control characters escaped and everything else as it is.
pub(super) fn sanitized(bytes: &[u8], out: &mut Vec<u8>) {
    escape(bytes, is_control, out);
}

/// Says whether an octet is a control character of ASCII.
pub(crate) fn is_control(byte: u8) -> bool {
    byte < 0x20 || byte == 0x7f
}

/// Appends text with the octets escaped that need it.
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
        _ => octet(byte, out),
    }
}

fn octet(byte: u8, out: &mut Vec<u8>) {
    out.extend(b"\\x");
    super::digits::lower_hex(byte, out);
}

/// gpg's decoder of UTF-8, which takes sequences of up to six octets and does not mind overlong ones.
struct Decoder<'o> {
    out: &'o mut Vec<u8>,
    /// The octets of an incomplete character, and how many more it takes.
    pending: Vec<u8>,
    missing: u8,
    /// Octets are escaped until one that can begin a character.
    lost: bool,
}

impl Decoder<'_> {
    fn decode(mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.lost &= !matches!(byte, 0..0x80 | 0xc0..=0xfd);
            if self.lost {
                octet(byte, self.out);
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
                return octet(byte, self.out);
            }
        };
        self.pending.push(byte);
    }

    fn go_on(&mut self, byte: u8) {
        self.pending.push(byte);
        if !(0x80..0xc0).contains(&byte) {
            // The octet that does not fit is escaped as well, even if it could begin a character.
            self.missing = 0;
            self.lost = true;
            self.pending.drain(..).for_each(|byte| octet(byte, self.out));
            return;
        }
        self.missing -= 1;
        if self.missing == 0 {
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
    fn latin1_is_escaped_with_the_octet_after_it() {
        assert_eq!(shown(b"Zo\xeb <zoe>"), r"Zo\xeb\x20<zoe>");
    }

    #[test]
    fn octets_that_begin_nothing_are_escaped() {
        assert_eq!(shown(b"\xffa\x80b\xfe\xff\xbfc"), r"\xffa\x80b\xfe\xff\xbfc");
    }

    #[test]
    fn a_wrong_octet_that_could_begin_a_character_begins_none() {
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
