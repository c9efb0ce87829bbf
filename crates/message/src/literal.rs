//! Literal data (RFC 9580, 5.9): the fields of the packet, and line ends of text.

use std::borrow::Cow;

use cert::Timestamp;

/// The format of the content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Bytes.
    #[default]
    Binary,
    /// Text, whose lines end with CR LF.
    Text,
    /// Text in UTF-8, whose lines end with CR LF.
    Utf8,
    /// Another format, which is read as bytes.
    Other(u8),
}

impl Format {
    pub(crate) fn of(byte: u8) -> Self {
        let known = [Self::Binary, Self::Text, Self::Utf8];
        known.into_iter().find(|format| format.letter() == byte).unwrap_or(Self::Other(byte))
    }

    /// Returns the letter of the format in the packet.
    pub fn letter(self) -> u8 {
        match self {
            Self::Binary => b'b',
            Self::Text => b't',
            Self::Utf8 => b'u',
            Self::Other(other) => other,
        }
    }

    /// Returns whether it is text.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Utf8)
    }
}

/// The fields of a literal data packet, over which no signatures are made but those of version 5 (LibrePGP).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// The format of the content.
    pub format: Format,
    /// The name of the file, at most 255 bytes.
    pub name: Vec<u8>,
    /// The time of the file.
    pub time: Timestamp,
}

impl Default for Literal {
    fn default() -> Self {
        Self { format: Format::Binary, name: Vec::new(), time: Timestamp(0) }
    }
}

impl Literal {
    /// The fields of clear text, in which there are none.
    pub(crate) const OF_CLEAR_TEXT: Self =
        Self { format: Format::Text, name: Vec::new(), time: Timestamp(0) };

    /// Returns the fields before the content.
    pub(crate) fn head(&self) -> Vec<u8> {
        let name = &self.name[..self.name.len().min(255)];
        [&[self.format.letter(), name.len() as u8], name, &self.time.0.to_be_bytes()].concat()
    }

    pub(crate) fn lines(&self) -> Lines {
        Lines { is_text: self.format.is_text(), after_return: false }
    }
}

/// Converts line ends of text to CR LF.
pub(crate) struct Lines {
    is_text: bool,
    after_return: bool,
}

impl Lines {
    /// Inserts a CR before each LF that has none.
    pub(crate) fn convert<'a>(&mut self, data: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.is_text {
            return Cow::Borrowed(data);
        }
        let mut out = Vec::with_capacity(data.len() + data.len() / 16);
        for &byte in data {
            if byte == b'\n' && !self.after_return {
                out.push(b'\r');
            }
            out.push(byte);
            self.after_return = byte == b'\r';
        }
        Cow::Owned(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_ends_its_lines_with_both_characters_however_it_is_cut() {
        let text = b"a\nb\r\nc\rd\n\n";
        for size in 1..text.len() {
            let mut lines = Literal { format: Format::Text, ..Literal::default() }.lines();
            let converted: Vec<u8> =
                text.chunks(size).flat_map(|piece| lines.convert(piece).into_owned()).collect();
            assert_eq!(converted, b"a\r\nb\r\nc\rd\r\n\r\n");
        }
        assert_eq!(Literal::default().lines().convert(text), &text[..]);
    }
}
