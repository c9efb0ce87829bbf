//! Random numbers, directly from the operating system.

use crate::error::Result;
use libcrypto::bignum::Number;
use zeroize::Zeroizing;

/// Returns `length` random bytes.
pub(crate) fn bytes(length: usize) -> Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(vec![0; length]);
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// Returns a uniformly distributed number below `bound`, which must not be zero.
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

/// Returns a random number of exactly `bits` bits.
pub(crate) fn of_bits(bits: usize) -> Result<Number> {
    let mut bytes = bytes(bits.div_ceil(8))?;
    let excess = bytes.len() * 8 - bits;
    bytes[0] = bytes[0] & (u8::MAX >> excess) | (1 << 7 >> excess);
    Ok(Number::from_bytes(&bytes)?)
}

/// Returns a uniformly distributed number from 2 to `prime` - 2, a base for the Miller-Rabin test.
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
