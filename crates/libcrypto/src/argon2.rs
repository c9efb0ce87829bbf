//! Keys from passwords with Argon2 (RFC 9106).

#![allow(
    unsafe_code,
    reason = "the `openssl` crate leaves a copy of the password in memory that it does not wipe"
)]

use crate::{Unavailable, initialise};
use openssl::error::ErrorStack;
use openssl_sys as ffi;
use std::ffi::CStr;
use std::ptr;

/// What a derivation costs.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// The number of passes over the memory.
    pub passes: u32,
    /// The number of lanes, which are computed one after the other.
    pub lanes: u32,
    /// The memory in KiB, at least 8 for each lane.
    pub memory: u32,
}

/// Derives a key that fills `key`, with Argon2id; the memory is wiped afterwards.
///
/// # Errors
///
/// [`Unavailable`] without memory, and for parameters that RFC 9106, 3.1, forbids: no passes or lanes, too little
/// memory, a salt shorter than 8 bytes, a key shorter than 4.
pub fn argon2id(password: &[u8], salt: &[u8], mut cost: Cost, key: &mut [u8]) -> Result<(), Unavailable> {
    initialise();
    let octets = |name: &CStr, bytes: &[u8]| {
        // SAFETY: it stores the pointers and the length. Nothing is written to `bytes`: OpenSSL takes it as constant.
        unsafe {
            ffi::OSSL_PARAM_construct_octet_string(
                name.as_ptr(),
                bytes.as_ptr().cast_mut().cast(),
                bytes.len(),
            )
        }
    };
    let number = |name: &CStr, value: &mut u32| {
        // SAFETY: it stores the pointers.
        unsafe { ffi::OSSL_PARAM_construct_uint(name.as_ptr(), value) }
    };
    let parameters = [
        octets(c"pass", password),
        octets(c"salt", salt),
        number(c"iter", &mut cost.passes),
        number(c"lanes", &mut cost.lanes),
        number(c"memcost", &mut cost.memory),
        // SAFETY: it has no parameters.
        unsafe { ffi::OSSL_PARAM_construct_end() },
    ];
    // SAFETY: what the parameters point to lives until the end of this function; `key` is as long as is said. Without
    // memory the functions return null pointers, which those that follow accept, but for the derivation.
    let status = unsafe {
        let algorithm = ffi::EVP_KDF_fetch(ptr::null_mut(), c"ARGON2ID".as_ptr(), ptr::null());
        let context = ffi::EVP_KDF_CTX_new(algorithm);
        ffi::EVP_KDF_free(algorithm);
        let status = if context.is_null() {
            0
        } else {
            ffi::EVP_KDF_derive(context, key.as_mut_ptr(), key.len(), parameters.as_ptr())
        };
        ffi::EVP_KDF_CTX_free(context);
        status
    };
    if status == 1 { Ok(()) } else { Err(Unavailable(ErrorStack::get())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(password: &[u8], salt: &[u8], cost: Cost) -> Result<[u8; 32], Unavailable> {
        let mut key = [0; 32];
        argon2id(password, salt, cost, &mut key).map(|()| key)
    }

    /// A vector of the reference implementation (its file `src/test.c`); those of RFC 9106 have a secret.
    #[test]
    fn a_key_of_the_reference_implementation_is_derived() {
        let key = derived(b"password", b"somesalt", Cost { passes: 2, lanes: 1, memory: 1 << 16 });
        let key: String = key.expect("a key").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(key, "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7");
    }

    #[test]
    fn impossible_parameters_are_errors() {
        let possible = Cost { passes: 1, lanes: 2, memory: 16 };
        assert!(derived(b"", b"somesalt", possible).is_ok());
        for (salt, cost) in [
            (&b"salt"[..], possible),
            (b"somesalt", Cost { passes: 0, ..possible }),
            (b"somesalt", Cost { lanes: 0, ..possible }),
            (b"somesalt", Cost { memory: 15, ..possible }),
        ] {
            assert!(derived(b"", salt, cost).is_err(), "{salt:?}, {cost:?}");
        }
    }
}
