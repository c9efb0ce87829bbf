//! The recipients of an encrypted message, and whether each could open it.

use engine::cert::KeyId;
use engine::message::{Addressee, Pkesk, SessionKey};

use crate::algorithms::public_key_name;
use crate::clock;
use crate::code::Code;
use crate::commands::known_key::KnownKey;
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

/// Reports the number of passphrases and the recipients, in reverse order, those whose key did not open it first.
pub(super) fn report(streams: &mut Streams, passwords: usize, attempts: &[Attempt<'_>]) {
    match passwords {
        0 => {}
        1 => streams.info("encrypted with 1 passphrase"),
        count => streams.info(format_args!("encrypted with {count} passphrases")),
    }
    let (failed, good): (Vec<_>, Vec<_>) = attempts.iter().rev().partition(|attempt| attempt.opened.is_err());
    for attempt in failed.into_iter().chain(good) {
        report_recipient(streams, attempt);
    }
}

fn report_recipient(streams: &mut Streams, attempt: &Attempt<'_>) {
    let algorithm = public_key_name(attempt.recipient.algorithm.0);
    let key_id = key_id(attempt.recipient);
    if let Some(KnownKey { key, user_id, primary, .. }) = &attempt.known {
        streams.considered(primary);
        let (bits, date) = (key.bits, clock::day_string(key.created));
        streams.info(format_args!("encrypted with {bits}-bit {algorithm} key, ID {key_id}, created {date}"));
        streams.continue_info(&[b"      \"", &user_id[..], b"\""].concat());
    } else {
        streams.info(format_args!("encrypted with {algorithm} key, ID {key_id}"));
    }
    match attempt.opened {
        Ok(_) | Err(RecipientFailure::NotTried) => {}
        Err(RecipientFailure::NoSecretKey) => {
            streams.status(format!("NO_SECKEY {key_id}"));
        }
        Err(RecipientFailure::NoSuchSessionKey) => {
            let code = Code::BAD_SESSION_KEY;
            streams.info(format_args!("public key decryption failed: {code}"));
            streams.status_error("pkdecrypt_failed", code.bare());
        }
        Err(RecipientFailure::Code(code)) => {
            streams.info(format_args!("public key decryption failed: {code}"));
            streams.status_error("pkdecrypt_failed", code.with_agent());
        }
    }
}

/// Returns the key ID that a recipient's packet names; 0 if it names none.
pub(super) fn key_id(recipient: &Pkesk) -> KeyId {
    match recipient.addressee {
        Addressee::KeyId(key_id) => key_id,
        Addressee::Fingerprint(fingerprint) => fingerprint.key_id(),
        Addressee::Hidden => KeyId(0),
    }
}
