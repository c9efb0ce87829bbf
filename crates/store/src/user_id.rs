//! How a name is matched with a user ID: the rules of GnuPG's keybox, on bytes.
//!
//! Only ASCII letters fold. GnuPG's rules are those of `kbx/keybox-search.c`; [`cert::mailbox`] defines what an address is.

/// Says whether `part` occurs in `whole`, but for the case of ASCII letters; an empty part always does.
pub(crate) fn contains(whole: &[u8], part: &[u8]) -> bool {
    let Some((first, rest)) = part.split_first() else { return true };
    let Some(last) = whole.len().checked_sub(part.len()) else { return false };
    let begins = |start: usize| whole[start + 1..start + part.len()].eq_ignore_ascii_case(rest);
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), &whole[..=last]).any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ascii_letters_fold() {
        assert!(contains(b"Ann Example", b"nn eX"));
        assert!(contains(b"anything", b""));
        assert!(!contains(b"short", b"much longer"));
        assert!(!contains("Ärger".as_bytes(), "ärger".as_bytes()));
        assert!(contains(b"nul \0 and \xff inside", b"\0 AND \xff"));
        assert!(contains(b"aab", b"ab"));
    }
}
