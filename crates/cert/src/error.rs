//! What can go wrong while reading certificates.

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why bytes are not a certificate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The stream could not be read.
    #[error("reading failed at byte {position}")]
    Read {
        /// Offset in the stream.
        position: u64,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Bytes that are no packet, or a packet that is cut short.
    #[error("{what} at byte {position}")]
    Malformed {
        /// Offset in the stream or certificate.
        position: u64,
        /// What is wrong.
        what: &'static str,
    },
}
