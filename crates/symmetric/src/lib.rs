//! The symmetric side of OpenPGP, for messages and for secret keys.
//!
//! - [`Cipher`]: the eleven ciphers, by number and by name.
//! - [`Cfb`]: a cipher with a key in cipher feedback mode, which whole blocks of a stream go through.
//! - [`Aead`], [`AeadKey`]: the authenticated modes, a cipher with a key in one of them, one chunk at a time.
//! - [`S2k`]: keys from passwords; [`expand()`]: keys from keys.
//!
//! Each cipher and mode is that of the fastest library for it; three ciphers for which no library is fast are our own,
//! held against slow ones. Everything here works on memory, in the caller's thread. Nothing reads the clock.

mod aead;
mod camellia;
mod cfb;
mod cipher;
mod error;
mod expand;
mod openssl;
mod s2k;
mod tables;
mod triple_des;
mod twofish;

pub use crate::aead::{Aead, AeadKey, TAG};
pub use crate::cfb::{Cfb, MAX_BLOCK};
pub use crate::cipher::Cipher;
pub use crate::error::{Error, MAX_ARGON2_EXPONENT, Result};
pub use crate::expand::expand;
pub use crate::s2k::{S2k, decode_count, encode_count, random};
