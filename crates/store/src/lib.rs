//! The certificate database.
//!
//! [`Store`] is what every engine offers: a [`Snapshot`] to read from and a [`Transaction`] to write in.
//! A reader is one consistent view, a writer changes everything or nothing, and no reader becomes a writer.
//!
//! - [`query`]: the ways to name a certificate, GnuPG's "how to specify a user ID".
//! - [`sqlite`]: the engine for one machine; `postgres`, with the feature of this name: the one for databases that several
//!   machines share.
//! - [`doctor`]: derived rows compared with the bytes they are derived from.
//! - [`tofu`]: what trust on first use remembers.

pub mod doctor;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod query;
pub mod retry;
pub mod sqlite;
pub mod tofu;

mod assigned_trust;
mod binding_rows;
mod certificate_bindings;
mod certifications;
mod engine;
mod engine_writer;
mod error;
mod find;
mod journal;
mod migration;
mod owner_trust_rows;
pub mod packed;
mod prepared;
mod provenance;
mod purge;
mod read_certificates;
mod read_journal;
mod read_trust;
mod rows;
mod server_url;
mod store;
mod transaction;
mod user_id;
#[cfg(not(feature = "postgres"))]
mod without_postgres;
#[cfg(not(feature = "postgres"))]
mod without_server;
mod write_bindings;

/// What stands for the PostgreSQL engine, which this build does not have.
#[cfg(not(feature = "postgres"))]
pub mod postgres {
    pub use crate::without_postgres::{Address, PostgresStore, Shape};
}

pub use assigned_trust::AssignedTrust;
pub use cert::{BoundAddress, Facts, Fingerprint, KeyId, Origin, SignatureDigest, Timestamp};
pub use certificate_bindings::visit_bindings;
pub use certifications::{CertId, Certifications, KeptVerdict, Proven};
pub use error::{BoxedError, Error, Result};
pub use journal::{Change, ChangeKind, FormerCertificate, JournalEntry, JournalId};
pub use migration::Migration;
pub use prepared::Prepared;
pub use query::Query;
pub use read_certificates::{
    Detail, KeyHit, MOST_KEYS, MOST_READERS, ReadCertificates, Record, Selection, VisitCertified,
};
pub use read_journal::{InputDigest, ReadJournal, RemovedCertificate};
pub use read_trust::ReadTrust;
pub use server_url::{is_server_url, without_password};
pub use store::Store;
pub use tofu::WriteBindings;
pub use transaction::{Origins, Put, PutKind, PutOutcome, Removal, Snapshot, Transaction};
