//! The algorithms of gpg as Debian builds it, with their OpenPGP numbers and names.
//!
//! They are what `--version` and `--list-config` say and what an option may name, because programs and configuration
//! files written for gpg depend on them.

use engine::configuration::Compat;

/// An algorithm: OpenPGP's number and gpg's name.
pub(crate) type Named = (u8, &'static str);

/// Public-key algorithms (RFC 9580, 9.1).
pub(crate) const PUBLIC_KEY: &[Named] =
    &[(1, "RSA"), (16, "ELG"), (17, "DSA"), (18, "ECDH"), (19, "ECDSA"), (22, "EDDSA")];

/// Ciphers (RFC 9580, 9.3).
pub(crate) const CIPHER: &[Named] = &[
    (1, "IDEA"),
    (2, "3DES"),
    (3, "CAST5"),
    (4, "BLOWFISH"),
    (7, "AES"),
    (8, "AES192"),
    (9, "AES256"),
    (10, "TWOFISH"),
    (11, "CAMELLIA128"),
    (12, "CAMELLIA192"),
    (13, "CAMELLIA256"),
];

/// Hash algorithms (RFC 9580, 9.5) without MD5, which gpg does not list.
pub(crate) const DIGEST: &[Named] =
    &[(2, "SHA1"), (3, "RIPEMD160"), (8, "SHA256"), (9, "SHA384"), (10, "SHA512"), (11, "SHA224")];

/// Compression (RFC 9580, 9.4).
pub(crate) const COMPRESSION: &[Named] = &[(0, "Uncompressed"), (1, "ZIP"), (2, "ZLIB"), (3, "BZIP2")];

/// LibrePGP's AEAD modes.
pub(crate) const AEAD: &[Named] = &[(1, "EAX"), (2, "OCB")];

/// The curves that gpg has a name for, by their object identifiers.
const CURVE: &[(&[u8], &str)] = &[
    (&[0x2b, 0x06, 0x01, 0x04, 0x01, 0x97, 0x55, 0x01, 0x05, 0x01], "cv25519"),
    (&[0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x0f, 0x01], "ed25519"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07], "nistp256"),
    (&[0x2b, 0x81, 0x04, 0x00, 0x22], "nistp384"),
    (&[0x2b, 0x81, 0x04, 0x00, 0x23], "nistp521"),
    (&[0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x07], "brainpoolP256r1"),
    (&[0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0b], "brainpoolP384r1"),
    (&[0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0d], "brainpoolP512r1"),
    (&[0x2b, 0x81, 0x04, 0x00, 0x0a], "secp256k1"),
];

/// The curves that gpg 2.4 names besides.
const CURVE_448: &[(&[u8], &str)] = &[(&[0x2b, 0x65, 0x6f], "cv448"), (&[0x2b, 0x65, 0x71], "ed448")];

/// Returns the curves that gpg lists: 2.4 has those of 25519 twice.
pub(crate) fn curves(compat: Compat) -> impl Iterator<Item = (&'static [u8], &'static str)> {
    let (first, others) = CURVE.split_at(2);
    let again = if compat >= Compat::V2_4 { [first, CURVE_448].concat() } else { Vec::new() };
    first.iter().copied().chain(again).chain(others.iter().copied())
}

/// Returns the name that gpg has for a curve.
pub(crate) fn curve_name(oid: &[u8], compat: Compat) -> Option<&'static str> {
    curves(compat).find(|(known, _)| *known == oid).map(|(_, name)| name)
}

/// Returns the number of the cipher with a name.
pub(crate) fn cipher(name: &[u8]) -> Option<u8> {
    const OTHER_NAMES: [Named; 3] = [(7, "AES128"), (7, "RIJNDAEL"), (7, "RIJNDAEL128")];
    number(CIPHER, b'S', &OTHER_NAMES, name)
}

/// Returns the number of the hash algorithm with a name, also of MD5.
pub(crate) fn digest(name: &[u8]) -> Option<u8> {
    number(DIGEST, b'H', &[(1, "MD5")], name)
}

/// Returns the number of the compression that an option names, perhaps by its bare number.
pub(crate) fn compression_option(name: &[u8]) -> Option<u8> {
    let number = name.iter().all(u8::is_ascii_digit).then(|| [b"Z", name].concat());
    compression(number.as_deref().unwrap_or(name))
}

/// Returns the number of the compression with a name.
pub(crate) fn compression(name: &[u8]) -> Option<u8> {
    number(COMPRESSION, b'Z', &[(0, "none")], name)
}

/// Returns the number of the AEAD mode with a name.
pub(crate) fn aead(name: &[u8]) -> Option<u8> {
    number(AEAD, b'A', &[], name)
}

fn number(table: &[Named], letter: u8, other_names: &[Named], name: &[u8]) -> Option<u8> {
    let is_name = |(_, known): &&Named| known.as_bytes().eq_ignore_ascii_case(name);
    let named = table.iter().chain(other_names).find(is_name).map(|(number, _)| *number);
    named.or_else(|| {
        let (_, digits) = name.split_first().filter(|(first, _)| first.eq_ignore_ascii_case(&letter))?;
        let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
        table.iter().any(|(known, _)| *known == number).then_some(number)
    })
}

/// Returns gpg's name of a public-key algorithm.
pub(crate) fn public_key_name(number: u8) -> &'static str {
    match number {
        1..=3 => "RSA",
        16 | 20 => "ELG",
        other => PUBLIC_KEY.iter().find(|(known, _)| *known == other).map_or("[?]", |(_, name)| name),
    }
}

/// Returns gpg's name of a hash algorithm.
pub(crate) fn digest_name(number: u8) -> &'static str {
    match DIGEST.iter().find(|(known, _)| *known == number) {
        Some((_, name)) => name,
        None if number == 1 => "MD5",
        None => "?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_go_by_name_or_by_letter_and_number() {
        assert_eq!(cipher(b"aes256"), Some(9));
        assert_eq!(cipher(b"S9"), Some(9));
        assert_eq!(cipher(b"aes128"), Some(7));
        assert_eq!(cipher(b"S5"), None);
        assert_eq!(digest(b"h10"), Some(10));
        assert_eq!(digest(b"foo"), None);
        assert_eq!(compression_option(b"2"), Some(2));
        assert_eq!(compression_option(b"9"), None);
    }
}
