//! The options that say why a key is revoked.

use engine::cert::facts::RevocationReason;

use super::editing::Comment;

/// The options that say why a key is revoked.
#[derive(Debug, clap::Args)]
pub(super) struct KeyReason {
    /// Why.
    #[arg(long, value_name = "REASON", value_enum, default_value_t)]
    reason: KeyCode,

    #[command(flatten)]
    comment: Comment,
}

#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum KeyCode {
    /// No reason given.
    #[default]
    Unspecified,
    /// Another key has taken its place.
    Superseded,
    /// Others have the secret key.
    Compromised,
    /// It is no longer used.
    Retired,
}

impl KeyReason {
    /// Returns the reason.
    pub(super) fn reason(&self) -> RevocationReason {
        let code = match self.reason {
            KeyCode::Unspecified => RevocationReason::UNSPECIFIED,
            KeyCode::Superseded => RevocationReason::SUPERSEDED,
            KeyCode::Compromised => RevocationReason::COMPROMISED,
            KeyCode::Retired => RevocationReason::RETIRED,
        };
        self.comment.reason(code)
    }
}
