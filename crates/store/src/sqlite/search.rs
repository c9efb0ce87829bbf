//! The substring index: trigrams of bytes.
//!
//! FTS5 splits text into trigrams of characters, and user IDs are bytes; so each byte is given to it as the character
//! of the same number. FTS5 folds more than ASCII letters, and knows only that all trigrams occur somewhere in a
//! certificate's user IDs: it proposes too much, never too little.

use crate::engine::Engine;
use crate::find::{among_user_ids, certs, decided};
use crate::{CertId, Query, Result};

/// The most trigrams that are asked for; more would cost more than they exclude.
const MOST_TRIGRAMS: usize = 6;

/// How many of the trigrams of a long part are looked at to find the rare ones.
const TRIED: usize = 12;

/// Certificates with a trigram that are counted; one that fewer have is asked for alone.
pub(super) const SAMPLE: u32 = 64;

/// How much more frequent than the rarest trigram another may be and still be worth asking for.
const FREQUENCY_RATIO: i64 = 16;

/// Stands for NUL, which FTS5 leaves out.
const NUL: char = '\u{100}';

/// Finds user IDs that contain `part` and are answers: by trigrams, or by a scan where `part` is too short for one.
pub(super) fn find(engine: &impl Engine, query: &Query, part: &[u8]) -> Result<Vec<CertId>> {
    let trigrams = trigrams(part);
    if trigrams.is_empty() {
        return decided(engine, query, "SELECT cert, value FROM user_id ORDER BY cert", &[]);
    }
    among_user_ids(engine, query, &by_trigrams(engine, trigrams)?)
}

/// Returns user IDs of some certificates with all trigrams of a part.
pub(super) fn some(engine: &impl Engine, part: &[u8], most: usize) -> Result<Vec<Vec<u8>>> {
    const SQL: &str = "SELECT value FROM user_id WHERE cert IN
        (SELECT rowid FROM user_id_search WHERE user_id_search MATCH ?1 LIMIT ?2)";
    let trigrams = trigrams(part);
    if trigrams.is_empty() {
        return Ok(Vec::new());
    }
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    engine.list(SQL, &[&trigrams.join(" AND "), &most], "searching", |row| row.get(0))
}

/// Proposes the certificates that have the rarest of the trigrams.
fn by_trigrams(engine: &impl Engine, trigrams: Vec<String>) -> Result<Vec<CertId>> {
    const SQL: &str = "SELECT rowid FROM user_id_search WHERE user_id_search MATCH ?1 LIMIT ?2";
    let mut ranked = Vec::with_capacity(trigrams.len());
    for trigram in trigrams {
        let sample = certs(engine, SQL, &[&trigram, &SAMPLE])?;
        match sample.last() {
            Some(last) if sample.len() == SAMPLE as usize => ranked.push((last.0, trigram)),
            _ => return Ok(sample),
        }
    }
    certs(engine, SQL, &[&rarest(ranked), &-1])
}

/// Returns the text that a certificate's user IDs are indexed by.
pub(super) fn text(user_ids: &[(i64, Vec<u8>)]) -> String {
    let mut text = String::with_capacity(user_ids.iter().map(|(_, value)| value.len() + 1).sum());
    for (_, value) in user_ids {
        text.extend(value.iter().map(|&byte| character(byte)));
        text.push('\n');
    }
    text
}

/// Returns the FTS5 expressions of trigrams from the whole length of `part`; none if there is no trigram in it.
pub(super) fn trigrams(part: &[u8]) -> Vec<String> {
    let count = part.len().saturating_sub(2);
    let tried = count.min(TRIED);
    let starts = (0..tried).map(|number| if tried == 1 { 0 } else { number * (count - 1) / (tried - 1) });
    let mut expressions: Vec<String> = starts.map(|start| quoted(&part[start..start + 3])).collect();
    expressions.sort_unstable();
    expressions.dedup();
    expressions
}

/// Joins the rare ones of the trigrams into one expression.
///
/// With each comes the highest certificate number of its first [`SAMPLE`]: the higher it is, the rarer the trigram.
pub(super) fn rarest(mut trigrams: Vec<(i64, String)>) -> String {
    trigrams.sort_unstable_by(|one, other| other.cmp(one));
    let least = trigrams.first().map_or(0, |(last, _)| last / FREQUENCY_RATIO);
    let rare = trigrams.into_iter().take(MOST_TRIGRAMS).filter(|(last, _)| *last >= least);
    rare.map(|(_, trigram)| trigram).collect::<Vec<_>>().join(" AND ")
}

/// Returns the trigrams that FTS5 indexes a text by, folded as it folds them, each once and [packed](pack).
pub(super) fn indexed(text: &str) -> Vec<u64> {
    let characters: Vec<char> = text.chars().map(folded).collect();
    let mut trigrams: Vec<u64> = characters.windows(3).map(|three| pack(three.iter().copied())).collect();
    trigrams.sort_unstable();
    trigrams.dedup();
    trigrams
}

/// Returns a trigram as one number.
pub(super) fn pack(trigram: impl Iterator<Item = char>) -> u64 {
    trigram.fold(0, |packed, character| packed << 21 | u64::from(u32::from(character)))
}

/// Returns the character that FTS5 takes one of ours for.
fn folded(character: char) -> char {
    match character {
        'A'..='Z' | 'À'..='Ö' | 'Ø'..='Þ' => char::from(character as u8 + 32),
        'µ' => 'μ',
        NUL => '\u{101}',
        _ => character,
    }
}

fn quoted(trigram: &[u8]) -> String {
    let text: String = trigram.iter().map(|&byte| character(byte)).collect();
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn character(byte: u8) -> char {
    if byte == 0 { NUL } else { char::from(byte) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_without_a_trigram_cannot_be_asked_for() {
        assert!(trigrams(b"").is_empty());
        assert!(trigrams(b"ab").is_empty());
        assert_eq!(trigrams(b"abc"), ["\"abc\""]);
    }

    #[test]
    fn a_long_part_is_represented_from_its_beginning_to_its_end() {
        let all: Vec<u8> = (b'a'..=b'z').collect();
        let tried = trigrams(&all);
        assert_eq!(tried.len(), TRIED);
        assert_eq!((tried[0].as_str(), tried[TRIED - 1].as_str()), ("\"abc\"", "\"xyz\""));
        assert_eq!(trigrams(b"aaaaaaaa"), ["\"aaa\""]);
    }

    #[test]
    fn only_rare_trigrams_are_asked_for_and_at_most_six() {
        let trigrams = |ranks: &[i64]| ranks.iter().map(|&rank| (rank, format!("\"{rank}\""))).collect();
        assert_eq!(rarest(trigrams(&[64, 90_000, 80_000, 70])), "\"90000\" AND \"80000\"");
        assert_eq!(rarest(trigrams(&[1, 2, 3, 4, 5, 6, 7])).matches("AND").count(), MOST_TRIGRAMS - 1);
    }

    #[test]
    fn every_byte_has_a_character() {
        assert_eq!(text(&[(1, b"a\0\xff".to_vec())]), "a\u{100}\u{ff}\n");
        assert_eq!(trigrams(b"\"\0x"), ["\"\"\"\u{100}x\""]);
    }

    #[test]
    fn the_trigrams_that_are_expected_are_those_that_fts5_makes() {
        let database = rusqlite::Connection::open_in_memory().expect("memory");
        database.execute_batch(crate::sqlite::schema::CREATE_DERIVED).expect("tables");
        let bytes: Vec<u8> = (0..=255).chain((0..=255).rev()).flat_map(|byte| [byte, b'x']).collect();
        let text = text(&[(1, bytes), (2, b"Aa".to_vec())]);
        database
            .execute("INSERT INTO user_id_search (rowid, octets) VALUES (1, ?1)", [&text])
            .expect("insert");
        let vocabulary = "CREATE VIRTUAL TABLE temp.term USING fts5vocab('main', 'user_id_search', 'row')";
        database.execute_batch(vocabulary).expect("vocabulary");
        let mut statement = database.prepare("SELECT term FROM temp.term").expect("select");
        let terms = statement.query_map([], |row| row.get::<_, String>(0)).expect("terms");
        let mut made: Vec<u64> = terms.map(|term| pack(term.expect("a term").chars())).collect();
        made.sort_unstable();
        assert_eq!(made, indexed(&text));
    }
}
