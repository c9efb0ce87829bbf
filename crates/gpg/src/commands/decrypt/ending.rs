//! How the decryption of a message ended, and gpg's report of it.

use engine::causes;
use engine::message::Error;

use super::unlock::{Outcome, Unlocked};
use crate::code::Code;
use crate::settings::{Compliance, Settings};
use crate::streams::Streams;

/// How the decryption of a message ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// There were no encrypted data.
    NotEncrypted,
    /// The data were decrypted, and not changed by others.
    Unchanged,
    /// The data were decrypted; nothing protected them against changes.
    Unprotected,
    /// Nothing protects the data against changes. Unlike by gpg, nothing of them was written.
    Refused,
    /// The data were changed by others, or cut short.
    Changed,
    /// Only the recipients were listed (`--list-only`).
    Listed,
    Failed {
        reason: String,
        /// The passphrase may have been wrong.
        is_passphrase_doubtful: bool,
    },
}

impl Ending {
    /// Returns how a decryption ended that failed with an error.
    pub(super) fn of_failure(error: &Error, unlocked: Unlocked) -> Self {
        let reason = match (error, unlocked.outcome) {
            (_, Outcome::ListedOnly) => return Self::Listed,
            (Error::Unprotected, _) => return Self::Refused,
            (Error::Manipulated | Error::CutShort, Outcome::Key) => return Self::Changed,
            (Error::NoKey, _) => unlocked.code.unwrap_or(Code::NO_SECRET_KEY).to_string(),
            (Error::WrongKey, _) => Code::BAD_SESSION_KEY.to_string(),
            (Error::Malformed(_) | Error::SecondBlock | Error::CutShort | Error::NoMessage, _) => {
                Code::INVALID_PACKET.to_string()
            }
            _ => causes(error),
        };
        let is_session_key_bad =
            matches!(error, Error::WrongKey) || unlocked.code == Some(Code::BAD_SESSION_KEY);
        let is_passphrase_doubtful = is_session_key_bad && unlocked.has_passphrases;
        Self::Failed { reason, is_passphrase_doubtful }
    }

    /// Reports the end of the decryption.
    pub(super) fn report(&self, settings: &Settings, streams: &mut Streams) {
        match self {
            Self::NotEncrypted => return,
            Self::Unchanged | Self::Unprotected => {
                streams.status("DECRYPTION_OKAY");
                if settings.verbose > 1 {
                    streams.info("decryption okay");
                }
                match self {
                    Self::Unchanged => streams.status("GOODMDC"),
                    _ => streams.info("WARNING: message was not integrity protected"),
                }
            }
            Self::Refused => {
                streams.status("BEGIN_DECRYPTION");
                streams.error("WARNING: message was not integrity protected");
                streams.info("Use the option '--ignore-mdc-error' to decrypt anyway.");
                streams.info("decryption forced to fail!");
                streams.status("DECRYPTION_FAILED");
            }
            Self::Changed => {
                streams.error("WARNING: encrypted message has been manipulated!");
                streams.status("BADMDC");
                streams.status("DECRYPTION_FAILED");
            }
            Self::Listed => {}
            Self::Failed { reason, is_passphrase_doubtful } => {
                if *is_passphrase_doubtful {
                    streams.status("ERROR symkey_decrypt.maybe_error 11_BAD_PASSPHRASE");
                }
                streams.status("DECRYPTION_FAILED");
                streams.error(format_args!("decryption failed: {reason}"));
            }
        }
        streams.status("END_DECRYPTION");
        if settings.require_compliance && settings.compliance == Compliance::DeVs {
            streams.error("operation forced to fail due to unfulfilled compliance rules");
        }
    }
}
