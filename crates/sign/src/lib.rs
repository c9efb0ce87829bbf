//! Makes OpenPGP signature packets, of version 4 and 6 (RFC 9580, 5.2).
//!
//! A [`Builder`] takes the content of the signature as typed [`Subpacket`]s, then what it is made over
//! ([`Builder::over`] a part of a certificate, or [`Builder::over_document`]), then the key ([`Unsigned::by`] a
//! [`secret::Signer`]):
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
//! The subpackets of a version 4 signature are in the areas and in the order of GnuPG 2.2. Only the salt of a version 6
//! signature is random, unless it is given. Every signature is verified before it is returned.

mod area;
mod builder;
mod error;
mod hash;
mod subpacket;

pub use builder::{Builder, Unsigned};
pub use error::{Error, Result};
pub use hash::{hash_for, hash_for_2_4};
pub use subpacket::{Features, KeyFlags, Subpacket};
