//! `keyhoard encrypt`: encrypts with passwords or to certificates.

use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use anyhow::bail;
use engine::cert::effective::PacketView;
use engine::message::{
    Aead, Cipher, ContentSigner, DEFAULT_CHUNK, DEFAULT_HASH, DataProtection, Encryption, MessageRecipients,
    NoSigner, Recipient, S2k, Signing, encrypt,
};
use engine::output_file::{Content, FileId};
use engine::passphrase::{PassphraseSource, Passphrases};
use engine::recipients::{self, Preferences};
use engine::verification::remember_encrypted;
use serde::Serialize;
use zeroize::Zeroizing;

use super::content_options::ContentOptions;
use super::recipients::{ChosenRecipient, RecipientOptions};
use super::signer_options::SignerOptions;
use crate::destination::Destination;
use crate::exit::Outcome;
use crate::input;
use crate::passphrase_options::PassphraseOptions;
use crate::session::{Session, command_line};
use crate::trust_options::TrustOptions;

/// The arguments of `keyhoard encrypt`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard encrypt --to alice@example.org --armor letter.txt
  keyhoard encrypt --to alice@example.org --sign -o letter.pgp letter.txt
  keyhoard encrypt --password --output backup.pgp backup.tar
  tar c photos | keyhoard encrypt --password-file secret.txt > photos.pgp
  keyhoard encrypt --password-file mine.txt --aead gcm -o big.pgp big.tar

A name, address or key ID means the one certificate that has it, can be encrypted to now and is fully valid. A whole \
fingerprint is your own decision: it is used unless nothing can be encrypted to it. AES-256 with a check at the end (--aead none) is what every program \
reads; --aead gcm or ocb is faster and is checked piece by piece, and needs programs of RFC 9580.")]
pub(crate) struct Arguments {
    /// The file to encrypt [default: standard input].
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,

    #[command(flatten)]
    recipients: RecipientOptions,

    /// Sign it too; whoever decrypts it sees who signed.
    #[arg(long)]
    sign: bool,

    #[command(flatten)]
    passwords: PasswordOptions,

    /// The cipher [default: what all recipients prefer, else AES256].
    #[arg(long, value_name = "CIPHER", value_parser = cipher)]
    cipher: Option<Cipher>,

    /// Use a cipher with blocks of 64 bits: IDEA, 3DES, CAST5 or Blowfish.
    #[arg(long)]
    allow_old_cipher: bool,

    /// How the data are authenticated [default: none, or ocb if all recipients read it].
    #[arg(long, value_name = "MODE", value_enum)]
    aead: Option<Mode>,

    /// Hide the exact length, with padding that makes the message longer by up to an eighth; only programs of RFC 9580
    /// read it.
    #[arg(long)]
    pad: bool,

    #[command(flatten)]
    content: ContentOptions,

    #[command(flatten)]
    destination: Destination,

    #[command(flatten)]
    signers: SignerOptions,

    #[command(flatten)]
    passphrases: PassphraseOptions,

    #[command(flatten)]
    trust: TrustOptions,
}

/// The options for the passwords of a message, each of which decrypts it.
#[derive(Debug, clap::Args)]
struct PasswordOptions {
    /// Encrypt with a password, which is asked for.
    #[arg(long)]
    password: bool,

    /// Encrypt with the password in the first line of this file; may be given again, for another password that opens
    /// the message as well.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    password_file: Vec<PathBuf>,

    /// Encrypt with the password in the first line that this file descriptor gives; may be given again.
    #[arg(long, value_name = "NUMBER")]
    password_fd: Vec<RawFd>,
}

impl PasswordOptions {
    /// Returns where each password comes from.
    fn sources(&self) -> engine::Result<Vec<PassphraseSource>> {
        let files = self.password_file.iter().cloned().map(PassphraseSource::File);
        let mut sources: Vec<PassphraseSource> =
            files.chain(self.password_fd.iter().copied().map(PassphraseSource::Descriptor)).collect();
        if self.password {
            sources.push(PassphraseSource::usual()?);
        }
        Ok(sources)
    }

    fn are_given(&self) -> bool {
        self.password || !self.password_file.is_empty() || !self.password_fd.is_empty()
    }
}

/// How data are authenticated.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Mode {
    /// A SHA-1 at the end, encrypted: every program reads it.
    None,
    /// OCB, as in RFC 9580.
    Ocb,
    /// GCM, as in RFC 9580.
    Gcm,
    /// EAX, as in RFC 9580.
    Eax,
    /// OCB, as GnuPG 2.3 and later write it.
    GnupgOcb,
}

impl Mode {
    fn protection(self) -> DataProtection {
        let chunk = DEFAULT_CHUNK;
        match self {
            Self::None => DataProtection::Mdc,
            Self::Ocb => DataProtection::Aead { mode: Aead::Ocb, chunk },
            Self::Gcm => DataProtection::Aead { mode: Aead::Gcm, chunk },
            Self::Eax => DataProtection::Aead { mode: Aead::Eax, chunk },
            Self::GnupgOcb => DataProtection::Gnupg { mode: Aead::Ocb, chunk },
        }
    }
}

fn cipher(name: &str) -> Result<Cipher, String> {
    let names = || Cipher::ALL.map(Cipher::name).join(", ");
    Cipher::named(name).ok_or_else(|| format!("the ciphers are {}", names()))
}

/// Encrypts the input.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    if let Some(cipher) = arguments.cipher.filter(|cipher| cipher.is_old() && !arguments.allow_old_cipher) {
        bail!(
            "{cipher} has blocks of 64 bits, too few for many gigabytes; to use it anyway, add --allow-old-cipher"
        );
    }
    if !arguments.recipients.are_given() && !arguments.passwords.are_given() {
        bail!("nobody could read the message: give --to or --password");
    }
    let output = arguments.destination.open(session, Content::Ordinary, arguments.inputs())?;
    let Some(keys) = arguments.recipients.choose(session, &arguments.trust)? else {
        return Ok(Outcome::Nothing);
    };
    let mut signers = match arguments.sign || arguments.signers.is_key_named() {
        true => arguments.signers.open(session, &arguments.passphrases)?,
        false => Vec::new(),
    };
    let kind = arguments.content.signature_type();
    let mut signer: Box<dyn ContentSigner> = match &mut signers[..] {
        [] => Box::new(NoSigner),
        signers => Box::new(Signing::new(arguments.signers.requests(signers, kind, &keys, session.now))?),
    };
    let signer = signer.as_mut();
    let sources = arguments.passwords.sources()?;
    let message_recipients = MessageRecipients {
        passwords: sources.into_iter().map(|source| arguments.password(source)).collect::<Result<_, _>>()?,
        recipients: keys
            .iter()
            .map(|key| Recipient { public: &key.key.public, is_hidden: key.is_hidden })
            .collect(),
    };
    let encryption = arguments.encryption(&keys);
    let mut input = input::open(arguments.file.as_deref())?;
    output.write(
        Some("MESSAGE"),
        |out| Ok(encrypt(input.as_mut(), out, &message_recipients, &encryption, signer)?),
        |_| true,
    )?;
    if let Some(path) = arguments.destination.file() {
        print_summary(session, path, &keys, &encryption)?;
    }
    remember(session, arguments, &keys)?;
    Ok(Outcome::Done)
}

/// Counts the message for trust on first use.
fn remember(session: &Session, arguments: &Arguments, keys: &[ChosenRecipient]) -> anyhow::Result<()> {
    let trust = arguments.trust.settings(session.now, PacketView::Full)?;
    if trust.model.remembers() && !keys.is_empty() {
        let recipients: Vec<_> = keys.iter().map(|key| key.candidate.fingerprint).collect();
        remember_encrypted(session.open_or_empty()?.as_ref(), &recipients, &command_line(), session.now)?;
    }
    Ok(())
}

impl Arguments {
    /// Returns the files that are read.
    fn inputs(&self) -> impl Iterator<Item = FileId> {
        let named = self.recipients.files().iter().chain(&self.passwords.password_file);
        let named = named.filter_map(|path| FileId::at(path));
        input::id(self.file.as_deref()).into_iter().chain(named)
    }

    fn encryption(&self, keys: &[ChosenRecipient]) -> Encryption {
        let recipients: Vec<&Preferences> = keys.iter().map(|key| &key.key.preferences).collect();
        let (cipher, mode) = recipients::preferred(&recipients);
        let is_old = self.cipher.is_some_and(Cipher::is_old);
        let (cipher, protection) = match (self.aead, mode) {
            (None, Some(mode)) if !is_old => (cipher, DataProtection::Aead { mode, chunk: DEFAULT_CHUNK }),
            (None, _) => (recipients::preferred_cipher(&recipients), DataProtection::Mdc),
            (Some(mode), _) => (recipients::preferred_cipher(&recipients), mode.protection()),
        };
        Encryption {
            cipher: self.cipher.unwrap_or(cipher),
            protection,
            content: self.content.content(),
            is_padded: self.pad,
        }
    }

    fn password(&self, source: PassphraseSource) -> anyhow::Result<(Zeroizing<Vec<u8>>, S2k)> {
        let password = Passphrases::new(source, |_| None).password(true)?;
        let Some(password) = password.filter(|password| !password.is_empty()) else {
            bail!("no password was given")
        };
        // Only programs of RFC 9580 read authenticated messages, and they know Argon2.
        let s2k = match self.aead {
            Some(Mode::Ocb | Mode::Gcm | Mode::Eax) => S2k::argon2()?,
            _ => S2k::iterated(DEFAULT_HASH, 1 << 26)?,
        };
        Ok((Zeroizing::new(password.as_bytes().to_vec()), s2k))
    }
}

fn print_summary(
    session: &mut Session,
    path: &Path,
    keys: &[ChosenRecipient],
    encryption: &Encryption,
) -> anyhow::Result<()> {
    if session.output.is_json() {
        let recipients = keys.iter().map(|key| key.candidate.fingerprint.to_string()).collect();
        let mode = match encryption.protection {
            DataProtection::Mdc => None,
            DataProtection::Aead { mode, .. } | DataProtection::Gnupg { mode, .. } => Some(mode.name()),
        };
        let cipher = encryption.cipher.name();
        let compression = encryption.content.compression.name();
        let file = path.to_string_lossy();
        session.output.json(&EncryptedJson { file: &file, cipher, aead: mode, compression, recipients })?;
    } else {
        session.note(format_args!("encrypted message written to {}", path.display()));
    }
    Ok(())
}

/// The result of encryption to a file, as `docs/json.md` describes it.
#[derive(Serialize)]
struct EncryptedJson<'a> {
    file: &'a str,
    cipher: &'a str,
    aead: Option<&'a str>,
    compression: &'a str,
    recipients: Vec<String>,
}
