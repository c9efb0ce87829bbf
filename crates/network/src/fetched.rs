//! What a request brings.

/// Bytes that were fetched, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The bytes, as they came.
    pub bytes: Vec<u8>,
    /// The address that was asked, before any redirect, without a user and a password.
    pub url: String,
}
