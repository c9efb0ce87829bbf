//! Signatures as the agent returns them.

use cert::key::Key;
use secret::{curve448, write_number, write_octets};
use verify::PublicKeyAlgorithm;

use crate::sexp::Sexp;

/// Returns the fields of a signature packet (RFC 9580, 5.2.3); `None` if the answer is no signature of such a key.
pub(crate) fn fields(key: &Key<'_>, answer: &[u8]) -> Option<Vec<u8>> {
    type Algorithm = PublicKeyAlgorithm;
    let answer = Sexp::read(answer)?;
    let [_, signature] = answer.elements()? else { return None };
    let (name, numbers): (&[u8], &[&str]) = match key.algorithm {
        algorithm if algorithm.is_rsa() => (b"rsa", &["s"]),
        Algorithm::DSA => (b"dsa", &["r", "s"]),
        Algorithm::ECDSA => (b"ecdsa", &["r", "s"]),
        Algorithm::EDDSA_LEGACY => (b"eddsa", &["r", "s"]),
        _ => return None,
    };
    if answer.name() != Some(b"sig-val") || signature.name() != Some(name) {
        return None;
    }
    let write = if curve448::is_ed448(key) { write_octets } else { write_number };
    let number = |name: &&str| Some(write(signature.value(name)?).to_vec());
    Some(numbers.iter().map(number).collect::<Option<Vec<_>>>()?.concat())
}
