//! The recipients of an encrypted message, and whether each could open it.

use engine::cert::KeyId;
use engine::configuration::Compat;
use engine::message::{Addressee, Pkesk, SessionKey};

use crate::algorithms::public_key_name;
use crate::clock;
use crate::code::Code;
use crate::commands::known_key::KnownKey;
use crate::render::algorithm;
use crate::streams::Streams;

/// A recipient, and the session key that its key opened, or why it did not open the message.
pub(super) struct Attempt<'a> {
    pub(super) recipient: &'a Pkesk,
    pub(super) known: Option<KnownKey>,
    pub(super) opened: Result<SessionKey, RecipientFailure>,
}

/// Why the key of a recipient did not open the message.
pub(super) enum RecipientFailure {
    /// The secret key is not here.
    NoSecretKey,
    /// It was not tried.
    NotTried,
    /// The session key of the options is malformed.
    NoSuchSessionKey,
    Code(Code),
}

impl Attempt<'_> {
    /// Returns why the recipient's key did not open the message: no code where the secret key is not here.
    pub(super) fn code(&self) -> Option<Code> {
        match self.opened {
            Err(RecipientFailure::Code(code)) => Some(code),
            _ => None,
        }
    }
}

/// Reports the number of passphrases.
pub(super) fn report_passwords(streams: &mut Streams, passwords: usize) {
    match passwords {
        0 => {}
        1 => streams.info("encrypted with 1 passphrase"),
        count => streams.info(format_args!("encrypted with {count} passphrases")),
    }
}

/// Reports the recipients, in reverse order, those whose key did not open the message first, with what failed.
pub(super) fn report(streams: &mut Streams, attempts: &[Attempt<'_>]) {
    let (failed, good): (Vec<_>, Vec<_>) = attempts.iter().rev().partition(|attempt| attempt.opened.is_err());
    for attempt in failed.into_iter().chain(good) {
        let algorithm = public_key_name(attempt.recipient.algorithm.0);
        let with_size = |known: &KnownKey| format!("{}-bit {algorithm}", known.key.bits);
        report_recipient(streams, attempt, with_size);
        match attempt.opened {
            Ok(_) | Err(RecipientFailure::NotTried) => {}
            Err(RecipientFailure::NoSecretKey) => report_no_secret_key(streams, attempt),
            Err(RecipientFailure::NoSuchSessionKey) => report_bad_session_key(streams),
            Err(RecipientFailure::Code(code)) => report_code(streams, code, code.with_agent()),
        }
    }
}

/// Reports the recipients, in reverse order, as gpg 2.4 does before it tries a key.
pub(super) fn list(streams: &mut Streams, attempts: &[Attempt<'_>]) {
    for attempt in attempts.iter().rev() {
        report_recipient(streams, attempt, |known| {
            let mut name = Vec::new();
            algorithm::description(&known.key, false, Compat::V2_4, &mut name);
            String::from_utf8_lossy(&name).into_owned()
        });
    }
}

/// Reports that no secret key opened the message, with the code of the first recipient's packet that has one; returns
/// this.
pub(super) fn report_none(streams: &mut Streams, attempts: &[Attempt<'_>]) -> Code {
    let (code, value) = match attempts.iter().find_map(Attempt::code) {
        Some(code) => (code, code.with_agent()),
        None => (Code::NO_SECRET_KEY, Code::NO_SECRET_KEY.with_gpg()),
    };
    report_code(streams, code, value);
    code
}

/// Reports the recipients, in reverse order, whose secret key did not open the message.
pub(super) fn report_without_secret_key(streams: &mut Streams, attempts: &[Attempt<'_>]) {
    for attempt in attempts.iter().rev().filter(|attempt| attempt.opened.is_err()) {
        report_no_secret_key(streams, attempt);
    }
}

/// Reports that the session key of the options is malformed.
pub(super) fn report_bad_session_key(streams: &mut Streams) {
    report_code(streams, Code::BAD_SESSION_KEY, Code::BAD_SESSION_KEY.bare());
}

fn report_code(streams: &mut Streams, code: Code, value: u32) {
    streams.info(format_args!("public key decryption failed: {code}"));
    streams.status_error("pkdecrypt_failed", value);
}

fn report_no_secret_key(streams: &mut Streams, attempt: &Attempt<'_>) {
    streams.status(format!("NO_SECKEY {}", key_id(attempt.recipient)));
}

/// Reports a recipient, whose key `name` calls by its algorithm.
fn report_recipient(streams: &mut Streams, attempt: &Attempt<'_>, name: impl Fn(&KnownKey) -> String) {
    let key_id = key_id(attempt.recipient);
    let Some(known) = &attempt.known else {
        let algorithm = public_key_name(attempt.recipient.algorithm.0);
        return streams.info(format_args!("encrypted with {algorithm} key, ID {key_id}"));
    };
    streams.considered(&known.primary);
    let (name, date) = (name(known), clock::day_string(known.key.created));
    streams.info(format_args!("encrypted with {name} key, ID {key_id}, created {date}"));
    streams.continue_info(&[b"      \"", &known.user_id[..], b"\""].concat());
}

/// Returns the key ID that a recipient's packet names; 0 if it names none.
pub(super) fn key_id(recipient: &Pkesk) -> KeyId {
    match recipient.addressee {
        Addressee::KeyId(key_id) => key_id,
        Addressee::Fingerprint(fingerprint) => fingerprint.key_id(),
        Addressee::Hidden => KeyId(0),
    }
}
