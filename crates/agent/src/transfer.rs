//! Secret keys on their way into the agent and out of it (GnuPG's agent/cvt-openpgp.c reads and writes them).

use cert::key::{Key, Parameter};
use secret::{
    Error, Fields, IntegrityCheck, Locked, Protection, Result, S2k, SecretKey, write_number, write_octets,
};
use symmetric::Cipher;
use verify::{HashAlgorithm, PublicKeyAlgorithm};
use zeroize::Zeroizing;

use crate::PublicKey;
use crate::sexp::Sexp;

/// More bytes than the secret part of a key has.
pub(crate) const MOST_BYTES: usize = 8192;

/// How the secret number of a curve's key is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CurveNumber {
    /// With a sign, as GnuPG 2.2 reads it.
    Signed,
    /// Without one, as GnuPG 2.4 does, which finds another checksum otherwise.
    Unsigned,
}

/// Returns a key as the agent imports it, locked as it is.
///
/// # Errors
///
/// [`Error::Unsupported`] for a key that the agent cannot hold, or that is locked in a way it does not know.
pub(crate) fn to_agent(secret: &SecretKey, form: CurveNumber) -> Result<Sexp> {
    let key = secret.key();
    let unsupported =
        |what: &str| Error::Unsupported { key: key.fingerprint(), what: format!("{what} in gpg-agent") };
    let kind = Kind::of(&key).ok_or_else(|| unsupported("a key of its version or algorithm"))?;
    let public = kind.public(&key);
    let mut numbers: Vec<Sexp> = public.into_iter().flat_map(|number| [Sexp::atom(b"_"), number]).collect();
    let mut sum = 0_u16;
    let protection = match secret.protection() {
        Protection::None => {
            let mut fields = Fields(secret.data());
            for _ in 0..kind.secrets {
                let number = kind.read(&mut fields).ok_or_else(|| damaged(&key))?;
                numbers.extend([Sexp::atom(b"_"), kind.secret(number, form)]);
                sum = checksum(sum, &kind.write(number));
            }
            vec![Sexp::atom(b"none")]
        }
        Protection::Locked(locked) => {
            let words = protection(locked, secret.iv()).ok_or_else(|| unsupported("its way of locking"))?;
            numbers.extend([Sexp::atom(b"e"), Sexp::atom(secret.data())]);
            words
        }
        _ => return Err(Error::Stub { key: key.fingerprint() }),
    };
    let curve = kind.curve.map(|curve| Sexp::named("curve", [Sexp::atom(curve.as_bytes())]));
    let parts = [
        Some(Sexp::named("version", [Sexp::atom(key.version.to_string().as_bytes())])),
        Some(Sexp::named("algo", [Sexp::atom(kind.name.as_bytes())])),
        curve,
        Some(Sexp::named("skey", numbers)),
        Some(Sexp::named("csum", [Sexp::atom(sum.to_string().as_bytes())])),
        Some(Sexp::named("protection", protection)),
    ];
    Ok(Sexp::named("openpgp-private-key", parts.into_iter().flatten()))
}

/// Reads a key as the agent exports it; `None` if it cannot be read.
pub(crate) fn from_agent(public: &PublicKey, exported: &Sexp) -> Option<SecretKey> {
    let key = cert::key::parse_public(&public.body).ok()?;
    let kind = Kind::of(&key)?;
    let numbers = exported.child("skey")?;
    let numbers: Vec<(&[u8], &[u8])> = numbers
        .as_chunks::<2>()
        .0
        .iter()
        .map(|[mark, number]| Some((mark.bytes()?, number.bytes()?)))
        .collect::<Option<_>>()?;
    let secrets = numbers.get(kind.public(&key).len()..)?;
    match exported.child("protection")? {
        [none] if none.bytes() == Some(b"none") => {
            kind.plain(public, secrets.iter().map(|(_, number)| *number))
        }
        [check, cipher, iv, mode, hash, salt, count] => {
            let text = |word: &Sexp| Some(String::from_utf8_lossy(word.bytes()?).into_owned());
            let is_known = check.bytes() == Some(b"sha1") && mode.bytes() == Some(b"3");
            let &[(b"e", encrypted)] = secrets else { return None };
            let cipher = cipher_named(&text(cipher)?)?;
            let hash = hash_named(&text(hash)?)?;
            let count = text(count)?.parse().ok()?;
            let salt: [u8; 8] = salt.bytes()?.try_into().ok()?;
            if !is_known {
                return None;
            }
            let s2k = S2k::Iterated { hash, salt, count };
            let locked = Locked { check: IntegrityCheck::Sha1, cipher: cipher.number(), s2k };
            SecretKey::from_locked(public.role, &public.body, &locked, iv.bytes()?, encrypted).ok()
        }
        _ => None,
    }
}

/// Reads a key without passphrase as the agent keeps it; `None` if it cannot be read.
pub(crate) fn from_plain(public: &PublicKey, exported: &Sexp) -> Option<SecretKey> {
    let key = cert::key::parse_public(&public.body).ok()?;
    let kind = Kind::of(&key)?;
    let names: &[&str] = match (kind.name, exported.name()?) {
        ("rsa", b"private-key") => &["d", "p", "q", "u"],
        ("dsa" | "elg", b"private-key") => &["x"],
        (_, b"private-key") => &["d"],
        _ => return None,
    };
    let [_, algorithm, ..] = exported.elements()? else { return None };
    let numbers: Option<Vec<&[u8]>> = names.iter().map(|name| algorithm.value(name)).collect();
    kind.plain(public, numbers?.into_iter())
}

/// Adds bytes to a checksum (RFC 9580, 5.5.3).
fn checksum(sum: u16, bytes: &[u8]) -> u16 {
    bytes.iter().fold(sum, |sum, byte| sum.wrapping_add((*byte).into()))
}

/// Returns what the agent calls a protection; `None` for one that it does not know.
fn protection(locked: &Locked, iv: &[u8]) -> Option<Vec<Sexp>> {
    let check: &[u8] = match locked.check {
        IntegrityCheck::Sha1 => b"sha1",
        IntegrityCheck::Sum16 | IntegrityCheck::Aead(_) => return None,
    };
    let S2k::Iterated { hash, salt, count } = locked.s2k else { return None };
    let cipher = Cipher::of(locked.cipher)?;
    Some(vec![
        Sexp::atom(check),
        Sexp::atom(name_of_cipher(cipher)?.as_bytes()),
        Sexp::atom(iv),
        Sexp::atom(b"3"),
        Sexp::atom(name_of_hash(hash)?.as_bytes()),
        Sexp::atom(&salt),
        // As the coded byte.
        Sexp::atom(count.to_string().as_bytes()),
    ])
}

const CIPHERS: [(Cipher, &str); 11] = [
    (Cipher::Idea, "idea"),
    (Cipher::TripleDes, "3des"),
    (Cipher::Cast5, "cast5"),
    (Cipher::Blowfish, "blowfish"),
    (Cipher::Aes128, "aes"),
    (Cipher::Aes192, "aes192"),
    (Cipher::Aes256, "aes256"),
    (Cipher::Twofish, "twofish"),
    (Cipher::Camellia128, "camellia128"),
    (Cipher::Camellia192, "camellia192"),
    (Cipher::Camellia256, "camellia256"),
];

const HASHES: [(HashAlgorithm, &str); 7] = [
    (HashAlgorithm::MD5, "md5"),
    (HashAlgorithm::SHA1, "sha1"),
    (HashAlgorithm::RIPEMD160, "ripemd160"),
    (HashAlgorithm::SHA256, "sha256"),
    (HashAlgorithm::SHA384, "sha384"),
    (HashAlgorithm::SHA512, "sha512"),
    (HashAlgorithm::SHA224, "sha224"),
];

fn name_of_cipher(cipher: Cipher) -> Option<&'static str> {
    CIPHERS.iter().find(|(known, _)| *known == cipher).map(|(_, name)| *name)
}

fn cipher_named(name: &str) -> Option<Cipher> {
    CIPHERS.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(cipher, _)| *cipher)
}

fn name_of_hash(hash: HashAlgorithm) -> Option<&'static str> {
    HASHES.iter().find(|(known, _)| *known == hash).map(|(_, name)| *name)
}

fn hash_named(name: &str) -> Option<HashAlgorithm> {
    HASHES.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(hash, _)| *hash)
}

/// What the agent calls the keys of an algorithm.
pub(crate) struct Kind {
    name: &'static str,
    curve: Option<&'static str>,
    /// The number of secret numbers.
    secrets: usize,
}

impl Kind {
    /// Returns the kind of a key; `None` if the agent has no such keys.
    pub(crate) fn of(key: &Key<'_>) -> Option<Self> {
        type Algorithm = PublicKeyAlgorithm;
        let facts = key.facts();
        let curve = facts.curve_name().map(|name| match name {
            "ed25519" => "Ed25519",
            "cv25519" => "Curve25519",
            "ed448" => "Ed448",
            "cv448" => "X448",
            other => other,
        });
        let (name, secrets) = match key.algorithm {
            algorithm if algorithm.is_rsa() => ("rsa", 4),
            Algorithm::DSA => ("dsa", 1),
            Algorithm::ELGAMAL | Algorithm::ELGAMAL_BOTH => ("elg", 1),
            Algorithm::ECDSA => ("ecdsa", 1),
            Algorithm::ECDH => ("ecdh", 1),
            Algorithm::EDDSA_LEGACY => ("eddsa", 1),
            _ => return None,
        };
        let is_curve = matches!(key.algorithm, Algorithm::ECDSA | Algorithm::ECDH | Algorithm::EDDSA_LEGACY);
        let is_held = matches!(key.version, 4 | 5) && facts.keygrip.is_some() && is_curve == curve.is_some();
        is_held.then_some(Self { name, curve, secrets })
    }

    /// Returns the public numbers: for a curve only the point.
    fn public(&self, key: &Key<'_>) -> Vec<Sexp> {
        let number = |parameter| match parameter {
            Parameter::Number(bytes) if self.curve.is_some() => Some(Sexp::atom(bytes)),
            Parameter::Number(bytes) => Some(Sexp::number(bytes)),
            Parameter::Bytes(_) => None,
        };
        key.parameters().into_iter().filter_map(number).collect()
    }

    /// Says whether secrets are bytes of a fixed length, whose zeros are written as well.
    fn has_octets(&self) -> bool {
        matches!(self.curve, Some("Ed448" | "X448"))
    }

    /// Reads a secret number as packets have it.
    fn read<'n>(&self, fields: &mut Fields<'n>) -> Option<&'n [u8]> {
        if self.has_octets() { fields.octets() } else { fields.number() }
    }

    /// Returns a secret number as packets have it.
    pub(crate) fn write(&self, number: &[u8]) -> Zeroizing<Vec<u8>> {
        if self.has_octets() { write_octets(number) } else { write_number(number) }
    }

    /// Returns a secret number.
    fn secret(&self, number: &[u8], form: CurveNumber) -> Sexp {
        match self.curve {
            Some(_) if self.has_octets() || form == CurveNumber::Unsigned => Sexp::atom(number),
            _ => Sexp::number(number),
        }
    }

    /// Joins a public key with its secret numbers; `None` if it cannot be read.
    fn plain<'n>(&self, public: &PublicKey, numbers: impl Iterator<Item = &'n [u8]>) -> Option<SecretKey> {
        let mut material = Zeroizing::new(Vec::with_capacity(MOST_BYTES));
        numbers.for_each(|number| material.extend_from_slice(&self.write(number)));
        SecretKey::from_plain(public.role, &public.body, &material).ok()
    }
}

fn damaged(key: &Key<'_>) -> Error {
    Error::Damaged { key: key.fingerprint(), what: "its secret numbers cannot be read" }
}
