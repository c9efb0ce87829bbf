//! Secret keys in the form of the agent's files (GnuPG's agent/keyformat.txt, agent/protect.c), read without the agent, and
//! written for it.

use cert::Keygrip;
use cert::key::Key;
use secret::ask::unlock_asking;
use secret::{Ask, Error, Lock, Passphrase, Protection, Result, SecretKey, Unlocked};
use symmetric::{Cipher, S2k, TAG, decode_count, decrypt_cbc, open_ocb_96};
use verify::{HashAlgorithm, PublicKeyAlgorithm, naming};
use zeroize::Zeroizing;

use crate::PublicKey;
use crate::sexp::Sexp;
use crate::transfer::{CurveNumber, Kind, MOST_BYTES, from_agent, to_agent};

/// Reads a secret key from a file's expression and the public key that it belongs to: locked with the passphrase that it
/// has there, which is asked for, or without one if it has none. It was tried out.
///
/// # Errors
///
/// [`Error::UnknownProtection`] for a form that is not known; [`Error::Damaged`] if the secret cannot be read or does not
/// belong to the public key; those of [`unlock_asking`].
pub fn read(file: &Sexp, public: &PublicKey, ask: &mut dyn Ask) -> Result<SecretKey> {
    let key = cert::key::parse_public(&public.body)?;
    let algorithm = file.elements().and_then(|elements| elements.get(1)).ok_or_else(|| unreadable(&key))?;
    match file.name() {
        Some(b"private-key") => {
            let unlocked = joined(&key, public, algorithm)?;
            unlocked.try_out()?;
            Ok(unlocked.plain())
        }
        Some(b"protected-private-key") => {
            let name = secret::ask::KeyName::from(&key);
            unlock_asking(&name, ask, |passphrase| {
                let unlocked = unlocked(&key, public, algorithm, passphrase)?;
                unlocked.try_out()?;
                unlocked.lock(passphrase, Lock::for_version(key.version))
            })
        }
        _ => Err(unknown(&key, "the kind of gpg-agent's file")),
    }
}

/// Writes a secret key as a file for the agent, called by its keygrip, locked as it is.
///
/// # Errors
///
/// [`Error::Unsupported`] for a key that the agent cannot hold, or that is locked in a way it does not know;
/// [`Error::Stub`] for one without its secret.
pub fn write(secret: &SecretKey) -> Result<(Keygrip, Zeroizing<Vec<u8>>)> {
    let key = secret.key();
    let transfer = to_agent(secret, CurveNumber::Signed)?;
    let unsupported = || Error::Unsupported { key: key.fingerprint(), what: "it in gpg-agent".to_owned() };
    let keygrip = secret.keygrip().ok_or_else(unsupported)?;
    let numbers = transfer.child("skey").ok_or_else(unsupported)?;
    let mut numbers = numbers.iter().skip(1).step_by(2).cloned();
    let (name, public, secrets) = names(key.algorithm).ok_or_else(unsupported)?;
    let mut algorithm = vec![Sexp::atom(name.as_bytes())];
    if let Some(curve) = transfer.value("curve") {
        algorithm.push(Sexp::named("curve", [Sexp::atom(curve)]));
        let flags: Option<&[u8]> = match curve {
            b"Ed25519" => Some(b"eddsa"),
            b"Curve25519" => Some(b"djb-tweak"),
            _ => None,
        };
        algorithm.extend(flags.map(|flags| Sexp::named("flags", [Sexp::atom(flags)])));
    }
    algorithm.extend(public.iter().zip(&mut numbers).map(|(name, number)| Sexp::named(name, [number])));
    let kind = if *secret.protection() == Protection::None {
        algorithm.extend(secrets.iter().zip(&mut numbers).map(|(name, number)| Sexp::named(name, [number])));
        "private-key"
    } else {
        algorithm.push(Sexp::named("protected", [Sexp::atom(b"openpgp-native"), transfer]));
        "protected-private-key"
    };
    Ok((keygrip, Sexp::named(kind, [Sexp::List(algorithm)]).to_canonical()))
}

/// Returns what the agent calls an algorithm, its public numbers and its secret numbers, in OpenPGP's order.
fn names(
    algorithm: PublicKeyAlgorithm,
) -> Option<(&'static str, &'static [&'static str], &'static [&'static str])> {
    type Algorithm = PublicKeyAlgorithm;
    match algorithm {
        algorithm if algorithm.is_rsa() => Some(("rsa", &["n", "e"], &["d", "p", "q", "u"])),
        Algorithm::DSA => Some(("dsa", &["p", "q", "g", "y"], &["x"])),
        Algorithm::ELGAMAL | Algorithm::ELGAMAL_BOTH => Some(("elg", &["p", "g", "y"], &["x"])),
        Algorithm::ECDSA | Algorithm::ECDH | Algorithm::EDDSA_LEGACY => Some(("ecc", &["q"], &["d"])),
        _ => None,
    }
}

/// Joins a public key with the secret numbers in a list.
fn joined(key: &Key<'_>, public: &PublicKey, numbers: &Sexp) -> Result<Unlocked> {
    let kind = Kind::of(key).zip(names(key.algorithm));
    let (kind, (_, _, secrets)) = kind.ok_or_else(|| unknown(key, "an algorithm of gpg-agent"))?;
    let mut material = Zeroizing::new(Vec::with_capacity(MOST_BYTES));
    for name in secrets {
        let number = numbers.value(name).ok_or_else(|| unreadable(key))?;
        material.extend_from_slice(&kind.write(number));
    }
    Unlocked::new(public.role, &public.body, &material)
}

/// Unlocks a protected key.
fn unlocked(
    key: &Key<'_>,
    public: &PublicKey,
    algorithm: &Sexp,
    passphrase: &Passphrase,
) -> Result<Unlocked> {
    match algorithm.child("protected") {
        Some([form, native]) if form.bytes() == Some(b"openpgp-native") => {
            let locked = from_agent(public, native).ok_or_else(|| unreadable(key))?;
            locked.unlock(passphrase)
        }
        Some([form, parameters, encrypted]) => {
            let form =
                form.bytes().and_then(form_named).ok_or_else(|| unknown(key, "a form of gpg-agent"))?;
            let encrypted = encrypted.bytes().ok_or_else(|| unreadable(key))?;
            let (derived, iv) = derived(parameters, form.cipher(), passphrase)
                .ok_or_else(|| unreadable(key))?
                .map_err(|error| unknown(key, &error.to_string()))?;
            if !form.is_whole(iv, encrypted) {
                return Err(unreadable(key));
            }
            let wrong = Error::WrongPassphrase { key: key.fingerprint() };
            let numbers = match form {
                Form::Cbc(cipher) => open_cbc(algorithm, cipher, &derived, iv, encrypted),
                Form::Ocb(cipher) => open_ocb(algorithm, cipher, &derived, iv, encrypted),
            };
            joined(key, public, &numbers.ok_or(wrong)?)
        }
        _ => Err(unreadable(key)),
    }
}

/// The bytes of a nonce of 96 bits.
const OCB_NONCE: usize = 12;

/// How a secret is encrypted.
#[derive(Clone, Copy)]
enum Form {
    Cbc(Cipher),
    Ocb(Cipher),
}

impl Form {
    fn cipher(self) -> Cipher {
        match self {
            Self::Cbc(cipher) | Self::Ocb(cipher) => cipher,
        }
    }

    /// Says whether an initialisation vector or nonce and what is encrypted have lengths of this form.
    fn is_whole(self, iv: &[u8], encrypted: &[u8]) -> bool {
        match self {
            Self::Cbc(cipher) => {
                let block = cipher.block_size();
                iv.len() == block && !encrypted.is_empty() && encrypted.len().is_multiple_of(block)
            }
            Self::Ocb(_) => iv.len() == OCB_NONCE && encrypted.len() >= TAG,
        }
    }
}

fn form_named(name: &[u8]) -> Option<Form> {
    match name {
        b"openpgp-s2k3-sha1-aes-cbc" => Some(Form::Cbc(Cipher::Aes128)),
        b"openpgp-s2k3-sha1-aes256-cbc" => Some(Form::Cbc(Cipher::Aes256)),
        b"openpgp-s2k3-ocb-aes" => Some(Form::Ocb(Cipher::Aes128)),
        _ => None,
    }
}

/// A key derived from a passphrase, and the initialisation vector.
type Derived<'a> = (Zeroizing<Vec<u8>>, &'a [u8]);

/// Derives the key from `((sha1 SALT COUNT) IV)`; `None` if that cannot be read.
fn derived<'a>(
    parameters: &'a Sexp,
    cipher: Cipher,
    passphrase: &Passphrase,
) -> Option<symmetric::Result<Derived<'a>>> {
    let [s2k, iv] = parameters.elements()? else { return None };
    let [hash, salt, count] = s2k.elements()? else { return None };
    let count: u64 = std::str::from_utf8(count.bytes()?).ok()?.parse().ok()?;
    // Early versions wrote OpenPGP's coded count.
    let count = u8::try_from(count).map_or(count, decode_count);
    let (salt, iv) = (salt.bytes()?.try_into().ok()?, iv.bytes()?);
    if hash.bytes() != Some(b"sha1") {
        return None;
    }
    let mut key = Zeroizing::new(vec![0; cipher.key_size()]);
    let sha1 = HashAlgorithm::SHA1;
    Some(S2k::fill_iterated(sha1, salt, count, passphrase.as_bytes(), &mut key).map(|()| (key, iv)))
}

/// Decrypts `((NUMBERS)(hash sha1 DIGEST))`, after which there is padding; `None` with a wrong passphrase. The digest is that
/// of the algorithm's list with the secret numbers in the place of their protected form.
fn open_cbc(algorithm: &Sexp, cipher: Cipher, key: &[u8], iv: &[u8], encrypted: &[u8]) -> Option<Sexp> {
    let decrypted = decrypt_cbc(cipher, key, iv, encrypted).ok()?;
    let read = Sexp::read_beginning(&decrypted)?;
    let [numbers, check] = read.elements()? else { return None };
    let [hash, sha1, digest] = check.elements()? else { return None };
    let mut whole = Vec::new();
    for element in algorithm.elements()? {
        match element.name() {
            Some(b"protected") => whole.extend_from_slice(numbers.elements()?),
            _ => whole.push(element.clone()),
        }
    }
    let is_intact = hash.bytes() == Some(b"hash")
        && sha1.bytes() == Some(b"sha1")
        && digest.bytes() == Some(&naming::sha1(&[&Sexp::List(whole).to_canonical()])[..]);
    is_intact.then(|| numbers.clone())
}

/// Decrypts `((NUMBERS))`; `None` with a wrong passphrase. The associated data are the algorithm's list without its
/// protected form.
fn open_ocb(algorithm: &Sexp, cipher: Cipher, key: &[u8], nonce: &[u8], encrypted: &[u8]) -> Option<Sexp> {
    let (data, tag) = encrypted.split_last_chunk::<TAG>()?;
    let public = algorithm.elements()?.iter().filter(|element| element.name() != Some(b"protected"));
    let associated = Sexp::List(public.cloned().collect()).to_canonical();
    let mut data = Zeroizing::new(data.to_vec());
    open_ocb_96(cipher, key, nonce.try_into().ok()?, &associated, &mut data, tag).ok()?;
    Sexp::read_beginning(&data)?.elements()?.first().cloned()
}

fn unreadable(key: &Key<'_>) -> Error {
    Error::Damaged { key: key.fingerprint(), what: "gpg-agent's file of it cannot be read" }
}

fn unknown(key: &Key<'_>, what: &str) -> Error {
    Error::UnknownProtection { key: key.fingerprint(), what: what.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_no_passphrase_opens_are_found() {
        let (cbc, ocb) = (Form::Cbc(Cipher::Aes128), Form::Ocb(Cipher::Aes128));
        let is_whole =
            |form: Form, iv: usize, encrypted: usize| form.is_whole(&vec![0_u8; iv], &vec![0_u8; encrypted]);
        assert!(is_whole(cbc, 16, 32) && is_whole(ocb, 12, 40));
        for (iv, encrypted) in [(12, 32), (16, 0), (16, 31)] {
            assert!(!is_whole(cbc, iv, encrypted), "{iv} {encrypted}");
        }
        assert!(!is_whole(ocb, 16, 40) && !is_whole(ocb, 12, 15));
    }
}
