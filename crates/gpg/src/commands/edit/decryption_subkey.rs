//! `--quick-add-adsk`, and how the key of somebody else's is found that becomes an additional decryption subkey.

use std::num::NonZeroU32;

use engine::cert::key::parse_public;
use engine::foreign_text::shown;
use engine::recipients::{self, EncryptionKey};
use engine::store::Fingerprint;
use engine::store::query::Name;
use keygen::DecryptionSubkey;

use super::{EditKeys, fingerprint};
use crate::code::Code;
use crate::failure::{CodedFailure, Failure};
use crate::keyrings::Keyrings;
use crate::settings::Settings;
use crate::streams::Streams;
use crate::trust;

/// Adds the key with a fingerprint, or those of `--default-new-key-adsk`, to the key with another one.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let [name, subkey] = arguments else {
        streams.usage("--quick-add-adsk FINGERPRINT ADSK-FINGERPRINT");
        return Ok(());
    };
    let mut edit_keys = EditKeys::open(settings, streams)?;
    let outcome = edit_keys.find_by_primary(name).and_then(|key| {
        if subkey.eq_ignore_ascii_case(b"default") {
            return add_defaults(&mut edit_keys, &key);
        }
        match wanted(&mut edit_keys, subkey)? {
            Some(found) if !add(&mut edit_keys, &key, &found)? => {
                let text = shown(subkey);
                edit_keys.streams.info(format_args!("key \"{text}!\" is already on this keyblock"));
                edit_keys.streams.count_error();
            }
            Some(_) => {}
            None => edit_keys.streams.count_error(),
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        let CodedFailure { code, value } = failure.coded()?;
        if code == Code::CERTIFICATE_REVOKED {
            streams.error("Key is revoked.");
        }
        streams.status_error("keyedit.addadsk", value);
    }
    Ok(())
}

fn add_defaults(edit_keys: &mut EditKeys<'_>, key: &Fingerprint) -> Result<(), Failure> {
    let settings = edit_keys.settings;
    for name in &settings.new_decryption_subkeys {
        match find(name, settings, edit_keys.streams, &edit_keys.keyrings) {
            Ok(found) => {
                add(edit_keys, key, &found)?;
            }
            Err(failure) => report_invalid(edit_keys.streams, name, failure)?,
        }
    }
    Ok(())
}

/// Adds a key unless the certificate has it; returns whether it was added.
fn add(edit_keys: &mut EditKeys<'_>, key: &Fingerprint, found: &EncryptionKey) -> Result<bool, Failure> {
    edit_keys.edit("--quick-add-adsk", key, |editor| {
        if editor.target(key)?.subkeys().any(|subkey| subkey.facts.fingerprint == found.fingerprint) {
            return Ok(false);
        }
        editor.add_decryption_subkey(key, &found.public, found.expires).map(|_| true)
    })
}

/// Finds the key with a fingerprint; reports why there is none.
pub(crate) fn wanted(edit_keys: &mut EditKeys<'_>, name: &[u8]) -> anyhow::Result<Option<EncryptionKey>> {
    let EditKeys { settings, streams, keyrings, .. } = edit_keys;
    let CodedFailure { code, value } = match find(name, settings, streams, keyrings) {
        Ok(found) => return Ok(Some(found)),
        Err(failure) => failure.coded()?,
    };
    if code != Code::INVALID_NAME {
        streams.status_error("add_adsk", value);
        streams.info(format_args!("key \"{}!\" not found: {code}", shown(name)));
    }
    if code == Code::UNUSABLE_PUBLIC_KEY && !settings.quiet {
        streams.info("Did you specify the fingerprint of a subkey?");
    }
    Ok(None)
}

/// Returns the keys of `--default-new-key-adsk` for a new certificate; `None`, and reports it, if one cannot be used.
pub(crate) fn of_new_key(
    settings: &Settings,
    streams: &mut Streams,
    keyrings: &Keyrings,
) -> anyhow::Result<Option<Vec<DecryptionSubkey>>> {
    let mut all = Vec::new();
    for name in &settings.new_decryption_subkeys {
        match find(name, settings, streams, keyrings) {
            Ok(EncryptionKey { public, expires, .. }) => {
                let created = parse_public(&public)?.created;
                let seconds = expires.map(|end| end.0.saturating_sub(created.0).max(1));
                all.push(DecryptionSubkey { public, lifetime: seconds.and_then(NonZeroU32::new) });
            }
            Err(failure) => {
                report_invalid(streams, name, failure)?;
                return Ok(None);
            }
        }
    }
    Ok(Some(all))
}

fn report_invalid(streams: &mut Streams, name: &[u8], failure: Failure) -> anyhow::Result<()> {
    let CodedFailure { code, value } = failure.coded()?;
    streams.status_error("add_adsk", value);
    streams.error(format_args!("invalid ADSK '{}' specified: {code}", shown(name)));
    Ok(())
}

/// Finds the usable key for encryption with a fingerprint, which must be its own.
fn find(
    text: &[u8],
    settings: &Settings,
    streams: &mut Streams,
    keyrings: &Keyrings,
) -> Result<EncryptionKey, Failure> {
    let Some(wanted) = fingerprint(text) else {
        streams.info(format_args!("\"{}\" is not a fingerprint", shown(text)));
        return Err(Code::INVALID_NAME.into());
    };
    let name = Name { query: engine::store::Query::Fingerprint(wanted), exact_key: true };
    let snapshots = keyrings.snapshots()?;
    let sources = snapshots.sources()?;
    let trust = trust::settings(settings);
    let mut candidates = Vec::new();
    for source in 0..sources.certificates.len() {
        candidates.extend(recipients::named(&sources, source, &name, &trust)?);
    }
    if candidates.is_empty() {
        return Err(Failure::bare(Code::NO_PUBLIC_KEY));
    }
    let flags = if candidates.len() == 1 { 1 } else { 3 };
    for candidate in candidates {
        let primary = candidate.fingerprint;
        match candidate.key {
            Some(key) => {
                streams.considered(&primary);
                return Ok(key);
            }
            None => streams.status(format!("KEY_CONSIDERED {primary} {flags}")),
        }
    }
    Err(Failure::bare(Code::UNUSABLE_PUBLIC_KEY))
}
