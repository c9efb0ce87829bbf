//! Mail addresses of user IDs, and where the Web Key Directory has their keys.

use keyhoard::store::user_id;
use verify::naming;

/// Returns the mail address of a user ID with small ASCII letters, by gpg's rules (its `common/mbox-util.c`); none for
/// one that no mail can be sent to. A user ID ends at its first NUL here.
pub(crate) fn of_user_id(user_id: &[u8]) -> Option<Vec<u8>> {
    let user_id = user_id.split(|&octet| octet == 0).next()?;
    let address = user_id::mail_address(user_id)?;
    let at = address.iter().position(|&octet| octet == b'@')?;
    let domain = &address[at + 1..];
    let sound = at > 0
        && !domain.is_empty()
        && !domain.contains(&b'@')
        && !domain.ends_with(b".")
        && !domain.windows(2).any(|pair| pair == b"..")
        && !address.iter().any(|&octet| octet <= b' ');
    sound.then(|| address.to_ascii_lowercase())
}

/// Returns an address as the Web Key Directory names it: the hash of the local part, `@`, the domain.
pub(super) fn wkd(mailbox: &[u8]) -> Option<Vec<u8>> {
    let at = mailbox.iter().position(|&octet| octet == b'@')?;
    let mut name = zbase32(&naming::sha1(&[&mailbox[..at]]));
    name.extend(&mailbox[at..]);
    Some(name)
}

/// Encodes 20 octets with Zooko's base 32 (RFC 6189, 5.1.6), five bits to the letter.
fn zbase32(octets: &[u8; 20]) -> Vec<u8> {
    const LETTERS: &[u8; 32] = b"ybndrfg8ejkmcpqxot1uwisza345h769";
    let groups =
        octets.chunks(5).map(|group| group.iter().fold(0u64, |bits, &octet| bits << 8 | u64::from(octet)));
    groups
        .flat_map(|bits| (0..8).rev().map(move |letter| LETTERS[(bits >> (5 * letter) & 31) as usize]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mailbox(user_id: &str) -> Option<String> {
        of_user_id(user_id.as_bytes()).map(|address| String::from_utf8(address).expect("input was UTF-8"))
    }

    #[test]
    fn an_address_has_small_letters() {
        assert_eq!(mailbox("Ann <Ann@Example.ORG>").as_deref(), Some("ann@example.org"));
        assert_eq!(mailbox("Ann@Example.org").as_deref(), Some("ann@example.org"));
    }

    #[test]
    fn no_mail_goes_to_a_broken_address() {
        for user_id in ["Ann", "<ann>", "<a@b@c>", "<@b>", "<a@>", "<a@b.>", "<a@b..c>", "<a b@c>", "<a@b\0>"]
        {
            assert_eq!(mailbox(user_id), None, "{user_id:?}");
        }
        assert_eq!(mailbox("<a..b@c>").as_deref(), Some("a..b@c"), "only the domain must not have two dots");
    }

    #[test]
    fn the_directory_knows_an_address_by_the_hash_of_its_local_part() {
        let name = wkd(b"joe.doe@example.org").expect("an address");
        assert_eq!(String::from_utf8_lossy(&name), "iy9q119eutrkn8s1mk4r39qejnbu3n5q@example.org");
    }
}
