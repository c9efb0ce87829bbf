//! Writes OpenPGP packets for tests, and whatever can be wrong about them.
//!
//! Every part is a value with public fields and a function that makes bytes of it. A constructor gives a correct value;
//! a test then changes what it wants to be wrong. Nothing is checked. Secret keys stay in [`Key`], so that signatures
//! over changed content are real ones.
//!
//! - [`Packet`]: any tag, any content, with any [`Header`]: old, new, partial, indeterminate, or one that lies.
//! - [`Key`]: Ed25519 (versions 4 and 6), RSA, ECDSA, or any made-up material.
//! - [`Signature`]: any type, [`Subpacket`]s, algorithm, digest prefix and value, right or forged, over what [`Signed`] says.
//! - [`Certificate`]: the usual packets in the usual order.
//! - [`Literal`], [`OnePass`], [`Compressed`]: the parts of messages.
//! - [`SessionKey`], [`Seipd1`], [`Seipd2`]: encrypted messages; [`password_packet`] and [`recipient_packet`] for those
//!   who may read them.
//! - [`Armor`], [`ClearText`]: the forms made of text.
//!
//! The crate uses none of the project's own code: a mistake there must not be hidden by the same mistake here.
//!
//! ```
//! use packet_builder::{Certificate, Key, Signature, Signed};
//!
//! let ann = Key::ed25519("ann");
//! let certificate = Certificate::new(&ann, "Ann <ann@example.org>").bytes();
//! let mut signature = Signature::new(0x00);
//! signature.hash = packet_builder::Hash::SHA1;
//! let detached = signature.sign(&ann, &Signed::Bytes(b"text")).bytes();
//! assert!(certificate.len() > detached.len());
//! ```

mod armor;
mod certificate;
mod clear_text;
mod encrypted;
mod hash;
mod key;
mod message;
mod number;
mod packet;
mod secret;
mod signature;
mod subpacket;

pub use armor::{Armor, Checksum, crc24};
pub use certificate::Certificate;
pub use clear_text::ClearText;
pub use encrypted::{Aead, Mdc, Seipd1, Seipd2, SessionKey, password_packet, recipient_packet};
pub use hash::Hash;
pub use key::{Key, MADE};
pub use message::{Compressed, Literal, OnePass};
pub use number::mpi;
pub use packet::{Header, Packet, bytes};
pub use signature::{Prefix, Signature, Signed, Value};
pub use subpacket::Subpacket;
