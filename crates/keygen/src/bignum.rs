//! Big numbers of OpenSSL, as few of their functions as a search for primes needs.
//!
//! Every number here may be a secret: all are wiped when they go. OpenSSL's big numbers need none of its set-up, no
//! provider and no random generator, so that they cost nothing to begin with.

#![allow(
    unsafe_code,
    reason = "OpenSSL's big numbers are C functions that take pointers; this module owns every one"
)]

use crate::error::{Error, Result};
use openssl_sys as ffi;
use std::cmp::Ordering;
use std::ffi::c_int;
use std::ptr::{self, NonNull};
use zeroize::Zeroizing;

/// A number of any size, zero or greater, wiped when it goes.
pub(crate) struct Number(NonNull<ffi::BIGNUM>);

// SAFETY: a BIGNUM is plain memory of its own; no OpenSSL function used here keeps a pointer to one.
unsafe impl Send for Number {}
// SAFETY: functions that take `&Number` only read it.
unsafe impl Sync for Number {}

impl Number {
    /// Makes a zero.
    pub(crate) fn new() -> Result<Self> {
        // SAFETY: returns a number of its own or null.
        NonNull::new(unsafe { ffi::BN_new() }).map(Self).ok_or(Error::Memory)
    }

    /// Reads a number, most significant octet first.
    pub(crate) fn from_octets(octets: &[u8]) -> Result<Self> {
        let number = Self::new()?;
        let length = c_int::try_from(octets.len()).map_err(|_| Error::Memory)?;
        // SAFETY: `octets` holds `length` octets, and the number is live.
        some(unsafe { ffi::BN_bin2bn(octets.as_ptr(), length, number.as_ptr()) })?;
        Ok(number)
    }

    /// Makes a copy.
    pub(crate) fn copy(&self) -> Result<Self> {
        // SAFETY: the number is live; returns a new one or null.
        NonNull::new(unsafe { ffi::BN_dup(self.as_ptr()) }).map(Self).ok_or(Error::Memory)
    }

    /// Returns the number, most significant octet first, without leading zeros.
    pub(crate) fn to_octets(&self) -> Zeroizing<Vec<u8>> {
        let mut octets = Zeroizing::new(vec![0; self.bits().div_ceil(8)]);
        // SAFETY: `BN_bn2bin` writes as many octets as the number needs, which are there.
        unsafe { ffi::BN_bn2bin(self.as_ptr(), octets.as_mut_ptr()) };
        octets
    }

    /// Returns how many bits the number needs.
    pub(crate) fn bits(&self) -> usize {
        // SAFETY: the number is live.
        unsafe { ffi::BN_num_bits(self.as_ptr()) as usize }
    }

    /// Returns how often 2 divides the number; of zero, 0.
    pub(crate) fn trailing_zeros(&self) -> usize {
        // SAFETY: the number is live.
        (0..self.bits())
            .find(|&bit| unsafe { ffi::BN_is_bit_set(self.as_ptr(), bit as c_int) } == 1)
            .unwrap_or(0)
    }

    /// Says whether the number is one.
    pub(crate) fn is_one(&self) -> bool {
        self.bits() == 1
    }

    pub(crate) fn plus_word(&self, word: u64) -> Result<Self> {
        let sum = self.copy()?;
        // SAFETY: the number is live.
        done(unsafe { ffi::BN_add_word(sum.as_ptr(), word) })?;
        Ok(sum)
    }

    /// Returns the number less `word`, which is not greater.
    pub(crate) fn minus_word(&self, word: u64) -> Result<Self> {
        let difference = self.copy()?;
        // SAFETY: the number is live.
        done(unsafe { ffi::BN_sub_word(difference.as_ptr(), word) })?;
        Ok(difference)
    }

    /// Returns the number less `other`, which is not greater.
    pub(crate) fn minus(&self, other: &Self) -> Result<Self> {
        let difference = Self::new()?;
        // SAFETY: the three numbers are live.
        done(unsafe { ffi::BN_sub(difference.as_ptr(), self.as_ptr(), other.as_ptr()) })?;
        Ok(difference)
    }

    pub(crate) fn times_word(&self, word: u64) -> Result<Self> {
        let product = self.copy()?;
        // SAFETY: the number is live.
        done(unsafe { ffi::BN_mul_word(product.as_ptr(), word) })?;
        Ok(product)
    }

    /// Returns the remainder of the division by a word that is not zero.
    pub(crate) fn modulo_word(&self, word: u64) -> u64 {
        debug_assert_ne!(word, 0);
        // SAFETY: the number is live and the word is not zero.
        unsafe { ffi::BN_mod_word(self.as_ptr(), word) }
    }

    /// Returns the quotient of the division by a word that is not zero.
    pub(crate) fn divided_by_word(&self, word: u64) -> Result<Self> {
        debug_assert_ne!(word, 0);
        let quotient = self.copy()?;
        // SAFETY: the number is live and the word is not zero.
        unsafe { ffi::BN_div_word(quotient.as_ptr(), word) };
        Ok(quotient)
    }

    pub(crate) fn shifted_right(&self, bits: usize) -> Result<Self> {
        let shifted = Self::new()?;
        // SAFETY: both numbers are live.
        done(unsafe { ffi::BN_rshift(shifted.as_ptr(), self.as_ptr(), bits as c_int) })?;
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

/// Room for what OpenSSL's functions need on the way; one for each thread.
pub(crate) struct Workspace(NonNull<ffi::BN_CTX>);

impl Workspace {
    pub(crate) fn new() -> Result<Self> {
        // SAFETY: returns a context of its own or null.
        NonNull::new(unsafe { ffi::BN_CTX_new() }).map(Self).ok_or(Error::Memory)
    }

    pub(crate) fn product(&mut self, a: &Number, b: &Number) -> Result<Number> {
        let product = Number::new()?;
        // SAFETY: everything is live.
        done(unsafe { ffi::BN_mul(product.as_ptr(), a.as_ptr(), b.as_ptr(), self.as_ptr()) })?;
        Ok(product)
    }

    pub(crate) fn squared_modulo(&mut self, number: &Number, modulus: &Number) -> Result<Number> {
        let square = Number::new()?;
        // SAFETY: everything is live.
        done(unsafe { ffi::BN_mod_sqr(square.as_ptr(), number.as_ptr(), modulus.as_ptr(), self.as_ptr()) })?;
        Ok(square)
    }

    /// Returns the quotient of a division, rounded down.
    pub(crate) fn quotient(&mut self, number: &Number, divisor: &Number) -> Result<Number> {
        let quotient = Number::new()?;
        // SAFETY: everything is live; a null remainder is not written.
        done(unsafe {
            ffi::BN_div(quotient.as_ptr(), ptr::null_mut(), number.as_ptr(), divisor.as_ptr(), self.as_ptr())
        })?;
        Ok(quotient)
    }

    /// Returns the greatest common divisor, in time that tells only how long the numbers are.
    pub(crate) fn greatest_common_divisor(&mut self, a: &Number, b: &Number) -> Result<Number> {
        let divisor = Number::new()?;
        // SAFETY: everything is live.
        done(unsafe { ffi::BN_gcd(divisor.as_ptr(), a.as_ptr(), b.as_ptr(), self.as_ptr()) })?;
        Ok(divisor)
    }

    /// Returns two powers at once, in time that tells only how long the numbers are. Two odd moduli of 1024, 1536 or 2048
    /// bits take hardly longer than one where the processor has AVX-512 IFMA.
    pub(crate) fn powers(&mut self, [first, second]: [Power<'_>; 2]) -> Result<[Number; 2]> {
        let results = [Number::new()?, Number::new()?];
        // SAFETY: everything is live; null for a prepared modulus has OpenSSL prepare it.
        done(unsafe {
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
pub(crate) struct Power<'a> {
    pub(crate) base: &'a Number,
    pub(crate) exponent: &'a Number,
    pub(crate) modulus: &'a Number,
}

// Declared as in openssl/bn.h since OpenSSL 3.0; openssl-sys leaves it out.
unsafe extern "C" {
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

/// Reads the answer of a function that fails only where memory is missing.
fn done(answer: c_int) -> Result<()> {
    if answer == 1 { Ok(()) } else { Err(Error::Memory) }
}

fn some<T>(answer: *mut T) -> Result<()> {
    if answer.is_null() { Err(Error::Memory) } else { Ok(()) }
}
