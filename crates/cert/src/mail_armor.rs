//! ASCII armor that mail has damaged: indented or quoted, with other dashes or fewer of them, in quoted-printable, with
//! doubled line ends or with spaces in place of them.
//!
//! Clear-signed text is never mended: its bytes are what was signed.

use std::io::Read;

use zeroize::Zeroizing;

use crate::dearmor::DearmoredMessage;

/// The most bytes of text that are mended.
pub const MAX_MAIL: usize = 4 << 20;

/// The titles of the blocks that are mended.
const TITLES: [&str; 3] = ["PUBLIC KEY BLOCK", "PRIVATE KEY BLOCK", "MESSAGE"];
/// The names of armor headers (RFC 9580, 6.2.2).
const HEADERS: [&str; 5] = ["Version", "Comment", "Hash", "Charset", "MessageID"];

/// Returns the blocks of keys and messages in a text, each with its lines as they should be; `None` if there are none, or
/// one has no end, or no empty line before its data.
pub fn mended(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() <= MAX_MAIL)?;
    let text = if text.contains('\n') { unquoted(text) } else { unquoted(&text.replace('\r', "\n")) };
    let text = with_line_ends(&text);
    let mut lines = text.lines();
    let mut blocks = String::new();
    while let Some(line) = lines.next() {
        if let Some(title) = title(line, "BEGIN PGP ") {
            let title = TITLES.into_iter().find(|known| *known == title)?;
            blocks.push_str(&block(title, &mut lines)?);
        }
    }
    (!blocks.is_empty()).then(|| blocks.into_bytes())
}

/// Says whether mended blocks have other packets than the text itself, or its armor cannot be read as it is: a checksum is
/// wrong, for example.
pub fn is_changed(text: &[u8], mended: &[u8]) -> bool {
    packets(text).is_none_or(|there| packets(mended) != Some(there))
}

/// Returns the packets of all blocks; `None` if one cannot be read.
fn packets(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut packets = Zeroizing::new(Vec::new());
    DearmoredMessage::of_any_kind(text).read_to_end(&mut packets).ok()?;
    Some(packets)
}

/// Returns the title in the first or last line of a block, whatever the dashes around it.
fn title<'t>(line: &'t str, begins: &str) -> Option<&'t str> {
    let rest = line.trim_start_matches(is_quoting).trim_start_matches(is_dash);
    Some(rest.strip_prefix(begins)?.trim_end_matches(|one| is_dash(one) || is_quoting(one)))
}

fn is_quoting(one: char) -> bool {
    matches!(one, ' ' | '\t' | '>' | '|' | ']' | '}' | '\r')
}

/// A hyphen, or what programs make of several: a non-breaking hyphen, dashes, the minus sign.
fn is_dash(one: char) -> bool {
    matches!(one, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// Reads the lines of a block to its end.
fn block<'t>(title: &str, lines: &mut impl Iterator<Item = &'t str>) -> Option<String> {
    let mut written = format!("-----BEGIN PGP {title}-----\n\n");
    let (mut is_data, mut is_empty_before) = (false, false);
    for line in lines {
        if self::title(line, "END PGP ").is_some() {
            written.push_str(&format!("-----END PGP {title}-----\n"));
            return is_data.then_some(written);
        }
        let line = line.trim_matches(is_quoting);
        let is_header = line.split_once(':').is_some_and(|(name, _)| HEADERS.contains(&name));
        match line {
            "" => is_empty_before = true,
            _ if is_header && !is_data => {}
            _ if !is_empty_before => return None,
            line => {
                is_data = true;
                // The checksum means nothing (RFC 9580, 6.1).
                if !line.starts_with('=') || line.trim_matches('=').is_empty() {
                    written.push_str(line);
                    written.push('\n');
                }
            }
        }
    }
    None
}

/// Undoes quoted-printable, in which an equals sign is `=3D`, and a line that was cut ends with one.
fn unquoted(text: &str) -> String {
    match text.contains("=3D") {
        true => text.replace("=\r\n", "").replace("=\n", "").replace("=3D", "=").replace("=20", " "),
        false => text.to_owned(),
    }
}

/// Puts back line ends that became spaces: then a line has the first and the last line of a block. An empty line is left
/// as two spaces in a row.
fn with_line_ends(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        match (line.find("BEGIN PGP "), line.find("END PGP ")) {
            (Some(begin), Some(end)) if begin < end => out.push_str(&broken(line)),
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// Ends a line at each space, except in titles and headers.
fn broken(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut in_title = false;
    let words: Vec<&str> = line.split(' ').collect();
    for (index, word) in words.iter().enumerate() {
        let bare = word.trim_matches(is_dash);
        out.push_str(word);
        in_title = match bare {
            "BEGIN" | "END" => true,
            _ => in_title && !word.ends_with(is_dash),
        };
        let is_header = word.ends_with(':') || index > 0 && words[index - 1].ends_with(':');
        out.push(if in_title || (is_header && word.ends_with(':')) { ' ' } else { '\n' });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "-----BEGIN PGP MESSAGE-----\nComment: a test\n\nYSBtZXNzYWdl\nYQ==\n=LqxW\n-----END PGP MESSAGE-----\n";
    const MENDED: &str = "-----BEGIN PGP MESSAGE-----\n\nYSBtZXNzYWdl\nYQ==\n-----END PGP MESSAGE-----\n";

    #[track_caller]
    fn is_mended(text: &str) {
        let text = mended(text.as_bytes()).map(|bytes| String::from_utf8(bytes).expect("text"));
        assert_eq!(text.as_deref(), Some(MENDED));
    }

    #[test]
    fn what_mail_does_to_armor_is_undone() {
        is_mended(BLOCK);
        is_mended(&BLOCK.replace('\n', "\r\n"));
        for prefix in ["> ", ">> ", "  ", "\t", "| ", "] } >>> "] {
            is_mended(&BLOCK.lines().map(|line| format!("{prefix}{line}\n")).collect::<String>());
        }
        is_mended(&BLOCK.replace("-----", "\u{2014}\u{2014}-"));
        is_mended(&BLOCK.replace("-----", "---"));
        is_mended(&BLOCK.replace("-----", ""));
        is_mended(&BLOCK.replace('=', "=3D"));
        is_mended(&BLOCK.replace('=', "=3D").replace("YSBtZXNz", "YSBt=\nZXNz"));
        is_mended(&BLOCK.replace('\n', "\n\n"));
        is_mended(&BLOCK.replace("Comment: a test\n", "").replace('\n', " "));
        is_mended(&BLOCK.replace("Comment: a test", "Comment:a test"));
        is_mended(&format!("Dear Bob,\n\n{BLOCK}\nYours\n"));
    }

    #[test]
    fn a_block_that_is_as_it_should_be_is_not_changed() {
        for (text, expected) in [
            (BLOCK.to_owned(), false),
            (BLOCK.replace('\n', "\r\n"), false),
            (format!("Dear Bob,\n\n{BLOCK}\nYours\n"), false),
            (BLOCK.replace('\n', "\n\n"), true),
            (BLOCK.replace("=LqxW\n", ""), false),
            (BLOCK.replace("=LqxW", "=AAAA"), true),
            (BLOCK.replace("Comment: a", "Comment:a"), true),
            (BLOCK.replace("-----", "---"), true),
            (BLOCK.lines().map(|line| format!("> {line}\n")).collect(), true),
        ] {
            let mended = mended(text.as_bytes()).expect("a block");
            assert_eq!(is_changed(text.as_bytes(), &mended), expected, "{text}");
        }
    }

    #[test]
    fn what_has_no_end_or_no_empty_line_and_clear_text_stay_as_they_are() {
        assert_eq!(mended(BLOCK.replace("-----END PGP MESSAGE-----\n", "").as_bytes()), None);
        assert_eq!(mended(BLOCK.replace("\n\n", "\n").as_bytes()), None);
        assert_eq!(mended(BLOCK.replace("MESSAGE", "SIGNED MESSAGE").as_bytes()), None);
        assert_eq!(mended(BLOCK.replace("MESSAGE", "SIGNATURE").as_bytes()), None);
        assert_eq!(mended(b"no armor"), None);
        assert_eq!(mended(b"\xc6\x01\x04"), None);
    }
}
