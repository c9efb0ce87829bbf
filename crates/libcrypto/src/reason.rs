//! What OpenSSL's errors are about.

use openssl::error::{Error, ErrorStack};
use openssl_sys as ffi;
use std::ffi::c_int;

/// Returns whether an operation failed because of its input, and not for want of memory or of an algorithm.
pub fn is_about_input(errors: &ErrorStack) -> bool {
    let errors = errors.errors();
    !errors.is_empty() && !errors.iter().any(is_about_openssl)
}

/// `ERR_R_UNSUPPORTED` and `ERR_R_FETCH_FAILED` of `openssl/err.h`, which `openssl-sys` leaves out: no provider has an
/// algorithm.
const NOT_FETCHED: [c_int; 2] = [268 | COMMON, 269 | COMMON];
const COMMON: c_int = 2 << ffi::ERR_RFLAGS_OFFSET;

/// Returns whether an error is one of memory, of locks, of initialisation or of fetching an algorithm.
fn is_about_openssl(error: &Error) -> bool {
    let is_fatal = error.reason_code() & ffi::ERR_RFLAG_FATAL as c_int != 0;
    is_fatal || error.library_code() == ffi::ERR_LIB_SYS || NOT_FETCHED.contains(&error.reason_code())
}

#[cfg(test)]
mod tests {
    use super::*;
    use openssl::bn::BigNumContext;
    use openssl::ec::EcPoint;
    use openssl::md::Md;

    #[test]
    fn a_wrong_point_is_about_the_input_and_a_missing_algorithm_is_not() {
        crate::initialise();
        let group = crate::Curve::NistP256.group().expect("memory");
        let mut context = BigNumContext::new().expect("memory");
        let wrong = EcPoint::from_bytes(&group, &[4; 65], &mut context).err().expect("no point");
        assert!(is_about_input(&wrong), "{wrong}");
        let missing = Md::fetch(None, "NO-SUCH-DIGEST", None).err().expect("no digest");
        assert!(!is_about_input(&missing), "{missing}");
        assert!(!is_about_input(&ErrorStack::get()), "no error tells nothing");
    }
}
