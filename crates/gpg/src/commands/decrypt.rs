//! `--decrypt`, for one file or several.

mod attempt;
mod ending;
pub(super) mod list_packets;
pub(super) mod plaintext;
mod search;
mod unlock;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use engine::causes;
use engine::foreign_text::shown;
use engine::message::{self, Allowed, Error, MessageVerifier};

use super::signatures::{self, KeyImporter};
use super::{multifile, trailing_data, verify};
use crate::code::Code;
use crate::failure::{CodedFailure, Failure};
use crate::input;
use crate::progress::ReportedInput;
use crate::settings::Settings;
use crate::status;
use crate::streams::Streams;
use crate::system_error::system_words;
use ending::Ending;
use plaintext::{MessageSource, Naming, Plaintext};
use unlock::{Unlocked, Unlocker};

/// Decrypts the file that the argument names, or standard input; or each of several files.
pub(super) fn run(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    importer: &dyn KeyImporter,
) -> anyhow::Result<()> {
    if settings.message.multifile {
        return each_file(arguments, settings, streams, importer);
    }
    let name = match arguments {
        [] => None,
        [name] => Some(&name[..]),
        _ => {
            streams.usage("--decrypt [filename]");
            return Ok(());
        }
    };
    let source = MessageSource { name, naming: Naming::Standard, arguments };
    let input = input::open(name, streams).map_err(Failure::from);
    let decrypted = input.and_then(|input| {
        let input = ReportedInput::new(input, name, settings, streams);
        decrypt_message(settings, streams, BufReader::new(input), source, importer)
    });
    if let Err(failure) = decrypted {
        let CodedFailure { code, value } = failure.coded()?;
        streams.status_failure_value("decrypt", value);
        streams.error(format_args!("decrypt_message failed: {code}"));
    }
    Ok(())
}

fn each_file(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    importer: &dyn KeyImporter,
) -> anyhow::Result<()> {
    for name in multifile::file_names(arguments, settings)? {
        streams.status(status::with_text("FILE_START 3", &name));
        if plaintext::name_after(&name, streams).is_some() {
            match File::open(Path::new(OsStr::from_bytes(&name))) {
                Ok(input) => {
                    let source = MessageSource { name: Some(&name), naming: Naming::AfterInput, arguments };
                    let input = ReportedInput::new(input, Some(&name), settings, streams);
                    match decrypt_message(settings, streams, BufReader::new(input), source, importer) {
                        // With --batch gpg ends at the first bad signature.
                        Ok(has_bad) if has_bad && settings.batch => return Ok(()),
                        Ok(_) => {}
                        Err(failure) => {
                            let (name, code) = (shown(&name), failure.coded()?.code);
                            streams.error(format_args!("{name}: decryption failed: {code}"));
                        }
                    }
                }
                Err(error) => {
                    let (name, error) = (shown(&name), system_words(&error));
                    streams.error(format_args!("can't open '{name}': {error}"));
                }
            }
        }
        streams.status("FILE_DONE");
    }
    Ok(())
}

/// Reads one message; returns whether a signature is bad. Fails if there is no message; everything else was reported.
pub(super) fn decrypt_message(
    settings: &Settings,
    streams: &mut Streams,
    mut input: impl BufRead + Send,
    source: MessageSource<'_>,
    importer: &dyn KeyImporter,
) -> Result<bool, Failure> {
    let beginning = input.fill_buf()?.to_vec();
    let allowed = Allowed {
        unprotected: settings.message.ignore_mdc_error,
        unencrypted: true,
        unknown_digests: true,
        trailing_zeros: true,
        verbatim_text: true,
        trailing_data: true,
        ..Allowed::default()
    };
    let shared = RefCell::new(&mut *streams);
    let mut unlocker = Unlocker::new(settings, &shared);
    let mut plaintext = Plaintext::new(settings, &shared, source);
    let mut verifier = MessageVerifier::new(&mut plaintext);
    let decrypt_or_unwrap = if settings.message.unwrap { message::unwrap } else { message::decrypt };
    let read = decrypt_or_unwrap(&mut input, allowed, &mut unlocker, &mut verifier);
    let read = read.and_then(|()| verifier.finish());
    let announced = plaintext.announced.take();
    let behind = plaintext.trailing;
    let ending = plaintext.finish(read.is_ok())?;
    let unlocked = unlocker.end()?;
    let error = match read {
        Ok(signatures) => {
            if let Some(first) = behind.first.filter(|_| ending == Ending::NotEncrypted) {
                trailing_data::report(streams, first);
            }
            let has_bad = !signatures.is_empty()
                && signatures::report(settings, streams, signatures, announced.as_ref(), Some(importer))?;
            if ending != Ending::NotEncrypted && (!has_bad || !settings.batch) {
                behind.report_before_end(streams);
                ending.report(settings, streams);
                behind.report_after_end(streams);
            }
            return Ok(has_bad);
        }
        Err(Error::Detached) if settings.message.list_only => return Ok(false),
        Err(Error::Detached) if !input::is_stream(source.name) => {
            return verify::over_file_or_input(
                settings,
                streams,
                source.name.unwrap_or_default(),
                Some(importer),
            );
        }
        Err(error) => verify::of_lone_byte(error, &beginning),
    };
    if matches!(error, Error::NoMessage) && !unlocked.is_asked() {
        if verify::begins_openpgp(&beginning) {
            return Err(verify::report_unexpected(streams));
        }
        verify::report_no_packets(streams, beginning.is_empty());
        return Err(Failure::bare(Code::END_OF_INPUT));
    }
    if !unlocked.is_asked() {
        verify::report_if_damaged(streams, &error);
    }
    report_failure(settings, streams, error, unlocked);
    Ok(false)
}

/// Reports why a message was not read to its end.
fn report_failure(settings: &Settings, streams: &mut Streams, error: Error, unlocked: Unlocked) {
    match (Ending::of_failure(&error, unlocked), error) {
        (Ending::Failed { .. }, Error::Write(error)) => {
            streams.error(format_args!("error writing output: {}", system_words(&error)));
        }
        (Ending::Failed { .. }, Error::Unsigned) => verify::report_no_packets_behind_text(streams),
        (Ending::Failed { .. }, error) if !unlocked.is_asked() => streams.error(causes(&error)),
        (ending, _) => ending.report(settings, streams),
    }
}
