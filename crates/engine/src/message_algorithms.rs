//! The algorithms of a message: those of the options, else the preferred ones among those that all recipients read.
//!
//! GnuPG's implicit algorithms are those of RFC 4880. By RFC 9580 AES-128 takes the place of 3DES, and old ciphers are
//! not used whoever prefers them.

use message::{Aead, Cipher, Compression};
use verify::HashAlgorithm;

/// Algorithms that GnuPG adds to every preference list.
const IMPLICIT_CIPHER: u8 = Cipher::TripleDes as u8;
const IMPLICIT_DIGEST: u8 = HashAlgorithm::SHA1.0;
const IMPLICIT_COMPRESSION: u8 = Compression::Uncompressed as u8;

/// Chooses a cipher; `personal` are the user's own preferences, `recipients` those of all recipients.
pub fn cipher(personal: &[u8], recipients: &[&[u8]]) -> Cipher {
    let lists: Vec<Vec<u8>> = recipients.iter().map(|list| with(list, IMPLICIT_CIPHER)).collect();
    choose(personal, &lists, |number| Cipher::of(number).is_some())
        .and_then(Cipher::of)
        .unwrap_or(Cipher::Aes256)
}

/// Chooses a cipher by RFC 9580; recipients whose list is empty say nothing.
pub fn modern_cipher(recipients: &[&[u8]]) -> Cipher {
    let lists = recipients.iter().filter(|list| !list.is_empty());
    let lists: Vec<Vec<u8>> = lists.map(|list| with(list, Cipher::Aes128.number())).collect();
    choose(&[], &lists, |number| Cipher::of(number).is_some_and(|cipher| !cipher.is_old()))
        .and_then(Cipher::of)
        .unwrap_or(Cipher::Aes256)
}

/// Chooses a cipher with an AEAD mode from lists of pairs of them, of those that can be written; AES-128 in OCB mode is in
/// every list (RFC 9580, 5.2.3.15). Without recipients it is AES-256 in OCB mode.
pub fn ciphersuite(recipients: &[&[(u8, u8)]]) -> (Cipher, Aead) {
    const IMPLICIT: (u8, u8) = (Cipher::Aes128 as u8, Aead::Ocb as u8);
    let lists: Vec<Vec<(u8, u8)>> = recipients.iter().map(|list| with(list, IMPLICIT)).collect();
    let read = |(cipher, mode): (u8, u8)| {
        Cipher::of(cipher).zip(Aead::of(mode)).filter(|(cipher, mode)| mode.takes(*cipher))
    };
    choose(&[], &lists, |pair| read(pair).is_some()).and_then(read).unwrap_or((Cipher::Aes256, Aead::Ocb))
}

/// Chooses the hash algorithm of a signature that recipients read: that which suits the key best, if all of them prefer
/// it, else that of the longer ones which they prefer most; recipients whose list is empty say nothing.
pub fn modern_digest(best: HashAlgorithm, recipients: &[&[u8]]) -> HashAlgorithm {
    const BY_LENGTH: [HashAlgorithm; 3] =
        [HashAlgorithm::SHA256, HashAlgorithm::SHA384, HashAlgorithm::SHA512];
    let lists = recipients.iter().filter(|list| !list.is_empty());
    let lists: Vec<Vec<u8>> = lists.map(|list| list.to_vec()).collect();
    if lists.iter().all(|list| list.contains(&best.0)) {
        return best;
    }
    let shorter = BY_LENGTH.iter().position(|digest| *digest == best).unwrap_or_default();
    let is_long = |number| BY_LENGTH[shorter..].contains(&HashAlgorithm(number));
    choose(&[], &lists, is_long).map_or(best, HashAlgorithm)
}

/// Says whether all recipients prefer a cipher.
pub fn all_read_cipher(cipher: Cipher, recipients: &[&[u8]]) -> bool {
    recipients.iter().all(|list| with(list, IMPLICIT_CIPHER).contains(&cipher.number()))
}

/// Chooses the hash algorithm of signatures from those for which `suits` is true; as in GnuPG, MD5
/// only if the user prefers it.
pub fn digest(
    personal: &[HashAlgorithm],
    recipients: &[&[u8]],
    suits: impl Fn(HashAlgorithm) -> bool,
) -> Option<HashAlgorithm> {
    let personal: Vec<u8> = personal.iter().map(|digest| digest.0).collect();
    let lists: Vec<Vec<u8>> = recipients.iter().map(|list| with(list, IMPLICIT_DIGEST)).collect();
    let is_known = |number| {
        let digest = HashAlgorithm(number);
        let is_wanted = digest != HashAlgorithm::MD5 || personal.contains(&number);
        is_wanted && digest.name().is_some() && suits(digest)
    };
    choose(&personal, &lists, is_known).map(HashAlgorithm)
}

/// Says whether all recipients prefer a hash algorithm.
pub fn all_read_digest(digest: HashAlgorithm, recipients: &[&[u8]]) -> bool {
    recipients.iter().all(|list| with(list, IMPLICIT_DIGEST).contains(&digest.0))
}

/// Chooses a compression; a recipient without preferences reads ZIP (RFC 4880, 13.3.1).
pub fn compression(personal: &[u8], recipients: &[Option<&[u8]>]) -> Compression {
    let lists = compressions(recipients);
    choose(personal, &lists, |number| Compression::of(number).is_some())
        .and_then(Compression::of)
        .unwrap_or(Compression::Zip)
}

/// Says whether all recipients prefer a compression.
pub fn all_read_compression(compression: Compression, recipients: &[Option<&[u8]>]) -> bool {
    compressions(recipients).iter().all(|list| list.contains(&compression.number()))
}

fn compressions(recipients: &[Option<&[u8]>]) -> Vec<Vec<u8>> {
    let list = |list: &Option<&[u8]>| match list {
        Some(list) if !list.is_empty() => with(list, IMPLICIT_COMPRESSION),
        _ => vec![Compression::Zip.number(), IMPLICIT_COMPRESSION],
    };
    recipients.iter().map(list).collect()
}

fn with<T: Copy + PartialEq>(list: &[T], implicit: T) -> Vec<T> {
    let mut list = list.to_vec();
    if !list.contains(&implicit) {
        list.push(implicit);
    }
    list
}

/// Returns the first algorithm of the personal list that is in all lists, else the one with the lowest sum of indices in
/// all lists; of two equal ones that with the lower number, as in GnuPG.
fn choose<T: Copy + Ord>(personal: &[T], lists: &[Vec<T>], is_known: impl Fn(T) -> bool) -> Option<T> {
    let first = lists.first()?;
    let is_common = |number: &T| is_known(*number) && lists.iter().all(|list| list.contains(number));
    if let Some(personal) = personal.iter().copied().find(is_common) {
        return Some(personal);
    }
    let rank = |number: T| -> usize {
        lists.iter().filter_map(|list| list.iter().position(|other| *other == number)).sum()
    };
    first.iter().copied().filter(is_common).min_by_key(|number| (rank(*number), *number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cipher_is_one_that_all_recipients_read() {
        assert_eq!(cipher(&[], &[&[9, 8, 7], &[7, 8]]), Cipher::Aes128);
        assert_eq!(cipher(&[8], &[&[9, 8, 7], &[7, 8]]), Cipher::Aes192);
        assert_eq!(cipher(&[9], &[&[9], &[7]]), Cipher::TripleDes);
        assert_eq!(cipher(&[], &[]), Cipher::Aes256);
        assert!(all_read_cipher(Cipher::TripleDes, &[&[9], &[7]]));
        assert!(!all_read_cipher(Cipher::Aes256, &[&[9], &[7]]));
    }

    #[test]
    fn old_ciphers_are_never_chosen_and_aes_128_is_read_by_all() {
        assert_eq!(modern_cipher(&[&[7]]), Cipher::Aes128);
        assert_eq!(modern_cipher(&[&[2, 3, 9], &[3, 2]]), Cipher::Aes128);
        assert_eq!(modern_cipher(&[&[2, 9], &[9, 2]]), Cipher::Aes256);
        assert_eq!(modern_cipher(&[&[3]]), Cipher::Aes128);
        assert_eq!(modern_cipher(&[&[], &[8]]), Cipher::Aes192);
        assert_eq!(modern_cipher(&[&[]]), Cipher::Aes256);
        assert_eq!(ciphersuite(&[]), (Cipher::Aes256, Aead::Ocb));
        assert_eq!(ciphersuite(&[&[]]), (Cipher::Aes128, Aead::Ocb));
        assert_eq!(ciphersuite(&[&[(9, 3), (9, 2)], &[(9, 2), (7, 3)]]), (Cipher::Aes256, Aead::Ocb));
        assert_eq!(ciphersuite(&[&[(9, 3)]]), (Cipher::Aes256, Aead::Gcm));
        assert_eq!(ciphersuite(&[&[(2, 3)]]), (Cipher::Aes128, Aead::Ocb));
    }

    #[test]
    fn a_cipher_that_has_no_implementation_in_a_mode_is_passed_over() {
        for mode in 1..=3 {
            assert_eq!(ciphersuite(&[&[(10, mode)]]), (Cipher::Aes128, Aead::Ocb), "mode {mode}");
            assert_eq!(ciphersuite(&[&[(10, mode), (9, 2)]]), (Cipher::Aes256, Aead::Ocb), "mode {mode}");
        }
        assert_eq!(ciphersuite(&[&[(13, 3), (9, 3)]]), (Cipher::Aes256, Aead::Gcm));
    }

    #[test]
    fn the_digest_of_a_message_is_one_that_its_recipients_read_and_not_a_shorter_one() {
        let best = HashAlgorithm::SHA256;
        assert_eq!(modern_digest(best, &[&[10, 8], &[]]), best);
        assert_eq!(modern_digest(best, &[&[10, 9]]), HashAlgorithm::SHA512);
        assert_eq!(modern_digest(best, &[&[2]]), best);
        assert_eq!(modern_digest(HashAlgorithm::SHA512, &[&[8]]), HashAlgorithm::SHA512);
    }

    #[test]
    fn the_digest_is_one_that_all_recipients_want_and_the_keys_can_use() {
        let all = |_: HashAlgorithm| true;
        assert_eq!(digest(&[], &[&[10, 9, 8, 11, 2], &[8, 10]], all), Some(HashAlgorithm::SHA512));
        assert_eq!(digest(&[HashAlgorithm::SHA256], &[&[10, 9, 8, 11, 2]], all), Some(HashAlgorithm::SHA256));
        assert_eq!(digest(&[HashAlgorithm::SHA512], &[&[9], &[8]], all), Some(HashAlgorithm::SHA1));
        assert_eq!(digest(&[], &[&[1, 10]], all), Some(HashAlgorithm::SHA512));
        assert_eq!(digest(&[HashAlgorithm::MD5], &[&[1, 10]], all), Some(HashAlgorithm::MD5));
        assert_eq!(digest(&[], &[&[9]], |digest| digest == HashAlgorithm::SHA256), None);
    }

    #[test]
    fn who_says_nothing_of_compression_reads_zip() {
        assert_eq!(compression(&[], &[None]), Compression::Zip);
        assert_eq!(compression(&[], &[Some(&[2, 3, 1]), None]), Compression::Zip);
        assert_eq!(compression(&[3], &[Some(&[2, 3, 1])]), Compression::Bzip2);
        assert_eq!(compression(&[], &[Some(&[0])]), Compression::Uncompressed);
        assert!(!all_read_compression(Compression::Bzip2, &[None]));
    }
}
