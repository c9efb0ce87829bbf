//! The ways to name a certificate.

/// A way to name certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query { /// Every certificate.
All }
