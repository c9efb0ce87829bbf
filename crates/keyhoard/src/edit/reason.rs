//! Why something is revoked.

use cert::facts::RevocationReason;

/// Why something is revoked (RFC 9580, 5.2.3.31).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The revocation code.
    pub code: ReasonCode,
    /// The comment, in UTF-8.
    pub comment: String,
}

/// The codes of reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReasonCode {
    /// Not said.
    #[default]
    Unspecified,
    /// Another key replaces this one.
    Superseded,
    /// The secret key was disclosed.
    Compromised,
    /// The key is used no more.
    Retired,
    /// The user ID is not valid any more.
    UserIdInvalid,
}

impl Reason {
    /// Returns a reason without a comment.
    pub fn of(code: ReasonCode) -> Self {
        Self { code, comment: String::new() }
    }
}

impl From<Reason> for RevocationReason {
    fn from(reason: Reason) -> Self {
        let code = match reason.code {
            ReasonCode::Unspecified => 0,
            ReasonCode::Superseded => 1,
            ReasonCode::Compromised => 2,
            ReasonCode::Retired => 3,
            ReasonCode::UserIdInvalid => 32,
        };
        Self { code, comment: reason.comment.into_bytes() }
    }
}
