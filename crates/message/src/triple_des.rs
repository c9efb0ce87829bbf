//! Triple-DES by OpenSSL, whose implementation is several times as fast as any in Rust.

use ossl::OsslSecret;
use ossl::cipher::{EncAlg, OsslCipher};

use zeroize::Zeroizing;

use crate::cfb::Mode;
use crate::openssl;

const BLOCK: usize = 8;

/// A key of Triple-DES.
pub(crate) struct TripleDes {
    key: Zeroizing<Vec<u8>>,
}

impl TripleDes {
    pub(crate) fn new(key: &[u8]) -> Self {
        assert_eq!(key.len(), 24, "the key has the cipher's size");
        Self { key: Zeroizing::new(key.to_vec()) }
    }

    fn run(&self, encrypt: bool, before: &[u8], data: &mut [u8]) {
        let key = OsslSecret::from_slice(&self.key);
        let mode = OsslCipher::new(
            openssl::context(),
            EncAlg::TripleDesCfb,
            encrypt,
            key,
            Some(before.to_vec()),
            None,
        );
        let done = mode.and_then(|mut mode| mode.update_in_place(data));
        assert_eq!(done.ok(), Some(data.len()), "OpenSSL was built with Triple-DES");
    }
}

impl Mode for TripleDes {
    fn encrypt(&self, feedback: &mut [u8], data: &mut [u8]) {
        self.run(true, feedback, data);
        if let Some(last) = data.last_chunk::<BLOCK>() {
            feedback.copy_from_slice(last);
        }
    }

    fn decrypt(&self, before: &[u8], data: &mut [u8]) {
        self.run(false, before, data);
    }
}
