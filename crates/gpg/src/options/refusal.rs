//! Why an option, or its value, is not taken.

/// Why a value is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Reported and counted as an error; reading goes on.
    Complaint(String),
    /// The value is `help`: the text is printed, and gpg ends with code 0.
    Help(String),
    /// The same, but the lines are written as messages.
    HelpInMessages(Vec<String>),
    /// Reported as an error; gpg ends with code 1.
    Fatal(String),
    /// Each is reported, but not as an error.
    Notes(Vec<String>),
}

/// The result of setting a value.
pub(crate) type Outcome = Result<(), Refusal>;

/// Why an option cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Unknown,
    Ambiguous,
    MissingArgument,
    UnexpectedArgument,
    InvalidArgument,
    KeywordTooLong,
}

impl Fault {
    /// Returns the message for a configuration file.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Unknown | Self::Ambiguous => "invalid option",
            Self::MissingArgument => "missing argument",
            Self::UnexpectedArgument => "argument not expected",
            Self::InvalidArgument => "invalid argument",
            Self::KeywordTooLong => "keyword too long",
        }
    }
}
