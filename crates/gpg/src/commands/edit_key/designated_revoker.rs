//! `addrevoker`: names a key that may revoke this one.

use engine::cert::facts::{KeyFacts, Revoker};
use engine::configuration::Compat;
use engine::foreign_text::shown;

use super::session::Session;
use super::show;
use crate::clock;
use crate::code::Code;
use crate::render::algorithm;

const CLASS: u8 = 0x80;
const SENSITIVE: u8 = 0x40;

/// Asks for the key until one is confirmed, or nothing is answered.
pub(super) fn add(session: &mut Session<'_>, argument: &[u8]) -> anyhow::Result<()> {
    let sensitive = if argument.eq_ignore_ascii_case(b"sensitive") { SENSITIVE } else { 0 };
    let revoker = loop {
        session.tell("\n");
        let question = "Enter the user ID of the designated revoker: ";
        let answer = session.line("keyedit.add_revoker", question)?;
        if matches!(answer.as_slice(), [] | [4]) {
            return Ok(());
        }
        let Some(key) = session.keys.primary_key(&answer)? else {
            let code = Code::NO_PUBLIC_KEY;
            session.keys.streams.error(format_args!("key \"{}\" not found: {code}", shown(&answer)));
            continue;
        };
        let revoker =
            Revoker { class: CLASS | sensitive, algorithm: key.algorithm, fingerprint: key.fingerprint };
        if is_possible(session, &revoker)? && is_confirmed(session, &key)? {
            break revoker;
        }
    };
    match session.edit_own(|editor, key| editor.add_revoker(key, revoker)) {
        Ok(_) => {
            session.modified = true;
            session.redisplay = true;
            Ok(())
        }
        Err(failure) => session.signing_failed(failure),
    }
}

fn is_possible(session: &mut Session<'_>, revoker: &Revoker) -> anyhow::Result<bool> {
    if revoker.fingerprint == session.key() {
        session.keys.streams.error("you cannot appoint a key as its own designated revoker");
        return Ok(false);
    }
    let asks_again = session.settings().compat >= Compat::V2_4;
    if !asks_again && session.effective()?.revokers.contains(revoker) {
        session.keys.streams.error("this key has already been designated as a revoker");
        let key_id = session.key().key_id();
        session.keys.streams.status(format!("ALREADY_SIGNED {key_id}"));
        return Ok(false);
    }
    Ok(true)
}

fn is_confirmed(session: &mut Session<'_>, key: &KeyFacts) -> anyhow::Result<bool> {
    let mut text = b"\npub  ".to_vec();
    let list = &session.settings().list;
    algorithm::description(key, list.legacy, list.compat, &mut text);
    let (key_id, day) = (session.key_id(key.fingerprint.key_id()), clock::day_string(key.created));
    let name = session.name_of(key.fingerprint.key_id())?;
    text.extend(format!("/{key_id} {day}  {name}\n").into_bytes());
    text.extend(show::fingerprint_line(&key.fingerprint));
    text.extend(b"\nWARNING: this cannot be undone!\n\n");
    session.tell(text);
    let question = "Are you sure you want to appoint this key as a designated revoker? (y/N) ";
    session.confirm("keyedit.add_revoker.okay", question)
}
