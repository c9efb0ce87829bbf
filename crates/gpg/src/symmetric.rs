//! Passphrases of messages, and their string-to-key specifiers.

use agent::PassphraseQuestion;
use engine::configuration::Compat;
use engine::message::{Result as MessageResult, S2k, decode_count};
use engine::passphrase::{PassphraseSource, Passphrases};
use engine::verify::HashAlgorithm;
use secret::Passphrase;

use crate::code::Code;
use crate::failure::{CodedFailure, Failure};
use crate::passphrases::{MAX_PASSPHRASE, lacks_pinentry, pinentry};
use crate::prompt;
use crate::settings::{PinentryMode, Settings};
use crate::streams::Streams;

/// The largest iteration count, which gpg chooses on any current machine.
const DEFAULT_COUNT: u8 = 255;

/// Returns the string-to-key specifier of a new message.
///
/// # Errors
///
/// If the system gives no random numbers.
pub(crate) fn s2k(settings: &Settings) -> MessageResult<S2k> {
    let default = match settings.compat {
        Compat::V2_2 => HashAlgorithm::SHA1,
        Compat::V2_4 => HashAlgorithm::SHA512,
    };
    let hash = settings.message.s2k_digest.unwrap_or(default);
    let bytes = settings.message.s2k_count.unwrap_or(decode_count(DEFAULT_COUNT));
    let iterated = S2k::iterated(hash, bytes)?;
    Ok(match (settings.message.s2k_mode, iterated) {
        (Some(0), _) => S2k::Simple { hash },
        (Some(1), S2k::Iterated { salt, .. }) => S2k::Salted { hash, salt },
        (_, iterated) => iterated,
    })
}

/// What a passphrase is for.
pub(crate) struct Purpose<'a> {
    /// OpenPGP's number of the cipher.
    pub(crate) cipher: u8,
    pub(crate) s2k: &'a S2k,
    /// It is a new one, which is asked for twice.
    pub(crate) is_new: bool,
}

/// Returns the passphrase that was given with the command, else asks for one. Fails with gpg's code if there is none.
///
/// # Errors
///
/// If there is no terminal and no `--command-fd`.
pub(crate) fn passphrase(
    purpose: &Purpose<'_>,
    settings: &Settings,
    streams: &mut Streams,
) -> Result<Passphrase, Failure> {
    let (mode, digest) = match purpose.s2k {
        S2k::Simple { hash } => (0, hash.0),
        S2k::Salted { hash, .. } => (1, hash.0),
        S2k::Iterated { hash, .. } => (3, hash.0),
        S2k::Argon2 { .. } => (4, 0),
    };
    let cipher = purpose.cipher;
    streams.status(format!("NEED_PASSPHRASE_SYM {cipher} {mode} {digest}"));
    let passphrase = match &settings.passphrase.given {
        Some(given) => Ok(given.clone()),
        None => ask(purpose, settings, streams),
    };
    match passphrase {
        Ok(passphrase) if !passphrase.is_empty() => Ok(passphrase),
        Ok(_) => {
            streams.status("MISSING_PASSPHRASE");
            if !purpose.is_new {
                // gpg goes on, and fails.
                streams.status("MISSING_PASSPHRASE");
                streams.error("gcry_kdf_derive failed: Invalid data");
            }
            Err(Code::INVALID_PASSPHRASE.into())
        }
        Err(Failure::Fatal(error)) => Err(Failure::Fatal(error)),
        Err(Failure::Coded(CodedFailure { code: Code::CANCELLED, .. })) => {
            streams.info("cancelled by user");
            streams.status("CANCELED_BY_USER");
            Err(Code::CANCELLED.into())
        }
        Err(Failure::Coded(CodedFailure { code, .. })) => {
            streams.info(format_args!("problem with the agent: {code}"));
            streams.status_error("get_passphrase", code.bare());
            streams.status("CANCELED_BY_USER");
            Err(Code::CANCELLED.into())
        }
    }
}

/// Has the agent forget a passphrase that was wrong.
pub(crate) fn forget(s2k: &S2k, settings: &Settings) {
    if let (Some(agent), Some(cache)) = (pinentry(settings), cache(s2k, settings)) {
        // It is forgotten some time anyway.
        let _ = agent.forget_passphrase(&cache);
    }
}

/// Returns what the agent remembers a passphrase by, as gpg names it: the salt.
fn cache(s2k: &S2k, settings: &Settings) -> Option<String> {
    let salt = match s2k {
        S2k::Salted { salt, .. } | S2k::Iterated { salt, .. } => salt,
        S2k::Simple { .. } | S2k::Argon2 { .. } => return None,
    };
    let digits: String = salt.iter().map(|byte| format!("{byte:02X}")).collect();
    (!settings.passphrase.no_symkey_cache).then(|| format!("S{digits}"))
}

/// Asks for a passphrase. Fails with a code that says why there is no answer.
fn ask(purpose: &Purpose<'_>, settings: &Settings, streams: &mut Streams) -> Result<Passphrase, Failure> {
    let is_new = purpose.is_new;
    match settings.passphrase.pinentry {
        PinentryMode::Cancel => Err(Code::CANCELLED.into()),
        PinentryMode::Error => Err(Code::NO_PINENTRY.into()),
        PinentryMode::Loopback => {
            // gpg says it once for itself, and once for its agent.
            for _ in 0..2 {
                streams.status(format!("INQUIRE_MAXLEN {MAX_PASSPHRASE}"));
            }
            let answer = prompt::hidden("passphrase.enter", settings, streams)?;
            answer.map(|answer| Passphrase::new(&answer)).ok_or_else(|| Code::CANCELLED.into())
        }
        PinentryMode::Ask => {
            if let Some(agent) = pinentry(settings) {
                let description = match is_new {
                    true => "Enter passphrase\n",
                    false => "Please enter the passphrase for decryption.",
                };
                let description = description.to_owned();
                let cache = cache(purpose.s2k, settings);
                match agent.passphrase(&PassphraseQuestion { cache, error: None, description, is_new }) {
                    Err(error) if lacks_pinentry(&error) => {}
                    Err(error) => {
                        return Err(error.code().and_then(Code::of_agent).unwrap_or(Code::GENERAL).into());
                    }
                    Ok(answer) => return Ok(answer),
                }
            }
            let source = PassphraseSource::usual()?;
            if source == PassphraseSource::Terminal && settings.no_tty {
                return Err(Code::NO_PINENTRY.into());
            }
            let answer = Passphrases::new(source, |_| None).password(is_new)?;
            answer.ok_or_else(|| Code::NO_PINENTRY.into())
        }
    }
}
