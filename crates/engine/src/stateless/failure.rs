//! Why something was not done.

use std::fmt;
use std::io;

use crate::causes;

/// What the Stateless OpenPGP interface calls a failure, and the exit code it has there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing of what follows.
    Unspecified = 1,
    /// No acceptable signature.
    NoSignature = 3,
    /// A public-key algorithm that is not known.
    UnsupportedAsymmetricAlgo = 13,
    /// A certificate that cannot be encrypted to now.
    CertCannotEncrypt = 17,
    /// An argument is missing.
    MissingArg = 19,
    /// It is not said by whom signatures must be, or where to tell of them.
    IncompleteVerification = 23,
    /// The message cannot be decrypted, or was changed.
    CannotDecrypt = 29,
    /// A new password that others could not type.
    PasswordNotHumanReadable = 31,
    /// An option that is not known.
    UnsupportedOption = 37,
    /// Input of another kind than was expected.
    BadData = 41,
    /// Input that is no text.
    ExpectedText = 53,
    /// The output's file is there already.
    OutputExists = 59,
    /// The input's file is not there.
    MissingInput = 61,
    /// A locked key that no password opens.
    KeyIsProtected = 67,
    /// A subcommand that is not known.
    UnsupportedSubcommand = 69,
    /// A name that begins with `@` and stands for nothing that is known.
    UnsupportedSpecialPrefix = 71,
    /// A name that begins with `@` and is a file's too.
    AmbiguousInput = 73,
    /// A key that cannot sign now.
    KeyCannotSign = 79,
    /// Options that contradict each other.
    IncompatibleOptions = 83,
    /// A profile that is not known.
    UnsupportedProfile = 89,
    /// A primary key that is revoked, or too weak.
    PrimaryKeyBad = 103,
    /// A certificate without the user ID.
    CertUseridNoMatch = 107,
    /// A key that cannot certify now.
    KeyCannotCertify = 109,
}

impl Kind {
    /// Returns the exit code.
    pub fn exit_code(self) -> u8 {
        self as u8
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
            // Armor is damaged.
            E::Read(cause) if cause.kind() == io::ErrorKind::InvalidData => Kind::BadData,
            E::Read(_) | E::Write(_) | E::Random | E::Options(_) | E::UnverifiedOverflow | E::Sign(_) => {
                Kind::Unspecified
            }
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
