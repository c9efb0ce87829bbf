//! `--encrypt` and `--symmetric`.

mod recipients;

use std::fs::File;
use std::io::{self, Read, Write};

use engine::cert::facts::SignatureType;
use engine::configuration::Compat;
use engine::foreign_text::shown;
use engine::message::{
    self, Aead, Cipher, Compression, ContentSigner, DataProtection, Encryption, MessageRecipients, NoSigner,
    Recipient, S2k,
};
use engine::message_algorithms as choice;
use zeroize::Zeroizing;

use super::sign::announcement;
use super::sign::choice::DefaultKeys;
use super::sign::signers::{self, Signer, signing};
use super::{literal, message_output, multifile};
use crate::code::Code;
use crate::failure::{CodedFailure, Failure};
use crate::generation::preferences::LibrePgp;
use crate::output::Output;
use crate::progress::ReportedInput;
use crate::settings::{Compliance, Form, MessageOperation, Settings};
use crate::status;
use crate::streams::Streams;
use crate::symmetric::{self, Purpose};
use crate::{algorithms, input};
use recipients::Chosen;

/// Encrypts the file that the argument names, or standard input; or each of several files.
pub(super) fn run(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    operation: MessageOperation,
) -> anyhow::Result<()> {
    if operation == MessageOperation::ENCRYPT && settings.message.multifile {
        return each_file(arguments, settings, streams);
    }
    if arguments.len() > 1 {
        streams.usage(&format!("{} [filename]", command_of(operation)));
        return Ok(());
    }
    if operation.encrypt && operation.symmetric && settings.message.s2k_mode == Some(0) {
        streams.error("you cannot use --symmetric --encrypt with --s2k-mode 0");
        return Ok(());
    }
    let name = arguments.first().map(Vec::as_slice);
    let mut default_keys = DefaultKeys::default();
    if let Err(failure) = encrypt(arguments, settings, streams, operation, name, &mut default_keys) {
        let CodedFailure { code, value } = failure.coded()?;
        let name = input::shown_name(name);
        let (location, what) = match operation {
            MessageOperation { sign: true, encrypt: false, .. } => {
                ("sign-symencrypt", "sign+symmetric failed")
            }
            MessageOperation { sign: true, symmetric: true, .. } => {
                ("sign-encrypt", "symmetric+sign+encrypt failed")
            }
            MessageOperation { sign: true, .. } => ("sign-encrypt", "sign+encrypt failed"),
            MessageOperation { encrypt: false, .. } => {
                streams.status_failure_value("symencrypt", value);
                streams.error(format_args!("symmetric encryption of '{name}' failed: {code}"));
                return Ok(());
            }
            _ => ("encrypt", "encryption failed"),
        };
        streams.status_failure_value(location, value);
        streams.error(format_args!("{name}: {what}: {code}"));
    }
    Ok(())
}

fn command_of(operation: MessageOperation) -> &'static str {
    match operation {
        MessageOperation { sign: true, encrypt: true, symmetric: true } => "--symmetric --sign --encrypt",
        MessageOperation { sign: true, encrypt: true, .. } => "--sign --encrypt",
        MessageOperation { sign: true, .. } => "--sign --symmetric",
        MessageOperation { encrypt: true, symmetric: true, .. } => "--symmetric --encrypt",
        MessageOperation { symmetric: true, .. } => "--symmetric",
        _ => "--encrypt",
    }
}

/// Encrypts each file that an argument names, or else a line of standard input.
fn each_file(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let mut default_keys = DefaultKeys::default();
    for name in multifile::file_names(arguments, settings)? {
        streams.status(status::with_text("FILE_START 2", &name));
        let operation = MessageOperation::ENCRYPT;
        let outcome = encrypt(arguments, settings, streams, operation, Some(&name), &mut default_keys);
        if let Err(failure) = outcome {
            let code = failure.coded()?.code;
            streams.error(format_args!("encryption of '{}' failed: {code}", shown(&name)));
        }
        streams.status("FILE_DONE");
    }
    Ok(())
}

/// What a message is made from.
struct MessageInput {
    input: ReportedInput<File>,
    signers: Vec<Signer>,
    password: Option<Password>,
    recipients: Vec<Chosen>,
}

/// Fails with `--compliance=de-vs`: as in Debian's gpg, nothing here is approved to write restricted data.
fn check_compliance(settings: &Settings, streams: &mut Streams) -> Result<(), Failure> {
    if settings.compliance != Compliance::DeVs {
        return Ok(());
    }
    let code = Code::FORBIDDEN;
    streams.error("RNG is not compliant with --compliance=de-vs mode");
    streams.status_error("random-compliance", code.with_gpg());
    Err(code.into())
}

/// Finds and asks for all that a message is made from.
fn collect(
    settings: &Settings,
    streams: &mut Streams,
    operation: MessageOperation,
    name: Option<&[u8]>,
    default_keys: &mut DefaultKeys,
) -> Result<MessageInput, Failure> {
    if !operation.encrypt {
        check_compliance(settings, streams)?;
    }
    // As in gpg, a missing file is reported before the passphrase is asked for, but after missing recipients.
    let opened = (!operation.encrypt).then(|| input::open(name, streams)).transpose()?;
    let ask = |streams: &mut Streams| password(settings, streams, operation).map(Some);
    // Where there are recipients too, gpg asks for the passphrase of the message first.
    let mut password = None;
    if operation.symmetric && operation.encrypt {
        password = ask(streams)?;
    }
    let signers = operation.sign.then(|| signers::collect(settings, streams, default_keys));
    let signers = signers.transpose()?.unwrap_or_default();
    if operation.symmetric && !operation.encrypt {
        password = ask(streams)?;
    }
    let recipients = operation.encrypt.then(|| recipients::collect(settings, streams, default_keys));
    let recipients = recipients.transpose()?.unwrap_or_default();
    let input = opened.map_or_else(|| input::open(name, streams), Ok)?;
    let input = ReportedInput::new(input, name, settings, streams);
    Ok(MessageInput { input, signers, password, recipients })
}

fn encrypt(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    operation: MessageOperation,
    name: Option<&[u8]>,
    default_keys: &mut DefaultKeys,
) -> Result<(), Failure> {
    let MessageInput { mut input, mut signers, password, recipients: keys } =
        collect(settings, streams, operation, name, default_keys)?;
    if settings.verbose > 0 && operation.encrypt {
        let name = input::shown_name(name);
        streams.info(format_args!("reading from '{name}'"));
    }
    if operation.encrypt {
        check_compliance(settings, streams)?;
    }
    let (cipher, compression) = choose(settings, streams, &keys, name)?;
    let protection = protection(settings, streams, cipher, &keys);
    let cipher_name = cipher_name(settings, cipher, protection);
    if keys.is_empty() && settings.verbose > 0 {
        streams.info(format_args!("using cipher {cipher_name}"));
    }
    if operation.sign {
        prefer_digest(settings, streams, &mut signers, &keys);
    }
    let recipients_and_passwords = MessageRecipients {
        passwords: password.into_iter().collect(),
        recipients: keys.iter().map(|chosen| recipient(settings, chosen)).collect(),
    };
    let suffix: &[u8] = if settings.armor { b".asc" } else { b".gpg" };
    let mut output = message_output::open(arguments, settings, streams, name, suffix)?;
    if settings.verbose > 0 {
        report_recipients(streams, &keys, &cipher_name);
    }
    let begin = match protection {
        DataProtection::Gnupg { mode, .. } => {
            format!("BEGIN_ENCRYPTION 0 {} {}", cipher.number(), mode.number())
        }
        _ => format!("BEGIN_ENCRYPTION 2 {}", cipher.number()),
    };
    let begins_late = settings.compat < Compat::V2_4 && operation.sign && operation.encrypt;
    if !begins_late {
        streams.status(&begin);
    }
    let kind = if settings.message.text { SignatureType::TEXT } else { SignatureType::BINARY };
    if operation.sign {
        announcement::begin(streams, &signers);
    }
    let content = literal::options(settings, streams, compression, name);
    let encryption = Encryption { cipher, protection, content, ..Encryption::default() };
    let written = write(settings, streams, &mut output, &signers, kind, |out, signer| {
        message::encrypt(&mut input, out, &recipients_and_passwords, &encryption, signer).map(drop)
    });
    if written.is_ok() {
        output.commit()?;
        announcement::created(settings, streams, &signers, Form::Message, kind);
    }
    if begins_late {
        streams.status(begin);
    }
    written?;
    streams.status("END_ENCRYPTION");
    Ok(())
}

/// Writes a message with signatures of this type by the signers, whose keys are unlocked first; in armor if that is asked for.
fn write(
    settings: &Settings,
    streams: &mut Streams,
    output: &mut Output,
    signers: &[Signer],
    kind: SignatureType,
    message: impl FnOnce(&mut (dyn Write + Send), &mut dyn ContentSigner) -> message::Result<()>,
) -> Result<(), Failure> {
    let mut keys = signers::unlock(settings, streams, signers)?;
    let mut signing = match signers {
        [] => None,
        signers => Some(signing(settings, signers, &mut keys, kind)?),
    };
    let signer: &mut dyn ContentSigner = match &mut signing {
        Some(signing) => signing,
        None => &mut NoSigner,
    };
    let mut out = output.sender(streams)?;
    let written = if settings.armor {
        let mut armored = settings.armor_headers.begin(&mut out, "MESSAGE");
        message(&mut armored, signer).and_then(|()| armored.finish().map(drop).map_err(message::Error::Write))
    } else {
        message(&mut out, signer)
    };
    let flushed = out.flush();
    drop(out);
    written.map_err(|error| signers::refused(settings, streams, error))?;
    Ok(flushed?)
}

fn recipient<'a>(settings: &Settings, chosen: &'a Chosen) -> Recipient<'a> {
    let is_hidden = chosen.is_hidden || settings.message.throw_key_ids;
    Recipient { public: &chosen.key.public, is_hidden }
}

/// Returns the protection of a message: LibrePGP's OCB if that is forced, or if all recipients read it and
/// `--compliance=gnupg` allows it.
fn protection(settings: &Settings, streams: &mut Streams, cipher: Cipher, keys: &[Chosen]) -> DataProtection {
    let ocb = || DataProtection::Gnupg { mode: Aead::Ocb, chunk: settings.message.chunk_size().0 - 6 };
    let (is_forced, suits) = (settings.message.force_ocb, cipher.block_size() == 16);
    if is_forced && !suits {
        streams.info(format_args!("Warning: request to use OCB ignored for cipher '{cipher}'"));
    }
    if is_forced && suits {
        return ocb();
    }
    if settings.librepgp() != LibrePgp::Announced || !suits {
        return DataProtection::Mdc;
    }
    let lacking: Vec<&Chosen> = keys.iter().filter(|chosen| !chosen.key.preferences.ocb).collect();
    if settings.verbose > 0 {
        for Chosen { key, .. } in &lacking {
            streams.info(format_args!("Note: key {} has no AEAD feature", key.primary.key_id()));
        }
    }
    if keys.is_empty() || !lacking.is_empty() { DataProtection::Mdc } else { ocb() }
}

/// Returns what people are told of the cipher: gpg 2.4 names its mode, too.
fn cipher_name(settings: &Settings, cipher: Cipher, protection: DataProtection) -> String {
    match protection {
        _ if settings.compat < Compat::V2_4 => cipher.to_string(),
        DataProtection::Gnupg { mode, .. } => format!("{cipher}.{}", mode.name()),
        _ => format!("{cipher}.CFB"),
    }
}

fn report_recipients(streams: &mut Streams, keys: &[Chosen], cipher: &str) {
    for Chosen { key, is_additional, user_id, .. } in keys {
        let algorithm = engine::cert::key::parse_public(&key.public).map(|key| key.algorithm.0);
        let algorithm = algorithm.map_or("[?]", algorithms::public_key_name);
        let key_id = key.fingerprint.key_id();
        let head = format!("{algorithm}/{cipher} encrypted for: \"{key_id} ");
        let end: &[u8] = if *is_additional { b" [ADSK]\"" } else { b"\"" };
        streams.info_bytes(&[head.as_bytes(), user_id, end].concat());
    }
}

/// A passphrase, and its string-to-key specifier.
type Password = (Zeroizing<Vec<u8>>, S2k);

/// Gets the passphrase of a new message.
fn password(
    settings: &Settings,
    streams: &mut Streams,
    operation: MessageOperation,
) -> Result<Password, Failure> {
    let s2k = symmetric::s2k(settings)?;
    let cipher = settings.message.symmetric_cipher().number();
    let purpose = Purpose { cipher, s2k: &s2k, is_new: true };
    match symmetric::passphrase(&purpose, settings, streams) {
        Ok(passphrase) => Ok((Zeroizing::new(passphrase.as_bytes().to_vec()), s2k)),
        Err(failure) => {
            let failure = failure.coded()?;
            // gpg does not report it here if there are recipients too.
            if !operation.encrypt {
                streams.error(format_args!("error creating passphrase: {}", failure.code));
            }
            Err(failure.into())
        }
    }
}

/// Selects a hash algorithm that the recipients prefer. If an option names one, warns if they do not prefer it.
fn prefer_digest(settings: &Settings, streams: &mut Streams, signers: &mut [Signer], keys: &[Chosen]) {
    let digests: Vec<&[u8]> = keys.iter().map(|chosen| &chosen.key.preferences.digests[..]).collect();
    if let Some(forced) = settings.message.digest {
        if !settings.expert && !choice::all_read_digest(forced, &digests) {
            let (name, number) = (algorithms::digest_name(forced.0), forced.0);
            streams.info(format_args!(
                "WARNING: forcing digest algorithm {name} ({number}) violates recipient preferences"
            ));
        }
        return;
    }
    let suits = |digest| signers.iter().all(|signer| signer.suits(digest));
    let chosen = choice::digest(&settings.message.personal_digests, &digests, suits);
    if let Some(digest) = chosen.filter(|digest| !settings.digests.is_weak(*digest)) {
        signers.iter_mut().for_each(|signer| signer.digest = digest);
    }
}

/// Chooses the algorithms of a message; warns if the recipients do not prefer those that the options name.
fn choose(
    settings: &Settings,
    streams: &mut Streams,
    keys: &[Chosen],
    name: Option<&[u8]>,
) -> anyhow::Result<(Cipher, Compression)> {
    let message = &settings.message;
    let ciphers: Vec<&[u8]> = keys.iter().map(|chosen| &chosen.key.preferences.ciphers[..]).collect();
    let compressions: Vec<Option<&[u8]>> =
        keys.iter().map(|chosen| chosen.key.preferences.compressions.as_deref()).collect();
    let cipher = match message.cipher {
        _ if keys.is_empty() => message.symmetric_cipher(),
        Some(forced) => {
            if !settings.expert && !choice::all_read_cipher(forced, &ciphers) {
                let number = forced.number();
                streams.info(format_args!(
                    "WARNING: forcing symmetric cipher {forced} ({number}) violates recipient preferences"
                ));
            }
            forced
        }
        None => choice::cipher(&message.personal_ciphers, &ciphers),
    };
    let personal = &message.personal_compressions;
    let forced = message.forced_compression();
    if forced != Some(Compression::Uncompressed) && is_compressed(name)? {
        if settings.verbose > 0 {
            streams.info(format_args!("'{}' already compressed", input::shown_name(name)));
        }
        return Ok((cipher, Compression::Uncompressed));
    }
    let compression = match forced {
        Some(forced) if keys.is_empty() => forced,
        Some(forced) => {
            let is_wanted = choice::all_read_compression(forced, &compressions);
            if !settings.expert && forced != Compression::Uncompressed && !is_wanted {
                let (name, number) = (forced.name(), forced.number());
                streams.info(format_args!(
                    "WARNING: forcing compression algorithm {name} ({number}) violates recipient preferences"
                ));
            }
            forced
        }
        None if keys.is_empty() => {
            personal.first().and_then(|number| Compression::of(*number)).unwrap_or(Compression::Zip)
        }
        None => choice::compression(personal, &compressions),
    };
    Ok((cipher, compression))
}

/// Says whether a file has the magic bytes of a compressed format.
fn is_compressed(name: Option<&[u8]>) -> io::Result<bool> {
    const BEGINNINGS: [&[u8]; 3] = [b"BZh", b"\x1f\x8b\x08", b"PK\x03\x04"];
    let Some(name) = name.filter(|_| !input::is_stream(name)) else { return Ok(false) };
    let mut beginning = Vec::new();
    input::open_silently(Some(name))?.take(4).read_to_end(&mut beginning)?;
    Ok(BEGINNINGS.iter().any(|known| beginning.starts_with(known)))
}
