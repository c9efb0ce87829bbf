//! The kinds of errors, for scripts.

use serde::Serialize;

/// What kind of error it is, for scripts; `docs/json.md` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ErrorCode {
    /// Arguments that the command does not understand.
    Usage,
    /// A name that no certificate has, or nothing that the command can use.
    NotFound,
    /// There is no database yet.
    NoDatabase,
    /// The output file is there already.
    FileExists,
    /// A passphrase is needed and nobody can be asked for it.
    PassphraseNeeded,
    /// A name that several certificates have.
    Ambiguous,
    /// The system failed: a file, a pipe, a connection.
    System,
    /// The database failed.
    Database,
    /// Anything else.
    Failed,
}
