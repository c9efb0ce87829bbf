//! Trust anchors: the owner trust that the user assigned, and the user's own keys.

use cert::{Fingerprint, KeyId};
use store::{AssignedTrust, ReadCertificates, ReadTrust};
use trust::{KeyMap, KeySet, OwnerTrust};

use super::{TrustSettings, TrustedKey};
use crate::Result;
use crate::owner_trust::{OptionNames, effective};

/// Owner trust, and the keys that validity begins with.
#[derive(Clone, Debug, Default)]
pub struct TrustAnchors {
    given: KeyMap<AssignedTrust>,
    named: KeySet,
    missing: Vec<KeyId>,
    /// Owner trust by an earlier option does not count.
    forgets: bool,
}

impl TrustAnchors {
    /// Reads the owner trust that `owner_trust` holds, and looks the keys that the settings name up in `certificates`,
    /// the first one first.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn read(
        owner_trust: Option<&dyn ReadTrust>,
        certificates: &[&dyn ReadCertificates],
        settings: &TrustSettings,
    ) -> Result<Self> {
        let given = owner_trust.map(ReadTrust::owner_trusts).transpose()?.unwrap_or_default();
        let forgets = settings.forgets_trusted_keys;
        let mut roots = Self { given: given.into_iter().collect(), forgets, ..Self::default() };
        for trusted in settings.trusted_keys.iter().filter(|_| settings.model.has_own_keys()) {
            match *trusted {
                TrustedKey::Fingerprint(named) => {
                    let is_named = |key: &Fingerprint| key.has_digits_of(&named);
                    let here = primary_by_id(named.key_id(), is_named, certificates)?;
                    roots.named.insert(here.unwrap_or(named));
                }
                TrustedKey::KeyId(key_id) => match primary_by_id(key_id, |_| true, certificates)? {
                    Some(fingerprint) => drop(roots.named.insert(fingerprint)),
                    None => roots.missing.push(key_id),
                },
            }
        }
        Ok(roots)
    }

    /// Returns how far the user trusts the owner of a key.
    pub fn owner_trust(&self, key: &Fingerprint) -> OwnerTrust {
        self.given(key).0
    }

    /// Returns how far the user trusts the owner of a key, and whether the user disabled it.
    pub fn given(&self, key: &Fingerprint) -> (OwnerTrust, bool) {
        let assigned = self.given.get(key);
        let option = match self.named.contains(key) {
            true => OptionNames::ThisKey,
            false if self.forgets => OptionNames::Others,
            false => OptionNames::Nothing,
        };
        (effective(assigned.copied(), option), assigned.is_some_and(|assigned| assigned.disabled))
    }

    /// Says whether the key is ultimately trusted because `--trusted-key` names it, or did in an earlier run.
    pub fn is_by_option(&self, key: &Fingerprint) -> bool {
        let decided = self.given.get(key).filter(|given| !given.is_by_option()).copied();
        let ultimate = OwnerTrust::Ultimate;
        self.owner_trust(key) == ultimate && effective(decided, OptionNames::Nothing) != ultimate
    }

    /// Returns the ultimately trusted keys, whether they are here or not, by ascending fingerprint.
    pub fn ultimate(&self) -> Vec<Fingerprint> {
        let given = self.given.keys().filter(|key| self.owner_trust(key) == OwnerTrust::Ultimate);
        let mut ultimate: Vec<Fingerprint> = given.chain(&self.named).copied().collect();
        ultimate.sort_unstable();
        ultimate.dedup();
        ultimate
    }

    /// Returns the key IDs among the named keys that no certificate here has.
    pub fn missing(&self) -> &[KeyId] {
        &self.missing
    }
}

/// Returns the first primary key with a key ID that is meant.
fn primary_by_id(
    key_id: KeyId,
    is_meant: impl Fn(&Fingerprint) -> bool,
    certificates: &[&dyn ReadCertificates],
) -> Result<Option<Fingerprint>> {
    for snapshot in certificates {
        let mut primaries = snapshot.primaries_by_id(key_id)?.into_iter().map(|(_, primary)| primary);
        if let Some(primary) = primaries.find(&is_meant) {
            return Ok(Some(primary));
        }
    }
    Ok(None)
}
