//! Keys of a card or of the agent that no certificate has: their public key packets, and their use.

use cert::{Keygrip, Timestamp, key};
use secret::{OpenKey, Passphrase, wrapping, write_number};
use symmetric::Cipher;
use verify::PublicKeyAlgorithm;
use zeroize::Zeroizing;

use crate::connection::{Silent, Wait};
use crate::sexp::Sexp;
use crate::{Agent, PublicKey, open_key};

/// What a key on a card does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardUse {
    /// It signs or authenticates.
    Signs,
    /// It decrypts.
    Decrypts,
}

/// Returns the algorithm of a public key that the agent shows as an s-expression, as GnuPG reads it: a key on a curve is for
/// ECDH unless its flags say EdDSA.
pub fn algorithm(shown: &[u8]) -> Option<PublicKeyAlgorithm> {
    let read = Sexp::read(shown).filter(|read| read.name() == Some(b"public-key"))?;
    let [_, numbers, ..] = read.elements()? else { return None };
    let is_eddsa = || {
        numbers.child("flags").is_some_and(|flags| flags.iter().any(|flag| flag.bytes() == Some(b"eddsa")))
    };
    match numbers.name()? {
        b"rsa" => Some(PublicKeyAlgorithm::RSA),
        b"dsa" => Some(PublicKeyAlgorithm::DSA),
        b"elg" => Some(PublicKeyAlgorithm::ELGAMAL),
        b"ecc" if is_eddsa() => Some(PublicKeyAlgorithm::EDDSA_LEGACY),
        b"ecc" => Some(PublicKeyAlgorithm::ECDH),
        _ => None,
    }
}

/// Returns the body of the packet (version 4) of a public key that the agent shows as an s-expression; `None` if it cannot be
/// read.
///
/// The parameters of the key derivation of ECDH are those of scdaemon, of which the card's fingerprint of the key depends:
/// with 384 bits AES-256, where RFC 9580, 11.5 has AES-192.
pub fn public_body(shown: &[u8], does: CardUse, created: Timestamp) -> Option<Vec<u8>> {
    const VERSION: u8 = 4;
    let read = Sexp::read(shown).filter(|read| read.name() == Some(b"public-key"))?;
    let [_, numbers, ..] = read.elements()? else { return None };
    let mut body = vec![VERSION];
    body.extend(created.0.to_be_bytes());
    match numbers.name()? {
        b"rsa" => {
            body.push(PublicKeyAlgorithm::RSA.0);
            body.extend(written(numbers, &["n", "e"])?);
        }
        b"dsa" => {
            body.push(PublicKeyAlgorithm::DSA.0);
            body.extend(written(numbers, &["p", "q", "g", "y"])?);
        }
        b"elg" => {
            body.push(PublicKeyAlgorithm::ELGAMAL.0);
            body.extend(written(numbers, &["p", "g", "y"])?);
        }
        b"ecc" => {
            let name = String::from_utf8_lossy(numbers.value("curve")?).into_owned();
            let (oid, bits) = key::curve(&name)?;
            let derivation = key_derivation(bits)?;
            let point = native(numbers.value("q")?);
            let algorithm = match does {
                CardUse::Decrypts => PublicKeyAlgorithm::ECDH,
                CardUse::Signs if name.eq_ignore_ascii_case("Ed25519") => PublicKeyAlgorithm::EDDSA_LEGACY,
                CardUse::Signs => PublicKeyAlgorithm::ECDSA,
            };
            body.push(algorithm.0);
            body.push(u8::try_from(oid.len()).ok()?);
            body.extend_from_slice(oid);
            body.extend_from_slice(&write_number(&point));
            if does == CardUse::Decrypts {
                body.extend(derivation);
            }
        }
        _ => return None,
    }
    key::parse_public(&body).is_ok().then_some(body)
}

/// Writes the numbers with these names.
fn written(numbers: &Sexp, names: &[&str]) -> Option<Vec<u8>> {
    let mut written = Vec::new();
    for name in names {
        written.extend_from_slice(&write_number(numbers.value(name)?));
    }
    Some(written)
}

/// Puts the prefix of native points before a point that has none.
fn native(point: &[u8]) -> Vec<u8> {
    const NATIVE: u8 = 0x40;
    const LENGTH: usize = 32;
    if point.len() == LENGTH { [&[NATIVE], point].concat() } else { point.to_vec() }
}

/// Returns the field with hash algorithm and cipher for a curve of so many bits; `None` for one on which a card has no keys of
/// version 4, such as Ed448 and X448.
fn key_derivation(bits: u32) -> Option<[u8; 4]> {
    // The table is by the sizes of Weierstrass curves. Curve25519, of 255 bits, takes what P-256 takes (RFC 9580, 11.5.1).
    let size = if bits == 255 { 256 } else { bits };
    let [length, reserved, hash, cipher] = wrapping(size)?;
    let cipher = if bits == 384 { Cipher::Aes256.number() } else { cipher };
    Some([length, reserved, hash, cipher])
}

impl Agent {
    /// Returns the public part of a key of the agent, as an s-expression; `None` if it has none with this keygrip, or cannot be
    /// asked.
    pub fn public_key(&self, keygrip: Keygrip) -> Option<Zeroizing<Vec<u8>>> {
        self.transact(&format!("READKEY {keygrip}"), Wait::Machine, &mut Silent).ok()
    }

    /// Returns a key of the agent that no certificate has yet; the passphrase answers the agent's question in loopback mode.
    /// `None` if it has no keygrip.
    pub fn open_without_certificate(
        &self,
        public: PublicKey,
        passphrase: Option<Passphrase>,
    ) -> Option<Box<dyn OpenKey>> {
        let keygrip = key::parse_public(&public.body).ok()?.facts().keygrip?;
        Some(Box::new(open_key::OpenKey { agent: self.clone(), keygrip, public, passphrase }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, point: &[u8]) -> Vec<u8> {
        let ecc = [("curve", name.as_bytes()), ("q", point)]
            .map(|(word, value)| Sexp::named(word, [Sexp::atom(value)]));
        Sexp::named("public-key", [Sexp::named("ecc", ecc)]).to_canonical().to_vec()
    }

    #[test]
    fn a_key_on_a_curve_is_of_the_algorithm_that_its_use_asks_for() {
        let read =
            |shown: &[u8], does| public_body(shown, does, Timestamp(1)).map(|body| (body[5], body.len()));
        let native = curve("Ed25519", &[7; 32]);
        assert_eq!(read(&native, CardUse::Signs), Some((22, 51)));
        let with_prefix = curve("Curve25519", &[&[0x40][..], &[7; 32]].concat());
        assert_eq!(read(&with_prefix, CardUse::Decrypts).map(|(algorithm, _)| algorithm), Some(18));
        let nist = curve("NIST P-256", &[&[4][..], &[7; 64]].concat());
        assert_eq!(read(&nist, CardUse::Signs).map(|(algorithm, _)| algorithm), Some(19));
        assert_eq!(read(&curve("unknown", &[4; 65]), CardUse::Signs), None);
        assert_eq!(read(b"(11:private-key)", CardUse::Signs), None);
        assert_eq!(read(b"", CardUse::Signs), None);
    }

    #[test]
    fn the_derivation_of_keys_grows_with_the_curve() {
        let derivation = |curve| {
            let (_, bits) = key::curve(curve)?;
            key_derivation(bits).map(|[_, _, hash, cipher]| [hash, cipher])
        };
        assert_eq!(
            ["Curve25519", "NIST P-256", "NIST P-384", "brainpoolP512r1"].map(derivation),
            [Some([8, 7]), Some([8, 7]), Some([9, 9]), Some([10, 9])]
        );
    }

    #[test]
    fn a_key_of_448_bits_is_not_taken_for_one_on_another_curve() {
        for (name, does) in
            [("Ed448", CardUse::Signs), ("X448", CardUse::Decrypts), ("cv448", CardUse::Decrypts)]
        {
            assert_eq!(public_body(&curve(name, &[7; 56]), does, Timestamp(1)), None, "{name}");
        }
    }
}
