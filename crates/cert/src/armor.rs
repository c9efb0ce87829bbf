//! ASCII armor (RFC 9580, 6): finds blocks in text and decodes them, as GnuPG does, or by the RFC.
//!
//! Characters outside of base64 are skipped. For GnuPG a checksum may be missing but must not be wrong. The last line may
//! be missing too; in messages not both. Lines may end in white space or be dash-escaped. By the RFC the checksum means
//! nothing, and both the last line and the empty line before the data must be there.

use crate::buffer::Buffer;
use crate::checksum::Checksum;
use crate::error::Flaw;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::ops::ControlFlow;

/// A line of text outside of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextLine {
    /// The first line of a block of the wanted kind.
    Wanted,
    /// The first line of another block.
    Foreign,
    /// Nothing.
    Other,
}

/// The kinds of blocks that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// Those of keys.
    Keys,
    /// Those of messages and of signatures.
    Messages,
    /// All.
    Any,
}

impl BlockKind {
    fn holds(self, title: &[u8]) -> bool {
        match self {
            Self::Keys => matches!(title, b"PUBLIC KEY BLOCK" | b"PRIVATE KEY BLOCK" | b"SECRET KEY BLOCK"),
            Self::Any => title != b"SIGNED MESSAGE",
            Self::Messages => {
                matches!(title, b"MESSAGE" | b"SIGNATURE" | b"ARMORED FILE")
                    || title.starts_with(b"MESSAGE, PART ")
            }
        }
    }
}

/// Whose rules for armor are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArmorRules {
    /// GnuPG's.
    #[default]
    Gnupg,
    /// Those of RFC 9580.
    Rfc9580,
}

/// Classifies a line of text outside of blocks.
pub(crate) fn text_line(line: &[u8], wanted: BlockKind, rules: ArmorRules) -> TextLine {
    let escaped = line.strip_prefix(b"- ").filter(|_| rules == ArmorRules::Gnupg);
    let line = escaped.unwrap_or(line).trim_ascii_end();
    let title = line.strip_prefix(b"-----BEGIN PGP ").and_then(|rest| rest.strip_suffix(b"-----"));
    match title {
        Some(title) if wanted.holds(title) => TextLine::Wanted,
        Some(_) => TextLine::Foreign,
        None => TextLine::Other,
    }
}

/// Returns whether a line outside of any block is neither empty nor a block's last line.
pub(crate) fn is_text(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    !(line.is_empty() || line.starts_with(b"-----END PGP ") && line.ends_with(b"-----"))
}

/// Returns whether a line between a block's title and its data is the empty one, which may have white space.
pub(crate) fn is_blank(line: &[u8], rules: ArmorRules) -> bool {
    const VERTICAL_TAB: u8 = 0x0b;
    let is_space =
        |byte: &u8| byte.is_ascii_whitespace() || rules == ArmorRules::Rfc9580 && *byte == VERTICAL_TAB;
    line.iter().all(is_space)
}

/// Returns whether a line between a block's title and its data is a header, such as `Version: 1` or `Comment:`.
pub(crate) fn is_header(line: &[u8]) -> bool {
    let colon = memchr::memchr(b':', line);
    colon.is_some_and(|colon| matches!(line.get(colon + 1), None | Some(b' ' | b'\r')))
}

/// Decodes the data of one block, line by line.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    checksum: Checksum,
    /// The bits of an incomplete group of four characters.
    group: u32,
    characters: u8,
    trailer: Option<Trailer>,
    rules: ArmorRules,
}

/// The bytes after the data: padding, then perhaps a checksum.
#[derive(Debug, Default)]
struct Trailer {
    sum: u32,
    length: u8,
}

/// How a block ended.
pub(crate) type BlockEnd = Result<(), Flaw>;

impl Decoder {
    pub(crate) fn new(rules: ArmorRules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Decodes a line, or the next part of a very long one, to `out`.
    ///
    /// Breaks at the end of the block; a line that begins with dashes is not part of the block.
    pub(crate) fn line(&mut self, line: &[u8], begins: bool, out: &mut Buffer) -> ControlFlow<BlockEnd> {
        if begins && is_dashes(line) {
            return ControlFlow::Break(self.end(out));
        }
        let mut rest = line;
        if self.trailer.is_none() {
            let data = memchr::memchr(b'=', line).unwrap_or(line.len());
            self.decode(&line[..data], out);
            rest = &line[data..];
            if rest.is_empty() {
                return ControlFlow::Continue(());
            }
            self.flush(out);
        }
        let trailer = self.trailer.get_or_insert_default();
        match self.rules {
            ArmorRules::Gnupg => trailer.read(rest, self.checksum),
            ArmorRules::Rfc9580 => ControlFlow::Continue(()),
        }
    }

    /// Ends the block where the text ends or dashes begin.
    pub(crate) fn end(&mut self, out: &mut Buffer) -> BlockEnd {
        self.flush(out);
        Ok(())
    }

    fn decode(&mut self, data: &[u8], out: &mut Buffer) {
        let start = out.len();
        let data = data.trim_ascii_end();
        let whole = if self.characters == 0 { data.len() / 4 * 4 } else { 0 };
        let decoded = out.write_with(whole / 4 * 3, |room| STANDARD.decode_slice(&data[..whole], room));
        let rest = if decoded.is_ok() { &data[whole..] } else { data };
        rest.iter().filter_map(|&character| value(character)).for_each(|value| self.push(value, out));
        self.checksum.add(&out[start..]);
    }

    fn push(&mut self, value: u8, out: &mut Buffer) {
        self.group = self.group << 6 | u32::from(value);
        self.characters += 1;
        if self.characters == 4 {
            out.extend_from_slice(&self.group.to_be_bytes()[1..]);
            (self.group, self.characters) = (0, 0);
        }
    }

    /// Writes the bytes of an incomplete last group of two or three characters.
    fn flush(&mut self, out: &mut Buffer) {
        let bytes = usize::from(self.characters.saturating_sub(1));
        let group = self.group << (6 * (4 - u32::from(self.characters)));
        let last = &group.to_be_bytes()[1..1 + bytes];
        self.checksum.add(last);
        out.extend_from_slice(last);
        (self.group, self.characters) = (0, 0);
    }
}

impl Trailer {
    fn read(&mut self, line: &[u8], checksum: Checksum) -> ControlFlow<BlockEnd> {
        for &character in without_quoting(line) {
            match value(character) {
                Some(value) => self.sum = self.sum << 6 | u32::from(value),
                None if self.length > 0 => break,
                None if matches!(character, b'=' | b' ' | b'\t' | b'\r') => continue,
                // A checksum may be missing.
                None => return ControlFlow::Break(Ok(())),
            }
            self.length += 1;
            if self.length == 4 {
                let agrees = self.sum.to_be_bytes()[1..] == checksum.bytes();
                return ControlFlow::Break(if agrees {
                    Ok(())
                } else {
                    Err(Flaw::Armor("a wrong checksum"))
                });
            }
        }
        match self.length {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(Err(Flaw::Armor("a checksum that is cut short"))),
        }
    }
}

/// Removes the quoted-printable encoding of the equals sign before a checksum, which some mailers leave.
fn without_quoting(line: &[u8]) -> &[u8] {
    match line.strip_prefix(b"=3D") {
        Some(sum) if sum.trim_ascii_end().len() == 4 => sum,
        _ => line,
    }
}

/// Returns whether a line begins with the dashes of a title, which end a block.
pub(crate) fn is_dashes(line: &[u8]) -> bool {
    line.strip_prefix(b"- ").unwrap_or(line).starts_with(b"-----")
}

/// Returns the six bits that a character of base64 stands for.
fn value(character: u8) -> Option<u8> {
    match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a' + 26),
        b'0'..=b'9' => Some(character - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(lines: &[&str]) -> (Vec<u8>, Option<BlockEnd>) {
        let mut decoder = Decoder::default();
        let mut out = Buffer::default();
        for line in lines {
            if let ControlFlow::Break(end) = decoder.line(line.as_bytes(), true, &mut out) {
                return (out.to_vec(), Some(end));
            }
        }
        (out.to_vec(), None)
    }

    const WRONG: Option<BlockEnd> = Some(Err(Flaw::Armor("a wrong checksum")));

    #[test]
    fn a_block_is_decoded_and_its_checksum_compared() {
        let text = b"a text of more than one line of armor, or so".to_vec();
        let lines = ["YSB0ZXh0IG9mIG1vcmUgdGhhbiBvbmUgbGluZSBv", "ZiBhcm1vciwgb3Igc28=", "=ypWa"];
        let sum = {
            let mut checksum = Checksum::default();
            checksum.add(&text);
            format!("={}", STANDARD.encode(checksum.bytes()))
        };
        assert_eq!(decode(&[lines[0], lines[1], &sum]), (text.clone(), Some(Ok(()))));
        assert_eq!(decode(&[lines[0], lines[1], &sum.replacen('=', "=3D", 1)]), (text.clone(), Some(Ok(()))));
        assert_eq!(decode(&[lines[0], lines[1], "=AAAA"]), (text.clone(), WRONG));
        assert_eq!(decode(&[lines[0], lines[1], "-----END"]), (text, Some(Ok(()))));
    }

    #[test]
    fn white_space_and_what_is_no_base64_is_skipped() {
        assert_eq!(decode(&["YS B0!Z", "Xh0\t\r"]), (b"a text".to_vec(), None));
    }

    #[test]
    fn the_last_group_may_lack_its_padding() {
        assert_eq!(decode(&["YWI", "-----END PGP PUBLIC KEY BLOCK-----"]), (b"ab".to_vec(), Some(Ok(()))));
        assert_eq!(decode(&["YQ", "- -----END"]), (b"a".to_vec(), Some(Ok(()))));
    }

    #[test]
    fn a_checksum_is_four_characters_or_none() {
        assert_eq!(decode(&["YWI=", "=ab"]).1, Some(Err(Flaw::Armor("a checksum that is cut short"))));
        assert_eq!(decode(&["YWI=", "", "!"]).1, Some(Ok(())));
    }

    #[test]
    fn blocks_are_known_by_their_title() {
        let text_line = |line| super::text_line(line, BlockKind::Keys, ArmorRules::Gnupg);
        assert_eq!(text_line(b"-----BEGIN PGP PUBLIC KEY BLOCK-----  \r"), TextLine::Wanted);
        assert_eq!(text_line(b"- -----BEGIN PGP PRIVATE KEY BLOCK-----"), TextLine::Wanted);
        assert_eq!(text_line(b"-----BEGIN PGP MESSAGE-----"), TextLine::Foreign);
        assert_eq!(text_line(b" -----BEGIN PGP PUBLIC KEY BLOCK-----"), TextLine::Other);
        assert_eq!(text_line(b"-----BEGIN PGP PUBLIC KEY BLOCK----- x"), TextLine::Other);
    }

    #[test]
    fn where_messages_are_read_keys_are_something_else() {
        let text_line = |line| super::text_line(line, BlockKind::Messages, ArmorRules::Gnupg);
        assert_eq!(text_line(b"-----BEGIN PGP MESSAGE-----\r"), TextLine::Wanted);
        assert_eq!(text_line(b"-----BEGIN PGP PUBLIC KEY BLOCK-----"), TextLine::Foreign);
    }

    #[test]
    fn headers_have_a_colon_and_a_space() {
        assert!(is_header(b"Version: GnuPG v2"));
        assert!(is_header(b"Comment:\r"));
        assert!(!is_header(b"mQINBFdAnw0BEADHcsGQeV1uaknVqSg4OzyVS0jzSMVn9wdZZ0b5BHQRRZpfOw6V"));
    }
}
