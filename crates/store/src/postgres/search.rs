//! Finding user IDs by parts of them, and how they and key IDs are stored for searching.

use cert::KeyId;

use crate::engine::Engine;
use crate::find::decided;
use crate::{CertId, Error, Query, Result};

const DOING: &str = "searching";

/// User IDs that are read at most where no index proposes any.
const SCANNED: i64 = 2_000_000;

/// Stands for NUL, which text cannot hold.
const NUL: char = '\u{100}';

/// Returns the text that a user ID is searched by: each byte as the character of the same number, ASCII letters in
/// lower case. So the server's idea of letters does not matter.
pub(super) fn searched_text(user_id: &[u8]) -> String {
    user_id.iter().map(|&byte| character(byte)).collect()
}

fn character(byte: u8) -> char {
    match byte {
        0 => NUL,
        byte => char::from(byte.to_ascii_lowercase()),
    }
}

/// Returns the pattern of LIKE for texts that contain a part.
fn pattern(part: &[u8]) -> String {
    let mut pattern = String::with_capacity(part.len() + 2);
    pattern.push('%');
    for &byte in part {
        if matches!(byte, b'%' | b'_' | b'\\') {
            pattern.push('\\');
        }
        pattern.push(character(byte));
    }
    pattern.push('%');
    pattern
}

/// Finds user IDs that contain `part` and are answers: by the index, or by a scan where `part` is too short for it.
pub(super) fn find(
    engine: &impl Engine,
    is_indexed: bool,
    query: &Query,
    part: &[u8],
) -> Result<Vec<CertId>> {
    const SQL: &str = "SELECT cert, value FROM user_id WHERE search LIKE ?1";
    const MORE: &str = "SELECT 1 FROM user_id OFFSET ?1 LIMIT 1";
    if !is_indexed && engine.first(MORE, &[&SCANNED], DOING, |_| Ok(()))?.is_some() {
        return Err(Error::Unindexed { path: engine.path().to_owned(), limit: SCANNED });
    }
    decided(engine, query, SQL, &[&pattern(part)])
}

/// Returns some user IDs that contain a part, by the index.
pub(super) fn some(engine: &impl Engine, part: &[u8], most: usize) -> Result<Vec<Vec<u8>>> {
    const SQL: &str = "SELECT value FROM user_id WHERE search LIKE ?1 LIMIT ?2";
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    engine.list(SQL, &[&pattern(part), &most], DOING, |row| row.get(0))
}

/// Returns the two halves of a key ID as they are stored; the second is the short key ID.
pub(super) fn halves(key_id: KeyId) -> (i32, i32) {
    (key_id.short().cast_signed(), ((key_id.0 >> 32) as u32).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_its_bytes() {
        assert_eq!(pattern(b"50%_A\\\0\xff"), "%50\\%\\_a\\\\\u{100}\u{ff}%");
        assert_eq!(searched_text(b"Ann \xc4\0"), "ann \u{c4}\u{100}");
    }

    #[test]
    fn a_key_id_has_two_halves() {
        assert_eq!(halves(KeyId(0x0000_0001_ffff_ffff)), (-1, 1));
    }
}
