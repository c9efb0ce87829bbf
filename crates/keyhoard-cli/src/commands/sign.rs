//! `keyhoard sign`: so that others can tell who wrote it, and that it was not changed.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use keyhoard::cert::armor_writer::ArmorWriter;
use keyhoard::cert::facts::SignatureType;
use keyhoard::message::{Compression, Content, Format, Literal, Signing, sign, sign_clear, sign_detached};
use keyhoard::output_file::OutputFile;
use keyhoard::signatories::SigningKey;
use secret::OpenKey;
use serde::Serialize;

use super::encrypt::{compression, standard_output};
use super::signer_options::SignerOptions;
use crate::exit::Outcome;
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

    /// Write the signature only; what is signed stays as it is.
    #[arg(long, short)]
    detached: bool,

    /// Write text that everybody can read, with the signature behind it.
    #[arg(long, conflicts_with_all = ["detached", "compress"])]
    clear: bool,

    /// Sign text, however its lines end.
    #[arg(long)]
    text: bool,

    /// The compression.
    #[arg(long, value_name = "NAME", default_value = "none", value_parser = compression)]
    compress: Compression,

    /// Write to this file; a pipe or device is written to as it is.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write ASCII armor [default: on a terminal, and to files ending in .asc].
    #[arg(long, short, conflicts_with = "binary")]
    armor: bool,

    /// Write binary packets, even to a terminal.
    #[arg(long)]
    binary: bool,

    #[command(flatten)]
    signers: SignerOptions,

    #[command(flatten)]
    passphrases: PassphraseOptions,
}

/// Signs the input.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut keys = arguments.signers.open(session, &arguments.passphrases)?;
    let mut input: Box<dyn Read> = match &arguments.file {
        Some(path) if path != Path::new("-") => {
            Box::new(File::open(path).with_context(|| path.display().to_string())?)
        }
        _ => Box::new(io::stdin()),
    };
    match &arguments.output {
        Some(path) if path != Path::new("-") => {
            let named = || path.display().to_string();
            let mut file = OutputFile::create(path).with_context(named)?;
            let by_name = path.extension().is_some_and(|extension| extension == "asc");
            arguments.write(session, &mut input, &mut file, by_name, &mut keys)?;
            file.commit().with_context(named)?;
            tell(session, path, &keys)?;
        }
        _ => {
            let mut stdout = standard_output()?;
            let terminal = stdout.is_terminal();
            arguments.write(session, &mut input, &mut stdout, terminal, &mut keys)?;
        }
    }
    Ok(Outcome::Done)
}

impl Arguments {
    fn write(
        &self,
        session: &Session,
        input: &mut dyn Read,
        out: &mut dyn Write,
        armor_by_default: bool,
        keys: &mut [(SigningKey, Box<dyn OpenKey>)],
    ) -> anyhow::Result<()> {
        let is_text = self.text || self.clear;
        let kind = if is_text { SignatureType::TEXT } else { SignatureType::BINARY };
        let signing = Signing::new(self.signers.signatories(keys, kind, session.now))?;
        if self.clear {
            return Ok(sign_clear(input, out, signing)?);
        }
        if !self.armor && (self.binary || !armor_by_default) {
            return self.packets(input, out, signing);
        }
        let title = if self.detached { "SIGNATURE" } else { "MESSAGE" };
        let mut armored = ArmorWriter::titled(out, title);
        self.packets(input, &mut armored, signing)?;
        armored.finish()?;
        Ok(())
    }

    fn packets(&self, input: &mut dyn Read, out: &mut dyn Write, signing: Signing<'_>) -> anyhow::Result<()> {
        if self.detached {
            return Ok(out.write_all(&sign_detached(input, signing)?)?);
        }
        let format = if self.text { Format::Utf8 } else { Format::Binary };
        let literal = Literal { format, ..Literal::default() };
        let content = Content { compression: self.compress, literal, ..Content::default() };
        Ok(sign(input, out, &content, signing)?)
    }
}

fn tell(session: &mut Session, path: &Path, keys: &[(SigningKey, Box<dyn OpenKey>)]) -> anyhow::Result<()> {
    if session.output.is_json() {
        let signers = keys.iter().map(|(key, _)| SignerJson::new(key)).collect();
        session.output.json(&SignedJson { file: &path.to_string_lossy(), signers })?;
    } else {
        session.note(format_args!("signed to {}", path.display()));
    }
    Ok(())
}

/// The result of signing to a file, as `docs/json.md` describes it.
#[derive(Serialize)]
struct SignedJson<'a> {
    file: &'a str,
    signers: Vec<SignerJson>,
}

/// Who signed.
#[derive(Serialize)]
pub(super) struct SignerJson {
    fingerprint: String,
    certificate: String,
}

impl SignerJson {
    pub(super) fn new(key: &SigningKey) -> Self {
        Self { fingerprint: key.key.to_string(), certificate: key.primary.to_string() }
    }
}
