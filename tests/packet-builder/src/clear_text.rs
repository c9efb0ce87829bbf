//! The cleartext signature framework.

use crate::{Armor, Hash, Key, Packet, Signature, Signed};

/// Text with its signatures after it (RFC 9580, 7).
#[derive(Clone, Debug)]
pub struct ClearText {
    /// The first line.
    pub begin: Vec<u8>,
    /// The header lines, without their ends.
    pub headers: Vec<Vec<u8>>,
    /// The line between headers and text, empty in correct clear text.
    pub separator: Option<Vec<u8>>,
    /// The text. Its last line end does not belong to what is signed.
    pub text: Vec<u8>,
    /// Whether lines that begin with a dash get `- ` in front.
    pub escaped: bool,
    /// The block with the signatures.
    pub signatures: Armor,
    /// What stands after all.
    pub after: Vec<u8>,
}

impl ClearText {
    /// Signs text, which ends in a line end, as it should be done.
    pub fn sign(key: &Key, text: &[u8]) -> ClearText {
        ClearText::with(key, text, &Signature::by(key, 0x01))
    }

    /// Signs text with this signature as it should be done.
    pub fn with(key: &Key, text: &[u8], signature: &Signature) -> ClearText {
        let packet = signature.sign(key, &Signed::Text(&ClearText::signed_text(text)));
        ClearText::around(text, signature.hash, &[packet])
    }

    /// Returns text with these signatures after it.
    pub fn around(text: &[u8], hash: Hash, signatures: &[Packet]) -> ClearText {
        let name = match hash.0 {
            1 => "MD5",
            2 => "SHA1",
            3 => "RIPEMD160",
            9 => "SHA384",
            10 => "SHA512",
            11 => "SHA224",
            _ => "SHA256",
        };
        ClearText {
            begin: b"-----BEGIN PGP SIGNED MESSAGE-----".to_vec(),
            headers: vec![format!("Hash: {name}").into_bytes()],
            separator: Some(Vec::new()),
            text: text.to_vec(),
            escaped: true,
            signatures: Armor::new("SIGNATURE", crate::bytes(signatures)),
            after: Vec::new(),
        }
    }

    /// Returns what is digested of a text: lines without white space at their ends, without the last line end
    /// (RFC 9580, 7.2). [`Signed::Text`] adds the carriage returns.
    pub fn signed_text(text: &[u8]) -> Vec<u8> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let is_white = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
        let lines = text.split(|&byte| byte == b'\n').map(|line| {
            let end = line.iter().rposition(|byte| !is_white(byte)).map_or(0, |place| place + 1);
            &line[..end]
        });
        lines.collect::<Vec<_>>().join(&b'\n')
    }

    /// Returns the whole.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = [&self.begin[..], b"\n"].concat();
        for line in self.headers.iter().chain(&self.separator) {
            out.extend_from_slice(line);
            out.push(b'\n');
        }
        for line in self.text.split_inclusive(|&byte| byte == b'\n') {
            if self.escaped && line.starts_with(b"-") {
                out.extend_from_slice(b"- ");
            }
            out.extend_from_slice(line);
        }
        out.extend(self.signatures.bytes());
        out.extend_from_slice(&self.after);
        out
    }
}
