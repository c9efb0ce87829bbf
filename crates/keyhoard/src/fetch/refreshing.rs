//! Refresh: asks again for certificates that are here.
//!
//! In random order, and with a pause after each, so that nobody sees from the requests which keyring it is. What is
//! asked for is a fingerprint; of the answer only what adds to that certificate is taken.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use cert::mailbox::mailbox;
use cert::{Fingerprint, Origin};
use network::wkd::Address;
use network::{Client, Keyserver};
use store::{CertId, Detail, Origins, Query, ReadCertificates, Selection, Store, Timestamp};

use super::answer::{Answer, Asked, Taken, taken_options};
use super::request::Request;
use super::source::{Source, kind};
use crate::Result;
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
    /// The address whose Web Key Directory it came from.
    address: Option<Address>,
}

/// An answer that waits to be taken in.
struct Pending {
    task: Task,
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
    let mut refresher =
        Refresher { store, client, options, now, failures: vec![0; options.keyservers.len()], summary };
    let mut pending = Vec::new();
    let mut since = Instant::now();
    for (number, task) in tasks.into_iter().enumerate() {
        if refresher.is_given_up() && task.address.is_none() {
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
        match asked.is_some_and(|asked| u64::from(now.0) < u64::from(asked.0) + INTERVAL.as_secs()) {
            true => summary.too_soon += 1,
            false => {
                let user_ids = record.facts.as_ref().filter(|_| record.origin.kind == kind::WKD);
                let address = user_ids.and_then(|facts| {
                    let address = facts.user_ids().find_map(mailbox)?;
                    Address::parse(&String::from_utf8_lossy(&address)).ok()
                });
                let (id, fingerprint, origin) = (record.id, record.fingerprint, record.origin);
                tasks.push(Task { id, fingerprint, origin, address });
            }
        }
        ControlFlow::Continue(())
    })?;
    let random = RandomState::new();
    tasks.sort_by_cached_key(|task| random.hash_one(task.fingerprint.as_bytes()));
    Ok(tasks)
}

struct Refresher<'a> {
    store: &'a dyn Store,
    client: &'a Client,
    options: &'a RefreshOptions<'a>,
    now: Timestamp,
    /// How often each keyserver failed in a row.
    failures: Vec<u32>,
    summary: RefreshSummary,
}

impl Refresher<'_> {
    fn is_given_up(&self) -> bool {
        !self.failures.is_empty() && self.failures.iter().all(|&failures| failures >= MOST_FAILURES)
    }

    /// Asks every source for a certificate. Returns `None` if none could be asked.
    fn ask(&mut self, task: Task, on_event: &mut dyn FnMut(RefreshEvent<'_>)) -> Option<Pending> {
        let request = Request::Key(Query::Fingerprint(task.fingerprint));
        let (mut bytes, mut is_asked) = (Vec::new(), false);
        let mut add = |answer: network::Result<Option<network::Fetched>>| match answer {
            Ok(fetched) => {
                is_asked = true;
                bytes.extend(
                    fetched.map(|fetched| wanted(&fetched.bytes, &task.fingerprint)).unwrap_or_default(),
                );
                true
            }
            Err(error) => {
                on_event(RefreshEvent::Failed(task.fingerprint, &error));
                !error.is_of_server()
            }
        };
        if let Some(address) = &task.address {
            add(Source::Wkd.ask(self.client, &Request::Address(address.clone())));
        }
        let mut given_up = None;
        for (server, failures) in self.options.keyservers.iter().zip(&mut self.failures) {
            if *failures < MOST_FAILURES {
                *failures =
                    if add(Source::Keyserver(server).ask(self.client, &request)) { 0 } else { *failures + 1 };
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
        Some(Pending { task, bytes })
    }

    /// Takes answers in, as one entry of the journal, and notes when they were asked for.
    fn take(&mut self, pending: Vec<Pending>) -> Result<()> {
        if pending.is_empty() {
            return Ok(());
        }
        let Self { store, options, now, summary, .. } = self;
        let asked = Asked { query: Query::All, only_address: false };
        let import_options = ImportOptions {
            command: options.command.to_owned(),
            merge_only: true,
            show: false,
            ..taken_options(&asked)
        };
        let inputs = pending.iter().filter(|pending| !pending.bytes.is_empty());
        let inputs: Vec<_> = inputs.map(|pending| Cursor::new(pending.bytes.as_slice())).collect();
        let mut journal = None;
        if !inputs.is_empty() {
            let imported = import_all(*store, inputs, &import_options, *now, &mut |event| {
                let ImportEvent::Certificate(imported) = event else { return };
                match imported.outcome {
                    ImportOutcome::Changed(_) => summary.changed.push(Refreshed(imported.clone())),
                    ImportOutcome::Unchanged => summary.unchanged += 1,
                    _ => summary.not_asked_for += 1,
                }
            })?;
            journal = imported.journal;
        }
        let mut transaction = store.begin(options.command, journal, *now)?;
        for Pending { task, .. } in &pending {
            let origin = origin_of(&task.origin, options.keyservers, *now);
            transaction.set_origins(task.id, &Origins { certificate: Some(origin), user_ids: Vec::new() })?;
        }
        transaction.finish_journal_if_changed()?;
        Ok(transaction.commit()?)
    }
}

/// Returns the packets of an answer for a certificate that is here.
fn wanted(bytes: &[u8], fingerprint: &Fingerprint) -> Vec<u8> {
    let asked = Asked { query: Query::Fingerprint(*fingerprint), only_address: false };
    Taken::default().claimed(Answer { bytes, asked: &asked, origin: &Origin::default() }).primaries
}

/// Returns the origin of a certificate that was asked for: where it came from first, and when it was last asked for.
fn origin_of(before: &Origin, keyservers: &[Keyserver], now: Timestamp) -> Origin {
    match (before.kind, keyservers.first()) {
        (0, Some(server)) => Source::Keyserver(server).origin("", now),
        _ => Origin { updated: Some(now), ..before.clone() },
    }
}
