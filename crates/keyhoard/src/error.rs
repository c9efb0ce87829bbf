//! What can go wrong.

use std::io;

use engine::{causes, secret};

use crate::{Fingerprint, Verdicts};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something was not done. [`Error::code`] is for programs, the text is for people: it names the causes too.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no database, and none was to be made.
    #[error("there is no database: {0}")]
    Missing(String),
    /// Another program has held the database's lock for a minute.
    #[error("the database is in use: {0}")]
    Locked(String),
    /// The database refused for another reason.
    #[error("{0}")]
    Database(String),
    /// The database was opened before this process was forked; what is inherited cannot be used.
    #[error("the database was opened by process {opener}, of which this one is a fork: open it again here")]
    Forked {
        /// The process that opened it.
        opener: u32,
    },
    /// A name that can stand for no certificate.
    #[error("{0}")]
    Name(String),
    /// No certificate has the name.
    #[error("{name}: no certificate has this name")]
    NotFound {
        /// The name.
        name: String,
    },
    /// Several certificates have the name.
    #[error("{name}: several certificates have this name; give the fingerprint of the right one: {}", first(.candidates))]
    Ambiguous {
        /// The name.
        name: String,
        /// Those that could be used.
        candidates: Vec<Fingerprint>,
    },
    /// Nobody who is trusted says that the certificate is whose the name says.
    #[error(
        "{name}: {fingerprint} is not known to be valid; give the fingerprint if you know that it is right"
    )]
    NotValid {
        /// The name.
        name: String,
        /// The certificate.
        fingerprint: Fingerprint,
    },
    /// A certificate has no key for what was asked, or none that may be used now.
    #[error("{fingerprint} has no key that can {purpose} now")]
    NoUsableKey {
        /// The certificate.
        fingerprint: Fingerprint,
        /// `encrypt` or `sign`.
        purpose: &'static str,
    },
    /// An encryption without recipients and passwords, or a signature without signers.
    #[error("{0}")]
    Incomplete(&'static str),
    /// A key is locked, and nobody gave the right passphrase.
    #[error("{0}")]
    Passphrase(String),
    /// A secret key is not here, or cannot be used.
    #[error("{0}")]
    SecretKey(String),
    /// No secret key or password opens the message.
    #[error("{0}")]
    CannotDecrypt(String),
    /// The message was changed, or was never protected against that.
    #[error("{0}")]
    Manipulated(String),
    /// A signature in the message is not over its content.
    #[error("a signature is bad: the content was not signed by the key that it names")]
    BadSignature {
        /// The verdicts on all signatures.
        verdicts: Box<Verdicts>,
    },
    /// There is no signature where one was to be verified.
    #[error("there is no signature in it")]
    NotSigned,
    /// What was given is not what it should be: no message, no certificate, cut short.
    #[error("{0}")]
    Malformed(String),
    /// A key, a subkey or a certification could not be made.
    #[error("{0}")]
    Generate(String),
    /// The journal's entry is not there, was undone, or cannot be undone.
    #[error("{0}")]
    Undo(String),
    /// A server in the network did not answer, or not as it should.
    #[error("{0}")]
    Network(String),
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Error {
    /// Returns the code, which stays the same for ever: for programs, logs and other languages.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "missing",
            Self::Locked(_) => "locked",
            Self::Database(_) => "database",
            Self::Forked { .. } => "forked",
            Self::Name(_) => "name",
            Self::NotFound { .. } => "not-found",
            Self::Ambiguous { .. } => "ambiguous",
            Self::NotValid { .. } => "not-valid",
            Self::NoUsableKey { .. } => "no-usable-key",
            Self::Incomplete(_) => "incomplete",
            Self::Passphrase(_) => "passphrase",
            Self::SecretKey(_) => "secret-key",
            Self::CannotDecrypt(_) => "cannot-decrypt",
            Self::Manipulated(_) => "manipulated",
            Self::BadSignature { .. } => "bad-signature",
            Self::NotSigned => "not-signed",
            Self::Malformed(_) => "malformed",
            Self::Generate(_) => "generate",
            Self::Undo(_) => "undo",
            Self::Network(_) => "network",
            Self::Io(_) => "io",
            Self::Other(_) => "other",
        }
    }
}

/// Shows the first of some fingerprints, and how many follow.
fn first(fingerprints: &[Fingerprint]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = fingerprints.iter().take(SHOWN).map(Fingerprint::to_string).collect();
    let more = fingerprints.len() - shown.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    shown.join(", ") + &more
}

impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Self {
        use engine::Error as Engine;
        match error {
            Engine::Store(error) => error.into(),
            Engine::Secret(error) => error.into(),
            Engine::Message(error) => error.into(),
            Engine::Keygen(engine::keygen::Error::Secret(error)) => error.into(),
            Engine::Output(error) => Self::Io(error),
            #[cfg(feature = "network")]
            Engine::Network(engine::network::Error::Address { .. }) => Self::Name(causes(&error)),
            #[cfg(feature = "network")]
            Engine::Network(_) => Self::Network(causes(&error)),
            Engine::Keygen(_) | Engine::UnknownProfile { .. } | Engine::Edit(_) => {
                Self::Generate(causes(&error))
            }
            Engine::Cert(engine::cert::Error::Read { source, .. }) => Self::Io(source),
            Engine::Cert(_) => Self::Malformed(causes(&error)),
            Engine::Name { .. } => Self::Name(causes(&error)),
            Engine::NothingToUndo
            | Engine::NoSuchEntry { .. }
            | Engine::AlreadyUndone { .. }
            | Engine::NothingInEntry { .. }
            | Engine::BroughtAgain { .. } => Self::Undo(causes(&error)),
            Engine::Exposed(_) => Self::SecretKey(causes(&error)),
            Engine::ChangedMeanwhile => Self::Locked(causes(&error)),
            _ => Self::Other(causes(&error)),
        }
    }
}

impl From<engine::store::Error> for Error {
    fn from(error: engine::store::Error) -> Self {
        use engine::store::Error as Store;
        match error {
            Store::Missing { .. } => Self::Missing(causes(&error)),
            Store::Locked { .. } | Store::SnapshotHeld { .. } => Self::Locked(causes(&error)),
            _ => Self::Database(causes(&error)),
        }
    }
}

impl From<secret::Error> for Error {
    fn from(error: secret::Error) -> Self {
        match error {
            secret::Error::WrongPassphrase { .. }
            | secret::Error::TooManyTries { .. }
            | secret::Error::NoPassphrase { .. } => Self::Passphrase(causes(&error)),
            _ => Self::SecretKey(causes(&error)),
        }
    }
}

impl From<engine::message::Error> for Error {
    fn from(error: engine::message::Error) -> Self {
        use engine::message::Error as Message;
        match error {
            Message::Read(error) | Message::Write(error) => Self::Io(error),
            Message::NoKey | Message::WrongKey => Self::CannotDecrypt(causes(&error)),
            Message::Manipulated | Message::Unprotected => Self::Manipulated(causes(&error)),
            Message::Unsigned => Self::NotSigned,
            Message::Recipient { .. } | Message::Options(_) | Message::Random => Self::Other(causes(&error)),
            Message::Sign(_) => Self::SecretKey(causes(&error)),
            _ => Self::Malformed(causes(&error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_certificates_with_a_name_are_named_in_the_error() {
        let fingerprints: Vec<Fingerprint> = (0..7).map(|byte| Fingerprint::V4([byte; 20])).collect();
        let error = Error::Ambiguous { name: "ann".to_owned(), candidates: fingerprints.clone() };
        let text = error.to_string();
        assert!(text.contains(&fingerprints[4].to_string()) && text.ends_with(" and 2 more"), "{text}");
    }
}
