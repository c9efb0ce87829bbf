//! The numbers of DSA and Elgamal keys.
//!
//! New keys should not use these algorithms (RFC 9580, 9.1); they are generated for compatibility.

use crate::error::{Error, Result};
use openssl::bn::{BigNum, BigNumContext, BigNumRef};
use openssl::error::ErrorStack;
use zeroize::Zeroizing;

/// The size of a DSA key, which is that of its prime: a multiple of 64 bits from 768 to 3072.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DsaSize(u16);

impl DsaSize {
    /// Checks a size in bits.
    ///
    /// # Errors
    ///
    /// [`Error::GroupSize`] if the size is not supported.
    pub fn new(bits: u32) -> Result<Self> {
        match u16::try_from(bits) {
            Ok(bits @ 768..=3072) if bits % 64 == 0 => Ok(Self(bits)),
            _ => Err(Error::GroupSize(bits)),
        }
    }

    /// Returns the size in bits.
    pub fn bits(self) -> u32 {
        self.0.into()
    }

    /// Returns the size of the subgroup's order, in bits, as GnuPG chooses it.
    pub fn subgroup_bits(self) -> u32 {
        match self.0 {
            2048.. => 256,
            1025.. => 224,
            _ => 160,
        }
    }
}

/// The group of an Elgamal key, one of those of RFC 7919.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElgamalSize {
    /// ffdhe2048.
    Bits2048,
    /// ffdhe3072.
    Bits3072,
    /// ffdhe4096.
    Bits4096,
}

impl ElgamalSize {
    /// Returns the smallest group whose prime has at least this size in bits.
    ///
    /// # Errors
    ///
    /// [`Error::GroupSize`] above 4096 bits.
    pub fn at_least(bits: u32) -> Result<Self> {
        match bits {
            ..=2048 => Ok(Self::Bits2048),
            2049..=3072 => Ok(Self::Bits3072),
            3073..=4096 => Ok(Self::Bits4096),
            _ => Err(Error::GroupSize(bits)),
        }
    }

    /// Returns the size of the prime in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits2048 => 2048,
            Self::Bits3072 => 3072,
            Self::Bits4096 => 4096,
        }
    }

    /// Returns the size of a secret exponent in bits: half as long again as RFC 7919 requires (appendix A), as GnuPG has
    /// it.
    fn exponent_bits(self) -> i32 {
        let least = match self {
            Self::Bits2048 => 225,
            Self::Bits3072 => 275,
            Self::Bits4096 => 325,
        };
        least * 3 / 2
    }

    /// Returns the prime (RFC 7919, appendix A): 2^b - 2^(b - 64) + (floor(2^(b - 130) e) + x) 2^64 - 1, with the least x
    /// for which it and half of it less one are primes, and e, the base of the natural logarithm.
    fn prime(self) -> std::result::Result<BigNum, ErrorStack> {
        let x = match self {
            Self::Bits2048 => 560_316,
            Self::Bits3072 => 2_625_351,
            Self::Bits4096 => 5_736_041,
        };
        let bits = self.bits() as i32;
        let mut middle = digits_of_e(bits - 130)?;
        middle.add_word(x)?;
        let one = BigNum::from_u32(1)?;
        let power = |exponent| -> std::result::Result<BigNum, ErrorStack> {
            let mut power = BigNum::new()?;
            power.lshift(&one, exponent)?;
            Ok(power)
        };
        let (mut prime, mut sum) = (BigNum::new()?, BigNum::new()?);
        prime.lshift(&middle, 64)?;
        sum.checked_add(&prime, &*power(bits)?)?;
        prime.checked_sub(&sum, &*power(bits - 64)?)?;
        prime.sub_word(1)?;
        Ok(prime)
    }
}

/// Returns 2^`bits` times e, rounded down: the sum of 2^`bits` / k! for all k.
fn digits_of_e(bits: i32) -> std::result::Result<BigNum, ErrorStack> {
    /// So many more bits are computed that the errors of the divisions do not matter.
    const GUARD: i32 = 64;
    let (mut term, mut sum) = (BigNum::new()?, BigNum::new()?);
    term.set_bit(bits + GUARD)?;
    for k in 1.. {
        if term.num_bits() == 0 {
            break;
        }
        let mut next = BigNum::new()?;
        next.checked_add(&sum, &term)?;
        sum = next;
        term.div_word(k)?;
    }
    let mut digits = BigNum::new()?;
    digits.rshift(&sum, GUARD)?;
    Ok(digits)
}

/// The numbers of a key, the most significant byte first, without leading zeros.
pub(crate) struct Numbers {
    /// The public numbers in the order of the packet (RFC 9580, 5.5.5.2 and 5.5.5.3).
    pub(crate) public: Vec<Vec<u8>>,
    /// The secret exponent.
    pub(crate) x: Zeroizing<Vec<u8>>,
}

/// Generates a DSA key: p is 1 modulo the prime q, g has the order q, x is below q (FIPS 186-4, A.1.1.2 without its
/// seed, A.2.1 and B.1.2). OpenSSL finds the primes.
///
/// # Errors
///
/// [`Error::Library`] without memory, [`Error::Randomness`].
pub(crate) fn dsa(size: DsaSize) -> Result<Numbers> {
    libcrypto::initialise();
    let mut q = BigNum::new()?;
    q.generate_prime(size.subgroup_bits() as i32, false, None, None)?;
    let p = prime_above_multiple(size.bits() as i32, &q)?;
    let g = generator(&p, &q)?;
    let x = loop {
        let x = random_secret(q.num_bits())?;
        if x.num_bits() > 0 && x < q {
            break x;
        }
    };
    let y = power(&g, &x, &p)?;
    Ok(Numbers { public: [p, q, g, y].map(|number| number.to_vec()).to_vec(), x: Zeroizing::new(x.to_vec()) })
}

/// Returns a prime of `bits` bits that is 1 modulo twice `q`.
fn prime_above_multiple(bits: i32, q: &BigNumRef) -> std::result::Result<BigNum, ErrorStack> {
    let (mut twice, one) = (BigNum::new()?, BigNum::from_u32(1)?);
    twice.lshift1(q)?;
    loop {
        let mut p = BigNum::new()?;
        p.generate_prime(bits, false, Some(&twice), Some(&one))?;
        // The search may step over the last number of this size.
        if p.num_bits() == bits {
            return Ok(p);
        }
    }
}

/// Returns a generator of the subgroup of order `q`.
fn generator(p: &BigNumRef, q: &BigNumRef) -> std::result::Result<BigNum, ErrorStack> {
    let mut cofactor = BigNum::new()?;
    cofactor.checked_div(p, q, &mut *BigNumContext::new()?)?;
    loop {
        let mut base = BigNum::new()?;
        p.rand_range(&mut base)?;
        let g = power(&base, &cofactor, p)?;
        if g.num_bits() > 1 {
            return Ok(g);
        }
    }
}

/// Generates an Elgamal key in a group of RFC 7919, whose generator is 2: no small subgroup reveals bits of the secret
/// exponent.
///
/// # Errors
///
/// [`Error::Library`] without memory, [`Error::Randomness`].
pub(crate) fn elgamal(size: ElgamalSize) -> Result<Numbers> {
    libcrypto::initialise();
    let (p, g) = (size.prime()?, BigNum::from_u32(2)?);
    let bits = size.exponent_bits();
    let mut x = random_secret(bits)?;
    x.set_bit(bits - 1)?;
    let y = power(&g, &x, &p)?;
    Ok(Numbers { public: [p, g, y].map(|number| number.to_vec()).to_vec(), x: Zeroizing::new(x.to_vec()) })
}

/// Makes a random number of at most `bits` bits, which is computed with in constant time and wiped. It comes from the
/// operating system, and not from the generator whose other output the public numbers show.
fn random_secret(bits: i32) -> Result<BigNum> {
    let bits = bits as usize;
    let mut bytes = Zeroizing::new(vec![0; bits.div_ceil(8)]);
    getrandom::fill(&mut bytes)?;
    bytes[0] >>= 8 * bytes.len() - bits;
    let mut number = BigNum::new_secure()?;
    number.set_const_time();
    number.copy_from_slice(&bytes)?;
    Ok(number)
}

fn power(
    base: &BigNumRef,
    exponent: &BigNumRef,
    modulus: &BigNumRef,
) -> std::result::Result<BigNum, ErrorStack> {
    let mut power = BigNum::new()?;
    power.mod_exp(base, exponent, modulus, &mut *BigNumContext::new_secure()?)?;
    Ok(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers<const N: usize>(made: &Numbers) -> [BigNum; N] {
        let read = made.public.iter().map(|bytes| BigNum::from_slice(bytes).unwrap());
        read.collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{N} numbers"))
    }

    fn is_prime(number: &BigNumRef) -> bool {
        number.is_prime(20, &mut BigNumContext::new().unwrap()).unwrap()
    }

    #[test]
    fn the_generator_of_a_dsa_key_has_the_order_of_the_subgroup() {
        for (bits, subgroup) in [(768, 160), (1024, 160), (1088, 224), (2048, 256)] {
            let made = dsa(DsaSize::new(bits).unwrap()).unwrap();
            let [p, q, g, y] = numbers(&made);
            assert_eq!((p.num_bits(), q.num_bits()), (bits as i32, subgroup));
            assert!(is_prime(&p) && is_prime(&q));
            let mut remainder = BigNum::new().unwrap();
            remainder.checked_rem(&p, &q, &mut BigNumContext::new().unwrap()).unwrap();
            assert_eq!(remainder.num_bits(), 1);
            for element in [&g, &y] {
                assert!(power(element, &q, &p).unwrap().num_bits() == 1 && element.num_bits() > 1);
            }
            assert!(BigNum::from_slice(&made.x).unwrap() < q);
        }
    }

    #[test]
    fn the_groups_are_those_of_rfc_7919() {
        libcrypto::initialise();
        // The first digits after the ones are those of e, and the last ones before the ones depend on x.
        for (size, last) in [
            (ElgamalSize::Bits2048, "886B423861285C97FFFFFFFFFFFFFFFF"),
            (ElgamalSize::Bits3072, "25E41D2B66C62E37FFFFFFFFFFFFFFFF"),
            (ElgamalSize::Bits4096, "C68A007E5E655F6AFFFFFFFFFFFFFFFF"),
        ] {
            let prime = size.prime().unwrap();
            let digits = prime.to_hex_str().unwrap().to_string();
            assert!(digits.starts_with("FFFFFFFFFFFFFFFFADF85458A2BB4A9AAFDC5620273D3CF1"), "{digits}");
            assert!(digits.ends_with(last), "{digits}");
            let mut half = BigNum::new().unwrap();
            half.rshift1(&prime).unwrap();
            assert!(is_prime(&prime) && is_prime(&half), "{size:?}");
        }
    }

    #[test]
    fn an_elgamal_key_is_a_power_of_2_with_an_exponent_that_is_long_enough() {
        for size in [ElgamalSize::Bits2048, ElgamalSize::Bits3072] {
            let made = elgamal(size).unwrap();
            let [p, g, y] = numbers(&made);
            let x = BigNum::from_slice(&made.x).unwrap();
            assert_eq!((p.num_bits(), x.num_bits()), (size.bits() as i32, size.exponent_bits()));
            assert!(g == BigNum::from_u32(2).unwrap() && power(&g, &x, &p).unwrap() == y);
        }
    }

    #[test]
    fn sizes_are_those_of_gnupg_and_of_the_groups() {
        assert!([768, 1024, 2048, 3072].iter().all(|bits| DsaSize::new(*bits).is_ok()));
        assert!([512, 1000, 3136, 4096].iter().all(|bits| DsaSize::new(*bits).is_err()));
        let group = |bits| ElgamalSize::at_least(bits).map(ElgamalSize::bits).ok();
        assert_eq!([1024, 2048, 2049, 3072, 4096].map(group), [2048, 2048, 3072, 3072, 4096].map(Some));
        assert_eq!(group(4097), None);
    }
}
