//! `--list-keys` and `--list-signatures`.

use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use keyhoard::cert::Timestamp;
use keyhoard::cert::effective::{Effective, View};
use keyhoard::cert::facts::Facts;
use keyhoard::certifications::Checker;
use keyhoard::listing::{self, KeyListing, ListOptions, Signatures, Trust};
use keyhoard::secret_keys::SecretKeys;
use keyhoard::store::{CertId, Detail, Fingerprint, Selection, Snapshot, Store};
use keyhoard::validity::{Appraisal, Sources};

use super::Session;
use super::checks::Checks;
use crate::code::Code;
use crate::keyrings::{Keyrings, Ring};
use crate::names::Names;
use crate::render;
use crate::settings::{ListSettings, TrustModel, TrustNumbers};
use crate::status::Status;
use crate::streams::Streams;
use crate::trust;

/// Text is written out when this much of it has gathered.
const ENOUGH: usize = 64 * 1024;

/// Lists the keys that the arguments name, or all of them.
pub(super) fn run(session: &mut Session<'_>, signatures: bool) -> anyhow::Result<()> {
    session.settings.list.signatures |= signatures;
    if session.settings.list.with_colons {
        let record = trust_record(session);
        session.streams.out().write_all(record.as_bytes())?;
    }
    let keyrings = Keyrings::open(session)?;
    if session.arguments.is_empty() { list_all(session, &keyrings) } else { list_named(session, &keyrings) }
}

fn list_all(session: &mut Session<'_>, keyrings: &Keyrings) -> anyhow::Result<()> {
    let snapshots = keyrings.snapshots()?;
    let outside = trust::outside(&session.home, keyrings)?;
    let outside = outside.as_deref().map(Store::snapshot).transpose()?;
    let sources = trust::sources(&session.home, &snapshots, outside.as_deref())?;
    let appraisal = appraise(session, &sources, None)?;
    let mut page = Page::new(session, &appraisal);
    let mut issuers = issuers(session, &snapshots);
    for (number, (ring, snapshot)) in snapshots.iter().enumerate() {
        let list = &session.settings.list;
        if !list.with_colons && !list.flags.only_fpr_mbox && snapshot.count()? > 0 {
            title("", ring.shown(), &mut page.text);
        }
        page.number = number;
        let mut checker = page.checks.as_ref().map(|checks| checks.checker(ring, number, &snapshots));
        page.list(snapshot.as_ref(), Selection::All, &mut issuers, checker.as_mut(), session.streams)?;
    }
    page.summarise(session.streams);
    Ok(())
}

fn list_named(session: &mut Session<'_>, keyrings: &Keyrings) -> anyhow::Result<()> {
    let names = Names::parse(&session.arguments);
    if let Some(refused) = names.refused().first() {
        session.streams.error(format_args!("error reading key: {}", refused.code));
        session.streams.status_error("keylist.getkey", refused.value());
        return Ok(());
    }
    let snapshots = keyrings.snapshots()?;
    let mut found = Vec::with_capacity(snapshots.len());
    for (_, snapshot) in &snapshots {
        found.push(names.find(snapshot.as_ref())?.iter().map(|hit| hit.id).collect::<Vec<CertId>>());
    }
    let outside = trust::outside(&session.home, keyrings)?;
    let outside = outside.as_deref().map(Store::snapshot).transpose()?;
    let sources = trust::sources(&session.home, &snapshots, outside.as_deref())?;
    let appraisal = appraise(session, &sources, Some(&found))?;
    let mut page = Page::new(session, &appraisal);
    let mut issuers = issuers(session, &snapshots);
    page.considered = session.streams.status_wanted();
    for (number, ((ring, snapshot), ids)) in snapshots.iter().zip(&found).enumerate() {
        page.number = number;
        page.keyring = keyring_shown(session, ring);
        let mut checker = page.checks.as_ref().map(|checks| checks.checker(ring, number, &snapshots));
        page.list(snapshot.as_ref(), Selection::Ids(ids), &mut issuers, checker.as_mut(), session.streams)?;
    }
    if found.iter().all(Vec::is_empty) {
        session.streams.error(format_args!("error reading key: {}", Code::NoPublicKey));
        session.streams.status_error("keylist.getkey", Code::NoPublicKey.bare());
    } else {
        page.summarise(session.streams);
    }
    Ok(())
}

/// Appraises the keys that were found in each keyring, or all keys, as far as the listing shows it.
fn appraise<'a>(
    session: &Session<'_>,
    sources: &Sources<'a>,
    found: Option<&[Vec<CertId>]>,
) -> keyhoard::Result<Appraisal<'a>> {
    let settings = trust::settings(&session.settings, session.now);
    let list = &session.settings.list;
    if list.fast || !(list.with_colons || list.flags.uid_validity) {
        return Appraisal::nothing(sources, &settings);
    }
    let Some(found) = found else { return Appraisal::all(sources, &settings) };
    let mut keys: Vec<Fingerprint> = Vec::new();
    for (snapshot, ids) in sources.certificates.iter().zip(found) {
        snapshot.visit(Selection::Ids(ids), Detail::Name, &mut |record| {
            keys.push(record.fingerprint);
            ControlFlow::Continue(())
        })?;
    }
    Appraisal::of(&keys, sources, &settings)
}

/// Returns the names of those who made signatures, wherever their keys are.
fn issuers<'s>(
    session: &Session<'_>,
    snapshots: &'s [(&Ring, Box<dyn Snapshot + 's>)],
) -> listing::Names<'s> {
    let sources = snapshots.iter().map(|(_, snapshot)| snapshot.as_ref()).collect();
    listing::Names::new(sources, session.now, View::Gnupg)
}

/// The keyring stands above each key that was asked for by name, with `--list-options show-keyring`.
fn keyring_shown<'a>(session: &Session<'_>, ring: &'a Ring) -> Option<&'a Path> {
    let list = &session.settings.list;
    (list.flags.keyring && !list.with_colons).then(|| ring.shown())
}

/// Text on its way out.
struct Page<'a> {
    settings: ListSettings,
    now: Timestamp,
    appraisal: &'a Appraisal<'a>,
    /// Which keyring is listed.
    number: usize,
    text: Vec<u8>,
    /// Each key is announced on the status channel.
    considered: bool,
    /// Stands above each key.
    keyring: Option<&'a Path>,
    /// Where secret keys are looked for, with `--with-secret`.
    secret_keys: Option<SecretKeys>,
    /// How signatures are checked, and what came of it so far.
    checks: Option<Checks>,
}

impl<'a> Page<'a> {
    fn new(session: &Session<'_>, appraisal: &'a Appraisal<'a>) -> Self {
        Self {
            settings: session.settings.list.clone(),
            now: session.now,
            appraisal,
            number: 0,
            text: Vec::new(),
            considered: false,
            keyring: None,
            secret_keys: session.settings.list.with_secret.then(|| session.secret_keys()),
            checks: session.settings.list.check_signatures.then(|| Checks::new(session)),
        }
    }

    fn list(
        &mut self,
        snapshot: &dyn Snapshot,
        selection: Selection<'_>,
        issuers: &mut listing::Names<'_>,
        checker: Option<&mut Checker<'_>>,
        streams: &mut Streams,
    ) -> anyhow::Result<()> {
        let options =
            ListOptions { now: self.now, view: View::Gnupg, signatures: Signatures::Without, bodies: false };
        let options = render::needs(&self.settings, streams.attribute().is_some(), options);
        let secret_keys = self.secret_keys.clone();
        let (appraisal, number) = (self.appraisal, self.number);
        let mut trust = |facts: &Facts, effective: &Effective| {
            let secret_keys = secret_keys.as_ref().map_or(Vec::new(), |keys| keys.all_of(facts));
            Ok(Trust { secret_keys, ..appraisal.trust(facts, effective, number)? })
        };
        let mut written = Ok(());
        let mut each = |listing: KeyListing<'_>| {
            written = self.add(&listing, streams);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        match checker {
            None => listing::list(snapshot, selection, options, issuers, &mut trust, &mut each)?,
            Some(checker) => {
                listing::list_checked(snapshot, selection, options, issuers, checker, &mut trust, &mut each)?;
                checker.keep()?;
            }
        }
        written?;
        Ok(streams.out().write_all(&std::mem::take(&mut self.text))?)
    }

    /// Says how the signatures were that were checked; colon listings leave that out.
    fn summarise(&self, streams: &mut Streams) {
        if let Some(checks) = self.checks.as_ref().filter(|_| !self.settings.with_colons) {
            checks.summarise(streams);
        }
    }

    fn add(&mut self, listing: &KeyListing<'_>, streams: &mut Streams) -> io::Result<()> {
        if self.considered {
            streams.out().write_all(&std::mem::take(&mut self.text))?;
            streams
                .status(&Status::KeyConsidered { fingerprint: listing.fingerprint().to_string(), flags: 0 });
        }
        if let Some(keyring) = self.keyring {
            title("Keyring: ", keyring, &mut self.text);
        }
        attributes(listing, &self.settings, streams)?;
        if let Some(checks) = &mut self.checks {
            checks.add(listing, &self.settings, streams);
        }
        render::listing(listing, &self.settings, &mut self.text);
        if self.text.len() >= ENOUGH {
            streams.out().write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }
}

/// Writes the attributes of a listed key where `--attribute-fd` says, and announces each.
pub(super) fn attributes(
    listing: &KeyListing<'_>,
    settings: &ListSettings,
    streams: &mut Streams,
) -> io::Result<()> {
    if streams.attribute().is_none() {
        return Ok(());
    }
    for attribute in render::attribute::data(listing, settings) {
        streams.status(&Status::Attribute(&attribute.status));
        if let Some(channel) = streams.attribute() {
            channel.write_all(attribute.data)?;
        }
    }
    Ok(())
}

/// Appends the name of a keyring, underlined.
fn title(label: &str, keyring: &Path, text: &mut Vec<u8>) {
    let start = text.len();
    text.extend_from_slice(label.as_bytes());
    text.extend_from_slice(keyring.as_os_str().as_bytes());
    let columns = text.len() - start;
    text.push(b'\n');
    text.resize(text.len() + columns, b'-');
    text.push(b'\n');
}

/// Returns the record about the trust database, of which there is none: validity is computed when it is asked for.
///
/// It says what gpg says where none was ever made and all keys are trusted, else what it says of one made just now with
/// the options that are in force.
fn trust_record(session: &Session<'_>) -> String {
    let TrustNumbers { marginals_needed, completes_needed, max_cert_depth, .. } = session.settings.trust;
    let stale = match session.settings.trust_model {
        TrustModel::Always => return "tru:t:0:0:0:0:0:0\n".to_owned(),
        TrustModel::Auto | TrustModel::Pgp => "",
        _ => "t",
    };
    format!("tru:{stale}:1:{}:0:{marginals_needed}:{completes_needed}:{max_cert_depth}\n", session.now.0)
}
