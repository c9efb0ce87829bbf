//! `keyhoard verify`: verifies signatures over data.

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use engine::cert::effective::PacketView;
use engine::decryption::PlaintextOutput;
use engine::message::{Allowed, DataSignature, DetachedSignatures, Error, MessageVerifier, NoKeys, decrypt};
use engine::output_file::Content;
use engine::verification::{SignatureVerdict, all_hold};
use serde::Serialize;

use super::data_signatures::{SignatureJson, examine, lines};
use super::verify_batch;
use crate::destination::{NamedOutput, standard_output};
use crate::exit::Outcome;
use crate::input;
use crate::session::Session;
use crate::trust_options::TrustOptions;

/// The arguments of `keyhoard verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard verify release.tar.sig release.tar
  keyhoard verify --output letter.txt letter.asc
  printf '%s\\t%s\\n' a.sig a b.sig b | keyhoard verify --batch -
  keyhoard verify --tags path/to/repository

Exit code 0 says that there is a good signature, and none that is bad; 1 that there is not. That a signature is good says \
who has made it only as far as the key is known to be whose it says: --sure asks for that too. Only what is signed is \
written to --output; without it, clear text with other text around it is refused.")]
pub(crate) struct Arguments {
    /// The signed message, or the signature of the data.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,

    /// What a detached signature is over [default: the signature's name without .sig or .asc].
    #[arg(value_name = "DATA", value_hint = clap::ValueHint::FilePath, conflicts_with = "output")]
    data: Option<PathBuf>,

    /// What is signed is written there, if the signatures hold.
    #[command(flatten)]
    output: NamedOutput,

    /// Take only signatures of keys that are fully valid.
    #[arg(long)]
    sure: bool,

    /// Verify the detached signatures that are listed in this file, or on standard input (-): a line for each, the
    /// signature's file, a tab, the data's file. Writes a line of JSON for each; a line that names no two files fails.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["file", "output"])]
    batch: Option<PathBuf>,

    /// Verify all signed tags of this git repository. Writes a line of JSON for each.
    #[arg(long, value_name = "REPOSITORY", conflicts_with_all = ["file", "output", "batch"])]
    tags: Option<PathBuf>,

    /// Verify all signed commits of this git repository. Writes a line of JSON for each.
    #[arg(long, value_name = "REPOSITORY", conflicts_with_all = ["file", "output", "batch", "tags"])]
    commits: Option<PathBuf>,

    #[command(flatten)]
    trust: TrustOptions,
}

/// Verifies signatures.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let trust = arguments.trust.settings(session.now, PacketView::Full)?;
    let many = verify_batch::Batch { trust: &trust, sure: arguments.sure };
    match arguments {
        Arguments { batch: Some(list), .. } => return many.files(session, list),
        Arguments { tags: Some(repository), .. } => return many.objects(session, repository, false),
        Arguments { commits: Some(repository), .. } => return many.objects(session, repository, true),
        _ => {}
    }
    let store = session.open_or_empty()?;
    let (signatures, plaintext) = match &arguments.data {
        Some(data) => (detached(arguments.signature()?, data)?, None),
        None => arguments.message()?,
    };
    if signatures.is_empty() {
        bail!("there is no signature in it");
    }
    let verdicts = examine(store.as_ref(), &trust, |examiner| Ok(examiner.examine(signatures)?))?;
    let holds = all_hold(&verdicts, arguments.sure);
    if let Some(plaintext) = plaintext.filter(|_| holds) {
        plaintext.finish().context("cannot write")?;
    }
    print_verdicts(session, arguments, &verdicts, holds)?;
    Ok(Outcome::done_if(holds))
}

impl Arguments {
    fn signature(&self) -> anyhow::Result<&Path> {
        self.file.as_deref().context("which file has the signature?")
    }

    /// Reads a signed message, or a detached signature and the data beside it.
    fn message(&self) -> anyhow::Result<(Vec<DataSignature>, Option<PlaintextOutput<'static>>)> {
        let id = input::id(self.file.as_deref());
        let mut plaintext = match self.output.create(Content::Ordinary, id)? {
            Some(file) => PlaintextOutput::to_file(file, false),
            None if self.output.is_named() => PlaintextOutput::to_stream(Box::new(standard_output()?), false),
            None => PlaintextOutput::to_stream(Box::new(io::sink()), true),
        };
        let path = self.file.as_deref().filter(|path| *path != Path::new("-"));
        let mut input = input::open(path)?;
        let allowed = Allowed { unencrypted: true, ..Allowed::default() };
        let mut verifier = MessageVerifier::new(&mut plaintext);
        let read = decrypt(input.as_mut(), allowed, &mut NoKeys, &mut verifier);
        match read.and_then(|()| verifier.finish()) {
            // A reader of the file would take the other text for signed, too.
            Ok(_) if plaintext.has_text_around && !self.output.is_named() => {
                let name = input::name(path);
                bail!(
                    "{name}: there is text around the signed text, which is not signed; --output writes what is"
                )
            }
            Ok(signatures) => Ok((signatures, Some(plaintext))),
            Err(Error::Detached) => {
                let path = path.context("a detached signature: name its file and the data's")?;
                let data = path.with_extension("");
                let is_named = path.extension().is_some_and(|end| end == "sig" || end == "asc");
                if !is_named || !data.exists() {
                    bail!("{}: a detached signature; name the data's file too", path.display());
                }
                Ok((detached(path, &data)?, None))
            }
            Err(Error::NoKey) => {
                bail!("the message is encrypted; `keyhoard decrypt` verifies its signatures too")
            }
            Err(error) => Err(anyhow!(error).context(input::name(path))),
        }
    }
}

/// Reads detached signatures and hashes the signed data.
fn detached(signature: &Path, data: &Path) -> anyhow::Result<Vec<DataSignature>> {
    let named = |path: &Path| path.display().to_string();
    let signatures =
        DetachedSignatures::read(&mut input::file(signature)?).with_context(|| named(signature))?;
    let mut opened = BufReader::new(input::open(Some(data))?);
    signatures.over(&mut opened).with_context(|| input::name(Some(data)))
}

fn print_verdicts(
    session: &mut Session,
    arguments: &Arguments,
    verdicts: &[SignatureVerdict],
    holds: bool,
) -> anyhow::Result<()> {
    let to_stdout = arguments.output.is_named() && arguments.output.file().is_none();
    if session.output.is_json() && !to_stdout {
        let signatures = SignatureJson::all(verdicts);
        let file = arguments.file.as_deref().map(Path::to_string_lossy);
        session.output.json(&VerifiedJson { file, holds, signatures })?;
        return Ok(());
    }
    for line in verdicts.iter().flat_map(|verdict| lines(verdict, session.now)) {
        match to_stdout {
            true => session.warn(line),
            false => session.output.line(line)?,
        }
    }
    if !holds {
        session.warn(match arguments.sure {
            true => "no signature is good and by a key that is fully valid, or one is bad",
            false => "no signature is good, or one is bad",
        });
    }
    Ok(())
}

/// The result of verification, as `docs/json.md` describes it.
#[derive(Serialize)]
struct VerifiedJson<'a> {
    file: Option<std::borrow::Cow<'a, str>>,
    holds: bool,
    signatures: Vec<SignatureJson<'a>>,
}
