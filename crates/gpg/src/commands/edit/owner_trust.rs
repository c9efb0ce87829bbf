//! `--quick-set-ownertrust`.

use engine::owner_trust::{self, Assignment};
use engine::store::Fingerprint;
use engine::trust::OwnerTrust;

use super::EditKeys;
use crate::code::Code;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::streams::Streams;
use crate::trust;

/// Sets how far the owner of a key is trusted, or disables or enables the key.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let [name, value] = arguments else {
        streams.usage("--quick-set-ownertrust USER-ID [enable|disable|full|...]");
        return Ok(());
    };
    let value = String::from_utf8_lossy(value);
    let mut edit_keys = EditKeys::open(settings, streams)?;
    let outcome = edit_keys.find(name, false).and_then(|key| set(&mut edit_keys, key, &value));
    if let Err(failure) = outcome {
        let failure = failure.coded()?;
        streams.error(format_args!("setting the ownertrust to '{value}' failed: {}", failure.code));
        streams.status_error("keyedit.setownertrust", failure.value);
    }
    Ok(())
}

fn set(edit_keys: &mut EditKeys<'_>, key: Fingerprint, value: &str) -> Result<(), Failure> {
    let settings = edit_keys.settings;
    let store = trust::database_to_write(settings, edit_keys.streams)?;
    let before = store.snapshot()?.owner_trust(&key)?;
    let assignment = match value.to_ascii_lowercase().as_str() {
        "disable" => Assignment::disabling(key, true, before),
        "enable" => Assignment::disabling(key, false, before),
        word => Assignment::new(key, level(word).ok_or(Failure::from(Code::INVALID_ARGUMENT))?, before),
    };
    if assignment.trust != before {
        let command = format!("gpg-keyhoard --quick-set-ownertrust {key} {value}");
        owner_trust::assign(store.as_ref(), &[assignment], &command, settings.now)?;
    } else if settings.verbose > 0 {
        edit_keys.streams.info("Key not changed so no update needed.");
    }
    Ok(())
}

/// Reads gpg's word for a level of owner trust.
fn level(word: &str) -> Option<OwnerTrust> {
    Some(match word {
        "undefined" => OwnerTrust::Undefined,
        "never" => OwnerTrust::Never,
        "marginal" => OwnerTrust::Marginal,
        "full" => OwnerTrust::Full,
        "ultimate" => OwnerTrust::Ultimate,
        _ => return None,
    })
}
