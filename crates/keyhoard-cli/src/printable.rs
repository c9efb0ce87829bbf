//! Foreign text, made harmless for a terminal.

use std::fmt::{Display, Write};

use unicode_width::UnicodeWidthChar;

/// Turns bytes that claim to be UTF-8 into text that a terminal shows as it is.
///
/// Control characters, characters that change the direction of writing or have no width where one is expected, and
/// octets that are no UTF-8 appear as `\x1b`, `\u{202e}` and the like.
pub(crate) fn printable(bytes: &[u8]) -> String {
    // Most names take this way.
    let is_plain = |octet: &u8| matches!(octet, b' '..=b'~') && *octet != b'\\';
    if let (true, Ok(text)) = (bytes.iter().all(is_plain), str::from_utf8(bytes)) {
        return text.to_owned();
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|character| push(&mut text, character));
        for octet in chunk.invalid() {
            let _ = write!(text, "\\x{octet:02x}");
        }
    }
    text
}

/// Escapes in a text what [`printable`] escapes, but for backslashes: names in it may be escaped already.
pub(crate) fn harmless(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push(character),
            _ => push(&mut escaped, character),
        }
    }
    escaped
}

/// Writes octets as hexadecimal digits.
pub(crate) fn hexadecimal(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02X}")).collect()
}

/// Writes a number of things: `1 certificate`, `2 certificates`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(count: N, thing: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

fn push(text: &mut String, character: char) {
    match character {
        '\\' => text.push_str("\\\\"),
        _ if character.is_ascii_control() => {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{:02x}", u32::from(character));
        }
        _ if is_harmless(character) => text.push(character),
        _ => text.extend(character.escape_unicode()),
    }
}

fn is_harmless(character: char) -> bool {
    let hidden = matches!(character,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    !hidden && character.width().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_stays_as_it_is() {
        assert_eq!(printable("Zoë <zoe@example.org> 山田".as_bytes()), "Zoë <zoe@example.org> 山田");
    }

    #[test]
    fn escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(printable(b"a\x1b[31mb\nc\0d\x7f"), "a\\x1b[31mb\\x0ac\\x00d\\x7f");
        assert_eq!(printable("\u{9b}31m".as_bytes()), "\\u{9b}31m");
    }

    #[test]
    fn the_direction_of_writing_is_not_changed() {
        assert_eq!(printable("a\u{202e}b".as_bytes()), "a\\u{202e}b");
    }

    #[test]
    fn octets_that_are_no_utf_8_are_shown_in_hexadecimal() {
        assert_eq!(printable(b"J\xfcrgen"), "J\\xfcrgen");
    }

    #[test]
    fn what_is_shown_escaped_cannot_be_mistaken_for_text() {
        assert_eq!(printable(b"a\\x1b"), "a\\\\x1b");
    }

    #[test]
    fn a_message_is_made_harmless_and_what_is_escaped_in_it_stays() {
        assert_eq!(harmless("\x1b[31m.pgp: a\\x1b"), "\\x1b[31m.pgp: a\\x1b");
    }
}
