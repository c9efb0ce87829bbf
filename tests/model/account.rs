//! What is said of a certificate at a moment, by the model or by the library, in one form.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Certificate, KeyState, UserState, World};
use crate::signature::{PublicKey, Time};

/// What is said of one certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// The keys by their fingerprints.
    pub(crate) keys: BTreeMap<String, KeyState>,
    /// The user IDs.
    pub(crate) users: BTreeMap<String, UserState>,
    /// The fingerprint of the key that messages are encrypted to.
    pub(crate) encryption: Option<String>,
    /// Whose certifications of which user ID count: fingerprint and user ID.
    pub(crate) certified: BTreeSet<(String, String)>,
}

/// What is said of all certificates, by the fingerprints of their primary keys.
pub(crate) type Accounts = BTreeMap<String, Account>;

/// Returns a fingerprint in hexadecimal digits.
pub(crate) fn hex(fingerprint: &[u8]) -> String {
    fingerprint.iter().map(|byte| format!("{byte:02X}")).collect()
}

impl World {
    /// Says what everything means at a moment.
    pub(crate) fn accounts(&self, now: Time) -> Accounts {
        let accounts = self.certificates.values().map(|certificate| {
            (hex(&certificate.primary_key().fingerprint()), self.account(certificate, now))
        });
        accounts.collect()
    }

    fn account(&self, certificate: &Certificate, now: Time) -> Account {
        let name = |key: &PublicKey| hex(&key.fingerprint());
        let text = |user: &[u8]| String::from_utf8_lossy(user).into_owned();
        let mut account = Account::default();
        let primary = certificate.primary_key();
        account.keys.insert(name(primary), self.primary(certificate, now));
        for subkey in certificate.subkeys() {
            account.keys.insert(name(subkey), self.subkey(certificate, subkey, now));
        }
        for user in certificate.users() {
            account.users.insert(text(user), certificate.user(user, now, self.rules));
            for by in self.certificates.values().filter(|by| by.primary_key() != primary) {
                if self.certifies(by, certificate, user, now) {
                    account.certified.insert((name(by.primary_key()), text(user)));
                }
            }
        }
        account.encryption = self.encryption_key(certificate, now).as_ref().map(name);
        account
    }
}
