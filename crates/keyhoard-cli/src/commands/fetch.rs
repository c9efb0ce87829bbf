//! `keyhoard fetch`: looks for certificates in the network, and takes them in.

use anyhow::{anyhow, bail};
use engine::causes;
use engine::configuration::Configuration;
use engine::fetch::{FetchOutcome, FetchSource, NetworkConfiguration, Request, Taken, fetch};
use engine::import::{ImportOutcome, Imported};
use engine::network::{self, Keyserver};
use serde::Serialize;

use super::import_outcome::word_and_additions;
use crate::exit::Outcome;
use crate::hint::Hint;
use crate::listing::TextJson;
use crate::printable::{counted, printable};
use crate::session::{Session, command_line, environment};
use crate::style::Style;

/// The arguments of `keyhoard fetch`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard fetch alice@example.org
  keyhoard fetch 0123456789ABCDEF0123456789ABCDEF01234567
  keyhoard fetch --from hkps://keyserver.ubuntu.com 0123456789ABCDEF
  keyhoard fetch https://example.org/alice.asc
  keyhoard fetch --no-wkd alice@example.org

An address is looked for in the Web Key Directory of its domain first, in the DNS if config.toml says so, then on the \
keyservers of config.toml (vks://keys.openpgp.org if it says nothing), one after the other until one has it. Only what was asked for is imported, and \
from a Web Key Directory only with the user IDs of the address. Finding a key does not make it valid: compare its \
fingerprint. `keyhoard log` says where it came from, `keyhoard undo` takes it back. docs/network.md says what is sent.")]
pub(crate) struct Arguments {
    /// Mail addresses, fingerprints, key IDs, https: URLs, or file: URLs.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    /// Ask this keyserver instead of the configured ones; may be given again.
    #[arg(long, value_name = "SERVER")]
    from: Vec<String>,

    /// Ask no Web Key Directory.
    #[arg(long)]
    no_wkd: bool,

    /// Ask no keyserver.
    #[arg(long, conflicts_with = "from")]
    no_keyserver: bool,
}

impl Arguments {
    fn keyservers(&self, network: &NetworkConfiguration) -> anyhow::Result<Vec<Keyserver>> {
        if self.no_keyserver {
            return Ok(Vec::new());
        }
        named_servers(&self.from, network)
    }

    /// Returns what to do where nobody is left to ask.
    fn advice(&self) -> &'static str {
        match self.no_keyserver {
            true => "leave out --no-keyserver",
            false => "name a keyserver with --from or in config.toml",
        }
    }
}

/// Reads the keyservers of an option, or takes those of the configuration.
pub(super) fn named_servers(
    names: &[String],
    network: &NetworkConfiguration,
) -> anyhow::Result<Vec<Keyserver>> {
    match names.is_empty() {
        true => Ok(network.servers()?),
        false => names.iter().map(|name| Ok(name.parse()?)).collect(),
    }
}

/// Reads a name; says of a keyserver and of a text which command is meant.
fn request(name: &str) -> anyhow::Result<Request> {
    Request::parse(name).map_err(|error| match error {
        engine::Error::Network(error @ network::Error::Address { .. })
            if name.parse::<Keyserver>().is_ok() =>
        {
            anyhow!("{}; {} asks a keyserver", causes(&error), Hint::FetchFrom(name.to_owned()))
        }
        engine::Error::Network(error @ network::Error::Address { .. }) if !name.contains(':') => {
            anyhow!("{}; {} searches a keyserver for a text", causes(&error), Hint::SearchOn(name.to_owned()))
        }
        error => error.into(),
    })
}

/// Looks for one name after the other.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let requests = arguments.names.iter().map(|name| request(name)).collect::<anyhow::Result<Vec<_>>>()?;
    let network = Configuration::read()?.network;
    let keyservers = arguments.keyservers(&network)?;
    let client = network.client(&environment)?;
    let store = session.open_or_create()?;
    let command = command_line();
    let (mut is_complete, mut is_asked) = (true, true);
    for request in &requests {
        let sources = FetchSource::of(request, !arguments.no_wkd, network.dns.openpgpkey, &keyservers);
        if sources.is_empty() {
            bail!("{request}: no server to ask: {}", arguments.advice());
        }
        let mut failures = 0;
        let now = session.now;
        let found =
            fetch(store.as_ref(), &client, request, &sources, &command, now, &mut |source, outcome| {
                failures += usize::from(matches!(outcome, FetchOutcome::Failed(_)));
                report(session, request, source, outcome).map_err(engine::Error::Output)
            })?;
        is_complete &= found;
        is_asked &= found || failures == 0;
    }
    if !is_asked {
        bail!("some keys were not found, and a server failed");
    }
    Ok(Outcome::done_if(is_complete))
}

/// Reports what came from a place.
fn report(
    session: &mut Session,
    request: &Request,
    source: FetchSource<'_>,
    outcome: &FetchOutcome,
) -> std::io::Result<()> {
    if session.output.is_json() {
        return session.output.json(&FetchOutcomeJson::new(request, source, outcome));
    }
    if let FetchOutcome::Answer { taken, .. } = outcome {
        taken.certificates.iter().try_for_each(|imported| certificate_line(session, imported))?;
    }
    note(session, request, source, outcome);
    Ok(())
}

/// Says on standard error what came from a place.
pub(super) fn note(session: &Session, request: &Request, source: FetchSource<'_>, outcome: &FetchOutcome) {
    match outcome {
        FetchOutcome::Nothing => session.note(format_args!("{request}: {source}: not found")),
        FetchOutcome::Failed(error) => session.warn(format_args!("{request}: {source}: {}", causes(error))),
        FetchOutcome::Answer { url, taken } => {
            for imported in &taken.certificates {
                if let Request::Key(query) = request
                    && !query.names_key(&imported.fingerprint)
                {
                    let of = imported.fingerprint;
                    session.note(format_args!("{request}: a subkey of the certificate {of}"));
                }
                for revoker in &imported.missing_revokers {
                    let look = Hint::Fetch(revoker.to_string());
                    session.warn(format_args!(
                        "{request}: may be revoked: its revoker {revoker} is not here; {look}"
                    ));
                }
            }
            match taken.is_something() {
                true => session.note(format_args!("{request}: from {url}")),
                false => session.warn(format_args!("{request}: {url}: {}", of_no_use(taken))),
            }
            if taken.is_something() && taken.not_asked_for > 0 {
                let others = counted(taken.not_asked_for, "certificate");
                session.warn(format_args!("{request}: {url}: dropped {others} that nobody asked for"));
            }
        }
    }
}

/// Returns why an answer is of no use.
fn of_no_use(taken: &Taken) -> String {
    let unusable = taken.certificates.len() as u64;
    match taken.refused.first() {
        _ if unusable > 0 => "the key has no user ID that could be imported".to_owned(),
        _ if taken.not_asked_for > 0 => {
            format!(
                "the answer holds {}, but not what was asked for",
                counted(taken.not_asked_for, "certificate")
            )
        }
        Some(reason) => format!("the answer cannot be read: {reason}"),
        None => "the answer holds no certificate".to_owned(),
    }
}

/// Prints what became of a certificate.
pub(super) fn certificate_line(session: &mut Session, imported: &Imported) -> std::io::Result<()> {
    let (style, word) = outcome(imported);
    let name = imported.name.as_deref().map(printable).unwrap_or_default();
    let output = &mut session.output;
    output.line(format_args!("{}  {}  {name}", imported.fingerprint, output.styled(style, word)))
}

/// Says in a word what became of a certificate.
fn outcome(imported: &Imported) -> (Style, &'static str) {
    match imported.outcome {
        ImportOutcome::New => (Style::Good, "new"),
        ImportOutcome::Changed(added) if added.revocations > 0 => (Style::Error, "revoked"),
        ImportOutcome::Changed(_) => (Style::Name, "changed"),
        ImportOutcome::Unchanged => (Style::Faint, "unchanged"),
        ImportOutcome::SkippedNew | ImportOutcome::SkippedWithoutUserId | ImportOutcome::Declined => {
            (Style::Warning, "not imported")
        }
    }
}

/// What came from a place, as `docs/json.md` describes it.
#[derive(Serialize)]
struct FetchOutcomeJson<'a> {
    asked_for: String,
    source: String,
    result: &'static str,
    url: Option<String>,
    error: Option<String>,
    certificates: Vec<CertificateJson<'a>>,
    not_asked_for: u64,
    refused: &'a [String],
    refused_count: u64,
    entry: Option<i64>,
}

impl<'a> FetchOutcomeJson<'a> {
    fn new(request: &Request, source: FetchSource<'_>, outcome: &'a FetchOutcome) -> Self {
        let nothing = Self {
            asked_for: request.to_string(),
            source: match source {
                FetchSource::Wkd => "wkd".to_owned(),
                FetchSource::Dns => "dns".to_owned(),
                FetchSource::Keyserver(server) => server.to_string(),
                FetchSource::Named => "url".to_owned(),
            },
            result: "nothing",
            url: None,
            error: None,
            certificates: Vec::new(),
            not_asked_for: 0,
            refused: &[],
            refused_count: 0,
            entry: None,
        };
        match outcome {
            FetchOutcome::Nothing => nothing,
            FetchOutcome::Failed(error) => Self { result: "failed", error: Some(causes(error)), ..nothing },
            FetchOutcome::Answer { url, taken } => Self {
                result: "answer",
                url: Some(url.clone()),
                certificates: taken.certificates.iter().map(CertificateJson::new).collect(),
                not_asked_for: taken.not_asked_for,
                refused: &taken.refused,
                refused_count: taken.refused_count,
                entry: taken.summary.journal.map(|journal| journal.0),
                ..nothing
            },
        }
    }
}

/// A certificate that came, as `docs/json.md` describes it.
#[derive(Serialize)]
pub(super) struct CertificateJson<'a> {
    fingerprint: String,
    user_id: Option<TextJson<'a>>,
    outcome: &'static str,
    new_user_ids: u32,
    new_subkeys: u32,
    new_signatures: u32,
    new_revocations: u32,
}

impl<'a> CertificateJson<'a> {
    pub(super) fn new(imported: &'a Imported) -> Self {
        let (outcome, added) = word_and_additions(imported.outcome);
        Self {
            fingerprint: imported.fingerprint.to_string(),
            user_id: imported.name.as_deref().map(TextJson::new),
            outcome,
            new_user_ids: added.user_ids,
            new_subkeys: added.subkeys,
            new_signatures: added.signatures,
            new_revocations: added.revocations,
        }
    }
}
