//! The index rows of a certificate, derived from its facts, and the hashes in them.

use cert::facts::ComponentKind;
use cert::{BoundAddress, Facts, Fingerprint, KeyId, Keygrip, mailbox};

use crate::CertId;

/// What the narrow tables hold for one certificate; each list sorted and without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Rotated key IDs and the number of the key's component.
    pub(crate) key_ids: Vec<(i64, i64)>,
    pub(crate) keygrips: Vec<i64>,
    /// Of the mail addresses, and of what trust on first use binds.
    pub(crate) mails: Vec<i64>,
    /// Key IDs of those who certified it, its own left out.
    pub(crate) issuers: Vec<i64>,
    /// User IDs by the number of their component.
    pub(crate) user_ids: Vec<(i64, Vec<u8>)>,
}

impl Rows {
    pub(crate) fn new(facts: &Facts) -> Self {
        let mut rows = Self::default();
        for (number, component) in (0..).zip(&facts.components) {
            match &component.kind {
                ComponentKind::Key(key) => {
                    rows.key_ids.push((rotated(key.fingerprint.key_id()), number));
                    rows.keygrips.extend(key.keygrip.map(|keygrip| keygrip_hash(&keygrip)));
                }
                ComponentKind::UserId(value) => {
                    rows.mails.extend(mailbox::mail_address(value).map(mail_hash));
                    rows.mails.push(mail_hash(BoundAddress::of_user_id(value).as_bytes()));
                    rows.user_ids.push((number, value.clone()));
                }
                ComponentKind::Attribute(_) | ComponentKind::Unknown(_) => {}
            }
            let certifications = component.signatures.iter().filter(|signature| signature.own.is_none());
            rows.issuers.extend(certifications.map(|signature| signature.issuer.key_id.0 as i64));
        }
        rows.key_ids.sort_unstable();
        for list in [&mut rows.keygrips, &mut rows.mails, &mut rows.issuers] {
            list.sort_unstable();
            list.dedup();
        }
        rows
    }

    /// Returns how much memory they take, in bytes, roughly.
    pub(crate) fn size(&self) -> usize {
        let user_ids: usize = self.user_ids.iter().map(|(_, value)| value.len() + 32).sum();
        user_ids + 16 * self.key_ids.len() + 8 * (self.keygrips.len() + self.mails.len() + self.issuers.len())
    }
}

/// Rows of the narrow tables of many certificates, each with the certificate's number.
#[derive(Default)]
pub(crate) struct IndexRows {
    /// Rotated key IDs, certificates and components.
    pub(crate) key_ids: Vec<[i64; 3]>,
    pub(crate) keygrips: Vec<[i64; 2]>,
    pub(crate) mails: Vec<[i64; 2]>,
    pub(crate) issuers: Vec<[i64; 2]>,
}

impl IndexRows {
    /// Adds the rows of a certificate.
    pub(crate) fn extend(&mut self, CertId(id): CertId, rows: &Rows) {
        self.key_ids.extend(rows.key_ids.iter().map(|&(key_id, component)| [key_id, id, component]));
        self.keygrips.extend(rows.keygrips.iter().map(|&hash| [hash, id]));
        self.mails.extend(rows.mails.iter().map(|&hash| [hash, id]));
        self.issuers.extend(rows.issuers.iter().map(|&issuer| [issuer, id]));
    }

    /// Sorts these rows and others, and removes those that both have.
    pub(crate) fn remove_common(&mut self, other: &mut Self) {
        remove_common(&mut self.key_ids, &mut other.key_ids);
        remove_common(&mut self.keygrips, &mut other.keygrips);
        remove_common(&mut self.mails, &mut other.mails);
        remove_common(&mut self.issuers, &mut other.issuers);
    }
}

/// Returns a fingerprint as it is stored: the key's version, then the bytes.
pub(crate) fn stored_fingerprint(fingerprint: &Fingerprint) -> Vec<u8> {
    let mut stored = Vec::with_capacity(33);
    stored.push(fingerprint.version());
    stored.extend_from_slice(fingerprint.as_bytes());
    stored
}

/// Says whether a fingerprint is the one that was stored.
pub(crate) fn is_fingerprint(stored: &[u8], fingerprint: &Fingerprint) -> bool {
    stored.split_first() == Some((&fingerprint.version(), fingerprint.as_bytes()))
}

/// Returns the fingerprint that was stored; `None` if it is none.
pub(crate) fn parse_fingerprint(stored: &[u8]) -> Option<Fingerprint> {
    stored.split_first().and_then(|(&version, bytes)| Fingerprint::new(version, bytes))
}

/// Turns a key ID so that its low half, the short key ID, comes first: both are looked up in one index.
pub(crate) fn rotated(key_id: KeyId) -> i64 {
    key_id.0.rotate_left(32) as i64
}

/// Returns the key ID that was rotated.
#[cfg(feature = "postgres")]
pub(crate) fn unrotated(rotated: i64) -> KeyId {
    KeyId(rotated.cast_unsigned().rotate_right(32))
}

/// Returns what a keygrip is indexed by: it is a digest already.
pub(crate) fn keygrip_hash(keygrip: &Keygrip) -> i64 {
    i64::from_be_bytes(std::array::from_fn(|index| keygrip.0[index]))
}

/// Returns what a mail address is indexed by: FNV-1a over the address in ASCII lower case, mixed by a multiplication.
///
/// Addresses made to collide cost each lookup one more comparison.
pub(crate) fn mail_hash(address: &[u8]) -> i64 {
    let hash = address.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64
}

/// Sorts two lists and takes out of them what both have.
fn remove_common<T: Ord>(old: &mut Vec<T>, new: &mut Vec<T>) {
    old.sort_unstable();
    new.sort_unstable();
    if old.is_empty() {
        return;
    }
    let (mut gone, mut fresh) = (Vec::new(), Vec::new());
    let mut left = std::mem::take(old).into_iter().peekable();
    for value in std::mem::take(new) {
        while let Some(smaller) = left.next_if(|old| *old < value) {
            gone.push(smaller);
        }
        if left.next_if_eq(&value).is_none() {
            fresh.push(value);
        }
    }
    gone.extend(left);
    (*old, *new) = (gone, fresh);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_left_of_two_lists() {
        let (mut old, mut new) = (vec![4, 1, 2, 6], vec![9, 0, 2, 3, 6]);
        remove_common(&mut old, &mut new);
        assert_eq!((old, new), (vec![1, 4], vec![0, 3, 9]));
    }
}
