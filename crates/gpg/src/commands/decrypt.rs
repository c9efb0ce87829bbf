//! `--decrypt`, for one file or several.

pub(super) mod known_key;
pub(super) mod list_packets;
pub(super) mod plaintext;
mod tried;
mod unlock;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use keyhoard::foreign_text::shown;
use keyhoard::message::{self, Allowed, DataSignature, Error, HashHeaders, MessageVerifier};

use super::write_message::{self, Failure};
use super::{Session, signatures, verify};
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
pub(super) fn run(session: &mut Session<'_>) -> anyhow::Result<()> {
    if session.settings.message.multifile {
        return each_file(session);
    }
    let name = match session.arguments.as_slice() {
        [] => None,
        [name] => Some(name.clone()),
        _ => {
            session.usage("--decrypt [filename]");
            return Ok(());
        }
    };
    let failure = match input::open(name.as_deref(), session.streams) {
        Ok(input) => one(session, BufReader::new(input), name.as_deref(), Naming::Standard)?.err(),
        Err(code) => Some(Failure::of(code)),
    };
    if let Some(Failure { code, value }) = failure {
        session.streams.status_failure_value("decrypt", value);
        session.streams.error(format_args!("decrypt_message failed: {code}"));
    }
    Ok(())
}

fn each_file(session: &mut Session<'_>) -> anyhow::Result<()> {
    for name in write_message::file_names(session)? {
        session.tell(MessageStatus::FileStart { what: 3, name: &name });
        if plaintext::name_after(&name, session.streams).is_some() {
            match File::open(Path::new(OsStr::from_bytes(&name))) {
                Ok(input) => {
                    let outcome = one(session, BufReader::new(input), Some(&name), Naming::AfterInput)?;
                    // With --batch gpg ends at once.
                    if session.has_bad_signature && session.settings.batch {
                        return Ok(());
                    }
                    if let Err(failure) = outcome {
                        let (name, code) = (shown(&name), failure.code);
                        session.streams.error(format_args!("{name}: decryption failed: {code}"));
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

/// Reads one message; an error is that there is none, everything else has been told.
pub(super) fn one(
    session: &mut Session<'_>,
    mut input: impl BufRead + Send,
    name: Option<&[u8]>,
    naming: Naming,
) -> anyhow::Result<std::result::Result<(), Failure>> {
    let beginning = input.fill_buf()?;
    let (is_empty, is_openpgp) = (beginning.is_empty(), verify::begins_openpgp(beginning));
    let allowed = Allowed {
        unprotected: session.settings.message.ignore_mdc_error,
        unencrypted: true,
        unknown_digests: true,
    };
    let (outcome, unlocked) = read(session, &mut input, allowed, name, naming)?;
    let error = match outcome {
        Ok(Whole { signatures, announced, ending }) => {
            if signatures.is_empty() || signatures::tell(session, signatures, announced.as_ref())? {
                ending.tell(session);
            }
            return Ok(Ok(()));
        }
        Err(Error::Detached) if session.settings.message.list_only => return Ok(Ok(())),
        Err(Error::Detached) if !input::is_stream(name) => {
            return verify::over_file_or_input(session, name.unwrap_or_default());
        }
        Err(error) => error,
    };
    if matches!(error, Error::NoMessage) && !unlocked.is_asked() {
        if is_openpgp {
            session.streams.status(&Status::Unexpected);
            return Ok(Err(Failure::bare(Code::Unexpected)));
        }
        verify::tell_no_packets(session, is_empty);
        return Ok(Err(Failure::bare(Code::EndOfInput)));
    }
    if !unlocked.is_asked() {
        verify::tell_if_damaged(session, &error);
    }
    failed(session, error, unlocked);
    Ok(Ok(()))
}

/// Tells why a message was not read to its end.
fn failed(session: &mut Session<'_>, error: Error, unlocked: Unlocked) {
    match (error, unlocked.outcome) {
        (_, unlock::Outcome::ListedOnly) => {}
        (Error::Unprotected, _) => unprotected(session),
        (Error::Manipulated | Error::CutShort, unlock::Outcome::Key) => {
            session.streams.error("WARNING: encrypted message has been manipulated!");
            session.tell(MessageStatus::BadMdc);
            session.tell(MessageStatus::DecryptionFailed);
        }
        (Error::Write(error), _) => {
            let error = system_words(&error);
            return session.streams.error(format_args!("error writing output: {error}"));
        }
        (Error::Unsigned, _) => return verify::tell_no_packets_behind_text(session),
        (error, unlock::Outcome::NotAsked) => return session.streams.error(error),
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
}

/// A message that was read to its end.
struct Whole {
    signatures: Vec<DataSignature>,
    /// The digests that the headers of clear text name.
    announced: Option<HashHeaders>,
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
    let mut verifier = MessageVerifier::new(&mut plaintext);
    let take_off = if shared.borrow().settings.message.unwrap { message::unwrap } else { message::decrypt };
    let outcome = take_off(input, allowed, &mut unlocker, &mut verifier);
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

/// Tells that a message is not read because it is not protected against changes. Unlike gpg, nothing of it was written.
fn unprotected(session: &mut Session<'_>) {
    session.tell(MessageStatus::BeginDecryption);
    session.streams.error("WARNING: message was not integrity protected");
    session.streams.info("Use the option '--ignore-mdc-error' to decrypt anyway.");
    session.streams.info("decryption forced to fail!");
    session.tell(MessageStatus::DecryptionFailed);
}
