//! The initialisation of OpenSSL.

#![allow(unsafe_code, reason = "the `openssl` crate cannot initialise OpenSSL without a configuration")]

use openssl::error::ErrorStack;
use openssl::provider::Provider;
use openssl_sys as ffi;
use std::ffi::c_int;
use std::ptr;
use std::sync::{Once, OnceLock};

/// OpenSSL gives no access to algorithms, and says why.
#[derive(Clone, Debug, thiserror::Error)]
#[error("OpenSSL: {0}")]
pub struct Unavailable(pub(crate) ErrorStack);

/// Initialises OpenSSL without reading a configuration, once; later calls cost nothing.
///
/// Call it before each use of the `openssl` crate that may be the first one.
pub fn initialise() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        // SAFETY: the function takes flags and an optional pointer to settings; it may be called by any thread.
        let status =
            unsafe { OPENSSL_init_crypto(NO_CONFIGURATION | ffi::OPENSSL_INIT_NO_ATEXIT, ptr::null()) };
        // It fails only after OpenSSL's clean-up, which nothing here calls.
        assert_eq!(status, 1, "OpenSSL can be initialised");
        // SAFETY: OpenSSL is initialised; what is left out, names of TLS errors, it loads when it needs it.
        unsafe { ffi::assume_init() };
    });
}

/// `OPENSSL_INIT_NO_LOAD_CONFIG` of `openssl/crypto.h`, which `openssl-sys` leaves out. OpenSSL decides about its
/// configuration once: later calls that ask for it have no effect.
const NO_CONFIGURATION: u64 = 0x80;

/// Makes the algorithms of OpenSSL's legacy provider available, beside those of the default one.
///
/// # Errors
///
/// [`Unavailable`] without memory.
pub fn legacy() -> Result<(), Unavailable> {
    /// The provider is unloaded when it is dropped, so that it stays here.
    static PROVIDER: OnceLock<Provider> = OnceLock::new();
    initialise();
    if PROVIDER.get().is_none() {
        // The default provider stays available at every moment, also to other threads.
        const KEEP_DEFAULT: bool = true;
        let loaded = Provider::try_load(None, "legacy", KEEP_DEFAULT).map_err(Unavailable)?;
        PROVIDER.get_or_init(|| loaded);
    }
    Ok(())
}

// Declared as in openssl/crypto.h; openssl-sys leaves it out.
unsafe extern "C" {
    fn OPENSSL_init_crypto(options: u64, settings: *const ffi::OPENSSL_INIT_SETTINGS) -> c_int;
}

#[cfg(test)]
mod tests {
    use super::*;
    use openssl::cipher::Cipher;
    use openssl::md::Md;
    use std::path::Path;
    use std::process::Command;

    #[test]
    fn the_long_term_series_is_linked() {
        initialise();
        assert_eq!(openssl::version::number() >> 20, 0x305, "{}", openssl::version::version());
    }

    #[test]
    fn legacy_ciphers_are_there_when_they_were_asked_for_and_the_others_stay() {
        legacy().expect("memory");
        legacy().expect("a second call does nothing");
        for name in ["BF-CFB", "CAST5-CFB", "IDEA-CFB", "CAMELLIA-256-CFB", "DES-EDE3-CFB", "AES-256-OCB"] {
            assert!(Cipher::fetch(None, name, None).is_ok(), "{name}");
        }
        for name in ["RIPEMD160", "MD5", "SHA3-512"] {
            assert!(Md::fetch(None, name, None).is_ok(), "{name}");
        }
    }

    /// Tells a child process of the test how to initialise OpenSSL.
    const HOW: &str = "KEYHOARD_TEST_INITIALISATION";

    /// With this configuration OpenSSL has no algorithms at all.
    const HOSTILE: &str = "openssl_conf = start\n[start]\nproviders = providers\n[providers]\nnull = null\n\
                           [null]\nactivate = 1\n";

    /// OpenSSL is initialised once in a process, so that the test runs itself in two more.
    #[test]
    fn a_configuration_has_no_effect() {
        match std::env::var(HOW).as_deref() {
            Ok("ours") => initialise(),
            Ok("theirs") => openssl::init(),
            _ => {
                let file =
                    std::env::temp_dir().join(format!("keyhoard-libcrypto-{}.cnf", std::process::id()));
                std::fs::write(&file, HOSTILE).expect("a temporary file");
                let has_sha256 = [has_sha256_in_child("ours", &file), has_sha256_in_child("theirs", &file)];
                std::fs::remove_file(&file).expect("it was written");
                assert_eq!(has_sha256, [true, false]);
                return;
            }
        }
        Md::fetch(None, "SHA2-256", None).expect("SHA-256");
    }

    fn has_sha256_in_child(how: &str, configuration: &Path) -> bool {
        let name = "initialisation::tests::a_configuration_has_no_effect";
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        let child = child.args(["--exact", name]).env(HOW, how).env("OPENSSL_CONF", configuration);
        let output = child.output().expect("it starts");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(printed.contains("running 1 test"), "{printed}");
        output.status.success()
    }
}
