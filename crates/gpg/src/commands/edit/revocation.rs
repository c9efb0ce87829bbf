//! `--generate-revocation`: makes a revocation certificate after a dialogue.

use engine::edit::armored;
use engine::foreign_text::shown;
use engine::store::Fingerprint;

use super::EditKeys;
use super::revocation_reason::{self, Offered};
use crate::code::Code;
use crate::failure::reported;
use crate::output::{Holds, Output};
use crate::prompt::{self, Question};
use crate::settings::Settings;
use crate::streams::Streams;

/// Asks for the reason, and writes the revocation of a key.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let [name] = arguments else {
        streams.usage("--generate-revocation user-id");
        return Ok(());
    };
    if settings.batch {
        streams.error("can't do this in batch mode");
        return Ok(());
    }
    let mut edit_keys = EditKeys::open(settings, streams)?;
    let Some(key) = find(&mut edit_keys, name)? else { return Ok(()) };
    edit_keys.streams.considered(&key);
    let okay = Question {
        keyword: "gen_revoke.okay",
        context: b"",
        text: "Create a revocation certificate for this key? (y/N) ",
    };
    if !prompt::ask(&okay, settings, edit_keys.streams)? {
        return Ok(());
    }
    let Some(reason) = revocation_reason::ask(Offered::ForKey, Some(1), settings, edit_keys.streams)? else {
        return Ok(());
    };
    let revocation =
        edit_keys.edit("--generate-revocation", &key, |editor| editor.revocation_certificate(&key, reason));
    match revocation {
        Ok(packet) => write(settings, streams, &armored(&packet, settings.armor_headers.lines())),
        Err(failure) => {
            streams.error(format_args!("make_keysig_packet failed: {}", failure.coded()?.code));
            Ok(())
        }
    }
}

/// Finds the only key with the name, whose secret key must be here; reports if there is none.
fn find(edit_keys: &mut EditKeys<'_>, name: &[u8]) -> anyhow::Result<Option<Fingerprint>> {
    let text = shown(name);
    let found = match edit_keys.candidates(name) {
        Ok(found) => found,
        Err(failure) => {
            let code = failure.coded()?.code;
            edit_keys.streams.error(format_args!("secret key \"{text}\" not found: {code}"));
            return Ok(None);
        }
    };
    match found.as_slice() {
        [] => edit_keys.streams.error(format_args!("secret key \"{text}\" not found")),
        [(key, _)] if edit_keys.has_secret(key)? => return Ok(Some(*key)),
        [_] => {
            let code = Code::NO_SECRET_KEY;
            edit_keys.streams.error(format_args!("secret key \"{text}\" not found: {code}"));
        }
        several => {
            edit_keys.streams.error(format_args!("'{text}' matches multiple secret keys:"));
            for (key, _) in several {
                edit_keys.streams.considered(key);
                edit_keys.streams.info(format_args!("  {key}"));
            }
        }
    }
    Ok(None)
}

fn write(settings: &Settings, streams: &mut Streams, text: &[u8]) -> anyhow::Result<()> {
    let opened = Output::open(Holds::SecretPackets, &[], settings, streams);
    let Some(mut output) = reported(opened)? else { return Ok(()) };
    output.writer(streams).write_all(text)?;
    output.commit()
}
