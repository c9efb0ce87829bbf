//! Values as text: what others wrote made harmless, numbers in words.

use std::fmt::Display;

pub(crate) use keyhoard::foreign_text::{harmless, is_harmless, printable};

/// Makes a text harmless that has several lines.
pub(crate) fn harmless_lines(text: &str) -> String {
    text.split('\n').map(harmless).collect::<Vec<String>>().join("\n")
}

/// Writes bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Writes a number of things: `1 certificate`, `2 certificates`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(count: N, thing: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {thing}{plural}")
}
