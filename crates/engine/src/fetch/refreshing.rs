//! Refresh: asks again for certificates that are here.
//!
//! In random order, and with a pause after each, so that nobody sees from the requests which keyring it is. What is
//! asked for is a fingerprint; of the answer only what adds to that certificate is taken.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use cert::facts::Facts;
use cert::mailbox::{mail_address, mailbox};
use cert::packet::{Packets, Tag};
use cert::{Fingerprint, Origin};
use network::wkd::Address;
use network::{Client, Keyserver};
use store::{CertId, Detail, JournalId, Origins, Query, ReadCertificates, Selection, Store, Timestamp};

use super::answer::{Answer, RequestedCertificates, Taken, matches_user_id, taken_options};
use super::request::Request;
use super::source::FetchSource;
use crate::Result;
use crate::import::key_origin as kind;
use crate::import::{ImportEvent, ImportOptions, ImportOutcome, Imported, import_all};

/// Nothing is asked for again before this has passed.
const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);
/// How many answers are taken in at once; a refresh that is interrupted loses no more than these.
const MOST_ANSWERS: usize = 256;
/// How many bytes of answers are taken in at once.
const MOST_BYTES: usize = 8 << 20;
/// How long answers wait to be taken in.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// After so many failures in a row a server is not asked any more.
const MOST_FAILURES: u32 = 5;

/// What a refresh asks, and whom.
#[derive(Clone, Debug)]
pub struct RefreshOptions<'a> {
    /// The certificates; `None` for all.
    pub ids: Option<&'a [CertId]>,
    /// The keyservers. Each is asked for each certificate.
    pub keyservers: &'a [Keyserver],
    /// How long it waits after a certificate.
    pub pause: Duration,
    /// Asks the DNS for certificates that came from there.
    pub dns: bool,
    /// Asks even for what was asked for within a day.
    pub again: bool,
    /// The command line, for the journal.
    pub command: &'a str,
}

/// Something that happened during a refresh.
#[derive(Debug)]
pub enum RefreshEvent<'a> {
    /// So many certificates were asked for, of how many.
    Progress(u64, u64),
    /// A source could not be asked for a certificate.
    Failed(Fingerprint, &'a network::Error),
    /// A source failed so often that it is not asked any more.
    GivenUp(String),
}

/// A certificate that a refresh changed.
#[derive(Clone, Debug)]
pub struct Refreshed(pub Imported);

impl RefreshSummary {
    /// Says whether everything was asked for everywhere, or had been within a day.
    pub fn is_complete(&self) -> bool {
        !self.given_up && self.failed == 0 && self.incomplete == 0
    }
}

impl Refreshed {
    /// Says whether something was revoked.
    pub fn is_revocation(&self) -> bool {
        matches!(self.0.outcome, ImportOutcome::Changed(added) if added.revocations > 0)
    }
}

/// What a refresh found.
#[derive(Debug, Default)]
pub struct RefreshSummary {
    /// Certificates that were asked for.
    pub asked: u64,
    /// Certificates that were asked for within a day, and not again.
    pub too_soon: u64,
    /// Certificates that no server knows.
    pub unknown: u64,
    /// Certificates that no source could be asked for.
    pub failed: u64,
    /// Certificates that were asked for, but not everywhere: the next refresh asks for them again.
    pub incomplete: u64,
    /// Certificates for which there is nobody to ask: no keyserver is configured, and they came from no directory.
    pub without_source: u64,
    /// Certificates that are not here any more, or came and were not asked for.
    pub not_asked_for: u64,
    /// Certificates that did not change.
    pub unchanged: u64,
    /// Certificates that changed: new revocations first.
    pub changed: Vec<Refreshed>,
    /// Sources that were given up, so that certificates were left.
    pub given_up: bool,
}

/// A certificate that is asked for.
struct Task {
    id: CertId,
    fingerprint: Fingerprint,
    origin: Origin,
    /// The address by which it came from its domain, and whether that was a Web Key Directory or the DNS.
    domain: Option<(FetchSource<'static>, Address)>,
}

/// An answer that waits to be taken in.
struct Pending {
    task: Task,
    /// Every source answered; otherwise the next refresh asks for it again.
    is_complete: bool,
    bytes: Vec<u8>,
}

/// Asks for certificates that are here, and takes in what is new.
///
/// # Errors
///
/// The database's errors; what was taken in before is kept. What goes wrong in the network is an event.
pub fn refresh(
    store: &dyn Store,
    client: &Client,
    options: &RefreshOptions<'_>,
    now: Timestamp,
    on_event: &mut dyn FnMut(RefreshEvent<'_>),
) -> Result<RefreshSummary> {
    let mut summary = RefreshSummary::default();
    let tasks = tasks(store.snapshot()?.as_ref(), options, now, &mut summary)?;
    let total = tasks.len() as u64;
    let mut refresher = Refresher {
        store,
        client,
        options,
        now,
        failures: vec![0; options.keyservers.len()],
        journal: None,
        summary,
    };
    let mut pending = Vec::new();
    let mut since = Instant::now();
    for (number, task) in tasks.into_iter().enumerate() {
        if refresher.is_given_up() && task.domain.is_none() {
            refresher.summary.given_up = true;
            break;
        }
        if let Some(answered) = refresher.ask(task, on_event) {
            pending.push(answered);
        }
        on_event(RefreshEvent::Progress(number as u64 + 1, total));
        let bytes: usize = pending.iter().map(|pending: &Pending| pending.bytes.len()).sum();
        if pending.len() >= MOST_ANSWERS || bytes >= MOST_BYTES || since.elapsed() >= LONGEST_WAIT {
            refresher.take(std::mem::take(&mut pending))?;
            since = Instant::now();
        }
        if !options.pause.is_zero() && (number as u64) + 1 < total {
            std::thread::sleep(options.pause);
        }
    }
    refresher.take(pending)?;
    let mut summary = refresher.summary;
    summary.changed.sort_by_key(|refreshed| (!refreshed.is_revocation(), refreshed.0.fingerprint));
    Ok(summary)
}

/// Returns what is to be asked for, in random order.
fn tasks(
    snapshot: &dyn ReadCertificates,
    options: &RefreshOptions<'_>,
    now: Timestamp,
    summary: &mut RefreshSummary,
) -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    let selection = options.ids.map_or(Selection::All, Selection::Ids);
    snapshot.visit(selection, Detail::Own, &mut |record| {
        let asked = record.origin.updated.filter(|_| !options.again);
        if asked.is_some_and(|asked| is_within_a_day(asked, now)) {
            summary.too_soon += 1;
            return ControlFlow::Continue(());
        }
        let domain = record.facts.as_ref().and_then(|facts| domain(&record.origin, facts, options.dns));
        if options.keyservers.is_empty() && domain.is_none() {
            summary.without_source += 1;
            return ControlFlow::Continue(());
        }
        let (id, fingerprint, origin) = (record.id, record.fingerprint, record.origin);
        tasks.push(Task { id, fingerprint, origin, domain });
        ControlFlow::Continue(())
    })?;
    let random = RandomState::new();
    tasks.sort_by_cached_key(|task| random.hash_one(task.fingerprint.as_bytes()));
    Ok(tasks)
}

/// Says whether a time is in the day before now. One in the future says nothing: a clock was wrong.
fn is_within_a_day(asked: Timestamp, now: Timestamp) -> bool {
    now.0.checked_sub(asked.0).is_some_and(|age| u64::from(age) < INTERVAL.as_secs())
}

/// Returns what a certificate came from, if that was a domain, and the address that is asked for there.
fn domain(origin: &Origin, facts: &Facts, dns: bool) -> Option<(FetchSource<'static>, Address)> {
    let source = match origin.kind {
        kind::WKD => FetchSource::Wkd,
        kind::DANE if dns => FetchSource::Dns,
        _ => return None,
    };
    address_of_origin(origin, facts).map(|address| (source, address))
}

/// Returns the address by which a certificate came from a domain. GnuPG does not note it: then it is the one of the
/// certificate's user IDs, if they all have addresses of one domain, since no other domain is told of it.
fn address_of_origin(origin: &Origin, facts: &Facts) -> Option<Address> {
    if let Some(address) = &origin.url {
        return Address::parse(address).ok();
    }
    let written = facts.user_ids().filter(|user_id| mailbox(user_id).is_some()).filter_map(mail_address);
    let mut addresses =
        written.map(|address| std::str::from_utf8(address).ok().and_then(|text| Address::parse(text).ok()));
    let first = addresses.next()??;
    addresses.all(|other| other.is_some_and(|other| other.domain() == first.domain())).then_some(first)
}

struct Refresher<'a> {
    store: &'a dyn Store,
    client: &'a Client,
    options: &'a RefreshOptions<'a>,
    now: Timestamp,
    /// How often each keyserver failed in a row.
    failures: Vec<u32>,
    /// The entry of the journal, once anything has changed.
    journal: Option<JournalId>,
    summary: RefreshSummary,
}

impl Refresher<'_> {
    fn is_given_up(&self) -> bool {
        !self.failures.is_empty() && self.failures.iter().all(|&failures| failures >= MOST_FAILURES)
    }

    /// Asks every source for a certificate. Returns `None` if none could be asked.
    fn ask(&mut self, task: Task, on_event: &mut dyn FnMut(RefreshEvent<'_>)) -> Option<Pending> {
        let request = Request::Key(Query::Fingerprint(task.fingerprint));
        let (mut bytes, mut is_asked, mut is_complete) = (Vec::new(), false, true);
        let mut add =
            |asked: &RequestedCertificates, answer: network::Result<Option<network::Fetched>>| match answer {
                Ok(fetched) => {
                    is_asked = true;
                    if let Some(fetched) = fetched {
                        bytes.extend(wanted(&fetched.bytes, &task.fingerprint, asked));
                    }
                    true
                }
                Err(error) => {
                    is_complete = false;
                    on_event(RefreshEvent::Failed(task.fingerprint, &error));
                    !error.is_of_server()
                }
            };
        if let Some((source, address)) = &task.domain {
            let request = Request::Address(address.clone());
            let asked = RequestedCertificates { query: request.query(), only_address: true };
            add(&asked, source.ask(self.client, &request));
        }
        let asked = RequestedCertificates { query: request.query(), only_address: false };
        let mut given_up = None;
        for (server, failures) in self.options.keyservers.iter().zip(&mut self.failures) {
            if *failures < MOST_FAILURES {
                let is_answered = add(&asked, FetchSource::Keyserver(server).ask(self.client, &request));
                *failures = if is_answered { 0 } else { *failures + 1 };
                if *failures == MOST_FAILURES {
                    given_up = Some(server.to_string());
                }
            }
        }
        if let Some(server) = given_up {
            on_event(RefreshEvent::GivenUp(server));
        }
        if !is_asked {
            self.summary.failed += 1;
            return None;
        }
        self.summary.asked += 1;
        self.summary.unknown += u64::from(bytes.is_empty());
        is_complete &= self.failures.iter().all(|&failures| failures < MOST_FAILURES);
        self.summary.incomplete += u64::from(!is_complete);
        Some(Pending { task, is_complete, bytes })
    }

    /// Takes answers in, all under one entry of the journal, and notes when they were asked for.
    fn take(&mut self, pending: Vec<Pending>) -> Result<()> {
        if pending.is_empty() {
            return Ok(());
        }
        let Self { store, options, now, journal, summary, .. } = self;
        let asked = RequestedCertificates { query: Query::All, only_address: false };
        let import_options = ImportOptions {
            command: options.command.to_owned(),
            journal: *journal,
            merge_only: true,
            show: false,
            ..taken_options(&asked)
        };
        let inputs = pending.iter().filter(|pending| !pending.bytes.is_empty());
        let inputs: Vec<_> = inputs.map(|pending| Cursor::new(pending.bytes.as_slice())).collect();
        let mut written = *journal;
        // Several servers can have news of one certificate.
        let mut outcomes: BTreeMap<Fingerprint, Imported> = BTreeMap::new();
        if !inputs.is_empty() {
            let imported = import_all(*store, inputs, &import_options, *now, &mut |event| {
                let ImportEvent::Certificate(imported) = event else { return };
                match outcomes.entry(imported.fingerprint) {
                    Entry::Vacant(first) => drop(first.insert(imported.clone())),
                    Entry::Occupied(mut all) => {
                        all.get_mut().outcome = both(all.get().outcome, imported.outcome);
                    }
                }
            })?;
            written = imported.journal;
        }
        for imported in outcomes.into_values() {
            match imported.outcome {
                ImportOutcome::Changed(_) => {
                    *journal = written;
                    summary.changed.push(Refreshed(imported));
                }
                ImportOutcome::Unchanged => summary.unchanged += 1,
                _ => summary.not_asked_for += 1,
            }
        }
        let mut transaction = store.begin(options.command, written, *now)?;
        for Pending { task, .. } in pending.iter().filter(|pending| pending.is_complete) {
            // It stays where it came from; only when it was last asked for is new.
            let origin = Origin { updated: Some(*now), ..task.origin.clone() };
            transaction.set_origins(task.id, &Origins { certificate: Some(origin), user_ids: Vec::new() })?;
        }
        transaction.finish_journal_if_changed()?;
        Ok(transaction.commit()?)
    }
}

/// Returns what two answers brought for one certificate.
fn both(one: ImportOutcome, other: ImportOutcome) -> ImportOutcome {
    match (one, other) {
        (ImportOutcome::Changed(one), ImportOutcome::Changed(other)) => ImportOutcome::Changed(one + other),
        (changed @ ImportOutcome::Changed(_), _) | (_, changed @ ImportOutcome::Changed(_)) => changed,
        (ImportOutcome::Unchanged, _) | (_, ImportOutcome::Unchanged) => ImportOutcome::Unchanged,
        (one, _) => one,
    }
}

/// Returns the packets of an answer for a certificate that is here; from a directory those of the address alone.
/// Nothing is verified.
fn wanted(bytes: &[u8], fingerprint: &Fingerprint, asked: &RequestedCertificates) -> Vec<u8> {
    let key = RequestedCertificates { query: Query::Fingerprint(*fingerprint), only_address: false };
    let primaries =
        Taken::default().claimed(Answer { bytes, asked: &key, origin: &Origin::default() }).primaries;
    if asked.only_address { packets_of_address(&primaries, &asked.query) } else { primaries }
}

/// Drops the user IDs of other addresses, and user attributes, each with the signatures behind it.
fn packets_of_address(bytes: &[u8], query: &Query) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut is_kept = true;
    for packet in Packets::new(bytes).map_while(std::result::Result::ok) {
        is_kept = match packet.tag {
            Tag::SIGNATURE => is_kept,
            Tag::USER_ID => matches_user_id(query, packet.body),
            Tag::ATTRIBUTE => false,
            _ => true,
        };
        if is_kept {
            kept.extend_from_slice(packet.span.of(bytes));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_past_day_is_too_soon() {
        let day = INTERVAL.as_secs() as u32;
        let now = Timestamp(10 * day);
        let is_too_soon = |asked| is_within_a_day(Timestamp(asked), now);
        assert!(is_too_soon(10 * day) && is_too_soon(9 * day + 1));
        assert!(!is_too_soon(9 * day) && !is_too_soon(10 * day + 1) && !is_too_soon(u32::MAX));
    }
}
