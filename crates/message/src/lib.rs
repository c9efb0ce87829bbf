//! OpenPGP messages: encrypts, signs and reads streams in constant memory.
//!
//! - [`encrypt()`] writes a message: [`Encryption`] says how, [`MessageRecipients`] for whom, a [`ContentSigner`] may
//!   put signatures around the content, which it sees as it passes.
//! - [`sign()`] writes a message that is signed and not encrypted, [`sign_clear`] a text, [`sign_detached`] signatures
//!   only: a [`Signing`] says who signs and what the signatures say; it is a [`ContentSigner`] too.
//! - [`decrypt()`] reads a message, encrypted or not: an [`Unlock`] finds the session key, a [`Sink`] takes the content
//!   and the events. A [`MessageVerifier`] around the sink hashes what signatures are over, [`DetachedSignatures`] does
//!   it for detached signatures; the caller then verifies each [`DataSignature`] with the issuer's key.
//! - [`packets()`] lists the packets of any input.
//! - [`Cipher`], [`Aead`], [`S2k`], [`Compression`], [`EncryptedDataFormat`]: the algorithms and formats of messages.
//!
//! Input, compression, hash, cipher and output run in threads of their own; decryption, authenticated chunks and
//! deflate run on all cores. Nothing reads the clock.

mod clear_text;
mod clear_text_writer;
mod compress;
mod content_writer;
mod decompress;
mod decrypt;
mod decrypt_stream;
mod density;
mod document_hasher;
mod encrypt;
mod encrypt_stream;
mod encrypted_data;
mod error;
mod frame;
mod literal;
mod ordered;
mod packets;
mod padding;
mod password;
mod pipeline;
mod recipient;
mod scheduling;
mod session_key;
mod signing;
mod verifying;

pub use crate::clear_text::HashHeaders;
pub use crate::clear_text_writer::sign_clear;
pub use crate::compress::{Compression, DEFAULT_LEVEL};
pub use crate::content_writer::{ContentSigner, LiteralOptions, NoSigner};
pub use crate::decrypt::{
    Allowed, Authenticity, EncryptedSessionKey, Event, NoKeys, Sink, Unlock, decrypt, unwrap,
};
pub use crate::encrypt::{
    DEFAULT_CHUNK, DEFAULT_HASH, DataProtection, Encryption, MessageRecipients, encrypt,
};
pub use crate::encrypted_data::{EncryptedDataFormat, MAX_CHUNK_BYTES};
pub use crate::error::{Error, Result};
pub use crate::literal::{Format, Literal};
pub use crate::packets::{Found, Step, packets};
pub use crate::password::Skesk;
pub use crate::recipient::{Addressee, Pkesk, Recipient};
pub use crate::scheduling::use_batch_scheduling;
pub use crate::session_key::SessionKey;
pub use crate::signing::{SignatureRequest, Signing, sign, sign_detached};
pub use crate::verifying::{DataSignature, DetachedSignatures, MessageVerifier};
pub use symmetric::{Aead, Cfb, Cipher, MAX_ARGON2_EXPONENT, S2k, decode_count, encode_count};
