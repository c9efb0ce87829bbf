//! The keys that sign content.

use cert::effective::{Moment, State, Usage, View};
use cert::facts::ComponentKind;
use cert::{Fingerprint, Timestamp};
use secret::{Ask, Held, Name, OpenKey, SecretKeys};
use store::{CertId, Snapshot};

use crate::designated_revocation::evaluate_with_revokers;
use crate::{Result, stored};

/// A key that can sign, in its certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningKey {
    /// The certificate's primary key.
    pub primary: Fingerprint,
    /// The key that signs.
    pub key: Fingerprint,
}

impl SigningKey {
    /// Unlocks the key.
    ///
    /// # Errors
    ///
    /// Those of unlocking.
    pub fn open(&self, keys: &dyn SecretKeys, ask: &mut dyn Ask) -> Result<Box<dyn OpenKey>> {
        Ok(keys.open(&Name::Fingerprint(self.key), ask)?)
    }
}

/// Returns the key of a certificate that signs: as in GnuPG, the newest subkey that may and whose secret is here, else
/// the primary key.
///
/// # Errors
///
/// The database's errors.
pub fn signing_key(
    snapshot: &dyn Snapshot,
    id: CertId,
    held: &[Held],
    now: Timestamp,
) -> Result<Option<SigningKey>> {
    let Some(stored) = stored::read_one(snapshot, id)? else { return Ok(None) };
    let certificate = stored.certificate;
    let whole = || Ok(Some(certificate.clone()));
    let effective =
        evaluate_with_revokers(&certificate.facts, Moment::new(now, View::Full), whole, snapshot)?;
    if !effective.primary().is_usable() {
        return Ok(None);
    }
    let has_secret =
        |key: &Fingerprint| held.iter().any(|held| held.fingerprint == *key && held.protection.has_secret());
    let components = certificate.facts.components.iter().zip(&effective.components).enumerate();
    let usable = components.filter_map(|(place, (component, state))| match (&component.kind, state) {
        (ComponentKind::Key(key), State::Key(state))
            if state.is_usable() && state.usage.contains(Usage::SIGN) && has_secret(&key.fingerprint) =>
        {
            Some((place > 0, key.created, key.fingerprint))
        }
        _ => None,
    });
    let chosen = usable.max_by_key(|&(is_subkey, created, _)| (is_subkey, created));
    let primary = certificate.facts.primary().fingerprint;
    Ok(chosen.map(|(_, _, key)| SigningKey { primary, key }))
}
