//! The symmetric algorithms of OpenPGP, for messages and for secret keys.
//!
//! - [`Cipher`]: the eleven ciphers, by number and by name.
//! - [`Cfb`]: a cipher with a key in cipher feedback mode.
//! - [`Aead`]: the authenticated modes; [`AeadKey`]: a cipher with a key in one of them, which encrypts chunk by chunk.
//! - [`S2k`]: keys derived from passwords; [`expand()`]: keys derived from keys (HKDF).
//!
//! Each cipher and mode comes from the fastest library for it. Triple-DES, Twofish and Camellia are implemented here,
//! since no library is fast; tests compare them with slow libraries. Everything runs in the caller's thread. Nothing
//! reads the clock.

mod aead;
mod aead_key;
mod camellia;
#[cfg(target_arch = "x86_64")]
mod camellia_avx512;
mod cfb;
mod cipher;
mod error;
mod expand;
mod openssl;
mod s2k;
mod table_cipher;
mod triple_des;
mod twofish;

pub use crate::aead::Aead;
pub use crate::aead_key::{AeadKey, TAG};
pub use crate::cfb::{Cfb, MAX_BLOCK};
pub use crate::cipher::Cipher;
pub use crate::error::{Error, MAX_ARGON2_EXPONENT, Result};
pub use crate::expand::expand;
pub use crate::s2k::{MAX_ARGON2_WORK, S2k, decode_count, encode_count, random};
