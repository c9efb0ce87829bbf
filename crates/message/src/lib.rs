//! OpenPGP messages: streams encrypted, signed and read, in memory that does not grow with them.
//!
//! - [`encrypt`] writes a message: [`Encryption`] says how, [`Openers`] for whom, a [`Companion`] may put signatures
//!   around the content, which it sees as it passes.
//! - [`sign()`] writes a message that is signed and not encrypted, [`sign_clear`] a text, [`sign_detached`] signatures
//!   only: a [`Signing`] says who signs and what the signatures say; it is a [`Companion`] too.
//! - [`decrypt`] reads a message, encrypted or not: an [`Unlock`] finds the session key, a [`Sink`] takes the content and
//!   word of what it is. A [`Verifier`] around the sink hashes what signatures are over, [`Detached`] does it for
//!   signatures that stand alone; each [`DataSignature`] then needs whoever knows the keys.
//! - [`packets`] goes through the packets of anything, for who wants to see them.
//! - [`Cipher`], [`Aead`], [`S2k`], [`Compression`], [`Container`]: the parts that messages are made of.
//!
//! Input, compression, hash, cipher and output run in threads of their own; what can be done for many pieces at once
//! (decryption, authenticated chunks, deflating) is done on all cores. Nothing here reads the clock.

mod batch;
mod belt;
mod clear_text;
mod compress;
mod container;
mod content;
mod decompress;
mod decrypt;
mod density;
mod encrypt;
mod error;
mod frame;
mod hashing;
mod literal;
mod open;
mod packets;
mod password;
mod pipeline;
mod recipient;
mod seal;
mod session_key;
mod signing;
mod verifying;

pub use crate::clear_text::Announced;
pub use crate::compress::{Compression, DEFAULT_LEVEL};
pub use crate::container::{Container, MAX_CHUNK_OCTETS};
pub use crate::content::{Alone, Companion, Content};
pub use crate::decrypt::{Allowed, Event, NoKeys, Opener, Sink, Standing, Unlock, decrypt, unwrap};
pub use crate::encrypt::{DEFAULT_CHUNK, DEFAULT_HASH, Encryption, Openers, Protection, encrypt};
pub use crate::error::{Error, Result};
pub use crate::literal::{Format, Literal};
pub use crate::packets::{Found, Step, packets};
pub use crate::password::Skesk;
pub use crate::recipient::{Addressee, Pkesk, Recipient};
pub use crate::session_key::SessionKey;
pub use crate::signing::{Signatory, Signing, sign, sign_clear, sign_detached};
pub use crate::verifying::{DataSignature, Detached, Verifier};
pub use symmetric::{Aead, Cfb, Cipher, S2k, decode_count, encode_count};
