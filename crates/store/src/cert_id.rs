//! The numbers of certificates in a database.

/// A certificate's number in this database, in the order of listings: of arrival in SQLite's engine, of (first seen,
/// fingerprint) in PostgreSQL's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CertId(pub i64);
