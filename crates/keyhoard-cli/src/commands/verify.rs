//! `keyhoard verify`: verifies signatures over data.

use std::ffi::OsString;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use engine::cert::ArmorRules;
use engine::cert::effective::PacketView;
use engine::decryption::PlaintextOutput;
use engine::keyring_file::KeyringFile;
use engine::message::{Allowed, DataSignature, DetachedSignatures, Error, MessageVerifier, NoKeys, decrypt};
use engine::output_file::{Content, FileId};
use engine::store::Selection;
use engine::validity::Model;
use engine::verification::{Conclusion, SignatureVerdict, WantedSigners};
use serde::Serialize;

use super::data_signatures::{SignatureJson, advice, details, examine, examine_with_file, headline};
use super::named_certificates::{NamedCertificates, fingerprints};
use super::verify_batch;
use crate::destination::{NamedOutput, standard_output};
use crate::exit::Outcome;
use crate::hint::Hint;
use crate::input;
use crate::session::Session;
use crate::trust_options::TrustOptions;

/// The arguments of `keyhoard verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard verify release.tar.sig release.tar
  keyhoard verify --output letter.txt letter.asc
  keyhoard verify --signer-file release-key.asc release.tar.sig
  printf '%s\\t%s\\n' a.sig a b.sig b | keyhoard verify --batch -
  keyhoard verify --tags path/to/repository

The first line says GOOD, BAD or UNKNOWN KEY. Exit codes:
  0  good, and the owner of the key is verified (or named with --signer)
  1  bad: changed content, or a signature that is not accepted
  2  anything else: no signature, unreadable files, unknown algorithms
  3  the key is not here
  4  good, but the owner is not verified: any key can have any name
  5  not fully checked: run `keyhoard check`

Not accepted is a signature that is expired, too weak, somebody else's, or by a revoked key. With --trust-model always, 4 \
becomes 0. Only what is signed is written to --output; without it, clear text with other text around it is refused.")]
pub(crate) struct Arguments {
    /// The signed message, or the signature of the data.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,

    /// The data of a detached signature [default: the signature's name without .sig, .sign or .asc].
    #[arg(value_name = "DATA", value_hint = clap::ValueHint::FilePath, conflicts_with = "output")]
    data: Option<PathBuf>,

    /// Write the signed content to this file, if the signatures are valid.
    #[command(flatten)]
    output: NamedOutput,

    /// Write --output only if the owner of the key is verified; with --batch, --tags and --commits, count only such
    /// signatures.
    #[arg(long)]
    sure: bool,

    /// Accept only signatures by this certificate, whose owner you have verified; may be given again.
    #[arg(long, value_name = "NAME")]
    signer: Vec<OsString>,

    /// Accept only signatures by certificates in this file, whose owners you have verified; the database is not used.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with_all = ["signer", "batch"])]
    signer_file: Option<PathBuf>,

    /// Verify the detached signatures that are listed in this file, or on standard input (-): a line for each, the
    /// signature's file, a tab, the data's file. Writes a line of JSON for each; a line that names no two files fails.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["file", "output"])]
    batch: Option<PathBuf>,

    /// Verify all signed tags of this git repository.
    #[arg(long, value_name = "REPOSITORY", conflicts_with_all = ["file", "output", "batch", "signer_file"])]
    tags: Option<PathBuf>,

    /// Verify all signed commits of this git repository.
    #[arg(long, value_name = "REPOSITORY", conflicts_with_all = ["file", "output", "batch", "tags", "signer_file"])]
    commits: Option<PathBuf>,

    #[command(flatten)]
    trust: TrustOptions,
}

/// Verifies signatures.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let trust = arguments.trust.settings(session.now, PacketView::Full)?;
    let wanted = arguments.wanted(session, trust.model)?;
    let many = verify_batch::Batch { trust: &trust, sure: arguments.sure, wanted: &wanted };
    match arguments {
        Arguments { batch: Some(list), .. } => return many.files(session, list),
        Arguments { tags: Some(repository), .. } => return many.objects(session, repository, false),
        Arguments { commits: Some(repository), .. } => return many.objects(session, repository, true),
        _ => {}
    }
    let keyring = arguments.signer_file.as_deref().map(|path| signers(session, path)).transpose()?;
    let (signatures, plaintext) = match &arguments.data {
        Some(data) => (detached(arguments.signature()?, data)?, None),
        None => arguments.message(session)?,
    };
    if signatures.is_empty() {
        bail!("the input has no signature");
    }
    let verdicts = match &keyring {
        Some(keyring) => examine_with_file(keyring, &trust, signatures)?,
        None => {
            let store = session.open_or_empty()?;
            examine(store.as_ref(), &trust, |examiner| Ok(examiner.examine(signatures)?))?
        }
    };
    let wanted = match &keyring {
        Some(keyring) => WantedSigners::These(keyring.fingerprints()),
        None => wanted,
    };
    let conclusion = Conclusion::of(&verdicts, &wanted);
    if let Some(plaintext) = plaintext.filter(|_| conclusion.holds(arguments.sure)) {
        plaintext.finish().context("cannot write")?;
    }
    print_verdicts(session, arguments, &verdicts, conclusion, &wanted)?;
    Ok(Outcome::Verified(exit_code(conclusion)))
}

/// Returns the exit code that the help lists.
fn exit_code(conclusion: Conclusion) -> u8 {
    match conclusion {
        Conclusion::Good => 0,
        Conclusion::Bad => 1,
        Conclusion::Unsupported => 2,
        Conclusion::UnknownKey => 3,
        Conclusion::OwnerNotVerified => 4,
        Conclusion::NotFullyChecked => 5,
    }
}

/// Reads the certificates whose signatures are accepted.
fn signers(session: &Session, path: &Path) -> anyhow::Result<KeyringFile> {
    let keyring = KeyringFile::read_by_rfc9580(path).with_context(|| path.display().to_string())?;
    input::warn_if_mended(session, &path.display(), keyring.is_mended);
    if keyring.fingerprints().is_empty() {
        bail!("{}: there is no certificate in it", path.display());
    }
    Ok(keyring)
}

impl Arguments {
    /// Finds the certificates of `--signer`.
    fn wanted(&self, session: &Session, model: Model) -> anyhow::Result<WantedSigners> {
        if self.signer.is_empty() {
            return Ok(WantedSigners::unnamed(model));
        }
        let store = session.open()?;
        let snapshot = store.snapshot()?;
        let mut keys = Vec::new();
        for name in &self.signer {
            let id = NamedCertificates::find_one(snapshot.as_ref(), name)?;
            keys.extend(fingerprints(snapshot.as_ref(), Selection::Ids(&[id]))?);
        }
        Ok(WantedSigners::These(keys))
    }

    fn signature(&self) -> anyhow::Result<&Path> {
        self.file.as_deref().context("name the file with the signature")
    }

    /// Reads a signed message, or a detached signature and the data beside it.
    fn message(
        &self,
        session: &Session,
    ) -> anyhow::Result<(Vec<DataSignature>, Option<PlaintextOutput<'static>>)> {
        let inputs = input::id(self.file.as_deref()).into_iter();
        let inputs = inputs.chain(self.signer_file.as_deref().and_then(FileId::at));
        let mut plaintext = match self.output.create(session, Content::Ordinary, inputs)? {
            Some(file) => PlaintextOutput::to_file(file, false),
            None if self.output.is_named() => PlaintextOutput::to_stream(Box::new(standard_output()?), false),
            None => PlaintextOutput::to_stream(Box::new(io::sink()), true),
        };
        let path = self.file.as_deref().filter(|path| *path != Path::new("-"));
        let mut input = input::open(path)?;
        let armor = ArmorRules::Rfc9580;
        let allowed = Allowed { unencrypted: true, unknown_packets: true, armor, ..Allowed::default() };
        let mut verifier = MessageVerifier::new(&mut plaintext);
        let read = decrypt(input.as_mut(), allowed, &mut NoKeys, &mut verifier);
        match read.and_then(|()| verifier.finish()) {
            // A reader of the file would take the other text for signed, too.
            Ok(_) if plaintext.has_text_around && !self.output.is_named() => {
                let name = input::name(path);
                bail!(
                    "{name}: there is unsigned text around the signed text; --output writes only the signed text"
                )
            }
            Ok(signatures) => Ok((signatures, Some(plaintext))),
            Err(Error::Detached) => {
                let path =
                    path.context("this is a detached signature: name its file and that of the data")?;
                let data = path.with_extension("");
                let is_named =
                    path.extension().is_some_and(|end| end == "sig" || end == "sign" || end == "asc");
                if !is_named || !data.exists() {
                    bail!("{}: a detached signature; name the file with the data, too", path.display());
                }
                Ok((detached(path, &data)?, None))
            }
            Err(Error::NoKey) => {
                let decrypt = Hint::Decrypt(input::name(path));
                bail!("the message is encrypted; {decrypt} verifies its signatures too")
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
    conclusion: Conclusion,
    wanted: &WantedSigners,
) -> anyhow::Result<()> {
    let holds = conclusion.holds(arguments.sure);
    let to_stdout = arguments.output.is_named() && arguments.output.file().is_none();
    if session.output.is_json() && !to_stdout {
        let signatures = SignatureJson::all(verdicts);
        let file = arguments.file.as_deref().map(Path::to_string_lossy);
        let verdict = conclusion.name();
        session.output.json(&VerifiedJson { file, holds, verdict, signatures })?;
        return Ok(());
    }
    let (style, headline) = headline(verdicts, conclusion, wanted);
    let details = verdicts.iter().flat_map(|verdict| details(verdict, conclusion, wanted, session.now));
    if to_stdout {
        session.warn(headline);
        details.for_each(|line| session.note(line));
    } else {
        session.output.line(session.output.styled(style, headline))?;
        for line in details {
            session.output.line(line)?;
        }
    }
    // The verdict stands before the advice. What cannot be written is an error where the command ends.
    if session.output.flush().is_err() {
        return Ok(());
    }
    if let Some(advice) = advice(verdicts, conclusion, session)? {
        session.note(advice);
    }
    if arguments.sure && conclusion == Conclusion::OwnerNotVerified {
        session.warn("verification FAILED: --sure asks for a verified owner");
    }
    Ok(())
}

/// The result of verification, as `docs/json.md` describes it.
#[derive(Serialize)]
struct VerifiedJson<'a> {
    file: Option<std::borrow::Cow<'a, str>>,
    holds: bool,
    verdict: &'static str,
    signatures: Vec<SignatureJson<'a>>,
}
