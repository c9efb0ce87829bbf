//! ASCII armor.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Armor (RFC 9580, 6.2) around bytes.
#[derive(Clone, Debug)]
pub struct Armor {
    /// What stands after `BEGIN PGP`, such as `SIGNATURE`.
    pub kind: String,
    /// The header lines as they are to stand there, without their ends.
    pub headers: Vec<Vec<u8>>,
    /// The line between headers and data, empty in correct armor.
    pub separator: Option<Vec<u8>>,
    /// The data.
    pub body: Vec<u8>,
    /// How many characters a line has.
    pub width: usize,
    /// The CRC-24 at the end.
    pub checksum: Checksum,
    /// What stands after `END PGP`; without it there is no such line.
    pub footer: Option<String>,
    /// What ends each line.
    pub line_end: &'static str,
}

/// The checksum of armor (RFC 9580, 6.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// The right one.
    Right,
    /// None, as RFC 9580 has it for most.
    None,
    /// This line.
    Is(String),
}

impl Armor {
    /// Makes correct armor.
    pub fn new(kind: &str, body: impl AsRef<[u8]>) -> Armor {
        Armor {
            kind: kind.to_owned(),
            headers: Vec::new(),
            separator: Some(Vec::new()),
            body: body.as_ref().to_vec(),
            width: 64,
            checksum: Checksum::Right,
            footer: Some(kind.to_owned()),
            line_end: "\n",
        }
    }

    /// Returns the armor's lines, without their ends.
    pub fn lines(&self) -> Vec<Vec<u8>> {
        let mut lines = vec![format!("-----BEGIN PGP {}-----", self.kind).into_bytes()];
        lines.extend(self.headers.iter().cloned());
        lines.extend(self.separator.clone());
        lines.extend(STANDARD.encode(&self.body).as_bytes().chunks(self.width).map(<[u8]>::to_vec));
        match &self.checksum {
            Checksum::Right => {
                let crc = crc24(&self.body).to_be_bytes();
                lines.push(format!("={}", STANDARD.encode(&crc[1..])).into_bytes());
            }
            Checksum::None => {}
            Checksum::Is(line) => lines.push(line.clone().into_bytes()),
        }
        lines.extend(self.footer.as_ref().map(|footer| format!("-----END PGP {footer}-----").into_bytes()));
        lines
    }

    /// Returns the armor.
    pub fn bytes(&self) -> Vec<u8> {
        let end = self.line_end.as_bytes();
        self.lines().into_iter().flat_map(|line| [&line, end].concat()).collect()
    }
}

/// Returns the CRC-24 of RFC 9580, 6.1.
pub fn crc24(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 0x80_0000 != 0 { crc << 1 ^ 0x186_4CFB } else { crc << 1 };
    bytes.iter().fold(0xB7_04CE, |crc, &byte| (0..8).fold(crc ^ u32::from(byte) << 16, step))
}

#[cfg(test)]
mod tests {
    use super::{Armor, crc24};

    #[test]
    fn armor_is_written_as_the_standard_has_it() {
        assert_eq!(crc24(b"123456789"), 0x21_CF02);
        let armor = Armor::new("MESSAGE", b"123456789").bytes();
        let text = "-----BEGIN PGP MESSAGE-----\n\nMTIzNDU2Nzg5\n=Ic8C\n-----END PGP MESSAGE-----\n";
        assert_eq!(String::from_utf8(armor).expect("text"), text);
    }
}
