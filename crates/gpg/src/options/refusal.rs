//! Why the value of an option is not taken.

/// Why a value is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Told, and counted as an error; reading goes on.
    Complaint(String),
    /// `help` was asked for: printed on stdout, then gpg ends with code 0.
    Help(String),
    /// Told as an error, then gpg ends with code 1.
    Fatal(String),
    /// Told, and nothing more.
    Note(String),
}

/// What a setter says.
pub(crate) type Outcome = std::result::Result<(), Refusal>;
