//! aws-lc's generator of RSA keys, which can be stopped.

#![allow(
    unsafe_code,
    reason = "the safe interface can neither stop the generator nor return the numbers; this module owns every pointer"
)]

use aws_lc_sys as ffi;
use std::ffi::c_int;
use std::ptr::{self, NonNull};
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::rsa::{EXPONENT, Numbers, Size};

/// What happened in a generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// A number was drawn, or passed a round of the test.
    Working,
    /// A number is not prime.
    Composite,
    /// A prime was found.
    Prime,
}

/// Generates the numbers of a key, whose size is a multiple of 128 bits; `None` if `proceed`, which is called many times
/// a second, returned false. aws-lc wipes the memory that it frees.
///
/// # Errors
///
/// [`Error::Memory`].
pub(crate) fn generate(size: Size, mut proceed: impl FnMut(Event) -> bool) -> Result<Option<Numbers>> {
    debug_assert!(size.bits().is_multiple_of(128), "aws-lc would round the size down");
    let mut stopped = false;
    let mut observer = |event| {
        stopped = !proceed(event);
        !stopped
    };
    let mut observer: &mut dyn FnMut(Event) -> bool = &mut observer;
    // SAFETY: each function returns a value of its own or null, which the other one frees.
    let (rsa, exponent, callback) = unsafe {
        (
            Owned::new(ffi::RSA_new(), ffi::RSA_free)?,
            Owned::new(ffi::BN_new(), ffi::BN_free)?,
            Owned::new(ffi::BN_GENCB_new(), ffi::BN_GENCB_free)?,
        )
    };
    // SAFETY: the pointers are live; the callback is called only by `RSA_generate_key_ex`, while `observer` is live and
    // nothing else uses it.
    let status = unsafe {
        ffi::BN_GENCB_set(callback.0.as_ptr(), Some(observe), ptr::from_mut(&mut observer).cast());
        if ffi::BN_set_word(exponent.0.as_ptr(), EXPONENT) != 1 {
            return Err(Error::Memory);
        }
        let (bits, exponent) = (size.bits() as c_int, exponent.0.as_ptr());
        ffi::RSA_generate_key_ex(rsa.0.as_ptr(), bits, exponent, callback.0.as_ptr())
    };
    match status {
        1 => Ok(Some(numbers(&rsa))),
        _ if stopped => Ok(None),
        _ => Err(Error::Memory),
    }
}

/// Tells the observer behind the callback of an event; returns 0 to stop the generator.
///
/// # Safety
///
/// The argument of the callback is a pointer to an observer that is live and not borrowed.
unsafe extern "C" fn observe(event: c_int, _: c_int, callback: *mut ffi::BN_GENCB) -> c_int {
    // SAFETY: `generate` set the argument to such a pointer.
    let observer = unsafe { &mut *ffi::BN_GENCB_get_arg(callback).cast::<&mut dyn FnMut(Event) -> bool>() };
    // The numbers of the events are those of `RSA_generate_key_ex` in openssl/rsa.h.
    let event = match event {
        2 => Event::Composite,
        3 => Event::Prime,
        _ => Event::Working,
    };
    observer(event).into()
}

/// Returns the numbers of a generated key. Its first prime is the larger one, and its coefficient is the inverse of the
/// second one modulo the first one.
fn numbers(rsa: &Owned<ffi::RSA>) -> Numbers {
    let rsa = rsa.0.as_ptr().cast_const();
    // SAFETY: the key is live and complete, so that all its numbers are there while it is not changed.
    unsafe {
        Numbers {
            n: bytes(ffi::RSA_get0_n(rsa)).to_vec(),
            e: bytes(ffi::RSA_get0_e(rsa)).to_vec(),
            d: bytes(ffi::RSA_get0_d(rsa)),
            p: bytes(ffi::RSA_get0_q(rsa)),
            q: bytes(ffi::RSA_get0_p(rsa)),
            u: bytes(ffi::RSA_get0_iqmp(rsa)),
        }
    }
}

/// Returns the bytes of a number, the most significant one first, without leading zeros.
///
/// # Safety
///
/// The number is live.
unsafe fn bytes(number: *const ffi::BIGNUM) -> Zeroizing<Vec<u8>> {
    // SAFETY: the caller's; as many bytes are written as the number has.
    unsafe {
        let mut bytes = Zeroizing::new(vec![0; ffi::BN_num_bytes(number) as usize]);
        ffi::BN_bn2bin(number, bytes.as_mut_ptr());
        bytes
    }
}

/// A value that aws-lc allocated, with the function that frees it.
struct Owned<T>(NonNull<T>, unsafe extern "C" fn(*mut T));

impl<T> Owned<T> {
    /// # Safety
    ///
    /// The pointer is null, or `free` frees it and nothing else does.
    unsafe fn new(pointer: *mut T, free: unsafe extern "C" fn(*mut T)) -> Result<Self> {
        NonNull::new(pointer).map(|pointer| Self(pointer, free)).ok_or(Error::Memory)
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: the constructor's condition.
        unsafe { self.1(self.0.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generator_that_is_not_stopped_finds_two_primes() {
        let mut primes = 0;
        let numbers = generate(Size::new(2048).unwrap(), |event| {
            primes += usize::from(event == Event::Prime);
            true
        });
        let numbers = numbers.unwrap().expect("it was not stopped");
        assert_eq!((primes, numbers.n.len(), &numbers.e[..]), (2, 256, &[1, 0, 1][..]));
        assert_eq!((numbers.p.len(), numbers.q.len()), (128, 128));
    }

    #[test]
    fn a_generator_ends_at_once_when_it_is_told_to() {
        for after in [1, 2, 40] {
            let mut events = 0;
            let stopped = generate(Size::new(4096).unwrap(), |_| {
                events += 1;
                events < after
            });
            assert!(stopped.unwrap().is_none());
            assert_eq!(events, after);
        }
    }
}
