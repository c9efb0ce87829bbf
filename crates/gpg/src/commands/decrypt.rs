//! `--decrypt`, and what is done with a message if no command is given.

pub(super) mod known_key;
pub(super) mod list_packets;
pub(super) mod plaintext;
mod unlock;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use keyhoard::find::shown;
use keyhoard::message::{self, Allowed, Announced, DataSignature, Error, Verifier};

use super::{Session, seal, signatures, verify};
use crate::code::Code;
use crate::input;
use crate::options::load::system_words;
use crate::status::{MessageStatus, Status};
use plaintext::{Ending, Plaintext};
use unlock::{Unlocked, Unlocker};

/// What the output is called if the options do not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// Standard output.
    Standard,
    /// The name of the input without its suffix.
    AfterInput,
}

/// Decrypts the file that the argument names, or standard input; or each of several files.
pub(super) fn run(session: &mut Session<'_>, naming: Naming) -> anyhow::Result<()> {
    if session.settings.message.multifile && naming == Naming::Standard {
        return each_file(session);
    }
    let name = match (session.arguments.as_slice(), naming) {
        ([], _) => None,
        ([name], _) => Some(name.clone()),
        (_, Naming::Standard) => {
            session.usage("--decrypt [filename]");
            return Ok(());
        }
        (_, Naming::AfterInput) => {
            session.usage("[filename]");
            return Ok(());
        }
    };
    let (place, what) = match naming {
        Naming::Standard => ("decrypt", "decrypt_message failed"),
        Naming::AfterInput => ("-", "processing message failed"),
    };
    let input = match input::open(name.as_deref(), session.streams) {
        Ok(input) => input,
        Err(code) => {
            session.streams.status_failure(place, code);
            session.streams.error(format_args!("{what}: {code}"));
            return Ok(());
        }
    };
    if one(session, input, name.as_deref(), naming)? == Found::Nothing {
        ended(session, place, what);
    }
    Ok(())
}

/// Tells gpg's code for the end of the input, which has no words.
fn ended(session: &mut Session<'_>, place: &str, what: &str) {
    session.streams.status_failure_value(place, u32::MAX);
    session.streams.error(format_args!("{what}: Unknown system error"));
}

fn each_file(session: &mut Session<'_>) -> anyhow::Result<()> {
    for name in seal::file_names(session)? {
        session.tell(MessageStatus::FileStart { what: 3, name: &name });
        if plaintext::name_after(&name, session.streams).is_some() {
            match File::open(Path::new(OsStr::from_bytes(&name))) {
                Ok(input) => {
                    if one(session, input, Some(&name), Naming::AfterInput)? == Found::Nothing {
                        let name = shown(&name);
                        session
                            .streams
                            .error(format_args!("{name}: decryption failed: Unknown system error"));
                    }
                }
                Err(error) => {
                    let (name, error) = (shown(&name), system_words(&error));
                    session.streams.error(format_args!("can't open '{name}': {error}"));
                }
            }
        }
        session.tell(MessageStatus::FileDone);
    }
    Ok(())
}

/// Whether there was a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Message,
    Nothing,
}

/// Reads one message; what goes wrong has been told.
fn one(session: &mut Session<'_>, input: File, name: Option<&[u8]>, naming: Naming) -> anyhow::Result<Found> {
    let mut input = BufReader::new(input);
    let is_empty = input.fill_buf()?.is_empty();
    let allowed = Allowed { unprotected: session.settings.message.ignore_mdc_error, unencrypted: true };
    let (outcome, unlocked) = read(session, &mut input, allowed, name, naming)?;
    let error = match outcome {
        Ok(Whole { signatures, announced, ending }) => {
            if signatures.is_empty() || signatures::tell(session, signatures, announced.as_ref())? {
                ending.tell(session);
            }
            return Ok(Found::Message);
        }
        Err(Error::Detached) if !input::is_stream(name) => {
            verify::over_file_beside(session, name)?;
            return Ok(Found::Message);
        }
        Err(error) => error,
    };
    Ok(failed(session, error, unlocked, is_empty))
}

/// Tells why a message was not read to its end.
fn failed(session: &mut Session<'_>, error: Error, unlocked: Unlocked, is_empty: bool) -> Found {
    match (error, unlocked.outcome) {
        (Error::NoMessage, unlock::Outcome::NotAsked) => {
            if !is_empty {
                session.streams.error("no valid OpenPGP data found.");
                session.streams.status(&Status::NoData { what: 1 });
            }
            session.streams.status(&Status::NoData { what: 2 });
            return Found::Nothing;
        }
        (_, unlock::Outcome::ListedOnly) => {}
        (Error::Unprotected, _) => unprotected(session),
        (Error::Manipulated | Error::CutShort, unlock::Outcome::Key) => {
            session.streams.error("WARNING: encrypted message has been manipulated!");
            session.tell(MessageStatus::BadMdc);
            session.tell(MessageStatus::DecryptionFailed);
        }
        (Error::Write(error), _) => {
            let error = system_words(&error);
            session.streams.error(format_args!("error writing output: {error}"));
            return Found::Message;
        }
        (error, unlock::Outcome::NotAsked) => {
            session.streams.error(error);
            return Found::Message;
        }
        (error, _) => {
            if matches!(error, Error::WrongKey) && unlocked.has_passphrases {
                session.tell(MessageStatus::BadPassphrase);
            }
            session.tell(MessageStatus::DecryptionFailed);
            match code(&error) {
                Some(code) => session.streams.error(format_args!("decryption failed: {code}")),
                None => session.streams.error(format_args!("decryption failed: {error}")),
            }
        }
    }
    session.tell(MessageStatus::EndDecryption);
    Found::Message
}

/// A message that was read to its end.
struct Whole {
    signatures: Vec<DataSignature>,
    /// The digests that the headers of clear text name.
    announced: Option<Announced>,
    ending: Ending,
}

/// Reads a message; returns what `message` says of it, and how the search for the session key went.
fn read(
    session: &mut Session<'_>,
    input: &mut (dyn Read + Send),
    allowed: Allowed,
    name: Option<&[u8]>,
    naming: Naming,
) -> anyhow::Result<(message::Result<Whole>, Unlocked)> {
    let shared = RefCell::new(session);
    let mut unlocker = Unlocker::new(&shared);
    let mut plaintext = Plaintext::new(&shared, name, naming);
    let mut verifier = Verifier::new(&mut plaintext);
    let outcome = message::decrypt(input, allowed, &mut unlocker, &mut verifier);
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
        Error::Malformed(_) | Error::CutShort | Error::NoMessage => Code::InvalidPacket,
        _ => return None,
    })
}

/// Tells that a message is not read because it is not protected against changes. Unlike gpg, nothing of it was written.
fn unprotected(session: &mut Session<'_>) {
    session.tell(MessageStatus::BeginDecryption);
    session.streams.error("WARNING: message was not integrity protected");
    session.streams.info("Use the option '--ignore-mdc-error' to decrypt anyway.");
    session.streams.info("decryption forced to fail!");
    session.tell(MessageStatus::DecryptionFailed);
}
