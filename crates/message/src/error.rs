//! What can go wrong with a message.

use std::io;

use symmetric::{Aead, Cipher};

/// Why a message could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input failed.
    #[error("cannot read")]
    Read(#[source] io::Error),
    /// The output failed.
    #[error("cannot write")]
    Write(#[source] io::Error),
    /// Nothing in the input looks like OpenPGP.
    #[error("no OpenPGP message found")]
    NoMessage,
    /// There is a message, and it is not encrypted.
    #[error("the message is not encrypted")]
    NotEncrypted,
    /// There are signatures, and what they are over is somewhere else.
    #[error("there are only signatures here; what they are over is needed too")]
    Detached,
    /// There is clear text, and no signature behind it.
    #[error("there is no signature behind the clear text")]
    Unsigned,
    /// The input ends in the middle.
    #[error("the message is cut short")]
    CutShort,
    /// A packet that cannot be read, or that must not stand where it stands.
    #[error("not a valid message: {0}")]
    Malformed(&'static str),
    /// Behind its armored block there is another one.
    #[error("not a valid message: another block of ASCII armor follows it")]
    SecondBlock,
    /// Something this program does not know.
    #[error("{what} {number} is not supported")]
    Unsupported {
        /// What kind of thing.
        what: &'static str,
        /// Its number in the message.
        number: u8,
    },
    /// No implementation of this cipher in this mode.
    #[error("{0} in {1} mode is not supported")]
    UnsupportedMode(Cipher, Aead),
    /// A limit of what foreign data may cost.
    #[error("the message goes beyond a limit: {0}")]
    Limit(&'static str),
    /// No password or secret key opened it.
    #[error("no password or secret key opens this message")]
    NoKey,
    /// The session key does not fit.
    #[error("wrong password or session key")]
    WrongKey,
    /// It was changed, or truncated, after it was encrypted.
    #[error("the message was changed after it was encrypted; nothing of it can be trusted")]
    Manipulated,
    /// Without any protection against changes, and that was not asked for.
    #[error("the message is not protected against changes; it is only read when that is asked for")]
    Unprotected,
    /// A public key that nothing can be encrypted to.
    #[error("cannot encrypt to {key}: {reason}")]
    Recipient {
        /// The key's fingerprint.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A key did not sign.
    #[error("cannot sign")]
    Sign(#[from] sign::Error),
    /// The system gives no random bytes.
    #[error("the system gives no random numbers")]
    Random,
    /// What was asked for cannot be.
    #[error("{0}")]
    Options(&'static str),
}

/// What reading or writing a message returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Takes what reading returned: one of these errors that went through `Read`, or one of the system.
    pub(crate) fn reading(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => error,
            Err(error) if is_second_block(&error) => Self::SecondBlock,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Self::CutShort,
            Err(error) => Self::Read(error),
        }
    }

    /// Takes what writing returned.
    pub(crate) fn writing(error: io::Error) -> Self {
        error.downcast::<Self>().unwrap_or_else(Self::Write)
    }
}

fn is_second_block(error: &io::Error) -> bool {
    let error = error.get_ref().and_then(|error| error.downcast_ref::<cert::Error>());
    matches!(error, Some(cert::Error::Malformed { flaw: cert::Flaw::SecondBlock, .. }))
}

/// Says of a message what ciphers and passwords say.
impl From<symmetric::Error> for Error {
    fn from(error: symmetric::Error) -> Self {
        use symmetric::Error as Symmetric;
        match error {
            Symmetric::UnsupportedMode(cipher, mode) => Self::UnsupportedMode(cipher, mode),
            Symmetric::KeySize { .. } => Self::WrongKey,
            Symmetric::Changed => Self::Manipulated,
            Symmetric::CutShort => Self::Malformed("a password's parameters are cut short"),
            Symmetric::UnknownS2k(number) => {
                Self::Unsupported { what: "the way from passwords to keys", number }
            }
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
