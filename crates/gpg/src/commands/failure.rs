//! Why a command did not do its work.

use crate::code::Code;

/// Why a message was not written: gpg's code, and the code as status lines carry it.
pub(super) struct Failure {
    pub(super) code: Code,
    pub(super) value: u32,
}

impl Failure {
    /// gpg itself found it.
    pub(super) fn of(code: Code) -> Self {
        Self { code, value: code.with_gpg() }
    }

    /// gpg says not who found it.
    pub(super) fn bare(code: Code) -> Self {
        Self { code, value: code.bare() }
    }
}
