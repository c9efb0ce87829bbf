//! Why something was not done.

use std::fmt;
use std::io;

use crate::causes;

/// What the Stateless OpenPGP interface calls a failure, and the exit code it has there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing of what follows.
    Unspecified,
    /// No acceptable signature.
    NoSignature,
    /// A public-key algorithm that is not known.
    UnsupportedAsymmetricAlgo,
    /// A certificate that cannot be encrypted to now.
    CertCannotEncrypt,
    /// An argument is missing.
    MissingArg,
    /// It is not said by whom signatures must be, or where to tell of them.
    IncompleteVerification,
    /// The message cannot be decrypted, or was changed.
    CannotDecrypt,
    /// A new password that others could not type.
    PasswordNotHumanReadable,
    /// An option that is not known.
    UnsupportedOption,
    /// Input of another kind than was expected.
    BadData,
    /// Input that is no text.
    ExpectedText,
    /// The output's file is there already.
    OutputExists,
    /// The input's file is not there.
    MissingInput,
    /// A locked key that no password opens.
    KeyIsProtected,
    /// A subcommand that is not known.
    UnsupportedSubcommand,
    /// A name that begins with `@` and stands for nothing that is known.
    UnsupportedSpecialPrefix,
    /// A name that begins with `@` and is a file's too.
    AmbiguousInput,
    /// A key that cannot sign now.
    KeyCannotSign,
    /// Options that contradict each other.
    IncompatibleOptions,
    /// A profile that is not known.
    UnsupportedProfile,
    /// A primary key that is revoked, or too weak.
    PrimaryKeyBad,
    /// A certificate without the user ID.
    CertUseridNoMatch,
    /// A key that cannot certify now.
    KeyCannotCertify,
}

impl Kind {
    /// Returns the exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Unspecified => 1,
            Self::NoSignature => 3,
            Self::UnsupportedAsymmetricAlgo => 13,
            Self::CertCannotEncrypt => 17,
            Self::MissingArg => 19,
            Self::IncompleteVerification => 23,
            Self::CannotDecrypt => 29,
            Self::PasswordNotHumanReadable => 31,
            Self::UnsupportedOption => 37,
            Self::BadData => 41,
            Self::ExpectedText => 53,
            Self::OutputExists => 59,
            Self::MissingInput => 61,
            Self::KeyIsProtected => 67,
            Self::UnsupportedSubcommand => 69,
            Self::UnsupportedSpecialPrefix => 71,
            Self::AmbiguousInput => 73,
            Self::KeyCannotSign => 79,
            Self::IncompatibleOptions => 83,
            Self::UnsupportedProfile => 89,
            Self::PrimaryKeyBad => 103,
            Self::CertUseridNoMatch => 107,
            Self::KeyCannotCertify => 109,
        }
    }
}

/// Why something was not done.
#[derive(Debug)]
pub struct Failure {
    /// What the interface calls it.
    pub kind: Kind,
    /// What was wrong, for people.
    pub reason: String,
}

/// A result of the interface.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Makes a failure.
    pub fn new(kind: Kind, reason: impl fmt::Display) -> Self {
        Self { kind, reason: reason.to_string() }
    }

    /// Takes an error, and says what kind of failure it is.
    pub(super) fn of(kind: Kind) -> impl Fn(&dyn std::error::Error) -> Self {
        move |error| Self { kind, reason: causes(error).to_string() }
    }

    /// Says of an input that it is not what it should be.
    pub(super) fn bad_data(reason: impl fmt::Display) -> Self {
        Self::new(Kind::BadData, reason)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Failure {}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(Kind::Unspecified, error)
    }
}

impl From<crate::Error> for Failure {
    fn from(error: crate::Error) -> Self {
        match error {
            crate::Error::Message(error) => error.into(),
            error => Self::of(Kind::Unspecified)(&error),
        }
    }
}

impl From<sign::Error> for Failure {
    fn from(error: sign::Error) -> Self {
        Self::of(Kind::Unspecified)(&error)
    }
}

impl From<message::Error> for Failure {
    /// What is wrong with a message as it is read, where no more is known.
    fn from(error: message::Error) -> Self {
        use message::Error as E;
        let kind = match &error {
            E::Read(_) | E::Write(_) | E::Random | E::Options(_) | E::Sign(_) => Kind::Unspecified,
            E::NoKey | E::WrongKey | E::Manipulated | E::Unprotected | E::UnsupportedMode(..) => {
                Kind::CannotDecrypt
            }
            E::Recipient { .. } => Kind::CertCannotEncrypt,
            E::Unsigned => Kind::NoSignature,
            _ => Kind::BadData,
        };
        Self::of(kind)(&error)
    }
}
