//! The symmetric algorithms of OpenPGP, for messages and for secret keys.
//!
//! - [`Cipher`]: the eleven ciphers, by number and by name.
//! - [`Cfb`]: a cipher with a key in cipher feedback mode.
//! - [`Aead`]: the authenticated modes; [`AeadKey`]: a cipher with a key in one of them, which encrypts chunk by chunk.
//! - [`S2k`]: keys derived from passwords; [`expand()`]: keys derived from keys (HKDF).
//!
//! OpenSSL does it, aws-lc what must be fast, and RustCrypto the authenticated modes that neither has (EAX, and Camellia
//! in OCB). Only Twofish is implemented here, which neither has and which is slow in RustCrypto. Everything runs in the
//! caller's thread. Nothing reads the clock.

mod aead;
mod aead_key;
mod cbc;
mod cfb;
mod cipher;
mod error;
mod evp;
mod expand;
mod s2k;
mod twofish;

pub use crate::aead::Aead;
pub use crate::aead_key::{AeadKey, TAG, open_ocb_96};
pub use crate::cbc::decrypt_cbc;
pub use crate::cfb::{Cfb, MAX_BLOCK};
pub use crate::cipher::Cipher;
pub use crate::error::{Error, MAX_ARGON2_EXPONENT, MAX_HASHED, Result};
pub use crate::expand::{HkdfHash, expand};
pub use crate::s2k::{MAX_ARGON2_WORK, S2k, decode_count, encode_count, random};
