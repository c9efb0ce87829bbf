//! What can go wrong when keys are made.

/// The result of making keys.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong when keys are made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system gave no memory.
    #[error("out of memory")]
    Memory,
    /// An RSA key of a size that is not made.
    #[error("RSA keys have 2048 to 16384 bits, a multiple of 8, not {0}")]
    RsaSize(u32),
    /// The system gave no randomness.
    #[error("the system gives no randomness: {0}")]
    Randomness(getrandom::Error),
}

impl From<getrandom::Error> for Error {
    fn from(error: getrandom::Error) -> Self {
        Self::Randomness(error)
    }
}
