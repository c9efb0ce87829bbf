//! Facts as blobs: compact, versioned, quick to unpack.
//!
//! One certificate is two blobs. *Own* holds its components and what it says about itself, *third party* the
//! certifications by others; a listing without signatures reads the first one only. A third one keeps the verdicts on
//! those certifications, and what they prove is stored by issuer, too. All begin with [`VERSION`], *own* with
//! [`WITH_CHECKSUM`] and a checksum at its end, which tells whether bytes or blob have changed since.
//!
//! Integers are LEB128 unless a width is given, widths are little-endian. Positions are stored as the gap since the
//! packet before.
//!
//! ```text
//! own         = version count component* checksum
//! component   = kind gap length value size signature* count unread*
//!                                                              size: of all the signatures, in bytes
//! unread      = gap length                                     a packet that is kept and never shown
//! third-party = version group*                                 ends with the blob
//! group       = index count signature*                         index: of the component
//! checksum    = crc32:4 crc32:4                                of the certificate's bytes, of the blob before it
//! ```

mod binding_change;
mod checksum;
mod component;
mod error;
mod facts;
mod positions;
mod proven;
mod reader;
mod run;
mod signature;
mod verdicts;
mod writer;

pub use binding_change::{pack_binding_change, unpack_binding_change};
pub use checksum::{WITH_CHECKSUM, is_same};
pub use error::{Error, Result};
pub use facts::{Packed, fingerprints, is_checksum_of_other_bytes, pack, third_party, unpack};
pub use positions::{pack_positions, unpack_positions};
pub use proven::{pack_proven, unpack_proven};
pub use reader::VERSION;
pub use verdicts::{pack_verdicts, unpack_verdicts, unpack_wanted_verdicts};
