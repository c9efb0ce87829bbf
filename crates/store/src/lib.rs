//! The certificate database.
//!
//! [`Store`] is what every engine offers: a [`Snapshot`] to read from and a [`Transaction`] to write in.
//! A reader is one consistent view, a writer changes everything or nothing, and no reader becomes a writer.
//!
//! - [`query`]: the ways to name a certificate, GnuPG's "how to specify a user ID".
//! - [`sqlite`]: the engine for one machine; [`postgres`]: the one for databases that several machines share.
//! - [`doctor`]: rows held against the bytes they are derived from.
//! - [`tofu`]: what trust on first use remembers.

pub mod doctor;
pub mod postgres;
pub mod query;
pub mod retry;
pub mod sqlite;
pub mod tofu;
pub mod user_id;

mod cert_id;
mod certifications;
mod error;
mod input_digest;
mod journal;
mod kept_verdict;
pub mod packed;
mod prepared;
mod rows;
mod snapshot;
mod store;
mod transaction;
mod write_bindings;

pub use cert::{BoundAddress, Facts, Fingerprint, KeyId, Origin, SignatureDigest, Timestamp};
pub use cert_id::CertId;
pub use certifications::{Certifications, Proven};
pub use error::{Error, Result};
pub use input_digest::InputDigest;
pub use journal::{Change, ChangeKind, FormerCertificate, JournalEntry, JournalId};
pub use kept_verdict::KeptVerdict;
pub use prepared::Prepared;
pub use query::Query;
pub use snapshot::{
    Detail, KeyHit, MOST_KEYS, MOST_READERS, Migration, Record, Selection, Snapshot, VisitCertified,
    VisitOwnFacts,
};
pub use store::Store;
pub use tofu::{ReadBindings, WriteBindings};
pub use transaction::{Origins, Put, PutKind, PutOutcome, Removal, Transaction};
