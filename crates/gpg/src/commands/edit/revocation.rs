//! `--generate-revocation`: makes a revocation certificate after a dialogue.

use engine::cert::facts::RevocationReason;
use engine::edit::armored;
use engine::foreign_text::shown;
use engine::store::Fingerprint;

use super::EditKeys;
use crate::code::Code;
use crate::failure::reported;
use crate::output::{Holds, Output};
use crate::prompt::{self, Question};
use crate::settings::Settings;
use crate::streams::Streams;

/// What the menu offers, in its order.
const REASONS: [(&str, u8); 4] = [
    ("No reason specified", RevocationReason::UNSPECIFIED),
    ("Key has been compromised", RevocationReason::COMPROMISED),
    ("Key is superseded", RevocationReason::SUPERSEDED),
    ("Key is no longer used", RevocationReason::RETIRED),
];
/// The index of the reason for an empty answer.
const DEFAULT_REASON: usize = 1;

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
    let Some(reason) = ask_reason(settings, edit_keys.streams)? else { return Ok(()) };
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

/// Asks why; `None` if the user thinks better of it.
fn ask_reason(settings: &Settings, streams: &mut Streams) -> anyhow::Result<Option<RevocationReason>> {
    loop {
        let Some((words, code)) = ask_code(settings, streams)? else { return Ok(None) };
        let comment = ask_comment(settings, streams)?;
        let description = if comment.is_empty() { "(No description given)" } else { comment.as_str() };
        let context = format!("Reason for revocation: {words}\n{description}\n");
        let okay = Question {
            keyword: "ask_revocation_reason.okay",
            context: context.as_bytes(),
            text: "Is this okay? (y/N) ",
        };
        if prompt::ask(&okay, settings, streams)? {
            return Ok(Some(RevocationReason { code, comment: comment.into_bytes() }));
        }
    }
}

fn ask_code(settings: &Settings, streams: &mut Streams) -> anyhow::Result<Option<(&'static str, u8)>> {
    let mut menu = String::from("Please select the reason for the revocation:\n");
    for (number, (words, _)) in REASONS.iter().enumerate() {
        menu.push_str(&format!("  {number} = {words}\n"));
    }
    menu.push_str(&format!("  Q = Cancel\n(Probably you want to select {DEFAULT_REASON} here)\n"));
    let mut context = menu;
    loop {
        let question = Question {
            keyword: "ask_revocation_reason.code",
            context: context.as_bytes(),
            text: "Your decision? ",
        };
        let answer = prompt::line(&question, settings, streams)?;
        let choice = match answer.trim_ascii() {
            [b'q' | b'Q', ..] => return Ok(None),
            [] => Some(DEFAULT_REASON),
            [digit @ b'0'..=b'9'] => Some(usize::from(digit - b'0')),
            _ => None,
        };
        if let Some(&chosen) = choice.and_then(|number| REASONS.get(number)) {
            return Ok(Some(chosen));
        }
        context = String::from("Invalid selection.\n");
    }
}

/// Asks for a comment, line by line up to an empty one.
fn ask_comment(settings: &Settings, streams: &mut Streams) -> anyhow::Result<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut context: &[u8] = b"Enter an optional description; end it with an empty line:\n";
    loop {
        let question = Question { keyword: "ask_revocation_reason.text", context, text: "> " };
        let answer = prompt::line(&question, settings, streams)?;
        let line = answer.trim_ascii_end();
        if line.is_empty() {
            return Ok(lines.join("\n"));
        }
        lines.push(String::from_utf8_lossy(line).into_owned());
        context = b"";
    }
}

fn write(settings: &Settings, streams: &mut Streams, text: &[u8]) -> anyhow::Result<()> {
    let opened = Output::open(Holds::SecretPackets, &[], settings, streams);
    let Some(mut output) = reported(opened)? else { return Ok(()) };
    output.writer(streams).write_all(text)?;
    output.commit()
}
