//! OpenPGP certificates: from a stream of bytes to plain values.
//!
//! A certificate is processed in these steps, each in a module of its own:
//!
//! 1. [`split`] splits a stream (binary, armored or compressed, any number of certificates) into raw certificates;
//! 2. [`packet`] iterates over the packets of a certificate without copying;
//! 3. [`clean`] reads its facts from [`key`]s, user IDs, attributes, [`signature`]s and their [`subpacket`]s, verifies
//!    self-signatures, and decides by GnuPG's rules which packets are kept and which are shown;
//! 4. [`merge`] joins two copies of a certificate as sets of packets;
//! 5. [`facts`] defines the facts as plain values;
//! 6. [`effective`] evaluates the facts at a given time: expiration, revocation, capabilities; and which signatures a
//!    key may make, for which a subkey needs a [`cross_certification`].
//!
//! [`mailbox`] finds the mail address in a user ID. [`keybox`] reads the certificates in GnuPG's key file, and
//! [`origin`] where GnuPG got them.
//!
//! This crate performs no I/O other than reading the given stream, and does not read the clock.

pub mod approvals;
pub mod armor_writer;
pub mod attribute;
pub mod buffer;
pub mod certificate;
pub mod clean;
pub mod compact;
pub mod cross_certification;
pub mod dearmor;
pub mod effective;
pub mod facts;
pub mod identity;
pub mod key;
pub mod keybox;
pub mod mail_armor;
pub mod mailbox;
pub mod merge;
pub mod origin;
pub mod packet;
pub mod signature;
pub mod signed;
pub mod split;
pub mod subpacket;

mod armor;
mod back_signature;
mod checksum;
mod curve;
mod decompress;
mod error;
mod fields;
mod frame;
mod keygrip;
mod lines;
mod material;
mod packet_body;
mod raw_certificate;
mod reduce;
mod removed_signatures;
mod search;
mod signature_digest;
mod signature_identity;
mod source;
mod unpack;
mod window;

pub use armor::ArmorRules;
pub use certificate::Certificate;
pub use error::{Error, Flaw, Result};
pub use facts::{Component, Facts, SignatureFacts};
pub use identity::{Fingerprint, KeyId, Keygrip, SignatureDigest, Timestamp};
pub use mailbox::BoundAddress;
pub use origin::Origin;
pub use removed_signatures::RemovedSignatures;
