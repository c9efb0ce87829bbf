//! Names that are similar to one for which no certificate was found.
//!
//! A name with `n` mistakes, cut into `n + 1` pieces, has one piece at least without a mistake. Each piece is looked up in
//! the index, a limited number of answers each; then the edit distance decides. So it takes about as long at a million
//! certificates as at a thousand. Where more user IDs than the limit have every piece, a name may be missed.

use std::time::{Duration, Instant};

use cert::mailbox::mail_address;
use store::query::Name;
use store::{Query, ReadCertificates};

use crate::Result;

/// The most names that are suggested.
const MOST: usize = 3;

/// The shortest piece that the index can look up, in bytes.
const SHORTEST_PIECE: usize = 3;

/// User IDs that are read for one piece.
const MOST_OF_PIECE: usize = 128;

/// No further piece is looked up after this time.
const LOOKUP_TIME: Duration = Duration::from_millis(40);

/// Returns up to three mail addresses, or user IDs without one, that are most like a name, the most similar first.
///
/// # Errors
///
/// The database's errors.
pub fn similar(snapshot: &dyn ReadCertificates, name: &[u8]) -> Result<Vec<Vec<u8>>> {
    let Ok(Query::Mail(text) | Query::MailPart(text) | Query::Substring(text) | Query::Exact(text)) =
        Name::parse(name).map(|name| name.query)
    else {
        return Ok(Vec::new());
    };
    let wanted = folded(mail_address(&text).unwrap_or(&text));
    let begin = Instant::now();
    let mut found: Vec<(usize, Vec<u8>)> = Vec::new();
    for piece in pieces(wanted.as_bytes(), most_distance(&wanted) + 1) {
        if begin.elapsed() > LOOKUP_TIME {
            break;
        }
        for user_id in snapshot.some_user_ids(piece, MOST_OF_PIECE)? {
            let suggestion = mail_address(&user_id).unwrap_or(&user_id).to_vec();
            let distance = distance(&wanted, &user_id);
            if distance <= most_distance(&wanted) && !found.iter().any(|(_, there)| *there == suggestion) {
                found.push((distance, suggestion));
            }
        }
    }
    found.sort();
    Ok(found.into_iter().take(MOST).map(|(_, suggestion)| suggestion).collect())
}

/// Cuts a name into pieces of about the same length, fewer if they would be too short to be looked up.
fn pieces(name: &[u8], count: usize) -> impl Iterator<Item = &[u8]> {
    let length = name.len().div_ceil(count.max(1)).max(SHORTEST_PIECE);
    name.chunks(length).filter(|piece| piece.len() >= SHORTEST_PIECE)
}

/// Returns the number of mistakes that a name may have: one for each four characters.
fn most_distance(wanted: &str) -> usize {
    (wanted.chars().count() / 4).clamp(1, 3)
}

/// Returns the edit distance of a name from the nearest part of a user ID: its address, what is before the `@`, its name,
/// or a word of that.
fn distance(wanted: &str, user_id: &[u8]) -> usize {
    let text = folded(user_id);
    let address = mail_address(user_id).map(folded);
    let name = text.split('<').next().unwrap_or_default().trim();
    let local = address.as_deref().and_then(|address| address.split('@').next());
    let parts = [address.as_deref(), local, Some(name)].into_iter().flatten().chain(name.split_whitespace());
    let parts = parts.filter(|part| wanted.contains('@') == part.contains('@'));
    parts.map(|part| strsim::osa_distance(wanted, part)).min().unwrap_or(usize::MAX)
}

fn folded(text: &[u8]) -> String {
    String::from_utf8_lossy(text).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_compared_with_addresses_and_a_word_with_names() {
        let ann = b"Ann Example <ann@example.org>";
        assert_eq!(distance("ann@exmaple.org", ann), 1);
        assert_eq!(distance("exmaple", ann), 1);
        assert_eq!(distance("ann", ann), 0);
        assert!(distance("example.org", ann) > most_distance("example.org"));
    }

    #[test]
    fn a_name_is_cut_into_one_piece_more_than_it_may_have_mistakes() {
        let cut = |name: &'static str| pieces(name.as_bytes(), most_distance(name) + 1).collect::<Vec<_>>();
        assert_eq!(cut("anna"), [b"ann"]);
        assert_eq!(cut("kernel"), [b"ker", b"nel"]);
        assert_eq!(cut("ann@example.org"), [&b"ann@"[..], b"exam", b"ple.", b"org"]);
    }

    #[test]
    fn a_long_name_may_have_more_mistakes() {
        assert_eq!(["ann", "anna-maria", "anna-maria@example.org"].map(most_distance), [1, 2, 3]);
    }
}
