//! `addkey` with a key that exists: in a file, in the agent, whether a certificate has it or not, or on a card.

use std::cell::RefCell;

use agent::card_key::CardUse;
use engine::cert::Timestamp;
use engine::edit::NewSubkey;
use engine::store::Fingerprint;
use engine::verify::PublicKeyAlgorithm;
use secret::{Ask as _, Role, SecretKey};

use super::agent_subkey;
use super::session::Session;
use crate::code::Code;
use crate::commands::card::existing::{self, ExistingKey};
use crate::commands::existing_key;
use crate::failure::Failure;
use crate::generation::dialogue::{self, HeldKeys};
use crate::generation::key_algorithm::key_flags;
use crate::generation::{Family, Kind, Material};
use crate::passphrases::Passphrases;
use crate::settings::Settings;
use crate::streams::Streams;

/// Asks for the algorithm and the uses of a subkey; `keys_of_card` become the keys of the card, if it was read.
pub(super) fn ask(session: &mut Session<'_>, keys_of_card: &mut Vec<ExistingKey>) -> anyhow::Result<Kind> {
    let settings = session.settings();
    let files = session.keys.secrets.files();
    let of_card = RefCell::new(keys_of_card);
    let family = |keygrip| existing_key::family_as_subkey(keygrip, files, settings);
    let on_card = |settings: &Settings, streams: &mut Streams| {
        let (serial, keys) = existing::read_all(settings, streams)?;
        let kinds = keys.iter().map(|key| key.kind.clone()).collect();
        **of_card.borrow_mut() = keys;
        Ok((serial, kinds))
    };
    let held = HeldKeys { family: &family, on_card: &on_card };
    dialogue::subkey(settings, session.keys.streams, held)
}

/// Adds the key that was chosen; after so many seconds it expires, 0 for never.
pub(super) fn add(
    kind: &Kind,
    seconds: u32,
    keys_of_card: &[ExistingKey],
    session: &mut Session<'_>,
) -> Result<Fingerprint, Failure> {
    let Material::Existing(keygrip, family) = kind.material else { return Err(Code::GENERAL.into()) };
    if let Some(key) = keys_of_card.iter().find(|key| key.kind.material == kind.material) {
        return agent_subkey::bind(&key.public, kind.usage, seconds, session);
    }
    let settings = session.settings();
    if let Some(kept) = existing_key::in_file(keygrip, session.keys.secrets.files())? {
        return add_of_file(&kept, family, kind, seconds, session);
    }
    let does = if family == Family::Ecdh { CardUse::Decrypts } else { CardUse::Signs };
    let public = existing_key::public_body(keygrip, does, settings).ok_or(Code::NO_SECRET_KEY)?;
    agent_subkey::bind(&public, kind.usage, seconds, session)
}

/// Adds a key of a file once more, as a subkey that was made now, with the passphrase that it has.
fn add_of_file(
    kept: &SecretKey,
    family: Family,
    kind: &Kind,
    seconds: u32,
    session: &mut Session<'_>,
) -> Result<Fingerprint, Failure> {
    let settings = session.settings();
    let mut ask = Passphrases::new(settings, session.keys.streams);
    let unlocked = kept.unlock_asking(&mut ask).map_err(|error| ask.failure(&error))?;
    let passphrase = kept.protection().is_locked().then(|| ask.known()).flatten();
    let (now, version) = (settings.now, session.key().version());
    let key = unlocked.reissue(Role::Subkey, version, now, PublicKeyAlgorithm(family as u8))?;
    let fingerprint = key.fingerprint();
    let end = (seconds != 0).then(|| Timestamp(now.0.wrapping_add(seconds)));
    let new = NewSubkey { key, flags: key_flags(kind.usage), end };
    session.edit_own(|editor, key| editor.add_locked_subkey(key, new, passphrase.as_ref()))?;
    Ok(fingerprint)
}
