//! Errors of messages.

use std::io;

use symmetric::{Aead, Cipher};

/// Why a message could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading failed.
    #[error("cannot read")]
    Read(#[source] io::Error),
    /// Writing failed.
    #[error("cannot write")]
    Write(#[source] io::Error),
    /// The input contains no OpenPGP message.
    #[error("no OpenPGP message found")]
    NoMessage,
    /// The message is not encrypted.
    #[error("the message is not encrypted")]
    NotEncrypted,
    /// There are only detached signatures.
    #[error("there are only signatures here; what they are over is needed too")]
    Detached,
    /// There is clear text without a signature.
    #[error("there is no signature behind the clear text")]
    Unsigned,
    /// The input is truncated.
    #[error("the message is cut short")]
    CutShort,
    /// A packet is malformed or misplaced.
    #[error("not a valid message: {0}")]
    Malformed(&'static str),
    /// Another armored block follows that of the message.
    #[error("not a valid message: another block of ASCII armor follows it")]
    SecondBlock,
    /// An algorithm or a version is unknown.
    #[error("{what} {number} is not supported")]
    Unsupported {
        /// What is unknown.
        what: &'static str,
        /// Its number in the message.
        number: u8,
    },
    /// There is no implementation of this cipher in this mode.
    #[error("{0} in {1} mode is not supported")]
    UnsupportedMode(Cipher, Aead),
    /// The message exceeds a limit.
    #[error("the message goes beyond a limit: {0}")]
    Limit(&'static str),
    /// No password or secret key decrypts the session key.
    #[error("no password or secret key opens this message")]
    NoKey,
    /// The session key is wrong.
    #[error("wrong password or session key")]
    WrongKey,
    /// The message was changed or truncated after encryption.
    #[error("the message was changed after it was encrypted; nothing of it can be trusted")]
    Manipulated,
    /// The message is not protected against changes, and that is not allowed.
    #[error("the message is not protected against changes; it is only read when that is asked for")]
    Unprotected,
    /// A public key cannot be encrypted to.
    #[error("cannot encrypt to {key}: {reason}")]
    Recipient {
        /// The fingerprint of the key.
        key: String,
        /// What is wrong.
        reason: String,
    },
    /// A key could not sign.
    #[error("cannot sign")]
    Sign(#[from] sign::Error),
    /// The system gives no random bytes.
    #[error("the system gives no random numbers")]
    Random,
    /// There is more plaintext than is buffered until it is verified.
    #[error("more than 12 MiB that can only be checked at their end")]
    UnverifiedOverflow,
    /// The options cannot be combined.
    #[error("{0}")]
    Options(&'static str),
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with a message that has more than one content (RFC 9580, 10.3).
pub(crate) const SECOND_CONTENT: &str = "more than one content";

impl Error {
    /// Says whether the message has more than one content.
    pub fn is_second_content(&self) -> bool {
        matches!(self, Self::Malformed(SECOND_CONTENT))
    }

    /// Converts an error of reading: an error of this crate that passed `Read`, or one of the system.
    pub(crate) fn reading(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => error,
            Err(error) if is_second_block(&error) => Self::SecondBlock,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Self::CutShort,
            Err(error) => Self::Read(error),
        }
    }

    /// Converts an error of writing.
    pub(crate) fn writing(error: io::Error) -> Self {
        error.downcast::<Self>().unwrap_or_else(Self::Write)
    }
}

fn is_second_block(error: &io::Error) -> bool {
    let error = error.get_ref().and_then(|error| error.downcast_ref::<cert::Error>());
    matches!(error, Some(cert::Error::Malformed { flaw: cert::Flaw::SecondBlock, .. }))
}

/// Converts errors of ciphers and passwords.
impl From<symmetric::Error> for Error {
    fn from(error: symmetric::Error) -> Self {
        use symmetric::Error as Symmetric;
        match error {
            Symmetric::UnsupportedMode(cipher, mode) => Self::UnsupportedMode(cipher, mode),
            Symmetric::KeySize { .. } => Self::WrongKey,
            Symmetric::Changed => Self::Manipulated,
            Symmetric::CutShort => Self::Malformed("a password's parameters are cut short"),
            Symmetric::UnknownS2k(number) => Self::Unsupported { what: "S2K type", number },
            Symmetric::UnknownHash(hash) => Self::Unsupported { what: "the hash", number: hash.0 },
            Symmetric::Random => Self::Random,
            // Impossible parameters, and those that cost too much.
            _ => Self::Limit("Argon2 with these parameters"),
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::other(error)
    }
}
