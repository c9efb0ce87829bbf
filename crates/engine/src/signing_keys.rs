//! The keys that sign content.

use cert::cross_certification::cross_certification;
use cert::effective::objections::{IssuerKey, Objection, objections};
use cert::effective::{ComponentState, EvaluationContext, KeyState, PacketView};
use cert::facts::{ComponentKind, SignatureType};
use cert::{Facts, Fingerprint, Timestamp};
use secret::{Ask, Name, OpenKey, Protection, SecretKeys, StoredKey};
use store::query::Name as KeyName;
use store::{CertId, ReadCertificates};
use verify::policy::DigestPolicy;

use crate::designated_revocation::evaluate_certificate;
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
pub enum SigningKeys {
    /// This key.
    Key(SigningKey),
    /// Nothing.
    Unusable {
        /// The certificate's primary key.
        primary: Fingerprint,
        /// Another key of it is here that has neither ended nor is revoked.
        is_alive: bool,
        /// What speaks against the primary key, or else least against a key that is here.
        objection: Option<Objection>,
    },
}

impl SigningKeys {
    /// Returns the certificate's primary key.
    pub fn primary(&self) -> &Fingerprint {
        match self {
            Self::Key(key) => &key.primary,
            Self::Unusable { primary, .. } => primary,
        }
    }
}

/// Returns the key of a certificate that signs: as in GnuPG, the newest subkey that may and whose secret is here, else
/// the primary key. A secret that is protected in an unknown way comes after all others.
///
/// # Errors
///
/// The database's errors.
pub fn signing_key(
    snapshot: &dyn ReadCertificates,
    id: CertId,
    keys: &dyn SecretKeys,
    now: Timestamp,
) -> Result<Option<SigningKey>> {
    Ok(match modern_signing_key(snapshot, id, &|facts| keys.of_certificate(facts), now)? {
        Some(SigningKeys::Key(key)) => Some(key),
        _ => None,
    })
}

/// Returns those of a certificate's keys whose secret keys are here.
pub(crate) type StoredKeys<'a> = &'a dyn Fn(&Facts) -> secret::Result<Vec<StoredKey>>;

/// Returns what a certificate has to sign with as [`signing_key`] does, and what speaks against its keys. `None` if no
/// secret part is here.
///
/// # Errors
///
/// The database's errors.
pub(crate) fn modern_signing_key(
    snapshot: &dyn ReadCertificates,
    id: CertId,
    stored_keys: StoredKeys<'_>,
    now: Timestamp,
) -> Result<Option<SigningKeys>> {
    let moment = EvaluationContext::new(now, PacketView::Full);
    signing_keys(snapshot, id, stored_keys, moment, &|_| true)
}

/// Says whether a certificate's primary key may certify others now, and its secret part is here.
///
/// # Errors
///
/// The database's errors.
pub fn can_certify(
    snapshot: &dyn ReadCertificates,
    id: CertId,
    keys: &dyn SecretKeys,
    now: Timestamp,
) -> Result<bool> {
    let Some(stored) = stored::read_one(snapshot, id)? else { return Ok(false) };
    let certificate = stored.certificate;
    let moment = EvaluationContext::new(now, PacketView::Full);
    let effective = evaluate_certificate(&certificate, moment, &[snapshot])?;
    let primary = certificate.facts.primary().fingerprint;
    let is_here = keys
        .of_certificate(&certificate.facts)?
        .iter()
        .any(|stored| stored.fingerprint == primary && stored.protection.has_secret());
    let issuer = IssuerKey::primary(&certificate.facts, &effective);
    let kind = SignatureType::GENERIC_CERTIFICATION;
    Ok(is_here && effective.primary().is_usable() && objections(&issuer, kind, now, now).is_empty())
}

/// Returns what a certificate has to sign with by GnuPG's rules, by which a key without key flags may do what its
/// algorithm can; a key that is named with a `!` signs itself. `None` if no secret part is here.
///
/// # Errors
///
/// The database's errors.
pub fn gnupg_signing_key(
    snapshot: &dyn ReadCertificates,
    id: CertId,
    name: Option<&KeyName>,
    keys: &dyn SecretKeys,
    now: Timestamp,
) -> Result<Option<SigningKeys>> {
    let moment = EvaluationContext::new(now, PacketView::Gnupg);
    let is_meant = |key: &Fingerprint| name.is_none_or(|name| name.means_key(key));
    signing_keys(snapshot, id, &|facts| keys.of_certificate(facts), moment, &is_meant)
}

fn signing_keys(
    snapshot: &dyn ReadCertificates,
    id: CertId,
    stored_keys: StoredKeys<'_>,
    moment: EvaluationContext,
    is_meant: &dyn Fn(&Fingerprint) -> bool,
) -> Result<Option<SigningKeys>> {
    let Some(stored) = stored::read_one(snapshot, id)? else { return Ok(None) };
    let certificate = stored.certificate;
    let stored_keys = stored_keys(&certificate.facts)?;
    let secret = |key: &Fingerprint| {
        stored_keys.iter().find(|stored| stored.fingerprint == *key && stored.protection.has_secret())
    };
    if certificate.facts.keys().all(|key| secret(&key.fingerprint).is_none()) {
        return Ok(None);
    }
    let effective = evaluate_certificate(&certificate, moment, &[snapshot])?;
    let now = moment.now;
    let components = certificate.facts.components.iter().zip(&effective.components).enumerate();
    let here: Vec<_> = components
        .filter_map(|(index, (component, state))| match (&component.kind, state) {
            (ComponentKind::Key(key), ComponentState::Key(state)) => Some((index, key, state)),
            _ => None,
        })
        .filter(|(_, key, _)| secret(&key.fingerprint).is_some())
        .collect();
    let primary = certificate.facts.primary().fingerprint;
    let is_alive = |state: &KeyState| effective.primary().is_usable() && state.is_usable();
    // What nobody would believe is not made.
    let objection = |index: usize| {
        let agreement = || cross_certification(&certificate, index, DigestPolicy::GNUPG, now);
        let issuer = IssuerKey::of(&certificate.facts, &effective, index, agreement);
        issuer.and_then(|issuer| objections(&issuer, SignatureType::BINARY, now, now).iter().next())
    };
    // Where no other key may sign, one that is protected in an unknown way says why it cannot.
    let is_known = |key: &Fingerprint| {
        secret(key).is_some_and(|stored| !matches!(stored.protection, Protection::Unknown(_)))
    };
    let chosen = here
        .iter()
        .filter(|(index, _, state)| is_alive(state) && objection(*index).is_none())
        .filter(|(_, key, _)| is_meant(&key.fingerprint))
        .max_by_key(|(index, key, _)| (is_known(&key.fingerprint), *index > 0, key.created, key.fingerprint));
    Ok(Some(match chosen {
        Some((_, key, _)) => SigningKeys::Key(SigningKey { primary, key: key.fingerprint }),
        None => SigningKeys::Unusable {
            primary,
            is_alive: here.iter().any(|(_, _, state)| is_alive(state)),
            objection: match effective.primary().is_usable() {
                true => here.iter().filter_map(|(index, ..)| objection(*index)).max(),
                false => objection(0),
            },
        },
    }))
}
