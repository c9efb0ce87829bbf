//! `keyhoard generate`: generates a key.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroU32;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, bail};
use engine::cert::Timestamp;
use engine::generate::{self, Algorithm, GeneratedKey, KeyDestination, Step, generate, named_profile};
use engine::import::NewOwnerTrust;
use engine::keygen::{Profile, profile};
use engine::passphrase::{PassphraseSource, Passphrases};
use engine::secret::{Ask, Name, SecretKeys as _};
use engine::store::{Fingerprint, JournalId};
use serde::Serialize;

use crate::exit::Outcome;
use crate::expiry::Expiry;
use crate::hint::Hint;
use crate::passphrase_options::PassphraseOptions;
use crate::progress::{Progress, Unit};
use crate::question::ask;
use crate::session::{Session, command_line};

/// The arguments of `keyhoard generate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard generate 'Ann <ann@example.org>'
  keyhoard generate --profile rsa4096 --expires 3y 'Ann <ann@example.org>'
  keyhoard generate --no-passphrase --profile modern builds@example.org
  keyhoard generate --profile post-quantum 'Ann <ann@example.org>'
  keyhoard generate --to agent 'Ann <ann@example.org>'

Built-in profiles: compatible (the default: version 4, Ed25519 and Cv25519, read by every GnuPG since 2.1), \
modern (version 6, as RFC 9580 has it), post-quantum (version 6, ML-DSA and ML-KEM beside Ed25519 and X25519, as RFC 9980 \
has them), rsa4096. Your own are read from keyhoard/profiles.toml in the XDG \
configuration directory.

On a terminal you are asked for what is missing. The secret keys are kept in files beside the database, or by gpg-agent \
with --to agent; `keyhoard key move` moves them later. Beside the database is a revocation \
certificate, in openpgp-revocs.d.")]
pub(crate) struct Arguments {
    /// Whose key it is, such as 'Ann <ann@example.org>'; the first one is the primary user ID.
    #[arg(value_name = "USER-ID")]
    user_ids: Vec<OsString>,

    /// The profile that says what the key is made of.
    #[arg(long, short, value_name = "NAME", default_value = profile::DEFAULT)]
    profile: String,

    /// Make all keys of this algorithm instead of the profile's: rsa3072, ed25519, nistp384, brainpoolP512r1,
    /// ml-dsa-87+ed448, slh-dsa-shake-128s, ...
    #[arg(long, value_name = "NAME", value_parser = Algorithm::parse)]
    algorithm: Option<Algorithm>,

    /// When the key expires: a span like 18m or 2y, a day like 2030-01-01, or never.
    #[arg(long, value_name = "WHEN")]
    expires: Option<Expiry>,

    /// Where the secret keys are kept.
    #[arg(long, value_name = "PLACE", value_enum, default_value_t)]
    to: Place,

    /// Do not lock the secret keys with a passphrase.
    #[arg(long, conflicts_with = "passphrase")]
    no_passphrase: bool,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

/// A place of new secret keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Place {
    /// gpg-agent, so that gpg and ssh use them.
    Agent,
    /// Files beside the database.
    #[default]
    File,
}

/// Generates a key.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let profile = profile(session, arguments)?;
    let source = arguments.passphrase.source()?;
    if !arguments.no_passphrase && source == PassphraseSource::Terminal && !on_terminal() {
        bail!(
            "no terminal to ask for a passphrase: use --passphrase-file, --passphrase-fd, --passphrase-program or \
             --no-passphrase"
        );
    }
    let secrets = match (session.secret_keys()?, arguments.to) {
        (secrets, Place::File) => secrets,
        (secrets, Place::Agent) if secrets.agent().is_none() => bail!(engine::Error::NoAgentHere),
        (secrets, Place::Agent) => secrets.storing_in_agent(),
    };
    let path = engine::database::local(&session.path()?);
    let store = session.open_or_create()?;
    let destination = KeyDestination {
        store: store.as_ref(),
        secrets: &secrets,
        revocations: Some(generate::revocations_beside(&path)),
        certificate: None,
        owner_trust: NewOwnerTrust::Ultimate,
    };
    let owner = profile.user_ids.first().map(|user_id| String::from_utf8_lossy(user_id).into_owned());
    let mut passphrases = Passphrases::new(source, move |_| owner.clone());
    let ask = (!arguments.no_passphrase).then_some(&mut passphrases as &mut dyn Ask);
    let mut tested = TestedNumbers { progress: session.progress(Unit::Numbers, None), numbers: 0 };
    let generated = generate(&destination, &profile, ask, &command_line(), session.now, &mut tested)?;
    drop(tested);
    print_key(session, &profile, &generated)?;
    if arguments.to == Place::Agent && secrets.files().find(&Name::from(generated.primary))?.is_some() {
        session.warn("gpg-agent cannot hold this key: its secret keys are in files");
    }
    Ok(Outcome::Done)
}

/// Returns the profile with what the arguments change, and asks for a missing user ID.
fn profile(session: &Session, arguments: &Arguments) -> anyhow::Result<Profile> {
    let mut profile = named_profile(&arguments.profile)?;
    if let Some(algorithm) = arguments.algorithm {
        profile = profile.made_of(algorithm)?;
    }
    if let Some(end) = arguments.expires {
        profile = profile.living(lifetime(end, session.now)?);
    }
    if !arguments.user_ids.is_empty() {
        profile.user_ids = arguments.user_ids.iter().map(|user_id| user_id.as_bytes().to_vec()).collect();
    }
    if profile.user_ids.is_empty() {
        profile.user_ids = vec![asked_user_id()?.into_bytes()];
    }
    Ok(profile)
}

fn lifetime(end: Expiry, now: Timestamp) -> anyhow::Result<Option<NonZeroU32>> {
    let Some(Timestamp(end)) = end.after(now) else { return Ok(None) };
    let left = end.checked_sub(now.0).and_then(NonZeroU32::new);
    left.map(Some).context("the key would have expired already; give a later date with --expires")
}

fn on_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for name and mail address, and returns the user ID.
fn asked_user_id() -> anyhow::Result<String> {
    if !on_terminal() {
        let example = Hint::GenerateFor("Ann <ann@example.org>".to_owned());
        bail!("the key needs a user ID, as in {example}");
    }
    let name = ask("Name (may be empty): ")?;
    let address = ask("Mail address (may be empty): ")?;
    match (name.as_str(), address.as_str()) {
        ("", "") => bail!("a key needs a name or an address"),
        (name, "") => Ok(name.to_owned()),
        ("", address) => Ok(address.to_owned()),
        (name, address) => Ok(format!("{name} <{address}>")),
    }
}

/// Counts the numbers that were tested for being prime.
struct TestedNumbers {
    progress: Progress,
    numbers: u64,
}

impl generate::Progress for TestedNumbers {
    fn step(&mut self, _: Step) {
        self.numbers += 1;
        self.progress.set(self.numbers);
    }
}

fn print_key(session: &mut Session, profile: &Profile, generated: &GeneratedKey) -> anyhow::Result<()> {
    let entry = generated.journal.map(|JournalId(entry)| entry);
    let revocation = generated.revocation.as_deref().unwrap_or(Path::new("")).display();
    if session.output.is_json() {
        session.output.json(&GeneratedJson {
            fingerprint: generated.primary.to_string(),
            subkeys: generated.subkeys.iter().map(Fingerprint::to_string).collect(),
            version: profile.version.number(),
            revocation: revocation.to_string(),
            entry,
        })?;
    } else {
        writeln!(session.output, "{}", generated.primary)?;
        session.note(format_args!("the key is made; its revocation certificate is {revocation}"));
        session.note(format_args!("{} writes a back-up of your secret keys", Hint::BackUpKeys));
    }
    Ok(())
}

/// A new key, as `docs/json.md` describes it.
#[derive(Serialize)]
struct GeneratedJson {
    fingerprint: String,
    subkeys: Vec<String>,
    version: u8,
    revocation: String,
    entry: Option<i64>,
}
