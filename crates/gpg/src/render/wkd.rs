//! Where the Web Key Directory has the keys of a mail address.

use verify::naming;

/// Returns an address as the Web Key Directory names it: the hash of the local part, `@`, the domain.
pub(super) fn name(mailbox: &[u8]) -> Option<Vec<u8>> {
    let at = mailbox.iter().position(|&byte| byte == b'@')?;
    let mut name = zbase32(&naming::sha1(&[&mailbox[..at]]));
    name.extend(&mailbox[at..]);
    Some(name)
}

/// Encodes 20 bytes with Zooko's base 32 (RFC 6189, 5.1.6), five bits to the letter.
fn zbase32(bytes: &[u8; 20]) -> Vec<u8> {
    const LETTERS: &[u8; 32] = b"ybndrfg8ejkmcpqxot1uwisza345h769";
    let groups =
        bytes.chunks(5).map(|group| group.iter().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte)));
    groups
        .flat_map(|bits| (0..8).rev().map(move |letter| LETTERS[(bits >> (5 * letter) & 31) as usize]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_knows_an_address_by_the_hash_of_its_local_part() {
        let name = name(b"joe.doe@example.org").expect("an address");
        assert_eq!(String::from_utf8_lossy(&name), "iy9q119eutrkn8s1mk4r39qejnbu3n5q@example.org");
    }
}
