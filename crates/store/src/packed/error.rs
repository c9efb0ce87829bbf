//! What can be wrong with a blob.

/// Why a blob cannot be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("packed facts: {what} at byte {position}")]
pub struct Error {
    /// Offset in the blob.
    pub position: usize,
    /// What is wrong.
    pub what: &'static str,
}

impl Error {
    pub(crate) const FINGERPRINT: Self = Self { position: 0, what: "a value that is not a fingerprint" };
    #[cfg(feature = "postgres")]
    pub(crate) const MISSING: Self = Self { position: 0, what: "no facts" };
}

/// A result of unpacking.
pub type Result<T> = std::result::Result<T, Error>;
