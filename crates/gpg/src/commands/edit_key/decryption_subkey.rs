//! `addadsk`: adds another certificate's subkey, to which senders encrypt as well.

use engine::foreign_text::shown;

use super::session::Session;
use crate::commands::edit::decryption_subkey;

/// Asks for the key until one is added, or nothing is answered.
pub(super) fn add(session: &mut Session<'_>) -> anyhow::Result<()> {
    let found = loop {
        let question = "Enter the fingerprint of the additional decryption subkey: ";
        let answer = session.line("keyedit.addadsk", question)?;
        if matches!(answer.as_slice(), [] | [4]) {
            return Ok(());
        }
        let Some(found) = decryption_subkey::wanted(&mut session.keys, &answer)? else { continue };
        if session.subkeys()?.iter().any(|subkey| subkey.facts.fingerprint == found.fingerprint) {
            let text = shown(&answer);
            session.keys.streams.info(format_args!("key \"{text}!\" is already on this keyblock"));
            continue;
        }
        break found;
    };
    match session.edit_own(|editor, key| editor.add_decryption_subkey(key, &found.public, found.expires)) {
        Ok(_) => {
            session.modified = true;
            session.redisplay = true;
            Ok(())
        }
        Err(failure) => session.signing_failed(failure),
    }
}
