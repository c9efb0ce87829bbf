//! `--quick-add-uid`, `--quick-revoke-uid` and `--quick-set-primary-uid`.

use engine::cert::facts::RevocationReason;
use engine::edit::{Revoked, Target, UserId};
use engine::store::Fingerprint;
use engine::verify::naming::ripemd160;
use sign::Subpacket;

use super::EditKeys;
use crate::code::Code;
use crate::commands::generate::defaults::user_id_preferences;
use crate::failure::{CodedFailure, Failure, reported};
use crate::render::digits::hex_text;
use crate::settings::Settings;
use crate::streams::Streams;

/// Adds a user ID with gpg's default preferences.
pub(crate) fn add(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let [name, user_id] = arguments else {
        streams.usage("--quick-add-uid USER-ID NEW-USER-ID");
        return Ok(());
    };
    let user_id = user_id.trim_ascii();
    if user_id.is_empty() {
        streams.error(Code::INVALID_USER_ID);
        return Ok(());
    }
    let mut edit_keys = EditKeys::open(settings, streams)?;
    let Some(key) = reported(edit_keys.find(name, true))? else { return Ok(()) };
    let preferences = preferences(settings);
    let added = edit_keys
        .edit("--quick-add-uid", &key, |editor| editor.add_user_id(&key, user_id, Some(&preferences)));
    match added.map_err(Failure::coded) {
        Ok(_) => streams.considered(&key),
        Err(failure) => match failure? {
            CodedFailure { code: Code::USER_ID_EXISTS, value } => {
                streams.status_error("adduid", value);
                streams.error("Such a user ID already exists on this key!");
            }
            CodedFailure { code, value } => {
                streams.status_error("keysig", value);
                streams.error(format_args!("signing failed: {code}"));
            }
        },
    }
    Ok(())
}

/// Returns the preferences of a new user ID.
pub(crate) fn preferences(settings: &Settings) -> Vec<Subpacket> {
    let mut preferences = user_id_preferences(settings).subpackets(keygen::Version::V4);
    preferences.extend(settings.default_keyserver_url.clone().map(Subpacket::PreferredKeyserver));
    preferences
}

/// Returns the user ID that an argument means, which is its bytes or its hash in colon listings.
fn meant(target: &Target, argument: &[u8]) -> Vec<u8> {
    let hash = |found: &UserId<'_>| hex_text(&ripemd160(found.value)).into_bytes();
    let hashed = target.user_ids().find(|found| hash(found).eq_ignore_ascii_case(argument));
    hashed.map_or_else(|| argument.to_vec(), |found| found.value.to_vec())
}

/// Revokes a user ID.
pub(crate) fn revoke(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    let [name, user_id] = arguments else {
        streams.usage("--quick-revoke-uid USER-ID USER-ID-TO-REVOKE");
        return Ok(());
    };
    let mut edit_keys = EditKeys::open(settings, streams)?;
    let outcome = edit_keys.find(name, true).and_then(|key| {
        let revoked = edit_keys.edit("--quick-revoke-uid", &key, |editor| {
            let chosen = meant(&editor.target(&key)?, user_id);
            editor.revoke_user_id(&key, &chosen, RevocationReason::new(RevocationReason::USER_ID_INVALID))
        });
        report_revoked(edit_keys.streams, &key, user_id, revoked)
    });
    if let Err(failure) = outcome {
        let CodedFailure { code, value } = failure.coded()?;
        streams.error(format_args!("revoking the user ID failed: {code}"));
        streams.status_error("keyedit.revoke.uid", value);
    }
    Ok(())
}

/// Reports the result of a revocation.
fn report_revoked(
    streams: &mut Streams,
    key: &Fingerprint,
    user_id: &[u8],
    revoked: Result<Revoked, Failure>,
) -> Result<(), Failure> {
    match revoked.map_err(Failure::coded) {
        Ok(Revoked::Already) => {
            streams.info_bytes(&[b"user ID \"", user_id, b"\" is already revoked"].concat());
            Ok(())
        }
        Ok(Revoked::Now { ahead, .. }) => {
            if let Some(seconds) = ahead {
                streams.info(format_args!(
                    "WARNING: a user ID signature is dated {seconds} seconds in the future"
                ));
            }
            streams.considered(key);
            Ok(())
        }
        Err(failure) => {
            let failure = failure?;
            if failure.code == Code::INVALID_USER_ID {
                streams.error("cannot revoke the last valid user ID.");
            } else if failure.is_of_signer() {
                streams.status_error("keysig", failure.value);
                streams.error(format_args!("signing failed: {}", failure.code));
                return Err(Failure::bare(Code::GENERAL));
            }
            Err(failure.into())
        }
    }
}

/// Makes a user ID the primary user ID.
pub(crate) fn set_primary(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    let [name, user_id] = arguments else {
        streams.usage("--quick-set-primary-uid USER-ID PRIMARY-USER-ID");
        return Ok(());
    };
    let mut edit_keys = EditKeys::open(settings, streams)?;
    let key = match edit_keys.find(name, true) {
        Ok(key) => key,
        Err(failure) => {
            let code = failure.coded()?.code;
            edit_keys.report_code("keyedit.primary", code);
            return Ok(());
        }
    };
    let set = edit_keys.edit("--quick-set-primary-uid", &key, |editor| {
        let chosen = meant(&editor.target(&key)?, user_id);
        editor.set_primary_user_id(&key, &chosen)
    });
    let failed = match set {
        Ok(edited) if edited.signatures > 0 => {
            edit_keys.streams.considered(&key);
            return Ok(());
        }
        Ok(_) => Code::GENERAL,
        Err(failure) => match failure.coded()?.code {
            Code::NO_USER_ID => Code::NO_USER_ID,
            code => {
                edit_keys.streams.error(format_args!("update_keysig_packet failed: {code}"));
                Code::GENERAL
            }
        },
    };
    edit_keys.streams.error(format_args!("setting the primary user ID failed: {failed}"));
    edit_keys.report_code("keyedit.primary", failed);
    Ok(())
}
