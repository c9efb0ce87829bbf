//! `--with-key-screening`: RSA keys whose primes are of the form that CVE-2017-15361 (ROCA) makes guessable.

use engine::cert::facts::KeyFacts;
use engine::verify::PublicKeyAlgorithm;

/// Primes whose residues the powers of 65537 do not all reach.
const PRIMES: [u32; 17] = [11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157];

/// Says whether a key's packet holds such an RSA key.
pub(super) fn is_vulnerable(key: &KeyFacts, body: Option<&[u8]>) -> bool {
    /// Version, creation time and algorithm.
    const HEAD: usize = 6;
    let is_rsa = matches!(
        key.algorithm,
        PublicKeyAlgorithm::RSA | PublicKeyAlgorithm::RSA_ENCRYPT | PublicKeyAlgorithm::RSA_SIGN
    );
    let Some(fields) = body.filter(|_| is_rsa).and_then(|body| body.get(HEAD..)) else {
        return false;
    };
    let Some((bits, rest)) = fields.split_first_chunk() else { return false };
    rest.get(..usize::from(u16::from_be_bytes(*bits)).div_ceil(8)).is_some_and(has_mark)
}

/// Says whether a modulus is congruent to a power of 65537 modulo each of the primes, as all products of such primes are.
fn has_mark(modulus: &[u8]) -> bool {
    PRIMES.iter().all(|&prime| {
        let residue = modulus.iter().fold(0, |rest, &byte| (rest * 256 + u32::from(byte)) % prime);
        std::iter::successors(Some(1), |power| Some(power * 65_537 % prime))
            .take(prime as usize)
            .any(|power| power == residue)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_65537_have_the_mark_and_other_numbers_do_not() {
        assert!(has_mark(&[1]));
        assert!(has_mark(&65_537_u32.to_be_bytes()));
        assert!(has_mark(&65_537_u64.pow(3).to_be_bytes()));
        assert!(!has_mark(&65_539_u32.to_be_bytes()));
        assert!(!has_mark(&[0xc5, 0x17, 0x2f, 0x9b]));
    }
}
