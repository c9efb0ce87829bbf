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

mod assigned_trust;
mod cert_id;
mod certificate_bindings;
mod certifications;
mod error;
mod input_digest;
mod journal;
mod kept_verdict;
mod migration;
pub mod packed;
mod prepared;
mod read_certificates;
mod read_journal;
mod read_trust;
mod rows;
mod snapshot;
mod store;
mod transaction;
mod write_bindings;

pub use assigned_trust::AssignedTrust;
pub use cert::{BoundAddress, Facts, Fingerprint, KeyId, Origin, SignatureDigest, Timestamp};
pub use cert_id::CertId;
pub use certificate_bindings::visit_bindings;
pub use certifications::{Certifications, Proven};
pub use error::{BoxedError, Error, Result};
pub use input_digest::InputDigest;
pub use journal::{Change, ChangeKind, FormerCertificate, JournalEntry, JournalId};
pub use kept_verdict::KeptVerdict;
pub use migration::Migration;
pub use prepared::Prepared;
pub use query::Query;
pub use read_certificates::{
    Detail, KeyHit, MOST_KEYS, MOST_READERS, ReadCertificates, Record, Selection, VisitCertified,
    VisitOwnFacts,
};
pub use read_journal::ReadJournal;
pub use read_trust::ReadTrust;
pub use snapshot::Snapshot;
pub use store::Store;
pub use tofu::WriteBindings;
pub use transaction::{Origins, Put, PutKind, PutOutcome, Removal, Transaction};
