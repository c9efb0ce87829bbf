//! How a name meets a user ID: the rules of GnuPG's keybox, on bytes.
//!
//! Only ASCII letters fold. GnuPG's rules are those of `kbx/keybox-search.c` and `common/mbox-util.c`.

use memchr::{memchr, memmem};

/// Returns the mail address of a user ID: what stands between the first `<` and the `>` after it, or the whole of a
/// user ID that is an address by itself.
pub fn mail_address(user_id: &[u8]) -> Option<&[u8]> {
    match memchr(b'<', user_id) {
        Some(start) if start + 1 < user_id.len() => {
            let address = &user_id[start + 1..];
            memchr(b'>', address).filter(|&end| end > 0).map(|end| &address[..end])
        }
        _ => is_bare_address(user_id).then_some(user_id),
    }
}

/// Says whether a whole user ID looks like an address to GnuPG (`is_valid_mailbox_mem`).
fn is_bare_address(user_id: &[u8]) -> bool {
    !has_foreign_characters(user_id)
        && memchr::memchr_iter(b'@', user_id).count() == 1
        && !user_id.starts_with(b"@")
        && !user_id.ends_with(b"@")
        && !user_id.ends_with(b".")
        && memmem::find(user_id, b"..").is_none()
}

/// Looks as far as the first NUL, as GnuPG does; octets above 0x7f are never foreign.
fn has_foreign_characters(user_id: &[u8]) -> bool {
    let mut domain = false;
    user_id.iter().take_while(|&&octet| octet != 0).any(|&octet| match octet {
        0x80.. | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'-' | b'.' => false,
        b'@' => {
            domain = true;
            false
        }
        _ => domain || !b"!#$%&'*+/=?^`{|}~".contains(&octet),
    })
}

/// Says whether two names are equal but for the case of ASCII letters.
pub fn equal(one: &[u8], other: &[u8]) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Says whether `part` occurs in `whole`, but for the case of ASCII letters; an empty part always does.
pub fn contains(whole: &[u8], part: &[u8]) -> bool {
    let Some((first, rest)) = part.split_first() else { return true };
    let Some(last) = whole.len().checked_sub(part.len()) else { return false };
    let begins = |start: usize| whole[start + 1..start + part.len()].eq_ignore_ascii_case(rest);
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), &whole[..=last]).any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_stands_between_the_first_angle_and_the_next_closing_one() {
        assert_eq!(mail_address(b"Ann <ann@example.org>"), Some(&b"ann@example.org"[..]));
        assert_eq!(mail_address(b"Ann <a@b> <c@d>"), Some(&b"a@b"[..]));
        assert_eq!(mail_address(b"Ann <<a@b>"), Some(&b"<a@b"[..]));
        assert_eq!(mail_address(b"no address in here <x>"), Some(&b"x"[..]));
    }

    #[test]
    fn an_open_or_empty_angle_is_no_address() {
        assert_eq!(mail_address(b"Ann <ann@example.org"), None);
        assert_eq!(mail_address(b"Ann <>"), None);
        assert_eq!(mail_address(b"Ann <"), None);
    }

    #[test]
    fn a_user_id_without_angles_is_an_address_if_it_looks_like_one() {
        assert_eq!(mail_address(b"ann@example.org"), Some(&b"ann@example.org"[..]));
        assert_eq!(mail_address("änn@example.org".as_bytes()), Some("änn@example.org".as_bytes()));
        for no in
            ["ann", "ann@", "@example.org", "ann@example.org.", "ann@ex..org", "a b@c", "a@b@c", "a@b!c", ""]
        {
            assert_eq!(mail_address(no.as_bytes()), None, "{no}");
        }
    }

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
