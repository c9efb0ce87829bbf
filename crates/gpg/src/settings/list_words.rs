//! `--list-options` and `--verify-options`.

use crate::options::values::Refusal;
use crate::options::words::{self, Word};

/// What a key listing shows beyond the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListFlags {
    pub(crate) photos: bool,
    pub(crate) usage: bool,
    pub(crate) policy_urls: bool,
    pub(crate) std_notations: bool,
    pub(crate) user_notations: bool,
    pub(crate) keyserver_urls: bool,
    pub(crate) uid_validity: bool,
    pub(crate) unusable_uids: bool,
    pub(crate) unusable_subkeys: bool,
    pub(crate) keyring: bool,
    pub(crate) sig_expire: bool,
    /// Types of the signature subpackets to print, ascending; empty for none.
    pub(crate) sig_subpackets: Vec<u8>,
    pub(crate) only_fpr_mbox: bool,
}

impl Default for ListFlags {
    fn default() -> Self {
        Self {
            photos: false,
            usage: true,
            policy_urls: false,
            std_notations: false,
            user_notations: false,
            keyserver_urls: false,
            uid_validity: true,
            unusable_uids: false,
            unusable_subkeys: false,
            keyring: false,
            sig_expire: false,
            sig_subpackets: Vec::new(),
            only_fpr_mbox: false,
        }
    }
}

impl ListFlags {
    /// Reads one `--list-options` list.
    pub(crate) fn read(&mut self, text: &[u8]) -> std::result::Result<(), Refusal> {
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

/// What a verification shows. Read so that configurations work; used once signatures of messages are verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VerifyFlags {
    pub(crate) photos: bool,
    pub(crate) policy_urls: bool,
    pub(crate) std_notations: bool,
    pub(crate) user_notations: bool,
    pub(crate) keyserver_urls: bool,
    pub(crate) uid_validity: bool,
    pub(crate) unusable_uids: bool,
    pub(crate) primary_uid_only: bool,
}

impl Default for VerifyFlags {
    fn default() -> Self {
        Self {
            photos: false,
            policy_urls: true,
            std_notations: true,
            user_notations: false,
            keyserver_urls: true,
            uid_validity: true,
            unusable_uids: false,
            primary_uid_only: false,
        }
    }
}

impl VerifyFlags {
    /// Reads one `--verify-options` list.
    pub(crate) fn read(&mut self, text: &[u8]) -> std::result::Result<(), Refusal> {
        words::read("verify options", VERIFY_WORDS, text, self)
    }

    /// Shows or hides all notations, as `show-notations` does.
    pub(crate) fn set_notations(&mut self, on: bool) {
        self.std_notations = on;
        self.user_notations = on;
    }
}

const fn word<T>(
    name: &'static str,
    set: fn(&mut T, bool, Option<&str>) -> bool,
    help: &'static str,
) -> Word<T> {
    Word { name, set, help }
}

#[rustfmt::skip]
const LIST_WORDS: &[Word<ListFlags>] = &[
    word("show-photos", |s, on, _| { s.photos = on; true }, "show photos"),
    word("show-usage", |s, on, _| { s.usage = on; true }, "show what a key may be used for"),
    word("show-policy-urls", |s, on, _| { s.policy_urls = on; true }, "show the policy URLs of signatures"),
    word("show-notations", |s, on, _| { s.set_notations(on); true }, "show all notations of signatures"),
    word("show-std-notations", |s, on, _| { s.std_notations = on; true }, "show the IETF's notations of signatures"),
    word("show-standard-notations", |s, on, _| { s.std_notations = on; true }, ""),
    word("show-user-notations", |s, on, _| { s.user_notations = on; true }, "show users' notations of signatures"),
    word("show-keyserver-urls", |s, on, _| { s.keyserver_urls = on; true }, "show the preferred keyservers of signatures"),
    word("show-uid-validity", |s, on, _| { s.uid_validity = on; true }, "show the validity of user IDs"),
    word("show-unusable-uids", |s, on, _| { s.unusable_uids = on; true }, "show revoked and expired user IDs"),
    word("show-unusable-subkeys", |s, on, _| { s.unusable_subkeys = on; true }, "show revoked and expired subkeys"),
    word("show-keyring", |s, on, _| { s.keyring = on; true }, "show where a key is kept"),
    word("show-sig-expire", |s, on, _| { s.sig_expire = on; true }, "show when signatures expire"),
    word("show-sig-subpackets", ListFlags::set_subpackets, ""),
    word("show-only-fpr-mbox", |s, on, _| { s.only_fpr_mbox = on; true }, ""),
];

#[rustfmt::skip]
const VERIFY_WORDS: &[Word<VerifyFlags>] = &[
    word("show-photos", |s, on, _| { s.photos = on; true }, "show photos"),
    word("show-policy-urls", |s, on, _| { s.policy_urls = on; true }, "show policy URLs"),
    word("show-notations", |s, on, _| { s.set_notations(on); true }, "show all notations"),
    word("show-std-notations", |s, on, _| { s.std_notations = on; true }, "show the IETF's notations"),
    word("show-standard-notations", |s, on, _| { s.std_notations = on; true }, ""),
    word("show-user-notations", |s, on, _| { s.user_notations = on; true }, "show users' notations"),
    word("show-keyserver-urls", |s, on, _| { s.keyserver_urls = on; true }, "show preferred keyservers"),
    word("show-uid-validity", |s, on, _| { s.uid_validity = on; true }, "show the validity of user IDs"),
    word("show-unusable-uids", |s, on, _| { s.unusable_uids = on; true }, "show revoked and expired user IDs"),
    word("show-primary-uid-only", |s, on, _| { s.primary_uid_only = on; true }, "show the primary user ID only"),
    word("pka-lookups", |_, _, _| true, "ask for PKA records"),
    word("pka-trust-increase", |_, _, _| true, "trust signatures with PKA records more"),
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
