//! Status lines for the calling program (GnuPG's `doc/DETAILS`, "Format of the --status-fd output").
//!
//! A line is a keyword with its arguments. Only the last argument may be text of any bytes.

use std::fmt::Display;

/// Returns a whole line. Line ends inside it are escaped: no text can begin another line.
pub(crate) fn line(arguments: &[u8]) -> Vec<u8> {
    let mut line = b"[GNUPG:] ".to_vec();
    for &byte in arguments {
        match byte {
            b'\n' => line.extend(b"\\n"),
            b'\r' => line.extend(b"\\r"),
            _ => line.push(byte),
        }
    }
    line.push(b'\n');
    line
}

/// Appends text as it is, in which only line ends are escaped.
pub(crate) fn with_text(arguments: impl Display, text: &[u8]) -> Vec<u8> {
    [arguments.to_string().as_bytes(), b" ", text].concat()
}

/// Appends text with control characters and percent signs as `%XX`.
pub(crate) fn with_escaped_text(arguments: impl Display, text: &[u8]) -> Vec<u8> {
    with_text(arguments, &percent_escaped(text, b' ' - 1))
}

/// Appends text as one word: control characters, percent signs and spaces as `%XX`.
pub(crate) fn with_word(arguments: impl Display, text: &[u8]) -> Vec<u8> {
    with_text(arguments, &percent_escaped(text, b' '))
}

fn percent_escaped(text: &[u8], last_control: u8) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(text.len());
    for &byte in text {
        if byte <= last_control || byte == 127 || byte == b'%' {
            escaped.extend(format!("%{byte:02X}").into_bytes());
        } else {
            escaped.push(byte);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_inside_a_user_id_are_escaped() {
        let arguments = with_text("IMPORTED 0123456789ABCDEF", b"a\nb\r");
        assert_eq!(line(&arguments), b"[GNUPG:] IMPORTED 0123456789ABCDEF a\\nb\\r\n");
    }

    #[test]
    fn a_file_name_is_one_word_and_shows_its_bytes() {
        let arguments = with_word("PLAINTEXT 62 7", b"a b%\n\xff");
        assert_eq!(line(&arguments), b"[GNUPG:] PLAINTEXT 62 7 a%20b%25%0A\xff\n");
    }
}
