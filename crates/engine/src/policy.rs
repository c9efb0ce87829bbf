//! What is accepted for reading, verifying and writing, as one table.

use message::{Cipher, MAX_ARGON2_EXPONENT, MAX_CHUNK_BYTES};
use verify::policy::DigestPolicy;
use verify::{HashAlgorithm, limits};

/// A rule about one algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it is about: `digest`, `cipher`, `protection`, `password` or `key`.
    pub about: &'static str,
    /// The algorithm.
    pub name: &'static str,
    /// In messages that are decrypted.
    pub reading: Acceptance,
    /// In signatures that are verified.
    pub verifying: Acceptance,
    /// In what is written: messages, signatures, new keys.
    pub writing: Acceptance,
}

/// Whether something is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// Always.
    Yes,
    /// Never.
    No,
    /// Within this limit.
    Only(String),
    /// If the user allows ciphers with blocks of 64 bits.
    WithOldCiphers,
    /// If the user allows messages without protection against changes.
    WithUnprotected,
    /// Not applicable.
    NotApplicable,
}

/// Returns all rules.
pub fn rules(digests: DigestPolicy) -> Vec<Rule> {
    let digests = HashAlgorithm::ALL.into_iter().map(|hash| digest(hash, digests));
    let messages = Cipher::ALL.into_iter().map(cipher).chain(protections()).chain(passwords());
    digests.chain(messages).chain(keys()).collect()
}

fn rule(
    about: &'static str,
    name: &'static str,
    reading: Acceptance,
    verifying: Acceptance,
    writing: Acceptance,
) -> Rule {
    Rule { about, name, reading, verifying, writing }
}

fn only(text: impl Into<String>) -> Acceptance {
    Acceptance::Only(text.into())
}

const SHA1_CERTIFICATIONS: &str = "in others' certifications only until 2019-01-18";

fn digest(hash: HashAlgorithm, digests: DigestPolicy) -> Rule {
    let late = u32::MAX;
    let is_over_data = !digests.of_data().is_weak(hash);
    let verifying = match hash {
        hash if digests.is_weak(hash) => Acceptance::No,
        hash => match (is_over_data, digests.accepts_certification(hash, late)) {
            (true, true) => Acceptance::Yes,
            (false, true) => only("not over data"),
            (true, false) => only(SHA1_CERTIFICATIONS),
            (false, false) => only(format!("not over data, and {SHA1_CERTIFICATIONS}")),
        },
    };
    let writing = match hash {
        HashAlgorithm::MD5 => Acceptance::No,
        HashAlgorithm::SHA1 | HashAlgorithm::RIPEMD160 => only("if asked for, or for a DSA key of that size"),
        _ => Acceptance::Yes,
    };
    rule("digest", hash.name().unwrap_or_default(), Acceptance::NotApplicable, verifying, writing)
}

fn cipher(cipher: Cipher) -> Rule {
    let writing = if cipher.is_old() { Acceptance::WithOldCiphers } else { Acceptance::Yes };
    rule("cipher", cipher.name(), Acceptance::Yes, Acceptance::NotApplicable, writing)
}

fn protections() -> Vec<Rule> {
    let chunks = || only(format!("in chunks of at most {} MiB", MAX_CHUNK_BYTES >> 20));
    let rule = |name, reading, writing| rule("protection", name, reading, Acceptance::NotApplicable, writing);
    vec![
        rule("none", Acceptance::WithUnprotected, Acceptance::No),
        rule("SHA-1 at the end (SEIPD 1)", Acceptance::Yes, Acceptance::Yes),
        rule("OCB, EAX, GCM (SEIPD 2)", chunks(), Acceptance::Yes),
        rule("OCB, EAX as GnuPG's packet 20", chunks(), Acceptance::Yes),
    ]
}

/// The ways in which keys are derived from passwords.
fn passwords() -> Vec<Rule> {
    let rule = |name, reading| rule("password", name, reading, Acceptance::NotApplicable, Acceptance::Yes);
    // The exponent is that of KiB.
    let memory = format!("with at most {} GiB of memory", 1 << (MAX_ARGON2_EXPONENT - 20));
    vec![rule("iterated and salted", Acceptance::Yes), rule("Argon2", only(memory))]
}

fn keys() -> Vec<Rule> {
    let rule = |name, reading, verifying, writing| rule("key", name, reading, verifying, writing);
    let up_to = |bits: usize| only(format!("up to {bits} bits"));
    vec![
        rule("RSA", Acceptance::Yes, up_to(limits::MAX_RSA_BITS), only("new keys of 2048 to 16384 bits")),
        rule("DSA", Acceptance::NotApplicable, up_to(limits::MAX_DSA_BITS), only("no new keys")),
        rule("Elgamal", Acceptance::Yes, Acceptance::No, only("no new keys")),
        rule("Ed25519, Ed448", Acceptance::NotApplicable, Acceptance::Yes, Acceptance::Yes),
        rule("X25519, X448", Acceptance::Yes, Acceptance::NotApplicable, Acceptance::Yes),
        rule(
            "ML-DSA with Ed25519 or Ed448, SLH-DSA",
            Acceptance::NotApplicable,
            Acceptance::Yes,
            Acceptance::Yes,
        ),
        rule("ML-KEM with X25519 or X448", Acceptance::Yes, Acceptance::NotApplicable, Acceptance::Yes),
        rule("NIST and Brainpool curves", Acceptance::Yes, Acceptance::Yes, Acceptance::Yes),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_the_digest_policy_does() {
        let verifying = |policy, name: &str| {
            let rule = rules(policy).into_iter().find(|rule| rule.name == name).expect("a rule");
            rule.verifying
        };
        assert_eq!(verifying(DigestPolicy::GNUPG, "MD5"), Acceptance::No);
        let sha1 = |policy| match verifying(policy, "SHA1") {
            Acceptance::Only(text) => text,
            other => format!("{other:?}"),
        };
        assert_eq!(sha1(DigestPolicy::GNUPG), format!("not over data, and {SHA1_CERTIFICATIONS}"));
        assert_eq!(sha1(DigestPolicy::GNUPG.with_sha1_certifications()), "not over data");
        assert_eq!(verifying(DigestPolicy::GNUPG, "SHA512"), Acceptance::Yes);
    }

    #[test]
    fn every_digest_and_cipher_has_a_rule() {
        let rules = rules(DigestPolicy::GNUPG);
        let count = |about| rules.iter().filter(|rule| rule.about == about).count();
        assert_eq!((count("digest"), count("cipher")), (HashAlgorithm::ALL.len(), 11));
    }
}
