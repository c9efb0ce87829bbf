//! Signatures that are made again, octet for octet.

mod as_gpg;
mod keys;
mod rfc9580;
