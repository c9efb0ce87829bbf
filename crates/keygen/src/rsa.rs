//! The numbers of RSA keys, by the rules of FIPS 186-5, appendix A.1.

use crate::error::{Error, Result};
use openssl::bn::{BigNum, BigNumRef};
use openssl::error::ErrorStack;
use openssl::rsa::Rsa;
use zeroize::Zeroizing;

/// The public exponent of every key.
pub(crate) const EXPONENT: u64 = 65537;

/// The length of a modulus in bits: a multiple of 8 from 2048 to 16384, or a weak one from 1024 on.
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

    /// Checks a size in bits that may be too small to be safe, for old programs and the tests of others.
    ///
    /// # Errors
    ///
    /// [`Error::RsaSize`] if it is not a multiple of 8 from 1024 to 16384.
    pub fn perhaps_weak(bits: u32) -> Result<Self> {
        match u16::try_from(bits) {
            Ok(weak @ 1024..2048) if weak % 8 == 0 => Ok(Self(weak)),
            _ => Self::new(bits),
        }
    }

    /// Returns the length of the modulus in bits.
    pub fn bits(self) -> u32 {
        self.0.into()
    }
}

/// The numbers of an RSA key (RFC 9580, 5.5.5.1), the most significant byte first, without leading zeros. All but the
/// first two are secret, and are wiped.
pub(crate) struct Numbers {
    /// The modulus, the product of the primes.
    pub(crate) n: Vec<u8>,
    /// The public exponent.
    pub(crate) e: Vec<u8>,
    /// The private exponent: the inverse of `e` modulo the least common multiple of p - 1 and q - 1.
    pub(crate) d: Zeroizing<Vec<u8>>,
    /// The smaller prime.
    pub(crate) p: Zeroizing<Vec<u8>>,
    /// The larger prime.
    pub(crate) q: Zeroizing<Vec<u8>>,
    /// The inverse of p modulo q.
    pub(crate) u: Zeroizing<Vec<u8>>,
}

/// Generates the numbers of a key of any size by OpenSSL, on one core.
pub(crate) fn generate_by_openssl(size: Size) -> std::result::Result<Numbers, ErrorStack> {
    libcrypto::initialise();
    let key = Rsa::generate_with_e(size.bits(), &*BigNum::from_u32(EXPONENT as u32)?)?;
    let secret =
        |number: Option<&BigNumRef>| Zeroizing::new(number.expect("a new key has all numbers").to_vec());
    // OpenSSL's first prime is the larger one, and its coefficient is the inverse of the second one modulo the first one.
    Ok(Numbers {
        n: key.n().to_vec(),
        e: key.e().to_vec(),
        d: secret(Some(key.d())),
        p: secret(key.q()),
        q: secret(key.p()),
        u: secret(key.iqmp()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws_lc;
    use openssl::bn::BigNumContext;

    fn number(bytes: &[u8]) -> BigNum {
        BigNum::from_slice(bytes).unwrap()
    }

    fn product(a: &BigNumRef, b: &BigNumRef) -> BigNum {
        let mut product = BigNum::new().unwrap();
        product.checked_mul(a, b, &mut BigNumContext::new().unwrap()).unwrap();
        product
    }

    fn remainder(number: &BigNumRef, divisor: &BigNumRef) -> BigNum {
        let mut remainder = BigNum::new().unwrap();
        remainder.checked_rem(number, divisor, &mut BigNumContext::new().unwrap()).unwrap();
        remainder
    }

    fn less(number: &BigNumRef, word: u32) -> BigNum {
        let mut less = number.to_owned().unwrap();
        less.sub_word(word).unwrap();
        less
    }

    /// The least common multiple of p - 1 and q - 1.
    fn common_multiple(p: &BigNumRef, q: &BigNumRef) -> BigNum {
        let (p, q) = (less(p, 1), less(q, 1));
        let mut context = BigNumContext::new().unwrap();
        let (mut divisor, mut multiple) = (BigNum::new().unwrap(), BigNum::new().unwrap());
        divisor.gcd(&p, &q, &mut context).unwrap();
        multiple.checked_div(&product(&p, &q), &divisor, &mut context).unwrap();
        multiple
    }

    fn follows_the_rules(bits: i32, key: &Numbers) {
        let half = bits / 2;
        let [n, e, d, p, q, u] = [&key.n[..], &key.e, &key.d, &key.p, &key.q, &key.u].map(number);
        assert_eq!((n.num_bits(), &key.e[..]), (bits, &[1, 0, 1][..]));
        assert!(product(&p, &q) == n);
        let mut difference = BigNum::new().unwrap();
        difference.checked_sub(&q, &p).unwrap();
        assert!(p < q && difference.num_bits() > half - 100);
        for prime in [&p, &q] {
            assert!(prime.is_prime(40, &mut BigNumContext::new().unwrap()).unwrap());
            assert_eq!((prime.num_bits(), product(prime, prime).num_bits()), (half, 2 * half));
        }
        let multiple = common_multiple(&p, &q);
        assert!(
            d.num_bits() > half && d < multiple && remainder(&product(&d, &e), &multiple).num_bits() == 1
        );
        assert!(u < q && remainder(&product(&u, &p), &q).num_bits() == 1);
    }

    #[test]
    fn keys_of_aws_lc_follow_the_rules_of_fips_186_5() {
        for bits in [2048, 2176, 3072] {
            let key = aws_lc::generate(Size::new(bits).unwrap(), |_| true).unwrap().expect("not stopped");
            follows_the_rules(bits as i32, &key);
        }
    }

    #[test]
    fn keys_of_openssl_follow_the_rules_of_fips_186_5() {
        for bits in [2048, 2056, 2064] {
            follows_the_rules(bits as i32, &generate_by_openssl(Size::new(bits).unwrap()).unwrap());
        }
    }

    #[test]
    fn weak_sizes_are_multiples_of_8_from_1024_on_and_asked_for_by_name() {
        for bits in [1024, 1032, 2040, 2048, 16384] {
            assert_eq!(Size::perhaps_weak(bits).unwrap().bits(), bits);
        }
        for bits in [0, 1016, 1025, 16392] {
            assert!(Size::perhaps_weak(bits).is_err());
        }
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
