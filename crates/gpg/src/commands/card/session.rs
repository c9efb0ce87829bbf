//! The card that is being edited.

use super::access::CardAccess;

/// The card that is being edited.
pub(super) struct CardSession<'a> {
    pub(super) access: CardAccess<'a>,
    /// Its serial number, as it was shown last.
    pub(super) serial: Option<String>,
}

impl<'a> CardSession<'a> {
    pub(super) fn new(access: CardAccess<'a>) -> Self {
        Self { access, serial: None }
    }
}
