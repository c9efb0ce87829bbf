//! Values as text that is safe to print.

use std::fmt::Display;

pub(crate) use engine::foreign_text::{harmless, is_harmless, printable};

/// Escapes the control characters of a text, except line feeds.
pub(crate) fn harmless_lines(text: &str) -> String {
    text.split('\n').map(harmless).collect::<Vec<String>>().join("\n")
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Returns the text for a number that stands before it: for 1, and for any other.
pub(crate) fn counted_thing(count: u64, one: &'static str, several: &'static str) -> &'static str {
    if count == 1 { one } else { several }
}

/// Returns a number with a noun in singular or plural: `1 certificate`, `2 certificates`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(count: N, thing: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {thing}{plural}")
}
