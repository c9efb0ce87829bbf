//! The options of cleaning.

/// What differs from the usual cleaning; each is an import option of GnuPG's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleanOptions {
    /// Keeps signatures that are not to be given to others (`import-local-sigs`).
    pub keep_local: bool,
    /// Moves nothing and keeps copies (`no-repair-keys`).
    pub no_repair: bool,
    /// Drops all signatures that name another key as issuer (`self-sigs-only`).
    pub self_signatures_only: bool,
    /// Gives the first subkey its binding back that a key server put behind the last one
    /// (`repair-pks-subkey-bug`).
    pub repair_pks_subkey_bug: bool,
    /// Keeps user IDs that no self-signature vouches for (`allow-non-selfsigned-uid`).
    pub accept_unsigned_user_ids: bool,
}
