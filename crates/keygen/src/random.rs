//! Randomness of the operating system, without a generator that would have to be seeded first.

use crate::error::Result;
use bignum::Number;
use zeroize::Zeroizing;

/// Returns that many random bytes.
pub(crate) fn bytes(length: usize) -> Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(vec![0; length]);
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
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

/// Returns a random number with exactly that many bits.
pub(crate) fn of_bits(bits: usize) -> Result<Number> {
    let mut bytes = bytes(bits.div_ceil(8))?;
    let excess = bytes.len() * 8 - bits;
    bytes[0] = bytes[0] & (u8::MAX >> excess) | (1 << 7 >> excess);
    Ok(Number::from_bytes(&bytes)?)
}

/// Returns an evenly chosen number from 2 to `prime` - 2, a base for Miller and Rabin's test.
pub(crate) fn base(prime: &Number) -> Result<Number> {
    let bits = prime.bits();
    let last = prime.minus_word(1)?;
    loop {
        let mut bytes = bytes(bits.div_ceil(8))?;
        bytes[0] &= u8::MAX >> (bytes.len() * 8 - bits);
        let base = Number::from_bytes(&bytes)?;
        if base.bits() > 1 && base < last {
            return Ok(base);
        }
    }
}
