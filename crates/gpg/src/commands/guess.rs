//! A run without a command: lists keys, and reads everything else as a message.

use std::fs::File;
use std::io::{BufReader, Read};

use engine::cert::certificate::Certificate;
use engine::cert::clean::rebuild;
use engine::cert::dearmor::DearmoredMessage;
use engine::cert::effective::{EvaluationContext, PacketView};
use engine::cert::packet::Tag;
use engine::cert::split::{Piece, Splitter};
use engine::designated_revocation::evaluate_certificate;
use engine::listing::{Names, UserTrust};
use engine::validity::{Sources, ValidityResult};

use super::decrypt;
use super::decrypt::plaintext::{MessageSource, Naming};
use super::signatures::KeyImporter;
use super::verify::begins_clear_text;
use crate::failure::CodedFailure;
use crate::keyrings::Keyrings;
use crate::render::block::Block;
use crate::settings::Settings;
use crate::streams::Streams;
use crate::{input, trust};

/// Bytes that are read to find out what an input holds, armor headers included.
const BEGINNING: u64 = 8192;

/// Lists or decrypts the file that the argument names, or standard input.
pub(super) fn run(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    importer: &dyn KeyImporter,
) -> anyhow::Result<()> {
    if !settings.quiet {
        streams.info("WARNING: no command supplied.  Trying to guess what you mean ...");
    }
    let Some((mut input, name)) = input(arguments, streams) else { return Ok(()) };
    let mut beginning = Vec::new();
    Read::take(&mut input, BEGINNING).read_to_end(&mut beginning)?;
    // Keys after clear text do not count.
    let holds_keys = begins_with_key(&beginning) && !begins_clear_text(&beginning);
    let input = BufReader::new(beginning.chain(input));
    if holds_keys {
        return list(settings, streams, input);
    }
    let source = MessageSource { name: name.as_deref(), naming: Naming::AfterInput, arguments };
    if let Err(failure) = decrypt::decrypt_message(settings, streams, input, source, importer) {
        report_failure(streams, failure.coded()?);
    }
    Ok(())
}

/// Opens the only input of a command, and returns its name too; `None` if that is not possible, which was reported.
pub(super) fn input(arguments: &[Vec<u8>], streams: &mut Streams) -> Option<(File, Option<Vec<u8>>)> {
    let name = streams.at_most_one(arguments, "[filename]")?;
    match input::open_silently(name) {
        Ok(input) => Some((input, name.map(<[u8]>::to_vec))),
        Err(_) => {
            let name = input::shown_name(name);
            streams.error(format_args!("can't open '{name}'"));
            None
        }
    }
}

/// Reports that an input could not be read as packets.
pub(super) fn report_failure(streams: &mut Streams, failure: CodedFailure) {
    streams.status_failure_value("-", failure.value);
    streams.error(format_args!("processing message failed: {}", failure.code));
}

fn begins_with_key(beginning: &[u8]) -> bool {
    let mut first = [0];
    let read = DearmoredMessage::of_any_kind(beginning).read(&mut first);
    let tag = read.ok().filter(|count| *count == 1).and_then(|_| Tag::of(first[0]));
    tag.is_some_and(|tag| matches!(tag, Tag::PUBLIC_KEY | Tag::SECRET_KEY))
}

/// Lists public keys; as gpg, nothing of secret keys.
fn list(settings: &Settings, streams: &mut Streams, input: impl Read) -> anyhow::Result<()> {
    let keyrings = Keyrings::open(settings, streams)?;
    let snapshots = keyrings.snapshots()?;
    let sources = snapshots.sources()?;
    for piece in Splitter::new(input) {
        let certificate = match piece {
            Ok(Piece::Certificate(raw)) if raw.secrets.is_empty() => rebuild(&raw.bytes, &[]),
            Ok(Piece::Certificate(_)) => {
                streams.info("secret keys are not listed; --show-keys does that");
                continue;
            }
            Ok(Piece::Revocation(_) | Piece::Ignored(_)) => continue,
            Err(error) => Err(error),
        };
        match certificate {
            Ok(certificate) => list_one(settings, streams, &certificate, &sources)?,
            Err(error) => {
                streams.status("NODATA 3");
                streams.error(error);
            }
        }
    }
    Ok(())
}

fn list_one(
    settings: &Settings,
    streams: &mut Streams,
    certificate: &Certificate,
    sources: &Sources<'_>,
) -> anyhow::Result<()> {
    let facts = &certificate.facts;
    let moment = EvaluationContext::new(settings.now, PacketView::Gnupg).with_digests(settings.digests);
    let effective = evaluate_certificate(certificate, moment, &sources.certificates)?;
    let mut names = (settings.verbose > 0)
        .then(|| Names::new(sources.certificates.clone(), settings.now, PacketView::Gnupg));
    if let Some(names) = &mut names {
        names.prepare(facts)?;
    }
    let trust = match settings.list.with_colons && !settings.list.fast {
        true => ValidityResult::of(&[facts.primary().fingerprint], sources, &trust::settings(settings))?
            .trust_of_copy(facts, &effective)?,
        false => UserTrust::default(),
    };
    let names = names.as_ref();
    let block = Block { facts, effective: &effective, trust: &trust, names, settings: &settings.list };
    let mut text = Vec::new();
    block.list(&mut text);
    Ok(streams.out().write_all(&text)?)
}
