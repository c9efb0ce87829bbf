//! Randomness of the operating system, without a generator that would have to be seeded first.

use crate::bignum::Number;
use crate::error::Result;
use zeroize::Zeroizing;

/// Returns that many random octets.
pub(crate) fn octets(length: usize) -> Result<Zeroizing<Vec<u8>>> {
    let mut octets = Zeroizing::new(vec![0; length]);
    getrandom::fill(&mut octets)?;
    Ok(octets)
}

/// Returns an evenly chosen number below `bound`, which is not zero.
pub(crate) fn below(bound: usize) -> Result<usize> {
    let bound = bound as u64;
    let usable = u64::MAX - u64::MAX % bound;
    loop {
        let number = getrandom::u64()?;
        if number < usable {
            return Ok((number % bound) as usize);
        }
    }
}

/// Returns an evenly chosen number from 2 to `prime` - 2, a base for Miller and Rabin's test.
pub(crate) fn base(prime: &Number) -> Result<Number> {
    let bits = prime.bits();
    let last = prime.minus_word(1)?;
    loop {
        let mut octets = octets(bits.div_ceil(8))?;
        octets[0] &= u8::MAX >> (octets.len() * 8 - bits);
        let base = Number::from_octets(&octets)?;
        if base.bits() > 1 && base < last {
            return Ok(base);
        }
    }
}
