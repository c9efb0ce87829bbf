//! `keytocard` and `bkuptocard`: a key is copied onto a card; when that is saved, the copy here is deleted.
//!
//! The agent puts keys onto cards, so that a key in a file is copied into the agent before. Its file is deleted last, after
//! the card's key has signed or decrypted something.

use std::ffi::OsStr;
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

use super::moved_keys::{AgentCopy, MovedKey, OnCard};
use super::session::Session;
use crate::commands::card::data::read_file;
use crate::commands::card::place::{KeyCard, Place};
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
    let settings = session.settings();
    with_moved(session, |moved, session| {
        let place = moved.card.ask(&public, Some(usage), settings, session.keys.streams)?;
        let Some(place) = place else { return Ok(()) };
        match copy_into_agent(session, &key)? {
            Ok(copied) => {
                let in_agent = if copied == Some(Stored::New) { AgentCopy::FromHere } else { AgentCopy::Own };
                if moved.card.put(&public, keygrip, &place, settings, session.keys.streams) {
                    moved.is_pending = true;
                    session.redisplay = true;
                    moved.is_told = false;
                    moved.note(MovedKey { keygrip, in_agent, file: copied.map(|_| key) });
                } else if in_agent == AgentCopy::FromHere {
                    delete_copy(&mut moved.card, keygrip, session);
                }
            }
            Err(error) => session.keys.streams.error(format_args!("KEYTOCARD failed: {}", harmless(&error))),
        }
        Ok(())
    })
}

/// Runs something with what was put onto the card, which the session has again however that ends.
fn with_moved<T>(session: &mut Session<'_>, run: impl FnOnce(&mut OnCard, &mut Session<'_>) -> T) -> T {
    let mut moved = std::mem::take(&mut session.on_card);
    let done = run(&mut moved, session);
    session.on_card = moved;
    done
}

/// Copies a key that is in a file into the agent; `None` if it is in no file.
fn copy_into_agent(
    session: &mut Session<'_>,
    key: &Fingerprint,
) -> anyhow::Result<Result<Option<Stored>, String>> {
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
    let Some(agent) = session.keys.secrets.agent().cloned() else { return Ok(()) };
    let settings = session.settings();
    with_moved(session, |moved, session| {
        let place = moved.card.ask(&key.key(), None, settings, session.keys.streams)?;
        let Some(place) = place else { return Ok(()) };
        // Agents of GnuPG 2.4 hold the key in memory only.
        let is_ephemeral = moved.card.agent("OPTION ephemeral=1", settings, session.keys.streams).is_ok();
        restore(&key, &place, &agent, is_ephemeral, moved, session);
        if is_ephemeral {
            let _ = moved.card.agent("OPTION ephemeral=0", settings, session.keys.streams);
        }
        Ok(())
    })
}

fn restore(
    key: &SecretKey,
    place: &Place,
    agent: &AgentKeys,
    is_ephemeral: bool,
    moved: &mut OnCard,
    session: &mut Session<'_>,
) {
    let public = key.key();
    let Some(keygrip) = public.facts().keygrip else { return };
    let stored = match agent.store_in_place_of_stub(key) {
        Ok(stored) => stored,
        Err(error) => {
            let text = harmless(&error.to_string());
            return session.keys.streams.error(format_args!("error sending to agent: {text}"));
        }
    };
    let is_copied = stored == Stored::New && !is_ephemeral;
    if moved.card.put(&public, keygrip, place, session.settings(), session.keys.streams) {
        moved.is_pending = true;
        session.redisplay = true;
        if is_copied {
            moved.note(MovedKey { keygrip, in_agent: AgentCopy::FromHere, file: None });
        }
    } else if is_copied {
        delete_copy(&mut moved.card, keygrip, session);
    }
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

/// Takes back what the agent got from here and was not saved. The keys on the card stay there, as in gpg.
pub(super) fn leave(session: &mut Session<'_>) {
    let mut moved = std::mem::take(&mut session.on_card);
    for key in moved.keys.iter().filter(|key| key.in_agent == AgentCopy::FromHere) {
        delete_copy(&mut moved.card, key.keygrip, session);
    }
}

/// Deletes the copies of keys that are on the card now, and has the agent note where they are. Returns whether that was done,
/// and reports why not.
pub(super) fn save(session: &mut Session<'_>) -> anyhow::Result<bool> {
    with_moved(session, save_moved)
}

fn save_moved(moved: &mut OnCard, session: &mut Session<'_>) -> anyhow::Result<bool> {
    if !moved.is_pending {
        return Ok(true);
    }
    let settings = session.settings();
    // Nothing is deleted before the card has said what it has: the session goes on if it does not.
    let on_card = match moved.card.keygrips(settings, session.keys.streams) {
        Ok(keygrips) => keygrips,
        Err(failure) => {
            session.keys.streams.error(format_args!("deleting copy of secret key failed: {failure}"));
            return Ok(false);
        }
    };
    for key in std::mem::take(&mut moved.keys) {
        let is_there = on_card.contains(&key.keygrip);
        let left = delete_moved(key, is_there, &mut moved.card, session);
        moved.keys.extend(left);
    }
    if let Err(failure) = moved.card.learn_anew(settings, session.keys.streams) {
        session.keys.streams.error(format_args!("update failed: {failure}"));
        return Ok(false);
    }
    moved.is_pending = false;
    for file in std::mem::take(&mut moved.keys).into_iter().filter_map(|key| key.file) {
        delete_file(&file, session)?;
    }
    Ok(true)
}

/// Deletes the agent's copy of a key that was put onto the card, or only what was copied there for that if the card does not
/// have it. Returns the key if its file is to be deleted yet.
fn delete_moved(
    key: MovedKey,
    is_there: bool,
    card: &mut KeyCard,
    session: &mut Session<'_>,
) -> Option<MovedKey> {
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
        AgentCopy::Deleted => false,
    };
    if is_deleted {
        delete_copy(card, keygrip, session);
    }
    let left = MovedKey { in_agent: AgentCopy::Deleted, ..key };
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
