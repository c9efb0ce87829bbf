//! `uid` and `key`: select what the other commands apply to.

use engine::cert::facts::AttributeFacts;
use engine::edit::CertifiedIdentity;
use engine::store::Fingerprint;
use engine::verify::naming::ripemd160;

use super::command::Line;
use super::session::Session;
use crate::render::digits::hex_text;

/// Selects user IDs: by number, by the hash of colon listings, all with `*`, or none with 0.
pub(super) fn user_id(session: &mut Session<'_>, line: &Line) -> anyhow::Result<()> {
    let identities = session.identities()?;
    if line.argument.len() == 40 {
        let found =
            identities.iter().find(|found| hash(&found.identity).eq_ignore_ascii_case(&line.argument));
        match found {
            Some(found) => toggle(&mut session.selected, found.identity.clone()),
            None => {
                let hash = String::from_utf8_lossy(&line.argument).escape_debug().to_string();
                session.tell(format!("No user ID with hash {hash}\n"));
                return Ok(());
            }
        }
    } else if line.is_star() {
        session.selected = identities.into_iter().map(|found| found.identity).collect();
    } else {
        let number = line.number();
        if number == 0 {
            session.selected.clear();
        } else {
            let found = identities.iter().find(|found| found.number as i64 == number);
            let Some(found) = found else {
                session.tell(format!("No user ID with index {number}\n"));
                return Ok(());
            };
            toggle(&mut session.selected, found.identity.clone());
        }
    }
    session.redisplay = true;
    Ok(())
}

fn hash(identity: &CertifiedIdentity) -> Vec<u8> {
    let hash = match identity {
        CertifiedIdentity::UserId(value) => ripemd160(value),
        CertifiedIdentity::Attribute(AttributeFacts { name_hash, .. }) => *name_hash,
    };
    hex_text(&hash).into_bytes()
}

/// Selects subkeys: by number, by key ID or fingerprint, all with `*`, or none with 0.
pub(super) fn subkey(session: &mut Session<'_>, line: &Line) -> anyhow::Result<()> {
    let subkeys: Vec<Fingerprint> =
        session.subkeys()?.iter().map(|subkey| subkey.facts.fingerprint).collect();
    if let Some(digits) = digits(&line.argument) {
        let is_named = |key: &&Fingerprint| match digits.len() {
            8 => key.key_id().to_string().ends_with(&digits),
            16 => key.key_id().to_string() == digits,
            _ => key.to_string() == digits,
        };
        let found: Vec<Fingerprint> = subkeys.iter().filter(is_named).copied().collect();
        if found.is_empty() {
            session.tell(format!("No subkey with key ID '{digits}'.\n"));
            return Ok(());
        }
        found.into_iter().for_each(|key| toggle(&mut session.selected_subkeys, key));
    } else if line.is_star() {
        session.selected_subkeys = subkeys;
    } else {
        let number = line.number();
        if number == 0 {
            session.selected_subkeys.clear();
        } else {
            let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            let Some(key) = index.and_then(|index| subkeys.get(index)) else {
                session.tell(format!("No subkey with index {number}\n"));
                return Ok(());
            };
            toggle(&mut session.selected_subkeys, *key);
        }
    }
    session.redisplay = true;
    Ok(())
}

/// Returns the digits of a key ID or fingerprint, in upper case; spaces between them do not count.
fn digits(argument: &[u8]) -> Option<String> {
    let text = argument.strip_prefix(b"0x").unwrap_or(argument);
    let digits: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let is_length = matches!(digits.len(), 8 | 16 | 32..);
    let is_hexadecimal = digits.iter().all(u8::is_ascii_hexdigit);
    (is_length && is_hexadecimal).then(|| String::from_utf8_lossy(&digits).to_ascii_uppercase())
}

fn toggle<T: PartialEq>(selected: &mut Vec<T>, item: T) {
    match selected.iter().position(|known| *known == item) {
        Some(index) => drop(selected.remove(index)),
        None => selected.push(item),
    }
}
