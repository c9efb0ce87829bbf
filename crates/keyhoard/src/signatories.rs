//! The keys that sign content.

use cert::effective::{KeyState, Moment, State, Usage, View};
use cert::facts::ComponentKind;
use cert::{Fingerprint, Timestamp};
use secret::{Ask, Held, Name, OpenKey, SecretKeys};
use store::query::Name as KeyName;
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

/// What a certificate has to sign with, some secret part of it being here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// This key.
    Key(SigningKey),
    /// Nothing.
    Unusable {
        /// The certificate's primary key.
        primary: Fingerprint,
        /// Another key of it is here that has neither ended nor is revoked.
        is_alive: bool,
    },
}

impl Found {
    /// Returns the certificate's primary key.
    pub fn primary(&self) -> &Fingerprint {
        match self {
            Self::Key(key) => &key.primary,
            Self::Unusable { primary, .. } => primary,
        }
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
    Ok(match found(snapshot, id, held, now, &|_| true)? {
        Some(Found::Key(key)) => Some(key),
        _ => None,
    })
}

/// Returns what [`signing_key`] does of a certificate that goes by a name, or that there is none; a key that is named
/// with a `!` signs itself. `None` if no secret part is here.
///
/// # Errors
///
/// The database's errors.
pub fn named_signing_key(
    snapshot: &dyn Snapshot,
    id: CertId,
    name: &KeyName,
    held: &[Held],
    now: Timestamp,
) -> Result<Option<Found>> {
    found(snapshot, id, held, now, &|key| name.means_key(key))
}

fn found(
    snapshot: &dyn Snapshot,
    id: CertId,
    held: &[Held],
    now: Timestamp,
    is_meant: &dyn Fn(&Fingerprint) -> bool,
) -> Result<Option<Found>> {
    let Some(stored) = stored::read_one(snapshot, id)? else { return Ok(None) };
    let certificate = stored.certificate;
    let whole = || Ok(Some(certificate.clone()));
    let effective =
        evaluate_with_revokers(&certificate.facts, Moment::new(now, View::Full), whole, &[snapshot])?;
    let has_secret =
        |key: &Fingerprint| held.iter().any(|held| held.fingerprint == *key && held.protection.has_secret());
    let components = certificate.facts.components.iter().zip(&effective.components).enumerate();
    let here: Vec<_> = components
        .filter_map(|(place, (component, state))| match (&component.kind, state) {
            (ComponentKind::Key(key), State::Key(state)) => Some((place, key, state)),
            _ => None,
        })
        .filter(|(_, key, _)| has_secret(&key.fingerprint))
        .collect();
    if here.is_empty() {
        return Ok(None);
    }
    let primary = certificate.facts.primary().fingerprint;
    let is_alive = |state: &KeyState| effective.primary().is_usable() && state.is_usable();
    let chosen = here
        .iter()
        .filter(|(_, _, state)| is_alive(state) && state.usage.contains(Usage::SIGN))
        .filter(|(_, key, _)| is_meant(&key.fingerprint))
        .max_by_key(|(place, key, _)| (*place > 0, key.created, key.fingerprint));
    Ok(Some(match chosen {
        Some((_, key, _)) => Found::Key(SigningKey { primary, key: key.fingerprint }),
        None => Found::Unusable { primary, is_alive: here.iter().any(|(_, _, state)| is_alive(state)) },
    }))
}
