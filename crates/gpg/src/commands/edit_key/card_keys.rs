//! `keytocard` and `bkuptocard`: a key is copied onto a card; when that is saved, the copy here is deleted.
//!
//! The agent puts keys onto cards, so that a key in a file is copied into the agent before. Its file is deleted last, after
//! the card's key has signed or decrypted something.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use engine::cert::facts::{Component, ComponentKind};
use engine::cert::packet::{Packets, Tag};
use engine::foreign_text::{harmless, printable};
use engine::key_move::try_out;
use engine::store::Fingerprint;
use secret::{Name, Role, SecretKey, SecretKeys as _};

use super::moved_keys::MovedKey;
use super::session::Session;
use crate::commands::card::access::Outcome;
use crate::commands::card::data::read_file;
use crate::commands::card::key_reference::{self, AgentCopy, KeyReference};
use crate::passphrases::Passphrases;

/// Copies the primary key or the selected subkey onto the card.
pub(super) fn move_to_card(session: &mut Session<'_>) -> anyhow::Result<()> {
    let Some(key) = session.key_to_move()? else { return Ok(()) };
    let effective = session.effective()?;
    let subkey = session.subkeys()?.into_iter().find(|subkey| subkey.facts.fingerprint == key);
    let usage = subkey.map_or(effective.primary().usage, |subkey| subkey.state.usage);
    let certificate = session.draft.certificate().clone();
    let is_it = |component: &Component| matches!(&component.kind, ComponentKind::Key(facts) if facts.fingerprint == key);
    let index = certificate.facts.components.iter().position(is_it);
    let Some(public) = index.and_then(|index| certificate.key(index)) else { return Ok(()) };
    let Some(keygrip) = public.facts().keygrip else { return Ok(()) };
    let Some(to) = key_reference::ask(&public, Some(usage), &mut session.card())? else { return Ok(()) };
    let file = key_of_file(session, &key)?;
    let put = match &file {
        Some(kept) => import(kept, &to, session),
        None => {
            let put = key_reference::put(&public, keygrip, &to, &mut session.card());
            reported(put.map(|()| AgentCopy::Own), session)
        }
    };
    if let Some(in_agent) = put {
        session.on_card.is_told = false;
        note(session, MovedKey { keygrip, in_agent, file: file.map(|_| key) });
    }
    Ok(())
}

/// Returns a key that is in a file.
fn key_of_file(session: &Session<'_>, key: &Fingerprint) -> anyhow::Result<Option<SecretKey>> {
    let files = session.keys.secrets.files();
    let name = Name::Fingerprint(*key);
    let in_file = files.find(&name)?;
    if !in_file.is_some_and(|stored| stored.protection.has_secret()) {
        return Ok(None);
    }
    Ok(Some(files.export(&name, &mut secret::ask::Nobody)?))
}

/// Has the agent import a key and put it onto the card; reports if it does not.
fn import(key: &SecretKey, to: &KeyReference, session: &mut Session<'_>) -> Option<AgentCopy> {
    let agent = session.keys.secrets.agent().cloned()?;
    match key_reference::import(key, None, to, &agent, &mut session.card()) {
        Ok(put) => reported(put, session),
        Err(error) => {
            let text = harmless(&error.to_string());
            session.keys.streams.error(format_args!("error sending to agent: {text}"));
            None
        }
    }
}

fn reported(put: Outcome<AgentCopy>, session: &mut Session<'_>) -> Option<AgentCopy> {
    put.inspect_err(|failure| session.keys.streams.error(format_args!("KEYTOCARD failed: {failure}"))).ok()
}

/// Notes a key that was put onto the card.
fn note(session: &mut Session<'_>, key: MovedKey) {
    session.on_card.is_pending = true;
    session.redisplay = true;
    session.on_card.note(key);
}

/// Puts a key of a backup file, which the generation of keys on a card makes, onto the card.
pub(super) fn restore_to_card(session: &mut Session<'_>, argument: &[u8]) -> anyhow::Result<()> {
    if argument.is_empty() {
        session.tell("Command expects a filename argument\n");
        return Ok(());
    }
    let path = backup_path(session, argument);
    let shown = printable(path.as_os_str().as_bytes());
    let bytes = match read_file(&path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            session.tell(format!("'{shown}' is too large\n"));
            return Ok(());
        }
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
    let public = key.key();
    let Some(keygrip) = public.facts().keygrip else { return Ok(()) };
    let Some(to) = key_reference::ask(&public, None, &mut session.card())? else { return Ok(()) };
    if let Some(copy) = import(&key, &to, session) {
        // What the agent had before it keeps.
        let in_agent = if copy == AgentCopy::Own { AgentCopy::Absent } else { copy };
        note(session, MovedKey { keygrip, in_agent, file: None });
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

/// Tells, once for each key, until when the copy here stays.
pub(super) fn tell(session: &mut Session<'_>) {
    let moved = &mut session.on_card;
    if !moved.keys.is_empty() && !std::mem::replace(&mut moved.is_told, true) {
        session.tell("Note: the local copy of the secret key will only be deleted with \"save\".\n");
    }
}

/// Takes back what the agent got from here and was not saved. The keys on the card stay there, as in gpg.
pub(super) fn leave(session: &mut Session<'_>) {
    for key in std::mem::take(&mut session.on_card.keys) {
        if key.in_agent == AgentCopy::FromHere {
            key_reference::delete_copy(key.keygrip, &mut session.card());
        }
    }
}

/// Deletes the copies of keys that are on the card now, and has the agent note where they are. Returns whether that was done,
/// and reports why not.
pub(super) fn save(session: &mut Session<'_>) -> anyhow::Result<bool> {
    if !session.on_card.is_pending {
        return Ok(true);
    }
    // Nothing is deleted before the card has said what it has: the session goes on if it does not.
    let on_card = match key_reference::keygrips(&mut session.card()) {
        Ok(keygrips) => keygrips,
        Err(failure) => {
            session.keys.streams.error(format_args!("deleting copy of secret key failed: {failure}"));
            return Ok(false);
        }
    };
    let moved = std::mem::take(&mut session.on_card.keys);
    let left = moved.into_iter().filter_map(|key| delete_moved(key, on_card.contains(&key.keygrip), session));
    session.on_card.keys = left.collect();
    if let Err(failure) = key_reference::learn_anew(&mut session.card()) {
        session.keys.streams.error(format_args!("update failed: {failure}"));
        return Ok(false);
    }
    session.on_card.is_pending = false;
    for file in std::mem::take(&mut session.on_card.keys).into_iter().filter_map(|key| key.file) {
        delete_file(&file, session)?;
    }
    Ok(true)
}

/// Deletes the agent's copy of a key that was put onto the card, or only what was copied there for that if the card does not
/// have it. Returns the key if its file is to be deleted yet.
fn delete_moved(key: MovedKey, is_there: bool, session: &mut Session<'_>) -> Option<MovedKey> {
    let MovedKey { keygrip, in_agent, file } = key;
    if !is_there {
        // Another key has taken its place since.
        let text =
            format_args!("the key with keygrip {keygrip} is no longer on the card: its copy here stays");
        session.keys.streams.info(text);
    }
    let is_deleted = match in_agent {
        AgentCopy::Own => is_there,
        AgentCopy::FromHere => true,
        AgentCopy::Absent => false,
    };
    if is_deleted {
        key_reference::delete_copy(keygrip, &mut session.card());
    }
    let left = MovedKey { in_agent: AgentCopy::Absent, ..key };
    (is_there && file.is_some()).then_some(left)
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
