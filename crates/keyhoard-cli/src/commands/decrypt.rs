//! `keyhoard decrypt`: decrypts a message with a password or a secret key.

use std::borrow::Cow;
use std::io::Read;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use engine::cert::effective::PacketView;
use engine::cert::{ArmorRules, Fingerprint};
use engine::decryption::{PlaintextOutput, SessionKeyFinder};
use engine::mail::Mail;
use engine::message::{Allowed, DataSignature, Error, MessageVerifier, SessionKey, decrypt};
use engine::output_file::{Content, FileId};
use engine::passphrase::{PassphraseSource, Passphrases};
use engine::secret::SecretKeys;
use engine::secret_keys::owners_of;
use engine::validity::TrustSettings;
use engine::verification::{Conclusion, SignatureVerdict, WantedSigners, any_bad};
use serde::Serialize;

use super::data_signatures::{SignatureJson, advice, details, examine, headline};
use crate::destination::{NamedOutput, standard_output};
use crate::exit::Outcome;
use crate::input;
use crate::passphrase_options::{PassphraseOptions, owner};
use crate::session::Session;
use crate::timestamp;
use crate::trust_options::TrustOptions;

/// The arguments of `keyhoard decrypt`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard decrypt --output backup.tar backup.pgp
  keyhoard decrypt --password-file secret.txt photos.pgp | tar x
  keyhoard decrypt letter.asc

A file appears only after the whole message was checked. What goes to a pipe is checked piece by piece where the \
message allows that; a message that can only be checked at its end is held back up to 12 MiB. Of a signed message \
it says who signed it; if a signature is bad, no file appears and the exit code is 2.")]
pub(crate) struct Arguments {
    /// The message [default: standard input].
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,

    #[command(flatten)]
    password: PasswordSource,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten)]
    output: NamedOutput,

    /// Write to a pipe before the message's check at its end: do not use the output if this command fails.
    #[arg(long)]
    stream_unverified: bool,

    /// Read a message without any protection against changes, as programs wrote them before the year 2000.
    #[arg(long)]
    allow_unprotected: bool,

    /// Show the session key, which opens this one message for whoever has it.
    #[arg(long)]
    show_session_key: bool,

    /// Take the session key, as --show-session-key shows it, from the first line of this file.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    session_key_file: Option<PathBuf>,

    #[command(flatten)]
    trust: TrustOptions,
}

/// The options that say where the password of a message comes from.
#[derive(Clone, Debug, clap::Args)]
#[group(multiple = false)]
struct PasswordSource {
    /// Take the password from the first line of this file.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    password_file: Option<PathBuf>,

    /// Take the password from the first line that this file descriptor gives.
    #[arg(long, value_name = "NUMBER")]
    password_fd: Option<RawFd>,
}

impl PasswordSource {
    /// Returns where the password comes from.
    fn source(&self) -> engine::Result<PassphraseSource> {
        match (&self.password_file, self.password_fd) {
            (Some(file), _) => Ok(PassphraseSource::File(file.clone())),
            (None, Some(number)) => Ok(PassphraseSource::Descriptor(number)),
            (None, None) => PassphraseSource::usual(),
        }
    }
}

/// Decrypts a message.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let file = arguments.output.file();
    let output = arguments.output.create(session, Content::Ordinary, arguments.inputs())?;
    let mut input = input::open(arguments.file.as_deref())?;
    let mut plaintext = match output {
        Some(file) => PlaintextOutput::to_file(file, arguments.stream_unverified),
        None => PlaintextOutput::to_stream(Box::new(standard_output()?), arguments.stream_unverified),
    };
    let (signatures, opened_by) = arguments.read(session, input.as_mut(), &mut plaintext)?;
    let trust = arguments.trust.settings(session.now, PacketView::Full)?;
    let verdicts = match signatures.is_empty() {
        true => Vec::new(),
        false => arguments.verdicts(session, &trust, signatures, opened_by)?,
    };
    if let Some((_, key)) = plaintext.decrypted.as_ref().filter(|_| arguments.show_session_key) {
        session.warn(format_args!("session key: {}", *key.to_text()));
    }
    print_signatures(session, &verdicts, &WantedSigners::unnamed(trust.model))?;
    if any_bad(&verdicts) {
        bail!("verification FAILED: a signature in the message is bad; nothing was written");
    }
    let result = file.and_then(|path| DecryptedJson::new(path, &plaintext, &verdicts));
    plaintext
        .finish()
        .with_context(|| file.map_or("cannot write".to_owned(), |path| path.display().to_string()))?;
    if let Some(result) = result {
        match session.output.is_json() {
            true => session.output.json(&result)?,
            false => session.note(format_args!("content written to {}", result.file)),
        }
    }
    Ok(Outcome::Done)
}

impl Arguments {
    /// Returns the files that are read.
    fn inputs(&self) -> impl Iterator<Item = FileId> {
        let named = [&self.password.password_file, &self.session_key_file];
        let named = named.into_iter().flatten().filter_map(|path| FileId::at(path));
        input::id(self.file.as_deref()).into_iter().chain(named)
    }

    fn session_key(&self) -> anyhow::Result<Option<SessionKey>> {
        let Some(path) = &self.session_key_file else { return Ok(None) };
        let line = Passphrases::new(PassphraseSource::File(path.clone()), |_| None).password(false)?;
        let text = line.as_ref().and_then(|line| str::from_utf8(line.as_bytes()).ok());
        let key = text.and_then(|text| SessionKey::from_text(text.trim_end()));
        key.map(Some).with_context(|| {
            let path = path.display();
            format!("{path}: a session key is a cipher's number, a colon, and the key in hexadecimal digits")
        })
    }

    /// Verifies the signatures of a message that a secret key opened, or a password.
    fn verdicts(
        &self,
        session: &Session,
        trust: &TrustSettings,
        signatures: Vec<DataSignature>,
        opened_by: Option<Fingerprint>,
    ) -> anyhow::Result<Vec<SignatureVerdict>> {
        let store = session.open_or_empty()?;
        let recipients = match opened_by {
            Some(key) => owners_of(store.snapshot()?.as_ref(), &key, &session.secret_keys()?.list()?)?,
            None => Vec::new(),
        };
        let recipients = recipients.into_iter().map(|(_, primary)| primary).collect();
        examine(store.as_ref(), trust, |examiner| {
            examiner.expect_recipients(recipients);
            Ok(examiner.examine(signatures)?)
        })
    }

    /// Decrypts the message; returns its signatures, and the secret key that opened it.
    fn read(
        &self,
        session: &Session,
        input: &mut (dyn Read + Send),
        plaintext: &mut PlaintextOutput<'_>,
    ) -> anyhow::Result<(Vec<DataSignature>, Option<Fingerprint>)> {
        let secret_keys = session.secret_keys()?;
        let owner = |key: &Fingerprint| owner(session.open_or_empty().ok()?.snapshot().ok()?.as_ref(), key);
        let mut ask = Passphrases::new(self.passphrase.source()?, owner);
        let source = self.password.source()?;
        let is_asked_again = matches!(source, PassphraseSource::Terminal | PassphraseSource::Program(_));
        let mut passwords = Passphrases::new(source, |_| None);
        let mut prompts = 0;
        let mut password = || {
            prompts += 1;
            // Reading a file or descriptor again would not give another password.
            if prompts == 1 || is_asked_again { passwords.password(false) } else { Ok(None) }
        };
        let given_key = self.session_key()?;
        let mut keys = SessionKeyFinder {
            secret_keys: &secret_keys,
            ask: &mut ask,
            password: &mut password,
            known: given_key,
            failure: None,
            opened_by: None,
        };
        let allowed = Allowed {
            unprotected: self.allow_unprotected,
            armor: ArmorRules::Rfc9580,
            unknown_packets: true,
            ..Allowed::default()
        };
        let mut mail = Mail::read(input)?;
        input::warn_if_mended(session, &input::name(self.file.as_deref()), mail.is_mended);
        let mut verifier = MessageVerifier::new(plaintext).with_signatures_around_encryption();
        let read = decrypt(&mut mail, allowed, &mut keys, &mut verifier);
        match (read.and_then(|()| verifier.finish()), keys.failure) {
            (Ok(signatures), _) => Ok((signatures, keys.opened_by)),
            (Err(Error::NoKey), Some(failure)) => Err(failure.into()),
            (Err(Error::Unprotected), _) => {
                bail!("{}; to read it anyway, add --allow-unprotected", Error::Unprotected)
            }
            (Err(error @ Error::UnverifiedOverflow), _) => {
                let input = input::name(self.file.as_deref());
                bail!("{input}: {error}: give --output, or --stream-unverified")
            }
            (Err(error @ Error::Write(_)), _) => Err(error.into()),
            (Err(error), _) => Err(anyhow!(error).context(input::name(self.file.as_deref()))),
        }
    }
}

fn print_signatures(
    session: &Session,
    verdicts: &[SignatureVerdict],
    wanted: &WantedSigners,
) -> anyhow::Result<()> {
    if verdicts.is_empty() {
        return Ok(());
    }
    let conclusion = Conclusion::of(verdicts, wanted);
    let (_, headline) = headline(verdicts, conclusion, wanted);
    match conclusion {
        Conclusion::Good => session.note(headline),
        _ => session.warn(headline),
    }
    verdicts
        .iter()
        .flat_map(|verdict| details(verdict, conclusion, wanted, session.now))
        .for_each(|line| session.note(line));
    if let Some(advice) = advice(verdicts, conclusion, session)? {
        session.note(advice);
    }
    Ok(())
}

/// The result of decryption to a file, as `docs/json.md` describes it.
#[derive(Serialize)]
struct DecryptedJson<'a> {
    file: Cow<'a, str>,
    #[serde(rename = "octets")]
    bytes: u64,
    cipher: &'a str,
    aead: Option<&'a str>,
    name: String,
    time: Option<String>,
    signed: bool,
    signatures: Vec<SignatureJson<'a>>,
}

impl<'a> DecryptedJson<'a> {
    /// Returns the result of decryption to a file; `None` if nothing was decrypted.
    fn new(
        path: &'a Path,
        plaintext: &PlaintextOutput<'_>,
        verdicts: &'a [SignatureVerdict],
    ) -> Option<Self> {
        let (container, key) = plaintext.decrypted.as_ref()?;
        let literal = plaintext.literal.as_ref();
        let time = literal.map(|literal| literal.time).filter(|time| time.0 != 0);
        Some(Self {
            file: path.to_string_lossy(),
            bytes: plaintext.bytes,
            cipher: key.cipher().name(),
            aead: container.mode().map(|mode| mode.name()),
            name: literal
                .map(|literal| String::from_utf8_lossy(&literal.name).into_owned())
                .unwrap_or_default(),
            time: time.map(timestamp::rfc3339),
            signed: plaintext.is_signed,
            signatures: SignatureJson::all(verdicts),
        })
    }
}
