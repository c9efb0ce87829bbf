//! `--trusted-key`: what gpg says of the named keys, and what of them is remembered.

use engine::cert::{Fingerprint, KeyId};
use engine::configuration::Compat;
use engine::owner_trust::{Assignment, assign};
use engine::store::{AssignedTrust, ReadCertificates, ReadTrust, Store};
use engine::trust::OwnerTrust;
use engine::validity::{Model, TrustedKey};

use crate::settings::Settings;
use crate::streams::Streams;

/// Reports, once in a run, the named keys that are not ultimately trusted yet, as gpg does when it first looks into its
/// trust database.
pub(crate) fn report(
    settings: &Settings,
    streams: &mut Streams,
    certificates: &[&dyn ReadCertificates],
    owner_trust: Option<&dyn ReadTrust>,
) -> anyhow::Result<()> {
    if !uses_database(settings) || settings.trusted_keys_reported.set(()).is_err() {
        return Ok(());
    }
    let mut met: Vec<KeyId> = Vec::new();
    for named in settings.trusted_keys.iter().rev() {
        let (key_id, primary) = (key_id(named), primary(named, certificates)?);
        let given =
            owner_trust.zip(primary).map(|(trust, primary)| trust.owner_trust(&primary)).transpose()?;
        if is_ultimate(given.flatten()) || met.contains(&key_id) {
            continue;
        }
        met.push(key_id);
        if primary.is_none() {
            streams.info(format_args!("key {key_id}: no public key for trusted key - skipped"));
        }
        if !settings.quiet {
            streams.info(format_args!("key {key_id} marked as ultimately trusted"));
        }
    }
    Ok(())
}

/// Remembers the named keys that are stored as ultimately trusted, and forgets those that an earlier run named, as gpg 2.4
/// does.
pub(crate) fn remember(settings: &Settings, store: &dyn Store) -> anyhow::Result<()> {
    if settings.compat < Compat::V2_4 || !settings.names_trusted_keys || !uses_database(settings) {
        return Ok(());
    }
    let mut changes = Vec::new();
    {
        let snapshot = store.snapshot()?;
        let mut named = Vec::new();
        for key in &settings.trusted_keys {
            named.extend(primary(key, &[snapshot.as_ref()])?);
        }
        for (key, given) in snapshot.owner_trusts()? {
            if given.is_by_option() && !named.contains(&key) {
                changes.push(Assignment::new(key, OwnerTrust::Unknown, Some(given)));
            }
        }
        named.dedup();
        for key in named {
            let given = snapshot.owner_trust(&key)?;
            if !is_ultimate(given) {
                let disabled = given.is_some_and(|given| given.disabled);
                let trust = AssignedTrust::ultimate_by_option(disabled);
                changes.push(Assignment { key, trust: Some(trust) });
            }
        }
    }
    if !changes.is_empty() {
        assign(store, &changes, "gpg-keyhoard --trusted-key", settings.now)?;
    }
    Ok(())
}

/// Says whether gpg looks for trusted keys in its trust database.
fn uses_database(settings: &Settings) -> bool {
    !matches!(settings.trust_model, Model::Always | Model::Direct)
}

const ULTIMATE: u8 = OwnerTrust::Ultimate.number();

fn is_ultimate(given: Option<AssignedTrust>) -> bool {
    given.is_some_and(|given| given.value() == ULTIMATE)
}

fn key_id(named: &TrustedKey) -> KeyId {
    match named {
        TrustedKey::KeyId(key_id) => *key_id,
        TrustedKey::Fingerprint(fingerprint) => fingerprint.key_id(),
    }
}

/// Finds the primary key that is named.
fn primary(
    named: &TrustedKey,
    certificates: &[&dyn ReadCertificates],
) -> anyhow::Result<Option<Fingerprint>> {
    for snapshot in certificates {
        for (_, primary) in snapshot.primaries_by_id(key_id(named))? {
            if !matches!(named, TrustedKey::Fingerprint(fingerprint) if *fingerprint != primary) {
                return Ok(Some(primary));
            }
        }
    }
    Ok(None)
}
