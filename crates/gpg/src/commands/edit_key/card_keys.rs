//! `keytocard` and `bkuptocard`: a key is copied onto a card; when that is saved, the copy here is deleted.
//!
//! The agent puts keys onto cards, so that a key in a file is copied into the agent before. Its file is deleted last, after
//! the card's key has signed or decrypted something.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use agent::AgentKeys;
use engine::cert::Keygrip;
use engine::cert::facts::{Component, ComponentKind};
use engine::cert::packet::{Packets, Tag};
use engine::foreign_text::{harmless, printable};
use engine::key_move::try_out;
use engine::store::Fingerprint;
use secret::{Name, Role, SecretKey, SecretKeys as _, Stored};

use super::moved_keys::{MovedKey, OnCard};
use super::session::Session;
use crate::commands::card::place::KeyCard;
use crate::passphrases::Passphrases;

/// Copies the primary key or the selected subkey onto the card.
pub(super) fn move_to_card(session: &mut Session<'_>) -> anyhow::Result<()> {
    let key = match *session.selected_subkeys.as_slice() {
        [] => {
            let question = "Really move the primary key? (y/N) ";
            if !session.confirm("keyedit.keytocard.use_primary", question)? {
                return Ok(());
            }
            session.key()
        }
        [subkey] => subkey,
        _ => {
            session.tell("You must select exactly one key.\n");
            return Ok(());
        }
    };
    let effective = session.effective()?;
    let subkey = session.subkeys()?.into_iter().find(|subkey| subkey.facts.fingerprint == key);
    let usage = subkey.map_or(effective.primary().usage, |subkey| subkey.state.usage);
    let certificate = session.draft.certificate().clone();
    let is_it = |component: &Component| matches!(&component.kind, ComponentKind::Key(facts) if facts.fingerprint == key);
    let index = certificate.facts.components.iter().position(is_it);
    let Some(public) = index.and_then(|index| certificate.key(index)) else { return Ok(()) };
    let Some(keygrip) = public.facts().keygrip else { return Ok(()) };
    let (settings, mut moved) = (session.settings(), std::mem::take(&mut session.on_card));
    let streams = &mut *session.keys.streams;
    if let Some(place) = moved.card.ask(&public, Some(usage), settings, streams)? {
        match lend(session, &key)? {
            Ok(lent) => {
                let streams = &mut *session.keys.streams;
                if moved.card.put(&public, keygrip, &place, settings, streams) {
                    moved.is_pending = true;
                    session.redisplay = true;
                    moved.is_told = false;
                    let file = lent.map(|_| key);
                    moved.keys.push(MovedKey { keygrip, is_lent: lent == Some(Stored::New), file });
                } else if lent == Some(Stored::New) {
                    delete_copy(&mut moved.card, keygrip, session);
                }
            }
            Err(error) => session.keys.streams.error(format_args!("KEYTOCARD failed: {}", harmless(&error))),
        }
    }
    session.on_card = moved;
    Ok(())
}

/// Copies a key that is in a file into the agent; `None` if it is in no file.
fn lend(session: &mut Session<'_>, key: &Fingerprint) -> anyhow::Result<Result<Option<Stored>, String>> {
    let secrets = &session.keys.secrets;
    let name = Name::Fingerprint(*key);
    let in_file = secrets.files().find(&name)?;
    if !in_file.is_some_and(|stored| stored.protection.has_secret()) {
        return Ok(Ok(None));
    }
    let Some(agent) = secrets.agent() else { return Ok(Err("there is no gpg-agent".to_owned())) };
    let kept = secrets.files().export(&name, &mut secret::ask::Nobody)?;
    Ok(agent.store(&kept).map(Some).map_err(|error| error.to_string()))
}

/// Puts a key of a backup file, which the generation of keys on a card makes, onto the card.
pub(super) fn restore_to_card(session: &mut Session<'_>, argument: &[u8]) -> anyhow::Result<()> {
    if argument.is_empty() {
        session.tell("Command expects a filename argument\n");
        return Ok(());
    }
    let path = backup_path(session, argument);
    let shown = printable(path.as_os_str().as_bytes());
    let bytes = match fs::read(&path) {
        Ok(bytes) => zeroize::Zeroizing::new(bytes),
        Err(error) => {
            session.tell(format!("Can't open '{shown}': {error}\n"));
            return Ok(());
        }
    };
    let key = match backup(&bytes) {
        Ok(key) => key,
        Err(reason) => {
            session.tell(format!("Error reading backup key from '{shown}': {reason}\n"));
            return Ok(());
        }
    };
    let Some(agent) = session.keys.secrets.agent().cloned() else { return Ok(()) };
    let (settings, mut moved) = (session.settings(), std::mem::take(&mut session.on_card));
    let streams = &mut *session.keys.streams;
    // Agents of GnuPG 2.4 hold the key in memory only.
    let is_ephemeral = moved.card.agent("OPTION ephemeral=1", settings, streams).is_ok();
    let outcome = restore(&key, &agent, is_ephemeral, &mut moved, session);
    if is_ephemeral {
        let _ = moved.card.agent("OPTION ephemeral=0", settings, session.keys.streams);
    }
    session.on_card = moved;
    outcome
}

fn restore(
    key: &SecretKey,
    agent: &AgentKeys,
    is_ephemeral: bool,
    moved: &mut OnCard,
    session: &mut Session<'_>,
) -> anyhow::Result<()> {
    let public = key.key();
    let Some(keygrip) = public.facts().keygrip else { return Ok(()) };
    let stored = match agent.store_in_place_of_stub(key) {
        Ok(stored) => stored,
        Err(error) => {
            let text = harmless(&error.to_string());
            session.keys.streams.error(format_args!("error sending to agent: {text}"));
            return Ok(());
        }
    };
    let is_lent = stored == Stored::New && !is_ephemeral;
    let settings = session.settings();
    let place = moved.card.ask(&public, None, settings, session.keys.streams)?;
    let is_put =
        place.is_some_and(|place| moved.card.put(&public, keygrip, &place, settings, session.keys.streams));
    if is_put {
        moved.is_pending = true;
        session.redisplay = true;
        if is_lent {
            moved.keys.push(MovedKey { keygrip, is_lent, file: None });
        }
    } else if is_lent {
        delete_copy(&mut moved.card, keygrip, session);
    }
    Ok(())
}

/// Returns the path of a backup: a name is relative to the home directory, or to the user's after a tilde.
fn backup_path(session: &Session<'_>, argument: &[u8]) -> PathBuf {
    let home = &session.settings().home;
    match argument.first() {
        Some(b'/' | b'~') => home.resolve(argument),
        _ => home.directory().join(OsStr::from_bytes(argument)),
    }
}

/// Reads the key of a backup: its first packet.
fn backup(bytes: &[u8]) -> Result<SecretKey, String> {
    let packet = Packets::new(bytes).next().ok_or("No data")?.map_err(|error| error.to_string())?;
    let role = match packet.tag {
        Tag::SECRET_KEY => Role::Primary,
        Tag::SECRET_SUBKEY => Role::Subkey,
        _ => return Err("No secret key".to_owned()),
    };
    SecretKey::parse(role, packet.body).map_err(|error| harmless(&error.to_string()))
}

/// Has the agent delete a copy that it got from here.
fn delete_copy(card: &mut KeyCard, keygrip: Keygrip, session: &mut Session<'_>) {
    let settings = session.settings();
    let deleted = card.agent(&format!("DELETE_KEY --force {keygrip}"), settings, session.keys.streams);
    if let Err(failure) = deleted {
        session.keys.streams.error(format_args!("deleting copy of secret key failed: {failure}"));
    }
}

/// Tells, once for each key, until when the copy here stays.
pub(super) fn tell(session: &mut Session<'_>) {
    let moved = &mut session.on_card;
    if !moved.keys.is_empty() && !std::mem::replace(&mut moved.is_told, true) {
        session.tell("Note: the local copy of the secret key will only be deleted with \"save\".\n");
    }
}

/// Takes back what the agent got from here, since nothing is saved. The keys on the card stay there, as in gpg.
pub(super) fn leave(session: &mut Session<'_>) {
    let mut moved = std::mem::take(&mut session.on_card);
    for key in moved.keys.iter().filter(|key| key.is_lent) {
        delete_copy(&mut moved.card, key.keygrip, session);
    }
}

/// Deletes the copies of keys that are on the card now, and has the agent note where they are. Returns whether that was done,
/// and reports why not.
pub(super) fn save(session: &mut Session<'_>) -> anyhow::Result<bool> {
    let mut moved = std::mem::take(&mut session.on_card);
    let is_done = save_moved(&mut moved, session)?;
    if !is_done {
        session.on_card = moved;
    }
    Ok(is_done)
}

fn save_moved(moved: &mut OnCard, session: &mut Session<'_>) -> anyhow::Result<bool> {
    if !moved.is_pending {
        return Ok(true);
    }
    let settings = session.settings();
    let mut files = Vec::new();
    for key in &moved.keys {
        let streams = &mut *session.keys.streams;
        match moved.card.has(key.keygrip, settings, streams) {
            Ok(true) => {
                delete_copy(&mut moved.card, key.keygrip, session);
                files.extend(key.file);
            }
            // Another key has taken its place since.
            Ok(false) => {
                let keygrip = key.keygrip;
                streams.info(format_args!(
                    "the key with keygrip {keygrip} is no longer on the card: its copy here stays"
                ));
                if key.is_lent {
                    delete_copy(&mut moved.card, keygrip, session);
                }
            }
            Err(failure) => {
                streams.error(format_args!("deleting copy of secret key failed: {failure}"));
                return Ok(false);
            }
        }
    }
    if let Err(failure) = moved.card.learn_anew(settings, session.keys.streams) {
        session.keys.streams.error(format_args!("update failed: {failure}"));
        return Ok(false);
    }
    for key in files {
        delete_file(&key, session)?;
    }
    Ok(true)
}

/// Deletes the file of a key that is on the card, if the card's key works.
fn delete_file(key: &Fingerprint, session: &mut Session<'_>) -> anyhow::Result<()> {
    let (settings, name) = (session.settings(), Name::Fingerprint(*key));
    let secrets = session.keys.secrets.clone();
    let Some(agent) = secrets.agent() else { return Ok(()) };
    let mut ask = Passphrases::new(settings, session.keys.streams);
    let tried = agent
        .open(&name, &mut ask)
        .map_err(engine::Error::from)
        .and_then(|mut opened| try_out(opened.as_mut()));
    match tried {
        Ok(()) => drop(secrets.files().delete(&name)?),
        Err(error) => {
            let text = harmless(&engine::causes(&error));
            session.keys.streams.error(format_args!("the key on the card does not work: {text}"));
            session.keys.streams.info(format_args!("the file with the secret key {key} stays"));
        }
    }
    Ok(())
}
