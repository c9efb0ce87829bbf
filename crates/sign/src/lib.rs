//! Makes OpenPGP signature packets, of version 4 and 6 (RFC 9580, 5.2).
//!
//! A [`Builder`] is told what the signature says, in typed [`Subpacket`]s, then what it is over ([`Builder::over`] a
//! part of a certificate, [`Builder::over_document`]), then who makes it ([`Unsigned::by`] a [`secret::Signer`]):
//!
//! ```no_run
//! # fn example(primary: cert::key::Key<'_>, now: cert::Timestamp, signer: &mut dyn secret::Signer) -> keyhoard_sign::Result<()> {
//! use cert::facts::SignatureType;
//! use cert::signed::Subject;
//! use keyhoard_sign::{Builder, KeyFlags, Subpacket};
//!
//! let hash = keyhoard_sign::hash_for(&primary);
//! let packet = Builder::new(SignatureType::POSITIVE_CERTIFICATION, hash, now)
//!     .with(Subpacket::KeyFlags(KeyFlags::CERTIFY | KeyFlags::SIGN))
//!     .over(primary, Subject::UserId(b"Alice <alice@example.org>"))
//!     .by(signer)?;
//! # Ok(())
//! # }
//! ```
//!
//! A version 4 signature has its subpackets where and in the order in which GnuPG 2.2 has them. Nothing in a signature
//! is random but the salt of version 6, which may be given. Every signature is verified before it is handed out.

mod area;
mod builder;
mod error;
mod hash;
mod subpacket;

pub use builder::{Builder, Unsigned};
pub use error::{Error, Result};
pub use hash::hash_for;
pub use subpacket::{Features, KeyFlags, Subpacket};
