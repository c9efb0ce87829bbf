//! Signatures that are made again, byte for byte.

mod as_gpg;
mod keys;
mod rfc9580;
