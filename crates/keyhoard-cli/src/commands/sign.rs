//! `keyhoard sign`: makes detached signatures, clear-signed text and signed messages.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use engine::cert::armor_writer::Headers;
use engine::cert::facts::SignatureType;
use engine::message::{Signing, sign, sign_clear, sign_detached};
use engine::output_file::Content;
use engine::signing_keys::SigningKey;
use secret::OpenKey;
use serde::Serialize;

use super::content_options::{ContentOptions, MESSAGE_OPTIONS};
use super::signer_options::SignerOptions;
use crate::destination::Destination;
use crate::exit::Outcome;
use crate::input;
use crate::passphrase_options::PassphraseOptions;
use crate::session::Session;

/// The arguments of `keyhoard sign`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard sign --detached --output release.tar.sig release.tar
  keyhoard sign --clear letter.txt > letter.asc
  keyhoard sign --by ann@example.org --output letter.pgp letter.txt

Without --detached or --clear the message holds what is signed; anybody can read it with `keyhoard verify`.")]
pub(crate) struct Arguments {
    /// The file to sign [default: standard input].
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,

    /// Write only the signature, and leave the signed file as it is.
    #[arg(long, short, conflicts_with_all = MESSAGE_OPTIONS)]
    detached: bool,

    /// Write text that everybody can read, with the signature behind it.
    #[arg(long, conflicts_with = "detached", conflicts_with_all = MESSAGE_OPTIONS)]
    clear: bool,

    #[command(flatten)]
    content: ContentOptions,

    #[command(flatten)]
    destination: Destination,

    #[command(flatten)]
    signers: SignerOptions,

    #[command(flatten)]
    passphrases: PassphraseOptions,
}

/// Signs the input.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let output =
        arguments.destination.open(session, Content::Ordinary, input::id(arguments.file.as_deref()))?;
    let mut keys = arguments.signers.open(session, &arguments.passphrases)?;
    let mut input = input::open(arguments.file.as_deref())?;
    let kind = if arguments.clear { SignatureType::TEXT } else { arguments.content.signature_type() };
    let signing = Signing::new(arguments.signers.requests(&mut keys, kind, &[], session.now))?;
    output.write(arguments.title(), |out| arguments.write(input.as_mut(), out, signing), |()| true)?;
    if let Some(path) = arguments.destination.file() {
        print_signers(session, path, &keys)?;
    }
    Ok(Outcome::Done)
}

impl Arguments {
    /// Returns the title of the armor.
    fn title(&self) -> Option<&'static str> {
        match (self.clear, self.detached) {
            (true, _) => None,
            (false, true) => Some("SIGNATURE"),
            (false, false) => Some("MESSAGE"),
        }
    }

    fn write(
        &self,
        input: &mut dyn Read,
        mut out: &mut dyn Write,
        signing: Signing<'_>,
    ) -> anyhow::Result<()> {
        if self.clear {
            return Ok(sign_clear(input, out, Headers::default(), signing)?);
        }
        if self.detached {
            return Ok(out.write_all(&sign_detached(input, signing)?)?);
        }
        Ok(sign(input, &mut out, &self.content.content(), signing)?)
    }
}

fn print_signers(
    session: &mut Session,
    path: &Path,
    keys: &[(SigningKey, Box<dyn OpenKey>)],
) -> anyhow::Result<()> {
    if session.output.is_json() {
        let signer = |key: &SigningKey| SignerJson {
            fingerprint: key.key.to_string(),
            certificate: key.primary.to_string(),
        };
        let signers = keys.iter().map(|(key, _)| signer(key)).collect();
        session.output.json(&SignedJson { file: &path.to_string_lossy(), signers })?;
    } else {
        session.note(format_args!("signature written to {}", path.display()));
    }
    Ok(())
}

/// The result of signing to a file, as `docs/json.md` describes it.
#[derive(Serialize)]
struct SignedJson<'a> {
    file: &'a str,
    signers: Vec<SignerJson>,
}

/// A key that signed.
#[derive(Serialize)]
struct SignerJson {
    fingerprint: String,
    certificate: String,
}
