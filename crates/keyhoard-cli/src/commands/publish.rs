//! `keyhoard publish`: sends certificates to a keyserver, or writes a Web Key Directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::bail;
use engine::causes;
use engine::configuration::Configuration;
use engine::fetch::{DirectoryLayout, DirectoryOptions, Published, WrittenKey, publish, write_directory};
use engine::network::Keyserver;
use engine::network::keyserver::Submission;
use engine::store::{CertId, ReadCertificates};
use serde::Serialize;

use super::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::printable::counted;
use crate::question::Confirmation;
use crate::session::{Session, environment};

/// The arguments of `keyhoard publish`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard publish ann@example.org --to vks://keys.openpgp.org
  keyhoard publish ann@example.org --to hkps://keyserver.ubuntu.com
  keyhoard publish @example.org --wkd /srv/www/openpgpkey --domain example.org
  keyhoard publish @example.org --wkd /srv/www/html --direct --domain example.org

What a keyserver has cannot be taken back. keys.openpgp.org sends mail to each address, and publishes those whose owners \
agree. Signatures that are not exportable are never sent. A Web Key Directory is written as files, for a web server of \
https://openpgpkey.DOMAIN/, or with --direct of https://DOMAIN/: below .well-known/openpgpkey, with a policy file; a key \
has only the user IDs of the address that it is found by, and no certifications by others.")]
pub(crate) struct Arguments {
    /// The certificates.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<OsString>,

    /// Send them to this keyserver.
    #[arg(long, value_name = "SERVER", required_unless_present = "wkd", conflicts_with = "wkd")]
    to: Option<String>,

    /// Write them to this directory.
    #[arg(long, value_name = "DIRECTORY", value_hint = clap::ValueHint::DirPath)]
    wkd: Option<PathBuf>,

    /// Only addresses of this domain; may be given again.
    #[arg(long, value_name = "DOMAIN", requires = "wkd")]
    domain: Vec<String>,

    /// Write the files for the web server of DOMAIN itself, not of openpgpkey.DOMAIN.
    #[arg(long, requires = "wkd")]
    direct: bool,

    #[command(flatten)]
    confirmation: Confirmation,
}

/// Publishes the certificates.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let server = arguments.to.as_deref().map(str::parse::<Keyserver>).transpose()?;
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let named = NamedCertificates::find(session, snapshot.as_ref(), &arguments.names)?;
    let ids = named.ids.unwrap_or_default();
    if !named.complete || ids.is_empty() {
        return Ok(Outcome::Nothing);
    }
    match (server, &arguments.wkd) {
        (Some(server), _) => send(session, arguments, snapshot.as_ref(), &ids, &server),
        (None, Some(directory)) => write(session, arguments, snapshot.as_ref(), &ids, directory),
        (None, None) => bail!("name a keyserver with --to, or a directory with --wkd"),
    }
}

fn send(
    session: &mut Session,
    arguments: &Arguments,
    snapshot: &dyn ReadCertificates,
    ids: &[CertId],
    server: &Keyserver,
) -> anyhow::Result<Outcome> {
    let certificates = counted(ids.len() as u64, "certificate");
    let question = format!("Send {certificates} to {server}? It cannot be taken back.");
    if !arguments.confirmation.is_given(format_args!("sending {certificates}"), question)? {
        return Ok(Outcome::Nothing);
    }
    let client = Configuration::read()?.network.client(&environment)?;
    let published = publish(snapshot, ids, server, &client, session.now)?;
    for one in &published {
        report(session, server, one)?;
    }
    match published.iter().any(|one| one.outcome.is_err()) {
        true => bail!("the server did not accept everything"),
        false => Ok(Outcome::Done),
    }
}

fn report(session: &mut Session, server: &Keyserver, published: &Published) -> std::io::Result<()> {
    let Published { fingerprint, outcome } = published;
    if session.output.is_json() {
        return session.output.json(&PublishedJson::new(server, published));
    }
    match outcome {
        Err(error) => session.warn(format_args!("{fingerprint}: {}", causes(error))),
        Ok(Submission::Taken) => session.note(format_args!("{fingerprint}: sent to {server}")),
        Ok(Submission::Addresses(states)) => {
            session.note(format_args!("{fingerprint}: sent to {server}"));
            for (address, state) in states {
                let text = match state.as_str() {
                    "pending" => "mail was sent; it is published once its owner follows the link",
                    other => other,
                };
                session.output.line(format_args!("{address}: {text}"))?;
            }
        }
    }
    Ok(())
}

fn write(
    session: &mut Session,
    arguments: &Arguments,
    snapshot: &dyn ReadCertificates,
    ids: &[CertId],
    directory: &Path,
) -> anyhow::Result<Outcome> {
    let layout = if arguments.direct { DirectoryLayout::Direct } else { DirectoryLayout::Advanced };
    let domains = arguments.domain.clone();
    let options = DirectoryOptions { layout, domains };
    let written = write_directory(snapshot, ids, directory, &options, session.now)?;
    for WrittenKey { address, path, certificates } in &written {
        if session.output.is_json() {
            let certificates = certificates.iter().map(ToString::to_string).collect();
            let file = path.to_string_lossy();
            session.output.json(&WrittenJson { address, file: &file, certificates })?;
        } else {
            session.output.line(format_args!("{address}  {}", path.display()))?;
        }
    }
    if written.is_empty() {
        session.warn("no valid user ID has an address that could be published");
    }
    Ok(Outcome::done_if(!written.is_empty()))
}

/// A certificate that was sent, as `docs/json.md` describes it.
#[derive(Serialize)]
struct PublishedJson<'a> {
    fingerprint: String,
    server: String,
    taken: bool,
    error: Option<String>,
    addresses: Vec<AddressJson<'a>>,
}

/// The state of an address on a server, as `docs/json.md` describes it.
#[derive(Serialize)]
struct AddressJson<'a> {
    address: &'a str,
    state: &'a str,
}

impl<'a> PublishedJson<'a> {
    fn new(server: &Keyserver, published: &'a Published) -> Self {
        let addresses = match &published.outcome {
            Ok(Submission::Addresses(states)) => {
                states.iter().map(|(address, state)| AddressJson { address, state }).collect()
            }
            _ => Vec::new(),
        };
        Self {
            fingerprint: published.fingerprint.to_string(),
            server: server.to_string(),
            taken: published.outcome.is_ok(),
            error: published.outcome.as_ref().err().map(|error| causes(error)),
            addresses,
        }
    }
}

/// An address in a directory, as `docs/json.md` describes it.
#[derive(Serialize)]
struct WrittenJson<'a> {
    address: &'a str,
    file: &'a str,
    certificates: Vec<String>,
}
