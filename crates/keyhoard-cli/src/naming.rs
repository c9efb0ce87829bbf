//! Names of OpenPGP's numbers, for text and JSON.

use engine::cert::SignatureFacts;
use engine::cert::effective::Usage;
use engine::cert::facts::{KeyFacts, SignatureType};
use engine::listing::OwnerTrust;
use engine::message::{Aead, Cipher, Compression};
use engine::owner_trust::{OptionNames, effective};
use engine::store::AssignedTrust;
use engine::verify::HashAlgorithm;

/// Returns a key's algorithm and size or curve, as GnuPG writes it: `rsa4096`, `ed25519`; RFC 9980's have their names there.
pub(crate) fn algorithm(key: &KeyFacts) -> String {
    let name = match key.algorithm.0 {
        1..=3 => "rsa",
        16 | 20 => "elg",
        17 => "dsa",
        18 | 19 | 22 => {
            let unknown = || format!("unknown-curve-{}", key.algorithm.0);
            return key.curve_name().map_or_else(unknown, str::to_owned);
        }
        25 => return "x25519".to_owned(),
        26 => return "x448".to_owned(),
        27 => return "ed25519".to_owned(),
        28 => return "ed448".to_owned(),
        8 => return format!("kyber{}+{}", key.bits, key.curve_name().unwrap_or("unknown-curve")),
        other => {
            let named = key.algorithm.post_quantum_name();
            return named.map_or_else(|| format!("unknown-{other}"), str::to_owned);
        }
    };
    format!("{name}{}", key.bits)
}

/// Returns the words for key flags.
pub(crate) fn usage(usage: Usage) -> Vec<&'static str> {
    let words = [
        (Usage::CERTIFY, "certify"),
        (Usage::SIGN, "sign"),
        (Usage::ENCRYPT, "encrypt"),
        (Usage::AUTHENTICATE, "authenticate"),
    ];
    words.into_iter().filter(|(known, _)| usage.contains(*known)).map(|(_, word)| word).collect()
}

/// Returns the word for a signature type (RFC 9580, 5.2.1).
pub(crate) fn signature_type(kind: SignatureType) -> &'static str {
    match kind.0 {
        0x10..=0x13 => "certification",
        0x16 => "certification approval",
        0x18 => "subkey binding",
        0x19 => "primary key binding",
        0x1f => "direct key",
        0x20 => "key revocation",
        0x28 => "subkey revocation",
        0x30 => "certification revocation",
        _ => "signature",
    }
}

/// Says whether another signature has replaced this one; approvals of certifications GnuPG drops in any case.
pub(crate) fn is_superseded(facts: &SignatureFacts) -> bool {
    facts.flags.superseded && facts.kind != SignatureType::CERTIFICATION_APPROVAL
}

/// Returns the word for a certificate's origin (GnuPG's `g10/keydb.h`, KEYORG).
pub(crate) fn origin(kind: u8) -> &'static str {
    match kind {
        0 => "unknown",
        1 => "keyserver",
        2 => "preferred keyserver",
        3 => "DANE",
        4 => "WKD",
        5 => "URL",
        6 => "file",
        7 => "self",
        _ => "other",
    }
}

/// Returns the name of a cipher.
pub(crate) fn cipher(number: u8) -> String {
    Cipher::of(number).map_or_else(|| format!("cipher-{number}"), |cipher| cipher.name().to_owned())
}

/// Returns the name of a hash algorithm.
pub(crate) fn hash_algorithm(algorithm: HashAlgorithm) -> String {
    algorithm.name().map_or_else(|| format!("digest-{}", algorithm.0), str::to_owned)
}

/// Reads the name of a hash algorithm.
///
/// # Errors
///
/// For an unknown name, the list of the known ones.
pub(crate) fn hash_algorithm_named(name: &str) -> Result<HashAlgorithm, String> {
    let names = || HashAlgorithm::ALL.iter().filter_map(|hash| hash.name()).collect::<Vec<_>>().join(", ");
    HashAlgorithm::named(name).ok_or_else(|| format!("the hash algorithms are {}", names()))
}

/// Returns the name of a compression.
pub(crate) fn compression(number: u8) -> String {
    Compression::of(number)
        .map_or_else(|| format!("compression-{number}"), |compression| compression.name().to_owned())
}

/// Returns the name of an authenticated mode.
pub(crate) fn aead_mode(number: u8) -> String {
    Aead::of(number).map_or_else(|| format!("mode-{number}"), |mode| mode.name().to_owned())
}

/// Returns the names of features (RFC 9580, 5.2.3.32): the versions of encrypted data, and GnuPG's form of it.
pub(crate) fn features(flags: u8) -> Vec<String> {
    let words = [(1, "SEIPD 1"), (2, "GnuPG's OCB"), (4, "version 5 keys"), (8, "SEIPD 2")];
    let known = words.into_iter().filter(|(flag, _)| flags & flag != 0).map(|(_, word)| word.to_owned());
    let other = (flags & 0xf0 != 0).then(|| format!("others ({:#04x})", flags & 0xf0));
    known.chain(other).collect()
}

/// Returns an owner trust as a phrase.
pub(crate) fn owner_trust_phrase(trust: OwnerTrust) -> &'static str {
    match trust {
        OwnerTrust::Unknown | OwnerTrust::Expired => "owner trust not set",
        OwnerTrust::Undefined => "owner trust undecided",
        OwnerTrust::Never => "never trusted to certify others",
        OwnerTrust::Marginal => "marginally trusted",
        OwnerTrust::Full => "fully trusted",
        OwnerTrust::Ultimate => "ultimately trusted",
    }
}

/// Returns the word for assigned owner trust, and whether the key is disabled.
pub(crate) fn assigned_trust_phrase(assigned: Option<AssignedTrust>) -> String {
    let given = assigned.unwrap_or_default();
    let by_option = if given.is_by_option() { " by --trusted-key" } else { "" };
    let disabled = if given.disabled { " and disabled" } else { "" };
    format!("{}{by_option}{disabled}", effective(assigned, OptionNames::Nothing).word())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::cert::{Fingerprint, Timestamp};

    fn key(algorithm: u8, bits: u32, curve: Option<&[u8]>) -> KeyFacts {
        KeyFacts {
            fingerprint: Fingerprint::V4([0; 20]),
            created: Timestamp(0),
            algorithm: engine::verify::PublicKeyAlgorithm(algorithm),
            bits,
            curve: curve.map(<[u8]>::to_vec),
            keygrip: None,
            subgroup_bits: 0,
        }
    }

    const ED25519: [u8; 9] = [0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x0f, 0x01];

    #[test]
    fn keys_are_named_as_gnupg_names_them() {
        assert_eq!(algorithm(&key(1, 4096, None)), "rsa4096");
        assert_eq!(algorithm(&key(17, 1024, None)), "dsa1024");
        assert_eq!(algorithm(&key(22, 255, Some(&ED25519))), "ed25519");
        assert_eq!(algorithm(&key(18, 255, Some(&[0x2b, 0x65, 0x6e]))), "cv25519");
        assert_eq!(algorithm(&key(18, 0, Some(&[1, 2]))), "unknown-curve-18");
        assert_eq!(algorithm(&key(8, 768, Some(&[0x2b, 0x65, 0x6e]))), "kyber768+cv25519");
        assert_eq!(algorithm(&key(35, 0, None)), "ml-kem-768+x25519");
        assert_eq!(algorithm(&key(99, 0, None)), "unknown-99");
    }
}
