//! `--list-options` and `--verify-options`.

use engine::configuration::Compat;

use crate::options::refusal::Outcome;
use crate::options::words::{self, Word, flag, flags, ignored, value};

/// What a key listing shows beyond the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListFlags {
    pub(crate) usage: bool,
    pub(crate) policy_urls: bool,
    pub(crate) std_notations: bool,
    pub(crate) user_notations: bool,
    pub(crate) keyserver_urls: bool,
    pub(crate) uid_validity: bool,
    pub(crate) unusable_uids: bool,
    pub(crate) unusable_subkeys: bool,
    /// Signatures whose algorithms are not accepted.
    pub(crate) unusable_sigs: bool,
    /// The listing for people puts self-signatures first, then orders by issuer and date.
    pub(crate) sorted_sigs: bool,
    pub(crate) owner_trust: bool,
    pub(crate) keyring: bool,
    pub(crate) sig_expire: bool,
    /// Types of the signature subpackets to print, ascending; empty for none.
    pub(crate) sig_subpackets: Vec<u8>,
    pub(crate) only_fpr_mbox: bool,
    /// The preferences of user IDs, as letters and numbers.
    pub(crate) preferences: bool,
    /// The same by name.
    pub(crate) preference_names: bool,
}

impl Default for ListFlags {
    fn default() -> Self {
        Self {
            usage: true,
            policy_urls: false,
            std_notations: false,
            user_notations: false,
            keyserver_urls: false,
            uid_validity: true,
            unusable_uids: false,
            unusable_subkeys: false,
            unusable_sigs: false,
            sorted_sigs: true,
            owner_trust: false,
            keyring: false,
            sig_expire: false,
            sig_subpackets: Vec::new(),
            only_fpr_mbox: false,
            preferences: false,
            preference_names: false,
        }
    }
}

impl ListFlags {
    /// Returns the default settings of one of GnuPG's versions.
    pub(crate) fn of(compat: Compat) -> Self {
        match compat {
            Compat::V2_2 => Self { unusable_sigs: true, sorted_sigs: false, ..Self::default() },
            Compat::V2_4 => Self::default(),
        }
    }

    /// Reads one `--list-options` list.
    pub(crate) fn read(&mut self, text: &[u8]) -> Outcome {
        words::read("list options", LIST_WORDS, text, self)
    }

    /// Shows or hides all notations, as `show-notations` does.
    pub(crate) fn set_notations(&mut self, on: bool) {
        self.std_notations = on;
        self.user_notations = on;
    }

    /// Adds subpacket types; `None` means all of them, and a bad number refuses the list.
    fn set_subpackets(&mut self, on: bool, value: Option<&str>) -> bool {
        if !on {
            self.sig_subpackets.clear();
            return true;
        }
        let Some(value) = value else {
            self.sig_subpackets = (1..=127).collect();
            return true;
        };
        for item in value.split([' ', ',']).filter(|item| !item.is_empty()) {
            match item.parse::<u8>() {
                Ok(kind @ 1..=127) => self.sig_subpackets.push(kind),
                _ => return false,
            }
        }
        self.sig_subpackets.sort_unstable();
        self.sig_subpackets.dedup();
        true
    }
}

/// What is shown of a signature over content besides the result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VerifyFlags {
    pub(crate) policy_urls: bool,
    pub(crate) keyserver_urls: bool,
    pub(crate) std_notations: bool,
    pub(crate) user_notations: bool,
    pub(crate) uid_validity: bool,
    pub(crate) unusable_uids: bool,
    pub(crate) primary_uid_only: bool,
}

impl VerifyFlags {
    /// What gpg shows; gpgv shows nothing.
    pub(crate) fn of_gpg() -> Self {
        Self {
            policy_urls: true,
            keyserver_urls: true,
            std_notations: true,
            uid_validity: true,
            ..Self::default()
        }
    }

    /// Reads one `--verify-options` list.
    pub(crate) fn read(&mut self, text: &[u8]) -> Outcome {
        words::read("verify options", VERIFY_WORDS, text, self)
    }
}

#[rustfmt::skip]
const LIST_WORDS: &[Word<ListFlags>] = &[
    ignored("show-photos", "show photos"),
    flag("show-usage", |s| &mut s.usage, "show what a key may be used for"),
    flag("show-policy-urls", |s| &mut s.policy_urls, "show the policy URLs of signatures"),
    flags("show-notations", |s, on| s.set_notations(on), "show all notations of signatures"),
    flag("show-std-notations", |s| &mut s.std_notations, "show the IETF's notations of signatures"),
    flag("show-standard-notations", |s| &mut s.std_notations, ""),
    flag("show-user-notations", |s| &mut s.user_notations, "show users' notations of signatures"),
    flag("show-keyserver-urls", |s| &mut s.keyserver_urls, "show the preferred keyservers of signatures"),
    flag("show-uid-validity", |s| &mut s.uid_validity, "show the validity of user IDs"),
    flag("show-unusable-uids", |s| &mut s.unusable_uids, "show revoked and expired user IDs"),
    flag("show-unusable-subkeys", |s| &mut s.unusable_subkeys, "show revoked and expired subkeys"),
    flag("show-unusable-sigs", |s| &mut s.unusable_sigs, "show signatures with algorithms that are not accepted"),
    flag("sort-sigs", |s| &mut s.sorted_sigs, ""),
    flag("show-ownertrust", |s| &mut s.owner_trust, "show how far owners are trusted"),
    flag("show-pref", |s| &mut s.preferences, "show the preferences of user IDs"),
    flag("show-pref-verbose", |s| &mut s.preference_names, "the same by name"),
    flag("show-keyring", |s| &mut s.keyring, "show where a key is kept"),
    flag("show-sig-expire", |s| &mut s.sig_expire, "show when signatures expire"),
    value("show-sig-subpackets", ListFlags::set_subpackets, ""),
    flag("show-only-fpr-mbox", |s| &mut s.only_fpr_mbox, ""),
];

#[rustfmt::skip]
const VERIFY_WORDS: &[Word<VerifyFlags>] = &[
    ignored("show-photos", "show photos"),
    flag("show-policy-urls", |s| &mut s.policy_urls, "show policy URLs"),
    flags("show-notations", |s, on| { s.std_notations = on; s.user_notations = on; }, "show all notations"),
    flag("show-std-notations", |s| &mut s.std_notations, "show the IETF's notations"),
    flag("show-standard-notations", |s| &mut s.std_notations, ""),
    flag("show-user-notations", |s| &mut s.user_notations, "show users' notations"),
    flag("show-keyserver-urls", |s| &mut s.keyserver_urls, "show preferred keyservers"),
    flag("show-uid-validity", |s| &mut s.uid_validity, "show the validity of user IDs"),
    flag("show-unusable-uids", |s| &mut s.unusable_uids, "show revoked and expired user IDs"),
    flag("show-primary-uid-only", |s| &mut s.primary_uid_only, "show the primary user ID only"),
    ignored("pka-lookups", ""),
    ignored("pka-trust-increase", ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subpacket_lists_add_up_until_taken_back() {
        let mut flags = ListFlags::default();
        flags.read(b"show-sig-subpackets=\"20,2\"").expect("good list");
        flags.read(b"show-sig-subpackets=9").expect("good list");
        assert_eq!(flags.sig_subpackets, [2, 9, 20]);
        flags.read(b"no-show-sig-subpackets").expect("good list");
        assert!(flags.sig_subpackets.is_empty());
        assert!(flags.read(b"show-sig-subpackets=128").is_err());
    }

    #[test]
    fn without_numbers_every_subpacket_is_shown() {
        let mut flags = ListFlags::default();
        flags.read(b"show-sig-subpackets").expect("good list");
        assert_eq!(flags.sig_subpackets.len(), 127);
    }
}
