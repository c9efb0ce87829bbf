//! OpenSSL's big numbers, with the functions that RSA, DSA and Elgamal keys need.
//!
//! - [`Number`]: a number of any size;
//! - [`Workspace`]: products, quotients and powers of numbers, [`Power`] of two at once.
//!
//! Every number may be a secret, so that all are wiped when they are dropped. OpenSSL's big numbers need no
//! initialisation of the library, no provider and no random generator.

#![allow(
    unsafe_code,
    reason = "OpenSSL's big numbers are C functions that take pointers; this module owns every one"
)]

use openssl_sys as ffi;
use std::cmp::Ordering;
use std::ffi::c_int;
use std::ptr::{self, NonNull};
use zeroize::Zeroizing;

/// An allocation failed, the only error of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("out of memory")]
pub struct OutOfMemory;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, OutOfMemory>;

/// A number of any size, zero or greater, wiped when it is dropped.
pub struct Number(NonNull<ffi::BIGNUM>);

// SAFETY: a BIGNUM is plain memory of its own; no OpenSSL function used here keeps a pointer to one.
unsafe impl Send for Number {}
// SAFETY: functions that take `&Number` only read it.
unsafe impl Sync for Number {}

impl Number {
    /// Creates a zero.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`], as all methods that return a `Result`.
    pub fn new() -> Result<Self> {
        // SAFETY: returns a number of its own or null.
        NonNull::new(unsafe { ffi::BN_new() }).map(Self).ok_or(OutOfMemory)
    }

    /// Reads a number, the most significant byte first.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let number = Self::new()?;
        let length = c_int::try_from(bytes.len()).map_err(|_| OutOfMemory)?;
        // SAFETY: `bytes` holds `length` bytes, and the number is live.
        check_pointer(unsafe { ffi::BN_bin2bn(bytes.as_ptr(), length, number.as_ptr()) })?;
        Ok(number)
    }

    /// Returns a copy.
    pub fn copy(&self) -> Result<Self> {
        // SAFETY: the number is live; returns a new one or null.
        NonNull::new(unsafe { ffi::BN_dup(self.as_ptr()) }).map(Self).ok_or(OutOfMemory)
    }

    /// Returns the bytes of the number, the most significant one first, without leading zeros.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![0; self.bits().div_ceil(8)]);
        // SAFETY: `BN_bn2bin` writes as many bytes as the number needs, which are there.
        unsafe { ffi::BN_bn2bin(self.as_ptr(), bytes.as_mut_ptr()) };
        bytes
    }

    /// Returns the number in `length` bytes, with leading zeros; `None` if it needs more.
    pub fn to_padded_bytes(&self, length: usize) -> Option<Zeroizing<Vec<u8>>> {
        let mut bytes = Zeroizing::new(vec![0; length]);
        let length = c_int::try_from(length).ok()?;
        // SAFETY: `bytes` holds `length` bytes, of which no more are written.
        let written = unsafe { ffi::BN_bn2binpad(self.as_ptr(), bytes.as_mut_ptr(), length) };
        (written == length).then_some(bytes)
    }

    /// Returns how many bits the number needs.
    pub fn bits(&self) -> usize {
        // SAFETY: the number is live.
        unsafe { ffi::BN_num_bits(self.as_ptr()) as usize }
    }

    /// Returns the number of trailing zero bits; 0 for zero.
    pub fn trailing_zeros(&self) -> usize {
        // SAFETY: the number is live.
        (0..self.bits())
            .find(|&bit| unsafe { ffi::BN_is_bit_set(self.as_ptr(), bit as c_int) } == 1)
            .unwrap_or(0)
    }

    /// Returns whether the number is odd.
    pub fn is_odd(&self) -> bool {
        // SAFETY: the number is live.
        unsafe { ffi::BN_is_odd(self.as_ptr()) == 1 }
    }

    /// Returns whether the number is one.
    pub fn is_one(&self) -> bool {
        self.bits() == 1
    }

    /// Returns the sum with a word.
    pub fn plus_word(&self, word: u64) -> Result<Self> {
        let sum = self.copy()?;
        // SAFETY: the number is live.
        check_status(unsafe { ffi::BN_add_word(sum.as_ptr(), word) })?;
        Ok(sum)
    }

    /// Returns the number minus `word`, which must not be greater.
    pub fn minus_word(&self, word: u64) -> Result<Self> {
        let difference = self.copy()?;
        // SAFETY: the number is live.
        check_status(unsafe { ffi::BN_sub_word(difference.as_ptr(), word) })?;
        Ok(difference)
    }

    /// Returns the number minus `other`, which must not be greater.
    pub fn minus(&self, other: &Self) -> Result<Self> {
        let difference = Self::new()?;
        // SAFETY: the three numbers are live.
        check_status(unsafe { ffi::BN_sub(difference.as_ptr(), self.as_ptr(), other.as_ptr()) })?;
        Ok(difference)
    }

    /// Returns the product with a word.
    pub fn times_word(&self, word: u64) -> Result<Self> {
        let product = self.copy()?;
        // SAFETY: the number is live.
        check_status(unsafe { ffi::BN_mul_word(product.as_ptr(), word) })?;
        Ok(product)
    }

    /// Returns the remainder of the division by a word that is not zero.
    pub fn modulo_word(&self, word: u64) -> u64 {
        debug_assert_ne!(word, 0);
        // SAFETY: the number is live and the word is not zero.
        unsafe { ffi::BN_mod_word(self.as_ptr(), word) }
    }

    /// Returns the quotient of the division by a word that is not zero.
    pub fn divided_by_word(&self, word: u64) -> Result<Self> {
        debug_assert_ne!(word, 0);
        let quotient = self.copy()?;
        // SAFETY: the number is live and the word is not zero.
        unsafe { ffi::BN_div_word(quotient.as_ptr(), word) };
        Ok(quotient)
    }

    /// Returns the number with a bit set.
    pub fn with_bit(&self, bit: usize) -> Result<Self> {
        let number = self.copy()?;
        // SAFETY: the number is live.
        check_status(unsafe { ffi::BN_set_bit(number.as_ptr(), bit as c_int) })?;
        Ok(number)
    }

    /// Returns the number shifted right by `bits` bits.
    pub fn shifted_right(&self, bits: usize) -> Result<Self> {
        let shifted = Self::new()?;
        // SAFETY: both numbers are live.
        check_status(unsafe { ffi::BN_rshift(shifted.as_ptr(), self.as_ptr(), bits as c_int) })?;
        Ok(shifted)
    }

    fn as_ptr(&self) -> *mut ffi::BIGNUM {
        self.0.as_ptr()
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        // SAFETY: this value owns the number.
        unsafe { ffi::BN_clear_free(self.as_ptr()) };
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        // SAFETY: both numbers are live.
        unsafe { ffi::BN_cmp(self.as_ptr(), other.as_ptr()) }.cmp(&0)
    }
}

/// Temporary memory for OpenSSL's functions; each thread needs its own.
pub struct Workspace(NonNull<ffi::BN_CTX>);

impl Workspace {
    /// Creates a workspace.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`], as all methods that return a `Result`.
    pub fn new() -> Result<Self> {
        // SAFETY: returns a context of its own or null.
        NonNull::new(unsafe { ffi::BN_CTX_new() }).map(Self).ok_or(OutOfMemory)
    }

    /// Returns the product of two numbers.
    pub fn product(&mut self, a: &Number, b: &Number) -> Result<Number> {
        let product = Number::new()?;
        // SAFETY: everything is live.
        check_status(unsafe { ffi::BN_mul(product.as_ptr(), a.as_ptr(), b.as_ptr(), self.as_ptr()) })?;
        Ok(product)
    }

    /// Returns the square of a number modulo `modulus`.
    pub fn squared_modulo(&mut self, number: &Number, modulus: &Number) -> Result<Number> {
        let square = Number::new()?;
        // SAFETY: everything is live.
        check_status(unsafe {
            ffi::BN_mod_sqr(square.as_ptr(), number.as_ptr(), modulus.as_ptr(), self.as_ptr())
        })?;
        Ok(square)
    }

    /// Returns the quotient of two numbers, rounded down.
    pub fn quotient(&mut self, number: &Number, divisor: &Number) -> Result<Number> {
        let quotient = Number::new()?;
        // SAFETY: everything is live; a null remainder is not written.
        check_status(unsafe {
            ffi::BN_div(quotient.as_ptr(), ptr::null_mut(), number.as_ptr(), divisor.as_ptr(), self.as_ptr())
        })?;
        Ok(quotient)
    }

    /// Returns the remainder of the division of two numbers.
    pub fn remainder(&mut self, number: &Number, divisor: &Number) -> Result<Number> {
        let remainder = Number::new()?;
        // SAFETY: everything is live; a null quotient is not written.
        check_status(unsafe {
            ffi::BN_div(ptr::null_mut(), remainder.as_ptr(), number.as_ptr(), divisor.as_ptr(), self.as_ptr())
        })?;
        Ok(remainder)
    }

    /// Returns the greatest common divisor, in time that depends only on the lengths of the numbers.
    pub fn greatest_common_divisor(&mut self, a: &Number, b: &Number) -> Result<Number> {
        let divisor = Number::new()?;
        // SAFETY: everything is live.
        check_status(unsafe { ffi::BN_gcd(divisor.as_ptr(), a.as_ptr(), b.as_ptr(), self.as_ptr()) })?;
        Ok(divisor)
    }

    /// Returns a power, in time that depends only on the lengths of the numbers.
    pub fn power(&mut self, power: Power<'_>) -> Result<Number> {
        let result = Number::new()?;
        // SAFETY: everything is live; null for a prepared modulus has OpenSSL prepare it.
        check_status(unsafe {
            BN_mod_exp_mont_consttime(
                result.as_ptr(),
                power.base.as_ptr(),
                power.exponent.as_ptr(),
                power.modulus.as_ptr(),
                self.as_ptr(),
                ptr::null_mut(),
            )
        })?;
        Ok(result)
    }

    /// Returns two powers, in time that depends only on the lengths of the numbers. With odd moduli of 1024, 1536 or
    /// 2048 bits, two powers take hardly longer than one where the processor has AVX-512 IFMA.
    pub fn powers(&mut self, [first, second]: [Power<'_>; 2]) -> Result<[Number; 2]> {
        let results = [Number::new()?, Number::new()?];
        // SAFETY: everything is live; null for a prepared modulus has OpenSSL prepare it.
        check_status(unsafe {
            BN_mod_exp_mont_consttime_x2(
                results[0].as_ptr(),
                first.base.as_ptr(),
                first.exponent.as_ptr(),
                first.modulus.as_ptr(),
                ptr::null_mut(),
                results[1].as_ptr(),
                second.base.as_ptr(),
                second.exponent.as_ptr(),
                second.modulus.as_ptr(),
                ptr::null_mut(),
                self.as_ptr(),
            )
        })?;
        Ok(results)
    }

    fn as_ptr(&self) -> *mut ffi::BN_CTX {
        self.0.as_ptr()
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // SAFETY: this value owns the context, which wipes its numbers.
        unsafe { ffi::BN_CTX_free(self.as_ptr()) };
    }
}

/// `base` to the power of `exponent`, modulo an odd `modulus` that is greater than the base.
#[derive(Clone, Copy)]
pub struct Power<'a> {
    /// Less than the modulus.
    pub base: &'a Number,
    /// Of any size.
    pub exponent: &'a Number,
    /// Odd.
    pub modulus: &'a Number,
}

// Declared as in openssl/bn.h since OpenSSL 3.0; openssl-sys leaves them out.
unsafe extern "C" {
    fn BN_mod_exp_mont_consttime(
        result: *mut ffi::BIGNUM,
        base: *const ffi::BIGNUM,
        exponent: *const ffi::BIGNUM,
        modulus: *const ffi::BIGNUM,
        context: *mut ffi::BN_CTX,
        prepared: *mut ffi::BN_MONT_CTX,
    ) -> c_int;
    fn BN_mod_exp_mont_consttime_x2(
        first: *mut ffi::BIGNUM,
        first_base: *const ffi::BIGNUM,
        first_exponent: *const ffi::BIGNUM,
        first_modulus: *const ffi::BIGNUM,
        first_prepared: *mut ffi::BN_MONT_CTX,
        second: *mut ffi::BIGNUM,
        second_base: *const ffi::BIGNUM,
        second_exponent: *const ffi::BIGNUM,
        second_modulus: *const ffi::BIGNUM,
        second_prepared: *mut ffi::BN_MONT_CTX,
        context: *mut ffi::BN_CTX,
    ) -> c_int;
}

/// Checks the return value of a function that returns 1, and fails only without memory.
fn check_status(returned: c_int) -> Result<()> {
    if returned == 1 { Ok(()) } else { Err(OutOfMemory) }
}

/// Checks the return value of a function that returns null if it has no memory.
fn check_pointer<T>(returned: *mut T) -> Result<()> {
    if returned.is_null() { Err(OutOfMemory) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: u64) -> Number {
        Number::from_bytes(&value.to_be_bytes()).unwrap()
    }

    #[test]
    fn a_power_and_two_at_once_are_the_same() {
        let (base, exponent, modulus) = (number(7), number(1 << 40 | 5), number(0xffff_fffb));
        let power = Power { base: &base, exponent: &exponent, modulus: &modulus };
        let mut workspace = Workspace::new().unwrap();
        let expected = (0..41).rev().fold(1u128, |power, bit| {
            let square = power * power % 0xffff_fffb;
            if (1u64 << 40 | 5) >> bit & 1 == 1 { square * 7 % 0xffff_fffb } else { square }
        });
        assert!(workspace.power(power).unwrap() == number(expected as u64));
        let [first, second] = workspace.powers([power; 2]).unwrap();
        assert!(first == number(expected as u64) && second == first);
    }

    #[test]
    fn quotient_and_remainder_make_the_number_again() {
        let mut workspace = Workspace::new().unwrap();
        let (a, b) = (number(1_000_003), number(97));
        let (quotient, remainder) =
            (workspace.quotient(&a, &b).unwrap(), workspace.remainder(&a, &b).unwrap());
        assert!(quotient == number(10_309) && remainder == number(30));
    }

    #[test]
    fn bytes_are_padded_in_front_and_never_cut() {
        assert_eq!(*number(0x0102).to_bytes(), [1, 2]);
        assert_eq!(*number(0x0102).to_padded_bytes(4).unwrap(), [0, 0, 1, 2]);
        assert!(number(0x0102).to_padded_bytes(1).is_none());
    }
}
