//! RSA keys by the rules of FIPS 186-5, appendix A.1.

use crate::error::{Error, Result};
use crate::prime;
use crate::progress::Progress;
use libcrypto::bignum::{Number, Power, Workspace};
use zeroize::Zeroizing;

/// The public exponent of every key.
pub(crate) const EXPONENT: u64 = 65537;

/// The length of a modulus in bits: a multiple of 8 from 2048 to 16384.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(u16);

impl Size {
    /// Checks a size in bits.
    ///
    /// # Errors
    ///
    /// [`Error::RsaSize`] if it is not a multiple of 8 from 2048 to 16384.
    pub fn new(bits: u32) -> Result<Self> {
        match u16::try_from(bits) {
            Ok(bits @ 2048..=16384) if bits % 8 == 0 => Ok(Self(bits)),
            _ => Err(Error::RsaSize(bits)),
        }
    }

    /// Returns the length of the modulus in bits.
    pub fn bits(self) -> u32 {
        self.0.into()
    }
}

/// The numbers of an RSA key (RFC 9580, 5.5.5.1), the most significant byte first, without leading zeros. All but the
/// first two are secret, and are wiped.
pub struct Numbers {
    /// The modulus, the product of the primes.
    pub n: Vec<u8>,
    /// The public exponent.
    pub e: Vec<u8>,
    /// The private exponent: the inverse of `e` modulo the least common multiple of p - 1 and q - 1.
    pub d: Zeroizing<Vec<u8>>,
    /// The smaller prime.
    pub p: Zeroizing<Vec<u8>>,
    /// The larger prime.
    pub q: Zeroizing<Vec<u8>>,
    /// The inverse of p modulo q.
    pub u: Zeroizing<Vec<u8>>,
}

/// Generates the numbers of a new key, on all cores.
///
/// # Errors
///
/// [`Error::Randomness`] and [`Error::Memory`].
pub fn generate(size: Size, progress: &mut dyn Progress) -> Result<Numbers> {
    let half = usize::from(size.0) / 2;
    let mut workspace = Workspace::new()?;
    loop {
        let mut primes = prime::pair(half, EXPONENT, progress)?;
        primes.sort_unstable();
        let [p, q] = primes;
        if let Some(numbers) = key(p, q, half, &mut workspace)? {
            return Ok(numbers);
        }
    }
}

/// Makes a key of two primes of `half` bits, the smaller one first; `None` if they are too close to each other or the
/// private exponent is too small, which does not happen to random primes in practice.
fn key(p: Number, q: Number, half: usize, workspace: &mut Workspace) -> Result<Option<Numbers>> {
    if !exceeds_power_of_2(&q.minus(&p)?, half - 100)? {
        return Ok(None);
    }
    let d = private_exponent(&p, &q, workspace)?;
    if !exceeds_power_of_2(&d, half)? {
        return Ok(None);
    }
    // Fermat: the inverse modulo a prime q is the power with the exponent q - 2.
    let inverse = Power { base: &p, exponent: &q.minus_word(2)?, modulus: &q };
    let [u, _] = workspace.powers([inverse; 2])?;
    Ok(Some(Numbers {
        n: workspace.product(&p, &q)?.to_bytes().to_vec(),
        e: EXPONENT.to_be_bytes()[5..].to_vec(),
        d: d.to_bytes(),
        p: p.to_bytes(),
        q: q.to_bytes(),
        u: u.to_bytes(),
    }))
}

fn exceeds_power_of_2(number: &Number, exponent: usize) -> Result<bool> {
    Ok(number.bits() > 0 && number.minus_word(1)?.bits() > exponent)
}

/// Returns the inverse of [`EXPONENT`] modulo l, the least common multiple of p - 1 and q - 1. Since the exponent e is
/// a small prime, the inverse is (k l + 1) / e, with the k below e for which the division has no remainder: only a word
/// needs to be inverted.
fn private_exponent(p: &Number, q: &Number, workspace: &mut Workspace) -> Result<Number> {
    let (p_minus_one, q_minus_one) = (p.minus_word(1)?, q.minus_word(1)?);
    let common = workspace.greatest_common_divisor(&p_minus_one, &q_minus_one)?;
    let shortened = workspace.quotient(&p_minus_one, &common)?;
    let multiple = workspace.product(&shortened, &q_minus_one)?;
    let inverse = power_of_word(multiple.modulo_word(EXPONENT), EXPONENT - 2);
    Ok(multiple.times_word(EXPONENT - inverse)?.plus_word(1)?.divided_by_word(EXPONENT)?)
}

/// Returns the power modulo [`EXPONENT`].
fn power_of_word(base: u64, exponent: u64) -> u64 {
    (0..u64::BITS).rev().fold(1, |power, bit| {
        let square = power * power % EXPONENT;
        if exponent >> bit & 1 == 1 { square * base % EXPONENT } else { square }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    fn number(bytes: &[u8]) -> Number {
        Number::from_bytes(bytes).unwrap()
    }

    /// The remainder of a product.
    fn product_modulo(a: &Number, b: &Number, modulus: &Number) -> Number {
        let mut workspace = Workspace::new().unwrap();
        let product = workspace.product(a, b).unwrap();
        let quotient = workspace.quotient(&product, modulus).unwrap();
        product.minus(&workspace.product(&quotient, modulus).unwrap()).unwrap()
    }

    #[test]
    fn keys_follow_the_rules_of_fips_186_5() {
        for bits in [2048, 2056, 2064, 3072] {
            let half = bits as usize / 2;
            let key = generate(Size::new(bits).unwrap(), &mut Silent).unwrap();
            let mut workspace = Workspace::new().unwrap();
            let [n, e, d, p, q, u] = [&key.n[..], &key.e, &key.d, &key.p, &key.q, &key.u].map(number);
            assert_eq!(n.bits(), bits as usize);
            assert_eq!(key.e, [1, 0, 1]);
            assert!(workspace.product(&p, &q).unwrap() == n);
            assert!(p < q && q.minus(&p).unwrap().bits() > half - 100);
            for prime in [&p, &q] {
                assert!(prime.bits() == half && workspace.product(prime, prime).unwrap().bits() == 2 * half);
                let less = prime.minus_word(1).unwrap();
                assert!(product_modulo(&d, &e, &less).is_one());
            }
            assert!(d.bits() > half && d.bits() < bits as usize, "d is below the least common multiple");
            assert!(u < q && product_modulo(&u, &p, &q).is_one());
        }
    }

    #[test]
    fn d_is_the_inverse_modulo_the_least_common_multiple_not_modulo_the_product() {
        let mut workspace = Workspace::new().unwrap();
        // 102 = 6 * 17 and 138 = 6 * 23.
        let (p, q) = (number(&[103]), number(&[139]));
        let d = private_exponent(&p, &q, &mut workspace).unwrap();
        let lcm = number(&2346_u16.to_be_bytes());
        assert!(d < lcm && product_modulo(&d, &number(&[1, 0, 1]), &lcm).is_one());
    }

    #[test]
    fn primes_that_are_too_near_to_each_other_make_no_key() {
        let mut workspace = Workspace::new().unwrap();
        let [p, _] = prime::pair(1024, EXPONENT, &mut Silent).unwrap();
        let near = p.plus_word(2).unwrap();
        assert!(key(p, near, 1024, &mut workspace).unwrap().is_none());
    }

    #[test]
    fn sizes_are_multiples_of_8_from_2048_to_16384() {
        for bits in [2048, 2056, 3072, 4096, 16384] {
            assert_eq!(Size::new(bits).unwrap().bits(), bits);
        }
        for bits in [0, 1024, 2047, 2049, 2052, 16385, 16392, 65536 + 2048] {
            assert!(matches!(Size::new(bits), Err(Error::RsaSize(refused)) if refused == bits));
        }
    }
}
