//! OpenSSL's ciphers (its interface EVP). Their contexts hold a key, and wipe it when they are dropped.

use openssl::cipher::Cipher as Algorithm;
use openssl::cipher_ctx::CipherCtx;

use crate::Cipher;

/// What the functions below expect: the algorithms are built in, so that only memory can be missing.
pub(crate) const MEMORY: &str = "OpenSSL has the cipher, and memory for it";

/// Returns a context for encryption without a key; `None` for Twofish, which OpenSSL lacks.
///
/// OpenSSL is initialised, and its legacy provider for IDEA, CAST5 and Blowfish.
pub(crate) fn context(cipher: Cipher, mode: &str) -> Option<CipherCtx> {
    let name = match cipher {
        Cipher::Idea => "IDEA",
        Cipher::TripleDes => "DES-EDE3",
        Cipher::Cast5 => "CAST5",
        Cipher::Blowfish => "BF",
        Cipher::Aes128 => "AES-128",
        Cipher::Aes192 => "AES-192",
        Cipher::Aes256 => "AES-256",
        Cipher::Twofish => return None,
        Cipher::Camellia128 => "CAMELLIA-128",
        Cipher::Camellia192 => "CAMELLIA-192",
        Cipher::Camellia256 => "CAMELLIA-256",
    };
    match cipher {
        Cipher::Idea | Cipher::Cast5 | Cipher::Blowfish => libcrypto::legacy().expect(MEMORY),
        _ => libcrypto::initialise(),
    }
    let algorithm = Algorithm::fetch(None, &format!("{name}-{mode}"), None).expect(MEMORY);
    let mut context = CipherCtx::new().expect(MEMORY);
    context.encrypt_init(Some(&algorithm), None, None).expect(MEMORY);
    Some(context)
}

/// Returns a copy of a context, to be used by one thread for one message or piece.
pub(crate) fn copy(context: &CipherCtx) -> CipherCtx {
    let mut copy = CipherCtx::new().expect(MEMORY);
    copy.copy(context).expect(MEMORY);
    copy
}
