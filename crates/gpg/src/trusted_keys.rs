//! `--trusted-key` with a command that writes: gpg 2.4 remembers the keys that it names, and forgets the others.

use engine::cert::{Fingerprint, KeyId};
use engine::owner_trust::{OptionNames, effective, replace_options};
use engine::store::{AssignedTrust, Snapshot, Store};
use engine::trust::OwnerTrust;
use engine::validity::{Model, TrustedKey};

use crate::settings::Settings;
use crate::streams::Streams;

/// Remembers the named keys as ultimately trusted by this option, and forgets those that an earlier run named; once in a
/// run, in a transaction before the command's own.
pub(crate) fn remember(settings: &Settings, streams: &mut Streams, store: &dyn Store) -> anyhow::Result<()> {
    let has_web = !matches!(settings.trust_model, Model::Always | Model::Direct);
    if !settings.names_trusted_keys || !has_web || settings.dry_run || streams.has_entered_trusted_keys() {
        return Ok(());
    }
    streams.note_entered_trusted_keys();
    let snapshot = store.snapshot()?;
    let is_named = |key: &Fingerprint| settings.trusted_keys.iter().any(|named| names(named, key));
    let mut forgotten = snapshot.owner_trusts()?;
    forgotten.retain(|(key, given)| given.is_by_option() && !is_named(key));
    let named = named(settings, streams, snapshot.as_ref())?;
    drop(snapshot);
    Ok(replace_options(store, &named, &forgotten, "gpg-keyhoard --trusted-key", settings.now)?)
}

/// Returns the named keys that are not ultimately trusted yet, the last one first, with what was assigned to them; says so,
/// as gpg does.
fn named(
    settings: &Settings,
    streams: &mut Streams,
    snapshot: &dyn Snapshot,
) -> anyhow::Result<Vec<(Fingerprint, Option<AssignedTrust>)>> {
    let mut met: Vec<KeyId> = Vec::new();
    let mut found = Vec::new();
    for named in settings.trusted_keys.iter().rev() {
        let key_id = key_id(named);
        let mut here = snapshot.primaries_by_id(key_id)?.into_iter().map(|(_, key)| key);
        let key = here.find(|key| names(named, key));
        let given = key.map(|key| snapshot.owner_trust(&key)).transpose()?.flatten();
        if effective(given, OptionNames::Nothing) == OwnerTrust::Ultimate || met.contains(&key_id) {
            continue;
        }
        met.push(key_id);
        match key {
            Some(key) => found.push((key, given)),
            None => streams.info(format_args!("key {key_id}: no public key for trusted key - skipped")),
        }
        if !settings.quiet {
            streams.info(format_args!("key {key_id} marked as ultimately trusted"));
        }
    }
    Ok(found)
}

fn names(named: &TrustedKey, key: &Fingerprint) -> bool {
    match named {
        TrustedKey::KeyId(key_id) => key.key_id() == *key_id,
        TrustedKey::Fingerprint(fingerprint) => fingerprint.has_digits_of(key),
    }
}

fn key_id(named: &TrustedKey) -> KeyId {
    match named {
        TrustedKey::KeyId(key_id) => *key_id,
        TrustedKey::Fingerprint(fingerprint) => fingerprint.key_id(),
    }
}
