//! Why an option cannot be read.

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
