//! Reads numbers into OpenSSL's form.

use openssl::bn::{BigNum, BigNumContext, BigNumRef};
use openssl::error::ErrorStack;
use zeroize::Zeroizing;

/// Reads a public number, the most significant byte first.
pub(crate) fn public(bytes: &[u8]) -> Result<BigNum, ErrorStack> {
    BigNum::from_slice(bytes)
}

/// Reads a secret number, the most significant byte first: it is computed with in constant time, and wiped when it is
/// freed.
pub(crate) fn secret(bytes: &[u8]) -> Result<BigNum, ErrorStack> {
    let mut number = result()?;
    number.copy_from_slice(bytes)?;
    Ok(number)
}

/// Creates a number for a secret result.
pub(crate) fn result() -> Result<BigNum, ErrorStack> {
    let mut number = BigNum::new_secure()?;
    number.set_const_time();
    Ok(number)
}

/// Creates temporary memory that is wiped.
pub(crate) fn context() -> Result<BigNumContext, ErrorStack> {
    BigNumContext::new_secure()
}

/// Computes a power of a public base, in time that depends only on the lengths of the numbers.
pub(crate) fn power(
    base: &BigNumRef,
    exponent: &BigNumRef,
    modulus: &BigNumRef,
) -> Result<BigNum, ErrorStack> {
    let mut power = result()?;
    power.mod_exp(base, exponent, modulus, &mut *context()?)?;
    Ok(power)
}

/// Returns whether a number is from 1 to the modulus minus one.
pub(crate) fn is_within(number: &BigNumRef, modulus: &BigNumRef) -> bool {
    number.num_bits() > 0 && number < modulus
}

/// Returns the bytes of a secret number in as many bytes as the modulus has.
pub(crate) fn padded(number: &BigNumRef, modulus: &BigNumRef) -> Result<Zeroizing<Vec<u8>>, ErrorStack> {
    number.to_vec_padded(modulus.num_bytes()).map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_wiped_and_computed_with_in_constant_time() {
        let number = secret(&[1, 2]).expect("memory");
        assert!(number.is_secure() && number.is_const_time());
        assert_eq!(number.to_vec(), [1, 2]);
        let modulus = public(&[1, 0, 0, 1]).expect("memory");
        assert_eq!(**padded(&number, &modulus).expect("memory"), [0, 0, 1, 2]);
        let power = power(&public(&[3]).expect("memory"), &number, &modulus).expect("memory");
        assert!(power.is_secure() && power.is_const_time());
    }
}
