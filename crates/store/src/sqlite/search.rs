//! The substring index: trigrams of octets.
//!
//! FTS5 splits text into trigrams of characters, and user IDs are octets; so each octet is given to it as the character
//! of the same number. FTS5 folds more than ASCII letters, and knows only that all trigrams occur somewhere in a
//! certificate's user IDs: it proposes too much, never too little.

/// The most trigrams that are asked for; more would cost more than they exclude.
const MOST: usize = 6;

/// Stands for NUL, which FTS5 leaves out.
const NUL: char = '\u{100}';

/// Returns the text that a certificate's user IDs are indexed by.
pub(super) fn text(user_ids: &[(i64, Vec<u8>)]) -> String {
    let mut text = String::with_capacity(user_ids.iter().map(|(_, value)| value.len() + 1).sum());
    for (_, value) in user_ids {
        text.extend(value.iter().map(|&octet| character(octet)));
        text.push('\n');
    }
    text
}

/// Returns the FTS5 expression that every text with `part` in it meets; `None` if there is no trigram in `part`.
///
/// A long `part` is represented by trigrams from its whole length.
pub(super) fn expression(part: &[u8]) -> Option<String> {
    let trigrams = part.len().checked_sub(2).filter(|&count| count > 0)?;
    let asked = trigrams.min(MOST);
    let starts = (0..asked).map(|number| if asked == 1 { 0 } else { number * (trigrams - 1) / (asked - 1) });
    let quoted = starts.map(|start| {
        let trigram: String = part[start..start + 3].iter().map(|&octet| character(octet)).collect();
        format!("\"{}\"", trigram.replace('"', "\"\""))
    });
    Some(quoted.collect::<Vec<_>>().join(" AND "))
}

fn character(octet: u8) -> char {
    if octet == 0 { NUL } else { char::from(octet) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_without_a_trigram_cannot_be_asked_for() {
        assert_eq!(expression(b""), None);
        assert_eq!(expression(b"ab"), None);
        assert_eq!(expression(b"abc").as_deref(), Some("\"abc\""));
    }

    #[test]
    fn at_most_six_trigrams_are_asked_for_and_the_first_and_last_are_among_them() {
        let expression = expression(b"abcdefghijklmnop").expect("long enough");
        let trigrams: Vec<_> = expression.split(" AND ").collect();
        assert_eq!(trigrams, ["\"abc\"", "\"cde\"", "\"fgh\"", "\"hij\"", "\"klm\"", "\"nop\""]);
    }

    #[test]
    fn every_octet_has_a_character() {
        assert_eq!(text(&[(1, b"a\0\xff".to_vec())]), "a\u{100}\u{ff}\n");
        assert_eq!(expression(b"\"\0x").as_deref(), Some("\"\"\"\u{100}x\""));
    }
}
