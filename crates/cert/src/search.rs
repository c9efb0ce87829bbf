//! Searches the next certificate in arbitrary bytes.

use crate::error::Result;
use crate::key;
use crate::packet::{Header, Length, MAX_HEADER, Tag};
use crate::window::Window;
use std::io::Read;
use verify::limits;

/// Skips to the next bytes that look like a primary key, or to the end of the segment.
pub(crate) fn find_primary_key<R: Read>(window: &mut Window<R>) -> Result<()> {
    loop {
        window.fill(1)?;
        let bytes = window.bytes();
        if bytes.is_empty() {
            return Ok(());
        }
        let before = bytes.iter().take_while(|&&byte| !may_begin_primary_key(byte)).count();
        let is_candidate = before < bytes.len();
        window.take(before);
        if is_candidate {
            if looks_like_primary_key(window, 0)? {
                return Ok(());
            }
            window.take(1);
        }
    }
}

/// Finds the first bytes that look like a primary key after the first byte of the window and before `end`.
pub(crate) fn swallowed_primary_key<R: Read>(window: &mut Window<R>, end: usize) -> Result<Option<usize>> {
    for at in 1..end {
        if may_begin_primary_key(window.bytes()[at]) && looks_like_primary_key(window, at)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Returns whether the byte may begin a public or secret primary key packet of definite length.
fn may_begin_primary_key(byte: u8) -> bool {
    matches!(byte, 0x94..=0x96 | 0x98..=0x9a | 0xc5 | 0xc6)
}

/// Returns whether these bytes may be the beginning of a primary key of version 2 to 9.
pub(crate) fn begins_like_primary_key(bytes: &[u8]) -> bool {
    if !bytes.first().is_some_and(|&byte| may_begin_primary_key(byte)) {
        return false;
    }
    let Ok(Header { length, size, .. }) = Header::parse(bytes) else {
        return true;
    };
    let is_possible = match length {
        Length::Definite(length) | Length::Partial(length) => length as usize <= limits::MAX_KEY_PACKET,
        Length::Open => false,
    };
    is_possible && matches!(bytes.get(size), None | Some(2..10))
}

/// Returns whether there is a primary key at offset `at` of the window with certainty: complete, of a known algorithm,
/// and followed by another packet or the end.
fn looks_like_primary_key<R: Read>(window: &mut Window<R>, at: usize) -> Result<bool> {
    window.fill(at + MAX_HEADER)?;
    let header = Header::parse(&window.bytes()[at..]);
    let Ok(Header { tag, length: Length::Definite(length), size }) = header else {
        return Ok(false);
    };
    let length = length as usize;
    if length > limits::MAX_KEY_PACKET {
        return Ok(false);
    }
    let body = at + size;
    window.fill(body + length + MAX_HEADER)?;
    let Some((body, after)) = window.bytes()[body..].split_at_checked(length) else {
        return Ok(false);
    };
    let key = if tag == Tag::PUBLIC_KEY { key::parse_public(body) } else { key::parse_secret(body) };
    Ok(key.is_ok_and(|key| key.is_of_known_algorithm()) && (after.is_empty() || Header::parse(after).is_ok()))
}
