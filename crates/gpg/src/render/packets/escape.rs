//! Text in a list of packets, with what gpg escapes there.

use crate::render::text::sanitized_with;

/// Appends text of which gpg takes only the bytes from the space to `z` as they are.
pub(super) fn plain(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b' '..=b'z' => out.push(byte),
            _ => out.extend(format!("\\x{byte:02x}").into_bytes()),
        }
    }
}

/// Appends text with control characters, `end` and backslashes escaped.
pub(super) fn sanitized(text: &[u8], end: u8, out: &mut Vec<u8>) {
    sanitized_with(text, |byte| byte == end || byte == b'\\', out);
}
