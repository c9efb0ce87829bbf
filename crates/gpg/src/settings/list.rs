//! What a key listing shows, and how.

use engine::configuration::Compat;

use super::ListFlags;
use crate::filter::Filter;

/// What a key listing shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListSettings {
    /// Whose output is followed.
    pub(crate) compat: Compat,
    pub(crate) with_colons: bool,
    /// How often `--fingerprint` or `--with-fingerprint` was given.
    pub(crate) fingerprint: u32,
    pub(crate) with_subkey_fingerprint: bool,
    pub(crate) with_icao_spelling: bool,
    pub(crate) with_keygrip: bool,
    pub(crate) with_key_data: bool,
    pub(crate) with_key_origin: bool,
    pub(crate) with_secret: bool,
    /// Secret keys are listed, and only certificates that have one.
    pub(crate) secret: bool,
    /// The contents of a file are listed, without marks for secret keys.
    pub(crate) of_file: bool,
    pub(crate) with_wkd_hash: bool,
    pub(crate) with_tofu_info: bool,
    pub(crate) signatures: bool,
    pub(crate) check_signatures: bool,
    /// `--no-sig-cache`: stored verdicts do not count, and checked signatures name the key that made them.
    pub(crate) no_sig_cache: bool,
    /// `--allow-weak-key-signatures`.
    pub(crate) weak_key_signatures: bool,
    /// `--fast-list-mode`: neither the names of signers nor the validity of keys, only that of user IDs.
    pub(crate) fast: bool,
    /// `--no-expensive-trust-checks`: records have no validity.
    pub(crate) without_validity: bool,
    pub(crate) legacy: bool,
    pub(crate) key_id_format: KeyIdFormat,
    /// `--list-filter select=`: only certificates with a component that matches are listed.
    pub(crate) select: Option<Filter>,
    /// `--full-timestrings`: times of day follow dates.
    pub(crate) full_times: bool,
    /// `--with-key-screening`: RSA keys that CVE-2017-15361 makes guessable are marked.
    pub(crate) with_key_screening: bool,
    /// `--with-v5-fingerprint`: version 4 keys are listed with the fingerprint that LibrePGP's version 5 would give them.
    pub(crate) with_v5_fingerprint: bool,
    pub(crate) flags: ListFlags,
}

impl ListSettings {
    /// Returns the default settings of one of GnuPG's versions.
    pub(crate) fn of(compat: Compat) -> Self {
        Self { compat, flags: ListFlags::of(compat), ..Self::default() }
    }

    /// Says whether a listing shows validity at all.
    pub(crate) fn shows_validity(&self) -> bool {
        if self.with_colons { !self.without_validity } else { self.flags.uid_validity }
    }

    /// Says whether records show the validity and the owner trust of keys.
    pub(crate) fn shows_validity_of_keys(&self) -> bool {
        !self.fast && !self.without_validity
    }
}

/// How key IDs are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum KeyIdFormat {
    /// The fingerprint on a line of its own instead.
    #[default]
    None,
    Short,
    Long,
    ShortWith0x,
    LongWith0x,
}
