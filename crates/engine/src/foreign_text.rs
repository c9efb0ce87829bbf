//! Foreign text, escaped for terminals.
//!
//! User IDs, file names, notations, reasons and what error messages quote of them can hold anything. A terminal would
//! execute their control characters, and could show their text in another order.

use std::fmt::Write;

/// Says whether a character controls the terminal or the layout: the control characters of ASCII and ISO 6429 (C0, DEL
/// and C1), the marks that change the direction of writing (Unicode's `Bidi_Control`), and the separators of lines and
/// paragraphs.
pub fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns bytes, which should be UTF-8, as text that is safe on a terminal.
///
/// Control characters ([`is_control`]), characters that cannot be seen, and bytes that are no UTF-8 appear as `\x1b`,
/// `\u{202e}` and the like; a backslash appears twice.
pub fn printable(bytes: &[u8]) -> String {
    // Most names are plain ASCII.
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'\\';
    if let (true, Ok(text)) = (bytes.iter().all(is_plain), str::from_utf8(bytes)) {
        return text.to_owned();
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|character| push(&mut text, character));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// Escapes in a text what [`printable`] escapes, but for backslashes: names in it may be escaped already.
pub fn harmless(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push(character),
            _ => push(&mut escaped, character),
        }
    }
    escaped
}

/// Says whether [`harmless`] would leave a text as it is.
pub fn is_harmless(text: &str) -> bool {
    // Checking all bytes is faster than stopping at the first.
    text.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~'))
        || !text.chars().any(|character| is_control(character) || is_invisible(character))
}

fn push(text: &mut String, character: char) {
    match character {
        '\\' => text.push_str("\\\\"),
        _ if character.is_ascii_control() => {
            let _ = write!(text, "\\x{:02x}", u32::from(character));
        }
        _ if is_control(character) || is_invisible(character) => text.extend(character.escape_unicode()),
        _ => text.push(character),
    }
}

/// Says whether a character has no width where one is expected. Those that join letters of some scripts are none.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{feff}')
}

/// Returns a name for messages: as text, and only the beginning of a very long one.
pub fn shown(name: &[u8]) -> String {
    const CHARACTERS: usize = 100;
    // A character has at most four bytes.
    let text = String::from_utf8_lossy(&name[..name.len().min(4 * (CHARACTERS + 1))]);
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_stays_as_it_is() {
        let text = "Zoë <zoe@example.org> 山田 میرا\u{200c}نام";
        assert_eq!(printable(text.as_bytes()), text);
        assert!(is_harmless(text));
    }

    #[test]
    fn escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(printable(b"a\x1b[31mb\nc\0d\x7f"), "a\\x1b[31mb\\x0ac\\x00d\\x7f");
        assert_eq!(printable("\u{9b}31m".as_bytes()), "\\u{9b}31m");
    }

    #[test]
    fn the_direction_of_writing_is_not_changed() {
        let marks = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}'];
        for mark in marks {
            let text = format!("a{mark}b");
            assert_eq!(printable(text.as_bytes()), format!("a\\u{{{:x}}}b", u32::from(mark)));
            assert!(!is_harmless(&text));
        }
    }

    #[test]
    fn a_separator_of_lines_makes_no_line() {
        assert_eq!(printable("a\u{2028}b\u{2029}c\u{85}d".as_bytes()), "a\\u{2028}b\\u{2029}c\\u{85}d");
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_shown_in_hexadecimal() {
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

    #[test]
    fn a_name_is_repeated_whole_unless_it_is_very_long() {
        assert_eq!(shown(b"J\xfcrgen"), "J\u{fffd}rgen");
        assert_eq!(shown("ä".repeat(100).as_bytes()), "ä".repeat(100));
        assert_eq!(shown("山".repeat(100_000).as_bytes()), "山".repeat(100) + "...");
        assert_eq!(shown(&[0xff; 1000]), "\u{fffd}".repeat(100) + "...");
    }
}
