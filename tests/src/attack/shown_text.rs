//! What terminals make of text.

/// Returns a character that a terminal would obey, or that shows others in another order.
pub fn dangerous_character(text: &[u8]) -> Option<char> {
    let is_bidi = |letter: char| matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_control = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    let text = String::from_utf8_lossy(text).into_owned();
    text.chars().find(|&letter| is_control(letter) || is_bidi(letter))
}
