//! The status of a key or user ID in one word.

use engine::cert::Timestamp;
use engine::cert::effective::{KeyState, UserIdState};
use serde::Serialize;

use crate::style::Style;

/// The status of a key or user ID, by the self-signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ComponentStatus {
    /// Bound, neither revoked nor expired.
    Good,
    /// Revoked by its owner.
    Revoked,
    /// Expired.
    Expired,
    /// Not bound by a valid self-signature.
    Unbound,
}

impl ComponentStatus {
    pub(super) fn of_key(state: &KeyState) -> Self {
        match state {
            KeyState { revoked: Some(_), .. } => Self::Revoked,
            KeyState { valid: false, .. } => Self::Unbound,
            KeyState { expired: true, .. } => Self::Expired,
            _ => Self::Good,
        }
    }

    pub(super) fn of_user_id(state: &UserIdState) -> Self {
        match state {
            UserIdState { revoked: true, .. } => Self::Revoked,
            UserIdState { expired: true, .. } => Self::Expired,
            UserIdState { created: None, .. } => Self::Unbound,
            _ => Self::Good,
        }
    }

    pub(super) fn style(self) -> Style {
        match self {
            Self::Good => Style::Good,
            Self::Expired => Style::Warning,
            Self::Revoked | Self::Unbound => Style::Error,
        }
    }

    /// Returns the remark in a listing, with the day of expiry; `None` if there is nothing to remark.
    pub(super) fn remark_with(self, expires: Option<Timestamp>) -> Option<String> {
        match (self, expires.map(crate::timestamp::day)) {
            (Self::Expired, Some(day)) => Some(format!("expired {day}")),
            (Self::Good, Some(day)) => Some(format!("expires {day}")),
            _ => self.remark().map(str::to_owned),
        }
    }

    /// Returns the remark in a listing; `None` for a good status.
    pub(super) fn remark(self) -> Option<&'static str> {
        match self {
            Self::Good => None,
            Self::Revoked => Some("revoked"),
            Self::Expired => Some("expired"),
            Self::Unbound => Some("not bound by a valid self-signature"),
        }
    }
}
