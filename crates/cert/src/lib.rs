//! OpenPGP certificates: from a stream of bytes to plain values.
//!
//! The path of a certificate, one module a step:
//!
//! 1. [`split`] cuts a stream (binary, armored or compressed, any number of certificates) into raw certificates;
//! 2. [`packet`] walks the packets of one, without copying;
//! 3. [`extract`] reads the facts of one: [`key`]s, user IDs, attributes, [`signature`]s and their [`subpacket`]s;
//! 4. [`clean`] verifies self-signatures and decides which packets are kept and which are shown,
//!    by GnuPG's rules;
//! 5. [`merge`] joins two copies of one certificate as a set of packets;
//! 6. [`facts`] says in plain values what a certificate holds;
//! 7. [`effective`] says what that means at a given moment: expiry, revocation, capabilities; and which signatures a key
//!    may make, for which a subkey needs a [`cross_certification`].
//!
//! [`mailbox`] finds the mail address in a user ID. [`keybox`] finds the certificates in GnuPG's own key file,
//! [`origin`] is what GnuPG notes there about them.
//!
//! Nothing here does I/O other than reading the stream it is given, and nothing here reads the clock.

pub mod armor_writer;
pub mod attribute;
pub mod buffer;
pub mod certificate;
pub mod clean;
pub mod compact;
pub mod cross_certification;
pub mod dearmor;
pub mod effective;
pub mod extract;
pub mod facts;
pub mod identity;
pub mod key;
pub mod keybox;
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
mod search;
mod signature_digest;
mod signature_identity;
mod source;
mod unpack;
mod window;

pub use certificate::Certificate;
pub use error::{Error, Flaw, Result};
pub use facts::{Component, Facts, SignatureFacts};
pub use identity::{Fingerprint, KeyId, Keygrip, SignatureDigest, Timestamp};
pub use mailbox::BoundAddress;
pub use origin::Origin;
