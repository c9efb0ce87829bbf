//! `--list-keys` and `--list-signatures`.

use std::cell::Cell;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use engine::cert::effective::{Effective, PacketView};
use engine::cert::facts::Facts;
use engine::certifications::Checker;
use engine::configuration::Compat;
use engine::listing::{self, KeyListing, ListOptions, UserTrust};
use engine::store::{CertId, Detail, Fingerprint, ReadCertificates, Selection};
use engine::validity::{Model, Sources, ValidityResult};

use super::checks::Checks;
use crate::code::Code;
use crate::filter_properties::selects_certificate;
use crate::keyrings::{Keyrings, Ring, Snapshots};
use crate::names::{Hit, Names};
use crate::render;
use crate::render::text::for_people;
use crate::secrets::Secrets;
use crate::settings::{ListSettings, Settings, TrustNumbers};
use crate::streams::Streams;
use crate::trust;

/// Bytes of text at which it is written out.
const FLUSH_SIZE: usize = 64 * 1024;

/// Lists the keys that the arguments name, or all of them.
pub(super) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    write_trust_record(settings, streams)?;
    if !arguments.is_empty() {
        return list_named(arguments, settings, streams);
    }
    let keyrings = Keyrings::open(settings, streams)?;
    let spreads = trust::settings(settings).model.spreads();
    let snapshots = match settings.list.shows_validity() && spreads {
        true => keyrings.snapshots_on_all_cores()?,
        false => keyrings.snapshots()?,
    };
    list(arguments, settings, streams, &snapshots, None, shown_secrets(settings)?)
}

/// Lists the keys that the arguments name.
pub(super) fn list_named(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    let keyrings = Keyrings::open(settings, streams)?;
    let snapshots = keyrings.snapshots()?;
    let Some(names) = names(arguments, settings.compat, streams) else { return Ok(()) };
    let found = find(&names, &snapshots)?;
    let secrets = shown_secrets(settings)?;
    list_found(arguments, settings, streams, &snapshots, &found, secrets)
}

/// Returns the secret keys that a listing of public keys shows.
fn shown_secrets(settings: &Settings) -> anyhow::Result<Option<Secrets>> {
    settings.list.with_secret.then(|| Secrets::all(settings)).transpose()
}

/// Writes the record about trust that a listing for programs begins with.
pub(super) fn write_trust_record(settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    if settings.list.with_colons {
        let record = trust_record(settings);
        streams.out().write_all(record.as_bytes())?;
    }
    Ok(())
}

/// Lists the keys that the arguments name, or all, that have a secret key here.
pub(super) fn run_secret(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    let keyrings = Keyrings::open(settings, streams)?;
    let snapshots = keyrings.snapshots()?;
    let secrets = Secrets::kept(settings)?;
    let mut found = Vec::with_capacity(snapshots.len());
    for (_, snapshot) in snapshots.iter() {
        found.push(secrets.certificates(snapshot.as_ref())?);
    }
    if arguments.is_empty() {
        return match found.iter().all(Vec::is_empty) {
            true => Ok(()),
            false => list_found(arguments, settings, streams, &snapshots, &found, Some(secrets)),
        };
    }
    let Some(names) = names(arguments, settings.compat, streams) else { return Ok(()) };
    for (found, named) in found.iter_mut().zip(find(&names, &snapshots)?) {
        found.retain(|id| named.binary_search(id).is_ok());
    }
    list_found(arguments, settings, streams, &snapshots, &found, Some(secrets))
}

/// Reads the arguments; an invalid name is reported.
fn names(arguments: &[Vec<u8>], compat: Compat, streams: &mut Streams) -> Option<Names> {
    let names = Names::parse(arguments, compat);
    let Some(refused) = names.refused().first() else { return Some(names) };
    streams.error(format_args!("error reading key: {}", refused.code));
    streams.status_error("keylist.getkey", refused.value());
    None
}

fn find(names: &Names, snapshots: &Snapshots<'_>) -> engine::Result<Vec<Vec<CertId>>> {
    let ids = |hits: Vec<Hit>| hits.iter().map(|hit| hit.id).collect();
    snapshots.iter().map(|(_, snapshot)| names.find(snapshot.as_ref()).map(ids)).collect()
}

/// Lists the certificates that were found in each keyring; reports an error if there are none.
fn list_found(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    snapshots: &Snapshots<'_>,
    found: &[Vec<CertId>],
    secrets: Option<Secrets>,
) -> anyhow::Result<()> {
    if found.iter().all(Vec::is_empty) {
        let nothing = if settings.list.secret { Code::NO_SECRET_KEY } else { Code::NO_PUBLIC_KEY };
        streams.error(format_args!("error reading key: {nothing}"));
        streams.status_error("keylist.getkey", nothing.bare());
        return Ok(());
    }
    list(arguments, settings, streams, snapshots, Some(found), secrets)
}

/// Lists the certificates that were found in each keyring, or all.
fn list(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    snapshots: &Snapshots<'_>,
    found: Option<&[Vec<CertId>]>,
    secrets: Option<Secrets>,
) -> anyhow::Result<()> {
    let sources = snapshots.sources()?;
    let validity = compute_validity(settings, &sources, found)?;
    let mut page = Page::new(settings, &validity, secrets);
    let mut issuers = listing::Names::new(sources.certificates, settings.now, PacketView::Gnupg)
        .with_digests(settings.self_signature_digests());
    let is_named = !arguments.is_empty();
    page.considered = is_named && streams.status_wanted();
    for (number, (ring, snapshot)) in snapshots.iter().enumerate() {
        page.number = number;
        let (selection, is_empty) = match found {
            Some(found) => (Selection::Ids(&found[number]), found[number].is_empty()),
            None => (Selection::All, snapshot.count()? == 0),
        };
        if is_named {
            let is_shown = settings.list.flags.keyring && !settings.list.with_colons;
            page.keyring = is_shown.then(|| ring.shown());
        } else if !is_empty {
            page.title(ring);
        }
        let mut checker = page.checks.as_ref().map(|checks| checks.checker(ring, number, snapshots));
        page.list(snapshot.as_ref(), selection, &mut issuers, checker.as_mut(), streams)?;
    }
    page.summarise(streams);
    Ok(())
}

/// Computes the validity of the keys that were found in each keyring, or of all keys, if the listing shows it.
fn compute_validity<'a>(
    settings: &Settings,
    sources: &Sources<'a>,
    found: Option<&[Vec<CertId>]>,
) -> engine::Result<ValidityResult<'a>> {
    let trust = trust::settings(settings);
    if !settings.list.shows_validity() {
        return ValidityResult::nothing(sources, &trust);
    }
    let Some(found) = found else { return ValidityResult::all(sources, &trust) };
    let mut keys: Vec<Fingerprint> = Vec::new();
    for (snapshot, ids) in sources.certificates.iter().zip(found) {
        snapshot.visit(Selection::Ids(ids), Detail::Name, &mut |record| {
            keys.push(record.fingerprint);
            ControlFlow::Continue(())
        })?;
    }
    ValidityResult::of(&keys, sources, &trust)
}

/// The text of a listing, and what it needs.
struct Page<'a> {
    settings: &'a Settings,
    validity: &'a ValidityResult<'a>,
    /// The index of the keyring that is listed.
    number: usize,
    text: Vec<u8>,
    /// A `KEY_CONSIDERED` line is written for each key.
    considered: bool,
    /// The keyring to show above each key (`--list-options show-keyring`).
    keyring: Option<&'a Path>,
    /// The secret keys, if the listing shows them.
    secrets: Option<Secrets>,
    /// How signatures are checked, and the results so far.
    checks: Option<Checks>,
}

impl<'a> Page<'a> {
    fn new(settings: &'a Settings, validity: &'a ValidityResult<'a>, secrets: Option<Secrets>) -> Self {
        Self {
            settings,
            validity,
            number: 0,
            text: Vec::new(),
            considered: false,
            keyring: None,
            secrets,
            checks: settings.list.check_signatures.then(|| Checks::new(settings)),
        }
    }

    /// Appends the name of a keyring as a title.
    fn title(&mut self, ring: &Ring) {
        if !self.settings.list.with_colons && !self.settings.list.flags.only_fpr_mbox {
            title("", ring.shown(), &mut self.text);
        }
    }

    fn list(
        &mut self,
        snapshot: &dyn ReadCertificates,
        selection: Selection<'_>,
        issuers: &mut listing::Names<'_>,
        mut checker: Option<&mut Checker<'_>>,
        streams: &mut Streams,
    ) -> anyhow::Result<()> {
        let Settings { now, list, .. } = self.settings;
        let options = ListOptions::as_gnupg(*now, self.settings.self_signature_digests());
        let options = render::needs(list, streams.attribute().is_some(), options);
        let secrets = self.secrets.clone();
        let (validity, number) = (self.validity, self.number);
        let is_selected = Cell::new(true);
        let mut trust = |id: CertId, facts: &Facts, effective: &Effective| {
            let secret_keys = secrets.as_ref().map_or(Vec::new(), |secrets| secrets.parts(facts));
            let trust = UserTrust { secret_keys, ..validity.trust((number, id), facts, effective)? };
            is_selected.set(match &list.select {
                Some(filter) => selects_certificate(filter, facts, effective, trust.disabled, *now),
                None => true,
            });
            Ok(trust)
        };
        let mut written = Ok(());
        let mut each = |listing: KeyListing<'_>| {
            if !is_selected.get() {
                return ControlFlow::Continue(());
            }
            written = self.add(&listing, streams);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let checking = checker.as_deref_mut();
        listing::list(snapshot, selection, options, issuers, checking, &mut trust, &mut each)?;
        if let Some(checker) = checker {
            checker.keep()?;
        }
        written?;
        Ok(streams.out().write_all(&std::mem::take(&mut self.text))?)
    }

    /// Writes the totals of the signatures that were checked; not in colon listings.
    fn summarise(&self, streams: &mut Streams) {
        if let Some(checks) = self.checks.as_ref().filter(|_| !self.settings.list.with_colons) {
            checks.summarise(streams);
        }
    }

    fn add(&mut self, listing: &KeyListing<'_>, streams: &mut Streams) -> io::Result<()> {
        if self.considered {
            streams.out().write_all(&std::mem::take(&mut self.text))?;
            streams.considered(listing.fingerprint());
        }
        if let Some(keyring) = self.keyring {
            title("Keyring: ", keyring, &mut self.text);
        }
        attributes(listing, &self.settings.list, streams)?;
        if let Some(checks) = &mut self.checks {
            checks.add(listing, &self.settings.list, streams);
        }
        render::listing(listing, &self.settings.list, &mut self.text);
        if self.text.len() >= FLUSH_SIZE {
            streams.out().write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }
}

/// Writes the attributes of a listed key to `--attribute-fd`, each with an `ATTRIBUTE` line.
pub(super) fn attributes(
    listing: &KeyListing<'_>,
    settings: &ListSettings,
    streams: &mut Streams,
) -> io::Result<()> {
    if streams.attribute().is_none() {
        return Ok(());
    }
    for attribute in render::attribute::data(listing, settings) {
        streams.status(format!("ATTRIBUTE {}", attribute.status));
        if let Some(channel) = streams.attribute() {
            channel.write_all(attribute.data)?;
        }
    }
    Ok(())
}

/// Appends the name of a keyring, underlined.
fn title(label: &str, keyring: &Path, text: &mut Vec<u8>) {
    let keyring = keyring.as_os_str().as_bytes();
    let columns = label.len() + keyring.len();
    text.extend_from_slice(label.as_bytes());
    for_people(keyring, text);
    text.push(b'\n');
    text.resize(text.len() + columns, b'-');
    text.push(b'\n');
}

/// Returns the `tru` record about the trust database, although there is none: validity is computed when needed.
///
/// With `--trust-model always` it is gpg's record for a missing trust database, else that for one made just now with
/// the options that are in force.
fn trust_record(settings: &Settings) -> String {
    let TrustNumbers { marginals_needed, completes_needed, max_cert_depth, .. } = settings.trust;
    let stale = match settings.trust_model {
        Model::Always => return "tru:t:0:0:0:0:0:0\n".to_owned(),
        Model::Pgp => "",
        _ => "t",
    };
    format!("tru:{stale}:1:{}:0:{marginals_needed}:{completes_needed}:{max_cert_depth}\n", settings.now.0)
}
