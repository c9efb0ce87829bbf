//! `--verify`: signatures in a message, in clear text, or over other files.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use engine::cert::ArmorRules;
use engine::cert::dearmor::DearmoredMessage as Armored;
use engine::cert::packet::Tag;
use engine::configuration::Compat;
use engine::foreign_text::shown;
use engine::message::{
    Allowed, Authenticity, DataSignature, DetachedSignatures, Error, Event, HashHeaders, MessageVerifier,
    NoKeys, Result, Sink, decrypt,
};

use super::decrypt::plaintext;
use super::signatures::{self, KeyImporter};
use super::{multifile, trailing_data};
use crate::code::Code;
use crate::failure::{CodedFailure, Failure};
use crate::input;
use crate::progress::ReportedInput;
use crate::settings::Settings;
use crate::status;
use crate::streams::Streams;

/// Whether a signature is bad, or why nothing was verified.
type Verification = std::result::Result<bool, Failure>;

/// Verifies the signatures in the file that the first argument names, over the other files if there are any.
pub(super) fn run(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    importer: Option<&dyn KeyImporter>,
) -> anyhow::Result<()> {
    if settings.message.multifile {
        return each_file(arguments, settings, streams, importer);
    }
    let (name, data) = match arguments {
        [] => (None, &[][..]),
        [name, data @ ..] => (Some(&name[..]), data),
    };
    let outcome = open(name, settings, streams).map_err(Failure::from).and_then(|input| match data {
        [] => inline(settings, streams, input, name, importer),
        data => detached(settings, streams, input, data, importer),
    });
    report_failure(streams, "signatures", outcome.err().map(Failure::coded).transpose()?);
    Ok(())
}

/// Opens what may be a signature; an error is reported.
fn open(
    name: Option<&[u8]>,
    settings: &Settings,
    streams: &mut Streams,
) -> std::result::Result<ReportedInput<File>, Code> {
    let file = input::open(name, streams)?;
    Ok(ReportedInput::new(file, name, settings, streams))
}

fn report_failure(streams: &mut Streams, what: &str, failure: Option<CodedFailure>) {
    if let Some(CodedFailure { code, value }) = failure {
        streams.error(format_args!("verify {what} failed: {code}"));
        streams.status_failure_value("verify", value);
    }
}

/// Verifies the signatures in each of several files.
fn each_file(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    importer: Option<&dyn KeyImporter>,
) -> anyhow::Result<()> {
    let mut failure = None;
    for name in multifile::file_names(arguments, settings)? {
        streams.status(status::with_text("FILE_START 1", &name));
        match open(Some(&name), settings, streams) {
            Ok(input) => {
                match inline(settings, streams, input, Some(&name), importer) {
                    // With --batch gpg ends at the first bad signature.
                    Ok(has_bad) if has_bad && settings.batch => return Ok(()),
                    Ok(_) => {}
                    Err(error) => failure = failure.or(Some(error.coded()?)),
                }
                streams.status("FILE_DONE");
            }
            Err(code) => {
                streams.status(status::with_text("FILE_ERROR 1", &name));
                failure = failure.or(Some(CodedFailure { code, value: code.with_gpg() }));
            }
        }
    }
    report_failure(streams, "files", failure);
    Ok(())
}

/// Verifies the signatures of a message with its content, which is written if an output is named; returns whether one is
/// bad.
fn inline(
    settings: &Settings,
    streams: &mut Streams,
    input: ReportedInput<File>,
    name: Option<&[u8]>,
    importer: Option<&dyn KeyImporter>,
) -> Verification {
    let mut input = BufReader::new(input);
    let beginning = input.fill_buf()?.to_vec();
    let (read, announced) = match settings.output {
        Some(_) => {
            plaintext::read_unencrypted(settings, streams, name, |sink| signatures_of(&mut input, sink))?
        }
        None => {
            let mut nowhere = DiscardContent::default();
            let read = signatures_of(&mut input, &mut nowhere);
            if nowhere.announced.as_ref().is_some_and(|announced| announced.has_unknown) {
                streams.error("invalid clearsig header");
            }
            if let Some(first) = nowhere.trailing {
                trailing_data::report(streams, first);
            }
            (read, nowhere.announced)
        }
    };
    match classify(read, &beginning, false) {
        VerifyOutcome::Detached if settings.message.list_only => Ok(false),
        // With --batch gpg makes no assumptions.
        VerifyOutcome::Detached if !settings.message.multifile && !settings.batch => {
            over_file_beside(settings, streams, name, importer)
        }
        outcome => report(settings, streams, outcome, announced.as_ref(), name, importer),
    }
}

/// What there is to verify in an input.
enum VerifyOutcome {
    Signatures(Vec<DataSignature>),
    /// Signatures of content that is elsewhere.
    Detached,
    /// Other packets.
    Unexpected,
    NoPackets {
        is_empty: bool,
    },
    /// Not the detached signatures that were expected.
    NotDetached,
    NoSignature(Error),
}

/// Returns the error of reading an input without packets as gpg reports it: a single byte is a bad packet, and no text.
pub(super) fn of_lone_byte(error: Error, beginning: &[u8]) -> Error {
    match (error, beginning) {
        (Error::NoMessage, [_]) => Error::Malformed("invalid packet"),
        (error, _) => error,
    }
}

/// Says what there is to verify from the beginning of an input and the result of reading it.
fn classify(read: Result<Vec<DataSignature>>, beginning: &[u8], is_detached: bool) -> VerifyOutcome {
    let read = if is_detached { read } else { read.map_err(|error| of_lone_byte(error, beginning)) };
    match read {
        Ok(found) if found.is_empty() && !is_detached => VerifyOutcome::Unexpected,
        Ok(found) => VerifyOutcome::Signatures(found),
        Err(Error::Detached) => VerifyOutcome::Detached,
        Err(Error::NoKey) => VerifyOutcome::Unexpected,
        Err(Error::NoMessage) if begins_openpgp(beginning) => VerifyOutcome::Unexpected,
        Err(Error::NoMessage) => VerifyOutcome::NoPackets { is_empty: beginning.is_empty() },
        Err(Error::SecondBlock) if is_detached => VerifyOutcome::NotDetached,
        Err(error) => VerifyOutcome::NoSignature(error),
    }
}

/// Says what there is to verify where signatures over files were expected.
fn classify_detached(
    read: Result<Vec<DataSignature>>,
    beginning: &[u8],
    settings: &Settings,
) -> VerifyOutcome {
    /// Keys, encrypted data and encrypted session keys.
    const OTHERS: [u8; 7] = [1, 3, 5, 6, 9, 18, 20];
    const SIGNED_OR_COMPRESSED: [u8; 2] = [4, 8];
    const LITERAL: u8 = 11;
    match (&read, first_tag(beginning).map(|tag| tag.0)) {
        (Err(Error::Malformed(_)), Some(tag)) if OTHERS.contains(&tag) => VerifyOutcome::Unexpected,
        (Err(Error::Malformed(_)), Some(LITERAL)) => VerifyOutcome::NoSignature(Error::Unsigned),
        (Err(Error::Malformed(_)), Some(tag))
            if SIGNED_OR_COMPRESSED.contains(&tag) && settings.compat < Compat::V2_4 =>
        {
            VerifyOutcome::NotDetached
        }
        _ => classify(read, beginning, true),
    }
}

/// Reports what was verified in the file `name`, or why there is nothing to verify.
fn report(
    settings: &Settings,
    streams: &mut Streams,
    outcome: VerifyOutcome,
    announced: Option<&HashHeaders>,
    name: Option<&[u8]>,
    importer: Option<&dyn KeyImporter>,
) -> Verification {
    match outcome {
        VerifyOutcome::Signatures(found) => {
            let has_bad = signatures::report(settings, streams, found, announced, importer)?;
            if let Some(data) = data_beside(name).filter(|_| !has_bad && !settings.message.list_only) {
                let data = shown(data);
                streams
                    .info(format_args!("WARNING: not a detached signature; file '{data}' was NOT verified!"));
            }
            return Ok(has_bad);
        }
        VerifyOutcome::Detached => {
            streams.error("no signed data");
            streams.error("can't hash datafile: No data");
        }
        VerifyOutcome::Unexpected => return Err(report_unexpected(streams)),
        VerifyOutcome::NoPackets { is_empty } => {
            report_no_packets(streams, is_empty);
            if is_empty || settings.message.multifile {
                return Err(Failure::bare(Code::END_OF_INPUT));
            }
            report_not_verified(streams);
        }
        VerifyOutcome::NotDetached => streams.error("not a detached signature"),
        VerifyOutcome::NoSignature(error) if error.is_second_content() => report_second_content(streams),
        VerifyOutcome::NoSignature(error) => {
            report_if_damaged(streams, &error);
            if !matches!(error, Error::Unsigned) {
                streams.error(engine::causes(&error));
            }
            streams.status("NODATA 4");
            streams.error("no signature found");
            report_not_verified(streams);
        }
    }
    Ok(false)
}

/// Says whether an input begins with a packet, in armor or without. As in gpg, a tag that no first packet
/// can have makes it text, and so does armor without anything in it.
pub(super) fn begins_openpgp(beginning: &[u8]) -> bool {
    const TAGS: [u8; 14] = [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 16, 18, 20, 61];
    let mut first = [0];
    match Armored::of_any_kind(beginning).read(&mut first) {
        Ok(0) => begins_clear_text(beginning),
        Ok(_) => Tag::of(first[0]).is_some_and(|tag| TAGS.contains(&tag.0)),
        // Damaged armor is no text.
        Err(_) => true,
    }
}

/// Reads a message, and returns the signatures over its content.
fn signatures_of(input: &mut (dyn Read + Send), sink: &mut dyn Sink) -> Result<Vec<DataSignature>> {
    let mut verifier = MessageVerifier::new(sink);
    let allowed = Allowed {
        unencrypted: true,
        unknown_digests: true,
        trailing_zeros: true,
        trailing_data: true,
        verbatim_text: true,
        ..Allowed::default()
    };
    decrypt(input, allowed, &mut NoKeys, &mut verifier)?;
    verifier.finish()
}

/// Returns the name without the suffix of a detached signature, if there is a file of that name.
fn data_beside(name: Option<&[u8]>) -> Option<&[u8]> {
    const SUFFIXES: [&[u8]; 3] = [b".sig", b".sign", b".asc"];
    let name = name.filter(|name| !input::is_stream(Some(name)))?;
    let data = SUFFIXES.iter().find_map(|suffix| name.strip_suffix(*suffix))?;
    Path::new(OsStr::from_bytes(data)).exists().then_some(data)
}

/// Verifies signatures over the file of the same name without the suffix.
fn over_file_beside(
    settings: &Settings,
    streams: &mut Streams,
    name: Option<&[u8]>,
    importer: Option<&dyn KeyImporter>,
) -> Verification {
    if let (Some(name), Some(data)) = (name, data_beside(name))
        && let Ok(signature) = open(Some(name), settings, streams)
    {
        streams.info(format_args!("assuming signed data in '{}'", shown(data)));
        return detached(settings, streams, signature, &[data.to_vec()], importer);
    }
    report(settings, streams, VerifyOutcome::Detached, None, None, importer)
}

/// Verifies signatures over the file beside them, else over standard input.
pub(super) fn over_file_or_input(
    settings: &Settings,
    streams: &mut Streams,
    name: &[u8],
    importer: Option<&dyn KeyImporter>,
) -> Verification {
    if data_beside(Some(name)).is_some() {
        return over_file_beside(settings, streams, Some(name), importer);
    }
    if settings.verbose > 0 {
        streams.info("reading stdin ...");
    }
    match open(Some(name), settings, streams) {
        Ok(signature) => detached(settings, streams, signature, &[b"-".to_vec()], importer),
        Err(code) => Err(code.into()),
    }
}

/// Verifies signatures over files, one after the other.
fn detached(
    settings: &Settings,
    streams: &mut Streams,
    signature: ReportedInput<File>,
    data: &[Vec<u8>],
    importer: Option<&dyn KeyImporter>,
) -> Verification {
    let mut signature = BufReader::new(signature);
    let beginning = signature.fill_buf()?.to_vec();
    let outcome = match begins_clear_text(&beginning) {
        true => VerifyOutcome::NotDetached,
        false => classify_detached(over(settings, streams, &mut signature, data), &beginning, settings),
    };
    report(settings, streams, outcome, None, None, importer)
}

fn over(
    settings: &Settings,
    streams: &mut Streams,
    signature: &mut (dyn Read + Send),
    data: &[Vec<u8>],
) -> Result<Vec<DataSignature>> {
    let detached = DetachedSignatures::read_with(signature, ArmorRules::Gnupg)?;
    let others = detached.left_aside().iter().filter(|tag| **tag != Tag::MARKER);
    for other in others.filter(|_| settings.compat >= Compat::V2_4) {
        streams.error(format_args!("Packet type {} not allowed in detached signature", other.0));
    }
    let mut content: Box<dyn Read> = Box::new(io::empty());
    for name in data {
        match input::open_silently(Some(name)) {
            Ok(file) => {
                let file = ReportedInput::new(file, Some(name), settings, streams);
                content = Box::new(content.chain(file));
            }
            Err(error) => {
                let code = input::code(&error);
                streams.error(format_args!("can't open signed data '{}'", shown(name)));
                streams.error(format_args!("can't hash datafile: {code}"));
                return Ok(Vec::new());
            }
        }
    }
    detached.over(content.as_mut())
}

/// Returns the type of the first packet, in armor or without.
fn first_tag(beginning: &[u8]) -> Option<Tag> {
    let mut first = [0];
    Armored::of_any_kind(beginning).read_exact(&mut first).ok()?;
    Tag::of(first[0])
}

/// Says whether clear text comes before anything else in armor.
pub(super) fn begins_clear_text(beginning: &[u8]) -> bool {
    let mut lines = beginning.split(|byte| *byte == b'\n');
    let title = lines.find(|line| line.starts_with(b"-----BEGIN PGP "));
    title.is_some_and(|title| title.trim_ascii_end() == b"-----BEGIN PGP SIGNED MESSAGE-----")
}

/// Reports that there are no packets.
pub(super) fn report_no_packets(streams: &mut Streams, is_empty: bool) {
    if !is_empty {
        report_no_packets_behind_text(streams);
    }
    streams.status("NODATA 2");
}

/// Reports that clear text ends without any packet.
pub(super) fn report_no_packets_behind_text(streams: &mut Streams) {
    streams.error("no valid OpenPGP data found.");
    streams.status("NODATA 1");
}

/// Writes a status line for a packet that is damaged, truncated, or one content too many.
pub(super) fn report_if_damaged(streams: &mut Streams, error: &Error) {
    if error.is_second_content() {
        report_second_content(streams);
    } else if matches!(error, Error::Malformed(_) | Error::SecondBlock | Error::CutShort) {
        streams.status("NODATA 3");
    }
}

/// Reports a message with more than one content: programs look for this line.
fn report_second_content(streams: &mut Streams) {
    streams.info("WARNING: multiple plaintexts seen");
    streams.status("ERROR proc_pkt.plaintext 89_BAD_DATA");
    streams.error("handle plaintext failed: Unexpected error");
}

fn report_not_verified(streams: &mut Streams) {
    streams.error("the signature could not be verified.");
    streams.continue_info(b"Please remember that the signature file (.sig or .asc)");
    streams.continue_info(b"should be the first file given on the command line.");
}

/// Reports that there is something else than signatures.
pub(super) fn report_unexpected(streams: &mut Streams) -> Failure {
    streams.status("UNEXPECTED 0");
    Failure::bare(Code::UNEXPECTED)
}

/// Discards the content.
#[derive(Default)]
struct DiscardContent {
    /// The hash algorithms in the `Hash` headers of clear text.
    announced: Option<HashHeaders>,
    /// The first byte that follows the message.
    trailing: Option<u8>,
}

impl Sink for DiscardContent {
    fn event(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::ClearText(announced) => self.announced = Some(announced.clone()),
            Event::TrailingData { first, .. } => self.trailing = Some(first),
            _ => {}
        }
        Ok(())
    }

    fn data(&mut self, _: &[u8], _: Authenticity) -> Result<()> {
        Ok(())
    }
}
