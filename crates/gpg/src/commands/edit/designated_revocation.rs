//! `--generate-designated-revocation`: revokes a key of another, who named one of the user's keys for that.

use std::io::Write;

use engine::cert::effective::{EvaluationContext, PacketView, evaluate};
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
use crate::terminal;

/// Asks for the reason, and writes the revocation with what it needs to be accepted.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let [name] = arguments else {
        streams.usage("--generate-designated-revocation user-id");
        return Ok(());
    };
    if settings.batch {
        streams.error("can't do this in batch mode");
        return Ok(());
    }
    let mut edit_keys = EditKeys::open(settings, streams)?;
    let found = reported(edit_keys.candidates(name))?.unwrap_or_default();
    let Some((key, _)) = found.first().copied() else {
        let code = Code::NOT_FOUND;
        edit_keys.streams.error(format_args!("key \"{}\" not found: {code}", shown(name)));
        return Ok(());
    };
    let revokers = revokers(&mut edit_keys, &key)?;
    if revokers.is_empty() {
        edit_keys.streams.error(format_args!("no revocation keys found for \"{}\"", shown(name)));
    }
    for revoker in revokers {
        terminal::tell(settings, format!("\nTo be revoked by:\n{revoker}\n\n").as_bytes());
        if !edit_keys.has_secret(&revoker)? {
            terminal::tell(settings, b"Secret key is not available.\n");
        } else if revoke(&mut edit_keys, &key, &revoker)? {
            break;
        }
    }
    Ok(())
}

/// Returns the designated revokers that are here; with `--local-user` those that it names.
fn revokers(edit_keys: &mut EditKeys<'_>, key: &Fingerprint) -> anyhow::Result<Vec<Fingerprint>> {
    let settings = edit_keys.settings;
    let target = edit_keys.edit("", key, |editor| editor.target(key));
    let Some(target) = reported(target)? else { return Ok(Vec::new()) };
    let moment = EvaluationContext::new(settings.now, PacketView::Gnupg);
    let named = evaluate(&target.certificate.facts, moment).revokers;
    let chosen = if settings.local_users.is_empty() { None } else { Some(edit_keys.certifiers()?) };
    let Some(store) = edit_keys.keyrings.working_database() else { return Ok(Vec::new()) };
    let snapshot = store.snapshot()?;
    let mut found = Vec::new();
    for revoker in named {
        let is_here = snapshot.by_fingerprint(&[revoker.fingerprint])?.into_iter().flatten().next().is_some();
        let is_chosen = chosen.as_ref().is_none_or(|chosen| chosen.contains(&revoker.fingerprint));
        found.extend((is_here && is_chosen).then_some(revoker.fingerprint));
    }
    Ok(found)
}

/// Revokes with one of the keys; returns `false` if the user does not want to.
fn revoke(edit_keys: &mut EditKeys<'_>, key: &Fingerprint, by: &Fingerprint) -> anyhow::Result<bool> {
    let settings = edit_keys.settings;
    let okay = Question {
        keyword: "gen_desig_revoke.okay",
        context: b"",
        text: "Create a designated revocation certificate for this key? (y/N) ",
    };
    if !prompt::ask(&okay, settings, edit_keys.streams)? {
        return Ok(false);
    }
    let reason = revocation_reason::ask(Offered::ForKey, Some(1), settings, edit_keys.streams)?;
    let Some(reason) = reason else { return Ok(false) };
    let opened = Output::open(Holds::SecretPackets, &[], settings, edit_keys.streams);
    let Some(mut output) = reported(opened)? else { return Ok(true) };
    let command = "--generate-designated-revocation";
    match edit_keys.edit(command, by, |editor| editor.designated_revocation(key, by, reason)) {
        Ok(packets) => {
            let headers = settings.armor_headers.lines();
            let comment = b"A designated revocation certificate should follow";
            let mut armored = engine::cert::armor_writer::ArmorWriter::new(output.writer(edit_keys.streams))
                .with_headers(headers.with("Comment", comment));
            armored.write_all(&packets)?;
            armored.finish()?;
            output.commit()?;
            terminal::tell(settings, b"Revocation certificate created.\n");
        }
        Err(failure) => {
            let code = failure.coded()?.code;
            edit_keys.streams.error(format_args!("make_keysig_packet failed: {code}"));
        }
    }
    Ok(true)
}
