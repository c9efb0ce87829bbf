//! RIPEMD-160 without the initialisation of OpenSSL.

#![allow(unsafe_code, reason = "the `openssl` crate hashes only with OpenSSL initialised")]

use std::ffi::c_uchar;

/// Returns the RIPEMD-160 of `bytes`.
///
/// Listings need it for short values, and OpenSSL's initialisation would take longer than a listing of one key.
pub fn ripemd160(bytes: &[u8]) -> [u8; 20] {
    let mut digest = [0; 20];
    // SAFETY: the function reads as many bytes as it is told and writes 20. It uses no state of the library.
    unsafe { RIPEMD160(bytes.as_ptr(), bytes.len(), digest.as_mut_ptr()) };
    digest
}

// Declared as in openssl/ripemd.h; openssl-sys leaves it out.
unsafe extern "C" {
    fn RIPEMD160(bytes: *const c_uchar, length: usize, digest: *mut c_uchar) -> *mut c_uchar;
}

#[cfg(test)]
mod tests {
    use super::*;
    use openssl::hash::{MessageDigest, hash};

    #[test]
    fn it_agrees_with_openssls_general_interface() {
        crate::initialise();
        for length in 0..200 {
            let bytes: Vec<u8> = (0..length).collect();
            let expected = hash(MessageDigest::ripemd160(), &bytes).expect("memory");
            assert_eq!(ripemd160(&bytes), *expected);
        }
    }
}
