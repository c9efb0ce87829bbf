//! `--quick-update-pref`, and what changes in a self-signature with its preferences.

use engine::cert::facts::SelfSignature;
use engine::cert::subpacket::Kind;
use engine::edit::{Alteration, CertifiedIdentity, Target};
use sign::{Features, Subpacket};

use super::EditKeys;
use crate::commands::generate::defaults::user_id_preferences;
use crate::failure::{CodedFailure, Failure};
use crate::settings::Settings;
use crate::streams::Streams;

/// Gives all user IDs of a key the default preferences.
pub(crate) fn update(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    let [name] = arguments else {
        streams.usage("--quick-update-pref USER-ID");
        return Ok(());
    };
    let mut edit_keys = EditKeys::open(settings, streams)?;
    let outcome = edit_keys.find(name, true).and_then(|key| {
        edit_keys.streams.considered(&key);
        edit_keys.edit("--quick-update-pref", &key, |editor| {
            let changes = changes(settings, &editor.target(&key)?);
            editor.renew_identities(&key, changes)
        })
    });
    if let Err(failure) = outcome {
        let CodedFailure { value, .. } = Failure::coded(failure)?;
        streams.status_error("keyedit.updpref", value);
    }
    Ok(())
}

/// Returns the changes of the self-signatures of all user IDs that are not revoked.
fn changes(settings: &Settings, target: &Target) -> Vec<(CertifiedIdentity, Vec<Alteration>)> {
    let wanted = user_id_preferences(settings);
    let bound = target.bound_identities();
    bound.map(|(identity, own)| (identity, alterations(settings, own, &wanted))).collect()
}

/// Returns the changes of a self-signature that now says `own`, in gpg's order.
pub(crate) fn alterations(
    settings: &Settings,
    own: Option<&SelfSignature>,
    wanted: &keygen::Preferences,
) -> Vec<Alteration> {
    const NO_MODIFY: u8 = 0x80;
    let list = |is_empty: bool, kind: Kind, subpacket: Subpacket| match is_empty {
        true => Alteration::Remove(kind),
        false => Alteration::Set(subpacket),
    };
    let keygen::Preferences { ciphers, aead, hashes, compressions, .. } = wanted.clone();
    let has_aead = !aead.is_empty();
    let mut changes = vec![
        list(ciphers.is_empty(), Kind::CIPHER_PREFERENCES, Subpacket::CipherPreferences(ciphers)),
        list(!has_aead, Kind::AEAD_PREFERENCES, Subpacket::AeadPreferences(aead)),
        list(hashes.is_empty(), Kind::HASH_PREFERENCES, Subpacket::HashPreferences(hashes)),
        list(
            compressions.is_empty(),
            Kind::COMPRESSION_PREFERENCES,
            Subpacket::CompressionPreferences(compressions),
        ),
    ];
    let said = Features(own.and_then(|own| own.features).unwrap_or_default());
    let integrity = wanted.features.contains(Features::SEIPD_V1);
    let features = settings.librepgp().features(said.with(Features::SEIPD_V1, integrity), has_aead);
    if features != said {
        changes.push(list(features == Features::default(), Kind::FEATURES, Subpacket::Features(features)));
    }
    let keyserver = own.and_then(|own| own.keyserver_preferences);
    let may_modify = keyserver.is_none_or(|byte| byte & NO_MODIFY == 0);
    if may_modify != wanted.keyserver_modify {
        let kept = keyserver.unwrap_or_default() & !NO_MODIFY;
        let byte = if wanted.keyserver_modify { kept } else { kept | NO_MODIFY };
        changes.push(list(byte == 0, Kind::KEYSERVER_PREFERENCES, Subpacket::KeyserverPreferences(byte)));
    }
    changes.push(match settings.default_keyserver_url.clone() {
        Some(url) => Alteration::Set(Subpacket::PreferredKeyserver(url)),
        None => Alteration::Remove(Kind::PREFERRED_KEYSERVER),
    });
    changes
}
