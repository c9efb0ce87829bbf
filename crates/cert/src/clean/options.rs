//! The options of cleaning.

/// Options of cleaning, each an import option of GnuPG.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleanOptions {
    /// Keeps signatures that are not exportable (`import-local-sigs`).
    pub keep_local: bool,
    /// Moves no signatures and keeps copies (`no-repair-keys`).
    pub no_repair: bool,
    /// Drops all signatures by other issuers (`self-sigs-only`).
    pub self_signatures_only: bool,
    /// Moves the binding signature of the first subkey back, which key servers put after the last one
    /// (`repair-pks-subkey-bug`).
    pub repair_pks_subkey_bug: bool,
    /// Keeps user IDs without a valid self-signature (`allow-non-selfsigned-uid`).
    pub accept_unsigned_user_ids: bool,
}
