//! `--decrypt`, for one file or several.

mod attempt;
pub(super) mod list_packets;
pub(super) mod plaintext;
mod unlock;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use keyhoard::causes;
use keyhoard::foreign_text::shown;
use keyhoard::message::{self, Allowed, DataSignature, Error, HashHeaders, MessageVerifier};

use super::{multifile, signatures, verify};
use crate::code::Code;
use crate::failure::{CodedFailure, Failure};
use crate::input;
use crate::settings::Settings;
use crate::status::{MessageStatus, Status};
use crate::streams::Streams;
use crate::system_error::system_words;
use plaintext::{Ending, MessageSource, Naming, Plaintext};
use unlock::{Unlocked, Unlocker};

/// Decrypts the file that the argument names, or standard input; or each of several files.
pub(super) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    if settings.message.multifile {
        return each_file(arguments, settings, streams);
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
    let input = input::open(name, streams).map_err(Failure::of);
    if let Err(failure) =
        input.and_then(|input| decrypt_message(settings, streams, BufReader::new(input), source))
    {
        let CodedFailure { code, value } = failure.coded()?;
        streams.status_failure_value("decrypt", value);
        streams.error(format_args!("decrypt_message failed: {code}"));
    }
    Ok(())
}

fn each_file(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    for name in multifile::file_names(arguments, settings)? {
        streams.status(MessageStatus::FileStart { what: 3, name: &name });
        if plaintext::name_after(&name, streams).is_some() {
            match File::open(Path::new(OsStr::from_bytes(&name))) {
                Ok(input) => {
                    let source = MessageSource { name: Some(&name), naming: Naming::AfterInput, arguments };
                    let outcome = decrypt_message(settings, streams, BufReader::new(input), source);
                    let failure = outcome.err().map(Failure::coded).transpose()?;
                    // With --batch gpg ends at the first bad signature.
                    if streams.has_bad_signature() && settings.batch {
                        return Ok(());
                    }
                    if let Some(failure) = failure {
                        let (name, code) = (shown(&name), failure.code);
                        streams.error(format_args!("{name}: decryption failed: {code}"));
                    }
                }
                Err(error) => {
                    let (name, error) = (shown(&name), system_words(&error));
                    streams.error(format_args!("can't open '{name}': {error}"));
                }
            }
        }
        streams.status(MessageStatus::FileDone);
    }
    Ok(())
}

/// Reads one message. Fails if there is none; everything else has been reported.
pub(super) fn decrypt_message(
    settings: &Settings,
    streams: &mut Streams,
    mut input: impl BufRead + Send,
    source: MessageSource<'_>,
) -> Result<(), Failure> {
    let beginning = input.fill_buf()?;
    let (is_empty, is_openpgp) = (beginning.is_empty(), verify::begins_openpgp(beginning));
    let allowed =
        Allowed { unprotected: settings.message.ignore_mdc_error, unencrypted: true, unknown_digests: true };
    let (outcome, unlocked) = read(settings, streams, &mut input, allowed, source)?;
    let error = match outcome {
        Ok(Whole { signatures, announced, ending }) => {
            if signatures.is_empty() || signatures::report(settings, streams, signatures, announced.as_ref())?
            {
                ending.report(settings, streams);
            }
            return Ok(());
        }
        Err(Error::Detached) if settings.message.list_only => return Ok(()),
        Err(Error::Detached) if !input::is_stream(source.name) => {
            return verify::over_file_or_input(settings, streams, source.name.unwrap_or_default());
        }
        Err(error) => error,
    };
    if matches!(error, Error::NoMessage) && !unlocked.is_asked() {
        if is_openpgp {
            streams.status(Status::Unexpected);
            return Err(Failure::bare(Code::Unexpected));
        }
        verify::report_no_packets(streams, is_empty);
        return Err(Failure::bare(Code::EndOfInput));
    }
    if !unlocked.is_asked() {
        verify::report_if_damaged(streams, &error);
    }
    report_failure(streams, error, unlocked);
    Ok(())
}

/// Reports why a message was not read to its end.
fn report_failure(streams: &mut Streams, error: Error, unlocked: Unlocked) {
    match (error, unlocked.outcome) {
        (_, unlock::Outcome::ListedOnly) => {}
        (Error::Unprotected, _) => report_unprotected(streams),
        (Error::Manipulated | Error::CutShort, unlock::Outcome::Key) => {
            streams.error("WARNING: encrypted message has been manipulated!");
            streams.status(MessageStatus::BadMdc);
            streams.status(MessageStatus::DecryptionFailed);
        }
        (Error::Write(error), _) => {
            let error = system_words(&error);
            return streams.error(format_args!("error writing output: {error}"));
        }
        (Error::Unsigned, _) => return verify::report_no_packets_behind_text(streams),
        (error, unlock::Outcome::NotAsked) => return streams.error(causes(&error)),
        (error, _) => {
            if matches!(error, Error::WrongKey) && unlocked.has_passphrases {
                streams.status(MessageStatus::BadPassphrase);
            }
            streams.status(MessageStatus::DecryptionFailed);
            match code(&error) {
                Some(code) => streams.error(format_args!("decryption failed: {code}")),
                None => streams.error(format_args!("decryption failed: {}", causes(&error))),
            }
        }
    }
    streams.status(MessageStatus::EndDecryption);
}

/// A message that was read to its end.
struct Whole {
    signatures: Vec<DataSignature>,
    /// The hash algorithms in the `Hash` headers of clear text.
    announced: Option<HashHeaders>,
    ending: Ending,
}

/// Reads a message; returns the result, and that of the search for the session key.
fn read(
    settings: &Settings,
    streams: &mut Streams,
    input: &mut (dyn Read + Send),
    allowed: Allowed,
    source: MessageSource<'_>,
) -> anyhow::Result<(message::Result<Whole>, Unlocked)> {
    let shared = RefCell::new(streams);
    let mut unlocker = Unlocker::new(settings, &shared);
    let mut plaintext = Plaintext::new(settings, &shared, source);
    let mut verifier = MessageVerifier::new(&mut plaintext);
    let decrypt_or_unwrap = if settings.message.unwrap { message::unwrap } else { message::decrypt };
    let outcome = decrypt_or_unwrap(input, allowed, &mut unlocker, &mut verifier);
    let outcome = outcome.and_then(|()| verifier.finish());
    let announced = plaintext.announced.take();
    let ending = plaintext.finish(outcome.is_ok())?;
    let unlocked = unlocker.end()?;
    Ok((outcome.map(|signatures| Whole { signatures, announced, ending }), unlocked))
}

fn code(error: &Error) -> Option<Code> {
    Some(match error {
        Error::NoKey => Code::NoSecretKey,
        Error::WrongKey => Code::BadSessionKey,
        Error::Malformed(_) | Error::SecondBlock | Error::CutShort | Error::NoMessage => Code::InvalidPacket,
        _ => return None,
    })
}

/// Reports that an unprotected message is not decrypted. Unlike gpg, nothing of it was written.
fn report_unprotected(streams: &mut Streams) {
    streams.status(MessageStatus::BeginDecryption);
    streams.error("WARNING: message was not integrity protected");
    streams.info("Use the option '--ignore-mdc-error' to decrypt anyway.");
    streams.info("decryption forced to fail!");
    streams.status(MessageStatus::DecryptionFailed);
}
