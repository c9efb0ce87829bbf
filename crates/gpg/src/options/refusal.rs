//! Why the value of an option is not taken.

/// Why a value is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Reported and counted as an error; reading goes on.
    Complaint(String),
    /// The value is `help`: the text is printed, and gpg ends with code 0.
    Help(String),
    /// Reported as an error; gpg ends with code 1.
    Fatal(String),
    /// Reported, but not as an error.
    Note(String),
}

/// The result of setting a value.
pub(crate) type Outcome = std::result::Result<(), Refusal>;
