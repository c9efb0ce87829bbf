//! Whether something can be relied on, in one word.

use keyhoard::cert::Timestamp;
use keyhoard::cert::effective::{KeyState, UserIdState};
use serde::Serialize;

use crate::style::Style;

/// Whether a key or user ID can be relied on as far as its owner's own signatures say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ComponentStatus {
    /// It can.
    Good,
    /// Its owner took it back.
    Revoked,
    /// It has ended.
    Expired,
    /// No self-signature that holds binds it.
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

    /// Returns what a person is told of something that ends then, if anything has to be said.
    pub(super) fn remark_with(self, expires: Option<Timestamp>) -> Option<String> {
        match (self, expires.map(crate::moment::day)) {
            (Self::Expired, Some(day)) => Some(format!("expired {day}")),
            (Self::Good, Some(day)) => Some(format!("expires {day}")),
            _ => self.remark().map(str::to_owned),
        }
    }

    /// Returns what a person is told, if anything has to be said.
    pub(super) fn remark(self) -> Option<&'static str> {
        match self {
            Self::Good => None,
            Self::Revoked => Some("revoked"),
            Self::Expired => Some("expired"),
            Self::Unbound => Some("not bound by a valid self-signature"),
        }
    }
}
