//! Mail addresses in user IDs, by GnuPG's rules (its `common/mbox-util.c`).

use std::fmt;

use memchr::{memchr, memmem};

/// What trust on first use binds to a key: the mail address of a user ID in ASCII lower case, or the whole user ID in
/// ASCII lower case where it has no valid address.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BoundAddress(Vec<u8>);

impl BoundAddress {
    /// Returns the bound address of a user ID, of which only the part before the first NUL counts.
    pub fn of_user_id(user_id: &[u8]) -> Self {
        let whole = || user_id.split(|&byte| byte == 0).next().unwrap_or_default();
        Self(mailbox(user_id).unwrap_or_else(|| whole().to_ascii_lowercase()))
    }

    /// Takes bytes that are already normalised, as [`Self::as_bytes`] returns them.
    pub fn from_normalised(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for BoundAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BoundAddress({})", String::from_utf8_lossy(&self.0))
    }
}

/// Returns the mail address of a user ID in ASCII lower case, by GnuPG's rules (`common/mbox-util.c`); `None` if it is
/// not valid. Only the part of the user ID before the first NUL counts.
pub fn mailbox(user_id: &[u8]) -> Option<Vec<u8>> {
    let user_id = user_id.split(|&byte| byte == 0).next()?;
    let address = mail_address(user_id)?;
    let at = address.iter().position(|&byte| byte == b'@')?;
    let domain = &address[at + 1..];
    let sound = at > 0
        && !domain.is_empty()
        && !domain.contains(&b'@')
        && !domain.ends_with(b".")
        && !domain.windows(2).any(|pair| pair == b"..")
        && !address.iter().any(|&byte| byte <= b' ');
    sound.then(|| address.to_ascii_lowercase())
}

/// Returns the mail address of a user ID: the text between the first `<` and the next `>`, or the whole user ID if it
/// is an address.
pub fn mail_address(user_id: &[u8]) -> Option<&[u8]> {
    match memchr(b'<', user_id) {
        Some(start) if start + 1 < user_id.len() => {
            let address = &user_id[start + 1..];
            memchr(b'>', address).filter(|&end| end > 0).map(|end| &address[..end])
        }
        _ => is_bare_address(user_id).then_some(user_id),
    }
}

/// Returns whether a whole user ID looks like an address to GnuPG (`is_valid_mailbox_mem`).
fn is_bare_address(user_id: &[u8]) -> bool {
    !has_foreign_characters(user_id)
        && memchr::memchr_iter(b'@', user_id).count() == 1
        && !user_id.starts_with(b"@")
        && !user_id.ends_with(b"@")
        && !user_id.ends_with(b".")
        && memmem::find(user_id, b"..").is_none()
}

/// Returns whether there are characters that addresses cannot have before the first NUL, as in GnuPG; bytes above 0x7f
/// are allowed.
fn has_foreign_characters(user_id: &[u8]) -> bool {
    let mut domain = false;
    user_id.iter().take_while(|&&byte| byte != 0).any(|&byte| match byte {
        0x80.. | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'-' | b'.' => false,
        b'@' => {
            domain = true;
            false
        }
        _ => domain || !b"!#$%&'*+/=?^`{|}~".contains(&byte),
    })
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

    fn small(user_id: &str) -> Option<String> {
        mailbox(user_id.as_bytes()).map(|address| String::from_utf8(address).expect("input was UTF-8"))
    }

    #[test]
    fn an_address_has_small_letters() {
        assert_eq!(small("Ann <Ann@Example.ORG>").as_deref(), Some("ann@example.org"));
        assert_eq!(small("Ann@Example.org").as_deref(), Some("ann@example.org"));
    }

    #[test]
    fn no_mail_goes_to_a_broken_address() {
        for user_id in ["Ann", "<ann>", "<a@b@c>", "<@b>", "<a@>", "<a@b.>", "<a@b..c>", "<a b@c>", "<a@b\0>"]
        {
            assert_eq!(small(user_id), None, "{user_id:?}");
        }
        assert_eq!(small("<a..b@c>").as_deref(), Some("a..b@c"), "only the domain must not have two dots");
    }

    #[test]
    fn what_is_bound_is_the_address_or_else_the_whole_user_id_in_small_letters() {
        let bound = |user_id: &[u8]| BoundAddress::of_user_id(user_id).as_bytes().to_vec();
        assert_eq!(bound(b"Ann <Ann@Example.ORG>"), b"ann@example.org");
        assert_eq!(bound(b"Host Key"), b"host key");
        assert_eq!(bound(b"Ann <ann@>"), b"ann <ann@>");
        assert_eq!(bound("Ä\0rger".as_bytes()), "Ä".as_bytes());
        assert_eq!(bound(b""), b"");
    }
}
