//! Errors of the operating system, as they are reported.

use std::io;

/// Returns the system's words for an error, without the number that Rust adds.
pub(crate) fn system_words(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}
