//! The certificate database.
//!
//! [`Store`] is what every engine offers: a [`Snapshot`] to read from and a [`Transaction`] to write in.
//! A reader is one consistent view, a writer changes everything or nothing, and no reader becomes a writer.
//!
//! - [`query`]: the ways to name a certificate, GnuPG's "how to specify a user ID".
//! - [`sqlite`]: the engine for one machine; [`postgres`]: the one for databases that several machines share.
//! - [`doctor`]: rows held against the bytes they are derived from.
//! - [`tofu`]: what trust on first use remembers.

pub mod again;
pub mod doctor;
pub mod postgres;
pub mod query;
pub mod sqlite;
pub mod tofu;
pub mod user_id;

mod error;
mod journal;
pub mod packed;
mod prepared;
mod rows;

use std::ops::ControlFlow;
use std::path::PathBuf;

use cert::facts::SignatureFacts;
pub use cert::{BoundAddress, ContentKey, Facts, Fingerprint, KeyId, Origin, Timestamp};
use doctor::{Derive, Finding, Rebuilt};
pub use error::{Error, Result};
pub use prepared::Prepared;
pub use query::Query;
pub use tofu::{ReadBindings, WriteBindings};

/// A certificate's number in this database, in the order of listings: of arrival in SQLite's engine, of (first seen,
/// fingerprint) in PostgreSQL's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CertId(pub i64);

/// SHA-256 over an imported certificate's bytes, the options, and the version of our import rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InputDigest(pub [u8; 32]);

/// One command's entry in the journal; all batches of one import share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JournalId(pub i64);

/// A database of certificates.
pub trait Store: Send + Sync {
    /// Opens a consistent view of everything committed so far.
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>>;

    /// Opens such a view for who reads much of it: on several cores, where the engine and the machine can.
    fn snapshot_on_all_cores(&self) -> Result<Box<dyn Snapshot + '_>> {
        self.snapshot()
    }

    /// Says whether snapshots can be taken, and seen through, while a transaction lasts.
    ///
    /// A database that is new, or on a network file system, has no write-ahead log: there it cannot be done.
    fn reads_beside_writer(&self) -> Result<bool>;

    /// Starts to write: waits for the writers before it, then holds the only write lock.
    ///
    /// `now` stamps what this transaction changes. `journal` continues an entry of an earlier batch.
    ///
    /// Drop every snapshot of this store before, unless it [reads beside a writer](Store::reads_beside_writer).
    ///
    /// # Errors
    ///
    /// [`Error::SnapshotHeld`] if such a database is read here; [`Error::Locked`] if no other writer got anything
    /// done for a minute; [`Error::Unwritable`].
    fn begin(
        &self,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Box<dyn Transaction + '_>>;

    /// Starts to write as [`Store::begin`] does, where that can be done beside others who do the same.
    ///
    /// Certificates that such a transaction puts, or finds to be in [conflict](PutOutcome::Conflict), it has for itself
    /// until it ends; all others may change under its eyes.
    fn begin_beside(
        &self,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Box<dyn Transaction + '_>> {
        self.begin(command, journal, now)
    }

    /// Starts to write as [`Store::begin`] does if the database is empty, its engine has no log for it yet, and nobody
    /// else writes; `None` otherwise.
    ///
    /// As long as it lasts others may have to wait who only want to read.
    fn begin_first(&self, _command: &str, _now: Timestamp) -> Result<Option<Box<dyn Transaction + '_>>> {
        Ok(None)
    }

    /// Adds verdicts to those that are kept, in a short transaction of its own that waits for nobody.
    ///
    /// Snapshots may be open. Certificates that are gone are skipped. False says that nothing was written, since
    /// somebody else writes or the database cannot be written to: only time is lost.
    fn keep_verdicts(&self, found: &[(CertId, Vec<KeptVerdict>)]) -> Result<bool>;

    /// Checks everything: the engine's own structures where that can be done, then each row against the bytes it was
    /// derived from.
    ///
    /// # Errors
    ///
    /// Only if the check itself cannot be done; what it finds goes to `found`.
    fn check(&self, derive: &mut Derive<'_>, found: &mut dyn FnMut(Finding)) -> Result<()>;

    /// Derives all rows from the bytes again, in one transaction, and removes rows that belong to nothing.
    ///
    /// What is left of a certificate whose packets are lost belongs to nothing: without it, and without the digests of
    /// its inputs, another import brings the certificate back.
    ///
    /// # Errors
    ///
    /// [`Error::Underivable`] if a certificate's bytes are damaged; then nothing was changed.
    fn rebuild(&self, derive: &mut Derive<'_>) -> Result<Rebuilt>;
}

/// What was found out about a signature by another key: whether its value verifies over exactly this content, under
/// exactly this primary key.
///
/// Nothing that can change takes part, so it holds for ever. Who shows it makes sure that the issuer is still here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeptVerdict {
    /// The signature, with what it is made over.
    pub content: ContentKey,
    /// The primary key that was tried.
    pub issuer: Fingerprint,
    /// Whether it made the signature.
    pub good: bool,
}

/// How much of each certificate a visit reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Number, fingerprint and times.
    Name,
    /// Facts without third-party certifications.
    Own,
    /// All facts.
    Full,
    /// All facts and the verdicts that are kept.
    Verdicts,
    /// All facts and the exact bytes.
    Bytes,
}

/// Which certificates a visit reads, always in order of arrival.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// Every certificate.
    All,
    /// These, in database order; unknown numbers are skipped.
    Ids(&'a [CertId]),
}

/// A certificate as a visit hands it out.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its number.
    pub id: CertId,
    /// The primary key's fingerprint.
    pub fingerprint: Fingerprint,
    /// When this database first saw it.
    pub first_seen: Timestamp,
    /// When its packets last changed.
    pub changed: Timestamp,
    /// Counts the changes, so that a writer can tell whether what it read is still so.
    pub generation: i64,
    /// Where the certificate came from (GnuPG's key origin).
    pub origin: Origin,
    /// What it holds; `None` below [`Detail::Own`].
    pub facts: Option<Facts>,
    /// The verdicts on signatures by other keys that are kept; empty but for [`Detail::Verdicts`].
    pub verdicts: Vec<KeptVerdict>,
    /// The exact bytes; `None` below [`Detail::Bytes`].
    pub bytes: Option<Vec<u8>>,
}

/// What other keys signed on one certificate, as far as those were asked about.
#[derive(Clone, Debug, Default)]
pub struct Certifications {
    /// The certificate.
    pub id: CertId,
    /// The signatures with the numbers of their components, in the order of the packets; their spans mean nothing.
    pub signatures: Vec<(usize, SignatureFacts)>,
    /// The verdicts about these keys that are kept, by ascending issuer, the good ones before the bad ones, by ascending
    /// content.
    pub verdicts: Vec<KeptVerdict>,
}

impl Certifications {
    /// Begins with another certificate.
    pub fn begin(&mut self, id: CertId) {
        self.id = id;
        self.signatures.clear();
        self.verdicts.clear();
    }
}

/// What one key signed of a certificate's user IDs and attributes, when everything there that names its key ID was
/// verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proven {
    /// The primary key that made these signatures.
    pub issuer: Fingerprint,
    /// The signatures with the numbers of their components, in the order of the packets, without those that are older
    /// than the certificate's primary key. Spans only tell the order on a component; reasons and contents are left out.
    pub signatures: Vec<(usize, SignatureFacts)>,
}

/// A key found by its key ID: the name a signature listing shows for an issuer.
#[derive(Clone, Debug)]
pub struct KeyHit {
    /// The certificate that holds the key.
    pub cert: CertId,
    /// The key, primary or subkey.
    pub fingerprint: Fingerprint,
    /// The certificate's primary key.
    pub primary: Fingerprint,
}

/// So many visitors are worth handing in where several may share the work: no view reads on more threads.
pub const MOST_READERS: usize = 4;

/// Is told of a certificate that names an issuer, and of what is proven of that.
pub type VisitCertified<'v> = dyn FnMut(KeyId, CertId, Option<&Proven>) + Send + 'v;

/// Is told of a certificate's own facts.
pub type VisitOwnFacts<'v> = dyn FnMut(CertId, Facts) + Send + 'v;

/// A consistent view. Lasts until it is dropped.
pub trait Snapshot: ReadBindings {
    /// Hands every selected certificate to `visit`, in order of arrival, one at a time.
    fn visit(
        &self,
        selection: Selection<'_>,
        detail: Detail,
        visit: &mut dyn FnMut(Record) -> ControlFlow<()>,
    ) -> Result<()>;

    /// Returns a certificate's exact bytes; `None` if it is not there.
    fn bytes(&self, id: CertId) -> Result<Option<Vec<u8>>>;

    /// Returns a certificate's first octets, so many at most; `None` if it is not there.
    fn first_bytes(&self, id: CertId, most: usize) -> Result<Option<Vec<u8>>>;

    /// Finds the certificates that match, in order of arrival.
    fn find(&self, query: &Query) -> Result<Vec<CertId>>;

    /// Finds the keys, primary or subkey, behind a key ID, in order of arrival.
    fn keys_by_id(&self, key_id: KeyId) -> Result<Vec<KeyHit>>;

    /// Finds the certificates whose primary key has this key ID, in order of arrival, with that key's fingerprint.
    fn primaries_by_id(&self, key_id: KeyId) -> Result<Vec<(CertId, Fingerprint)>>;

    /// Hands every signature by another key on a certificate to `visit`, in the order of the packets; their spans mean
    /// nothing.
    fn visit_third_party(&self, id: CertId, visit: &mut dyn FnMut(&SignatureFacts)) -> Result<()>;

    /// Returns a certificate's facts without third-party certifications; `None` if it is not there.
    fn own_facts(&self, id: CertId) -> Result<Option<Facts>> {
        let mut facts = None;
        self.visit(Selection::Ids(&[id]), Detail::Own, &mut |record| {
            facts = record.facts;
            ControlFlow::Break(())
        })?;
        Ok(facts)
    }

    /// Hands the signatures `by` some other keys on each of these certificates, whose numbers ascend, to `visit`;
    /// certificates without a signature by another key may be left out.
    fn visit_certifications(
        &self,
        ids: &[CertId],
        by: &dyn Fn(KeyId) -> bool,
        visit: &mut dyn FnMut(&Certifications) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut found = Certifications::default();
        self.visit(Selection::Ids(ids), Detail::Verdicts, &mut |record| {
            found.begin(record.id);
            let components = record.facts.into_iter().flat_map(|facts| facts.components).enumerate();
            found.signatures.extend(components.flat_map(|(number, component)| {
                let signatures = component.signatures.into_iter();
                let asked = signatures.filter(|it| it.own.is_none() && by(it.issuer.key_id));
                asked.map(move |signature| (number, signature))
            }));
            found.verdicts.extend(record.verdicts.into_iter().filter(|verdict| by(verdict.issuer.key_id())));
            visit(&found)
        })
    }

    /// Hands the fingerprints of each certificate's keys to `visit`, the primary key's first, in order of arrival.
    fn visit_keys(&self, visit: &mut dyn FnMut(CertId, &[Fingerprint])) -> Result<()>;

    /// Finds the certificates with a signature by another key that names this key ID as its issuer, in order of
    /// arrival. That is a hint: nothing is verified.
    fn certified_by(&self, issuer: KeyId) -> Result<Vec<CertId>>;

    /// Hands the same certificates to `visit`, each with what is proven of these signatures, where that is at hand.
    fn visit_certified_by(
        &self,
        issuer: KeyId,
        visit: &mut dyn FnMut(CertId, Option<&Proven>),
    ) -> Result<()> {
        self.certified_by(issuer)?.into_iter().for_each(|id| visit(id, None));
        Ok(())
    }

    /// Hands the same of several issuers, which ascend, to some visitors, who may share the issuers: each is called on a
    /// thread of its own then, and sees all that there is of an issuer, in order of arrival.
    fn visit_certified_by_any(
        &self,
        issuers: &[KeyId],
        visitors: &mut [&mut VisitCertified<'_>],
    ) -> Result<()> {
        let Some(visitor) = visitors.first_mut() else { return Ok(()) };
        issuers.iter().try_for_each(|&issuer| {
            self.visit_certified_by(issuer, &mut |id, proven| visitor(issuer, id, proven))
        })
    }

    /// Hands the facts of these certificates, whose numbers ascend, without third-party certifications to some visitors,
    /// who may share them, each on a thread of its own; unknown numbers are skipped.
    fn visit_own_facts(&self, ids: &[CertId], visitors: &mut [&mut VisitOwnFacts<'_>]) -> Result<()> {
        let Some(visitor) = visitors.first_mut() else { return Ok(()) };
        ids.iter().try_for_each(|&id| {
            self.own_facts(id)?.into_iter().for_each(|facts| visitor(id, facts));
            Ok(())
        })
    }

    /// Finds certificates by the fingerprint of their primary key; the answers stand in the order asked.
    fn by_fingerprint(&self, fingerprints: &[Fingerprint]) -> Result<Vec<Option<CertId>>>;

    /// Says for each digest which certificate an identical, complete import led to.
    fn known_inputs(&self, digests: &[InputDigest]) -> Result<Vec<Option<CertId>>>;

    /// Counts the certificates.
    fn count(&self) -> Result<u64>;

    /// Lists journal entries, newest first, at most `limit`.
    fn journal(&self, limit: usize) -> Result<Vec<JournalEntry>>;

    /// Hands what one journal entry did to `visit`, in order, one at a time, beginning with change number `from`.
    fn journal_changes(
        &self,
        id: JournalId,
        from: u64,
        visit: &mut dyn FnMut(Change) -> ControlFlow<()>,
    ) -> Result<()>;

    /// Says whether it is known of any user ID where it came from.
    fn has_user_id_origins(&self) -> Result<bool>;

    /// Returns where user IDs of a certificate came from, where that is known.
    fn user_id_origins(&self, id: CertId) -> Result<Vec<(Vec<u8>, Origin)>>;

    /// Lists other certificate stores that were taken over, or about which the user was told.
    fn migrations(&self) -> Result<Vec<Migration>>;

    /// Returns the owner trust that the user gave a key, as GnuPG numbers it (2 undefined, 3 never, 4 marginal, 5 full,
    /// 6 ultimate; 128 is added to a disabled key's).
    fn owner_trust(&self, primary: &Fingerprint) -> Result<Option<u8>>;

    /// Returns all owner trust that was given, by ascending fingerprint.
    fn owner_trusts(&self) -> Result<Vec<(Fingerprint, u8)>>;

    /// Finds the certificates that imports after `entry` brought again, or may have: with the latest of those
    /// imports. Imports that were undone do not count, neither do undos.
    ///
    /// An import of an input that was first seen before `entry` brought nothing that was new in `entry`.
    fn brought_again(&self, entry: JournalId) -> Result<Vec<(Fingerprint, JournalId)>>;
}

/// Where a certificate and its user IDs came from; what is not known stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// The certificate.
    pub certificate: Option<Origin>,
    /// User IDs.
    pub user_ids: Vec<(Vec<u8>, Origin)>,
}

/// Another certificate store, as it was when it was taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migration {
    /// Its file or directory.
    pub path: PathBuf,
    /// When it had last changed: nanoseconds since 1970.
    pub modified: i64,
    /// Its size in octets.
    pub size: u64,
    /// When it was taken over; `None` if the user was only told about it.
    pub done: Option<Timestamp>,
}

/// One command that changed the database.
#[derive(Clone, Debug)]
pub struct JournalEntry {
    /// Its number.
    pub id: JournalId,
    /// When it began.
    pub time: Timestamp,
    /// What it was, for a person.
    pub command: String,
    /// Certificates added, merged into, removed.
    pub counts: [u64; 3],
    /// The entry that undid this one.
    pub undone_by: Option<JournalId>,
    /// The entry that this one undid.
    pub undoes: Option<JournalId>,
    /// False while batches are still to come, and for ever after an interruption.
    pub complete: bool,
}

/// One change to one certificate, or to what the user says of it.
#[derive(Clone, Debug)]
pub struct Change {
    /// The certificate.
    pub fingerprint: Fingerprint,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// What happened to a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was new, or came back.
    Added,
    /// Packets were added; these digests name them (see [`cert::merge::Merged::added_packets`]).
    Merged(Vec<[u8; 32]>),
    /// Packets were taken from it; this is what it was before, unless that was purged.
    Shrunk(Option<Former>),
    /// It was removed; this is what it was before, unless that was purged.
    Removed(Option<Former>),
    /// Its owner trust changed, as GnuPG numbers it; without a number there is none.
    OwnerTrust {
        /// What it was.
        before: Option<u8>,
        /// What it became.
        after: Option<u8>,
    },
}

/// A certificate as it was before something was taken from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Former {
    /// Its number, which no other certificate gets.
    pub id: CertId,
    /// When this database first saw it.
    pub first_seen: Timestamp,
    /// Where it came from.
    pub origin: Origin,
    /// Where its superseded signatures begin in the bytes, ascending.
    pub superseded: Vec<u32>,
    /// Its exact bytes.
    pub bytes: Vec<u8>,
}

/// A certificate to be written.
#[derive(Clone, Debug)]
pub struct Put<'a> {
    /// The certificate.
    pub certificate: &'a Prepared,
    /// What this does to the database.
    pub kind: PutKind,
    /// Inputs that led to it.
    pub inputs: &'a [InputDigest],
    /// Its origin, if this write says anything about it.
    pub origin: Option<Origin>,
}

/// What writing a certificate does to the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutKind {
    /// Adds it at the end of the order.
    New,
    /// Adds it at the end of the order, as first seen when another program had it first.
    Migrated {
        /// When that was.
        first_seen: Timestamp,
    },
    /// Adds it at the end of the order, as another database had it.
    Copied {
        /// When that one first saw it.
        first_seen: Timestamp,
        /// When its packets last changed there.
        changed: Timestamp,
    },
    /// Adds it in the place it had before it was removed.
    Restored {
        /// Its number there.
        id: CertId,
        /// When this database first saw it.
        first_seen: Timestamp,
    },
    /// Replaces it by itself and more.
    Merged {
        /// Its number.
        id: CertId,
        /// The generation that was read.
        generation: i64,
        /// The digest that names each new packet, for the journal.
        added: Vec<[u8; 32]>,
    },
    /// Replaces it by less of itself: what it was before goes to the journal, and its inputs are forgotten.
    Shrunk {
        /// Its number.
        id: CertId,
        /// The generation that was read.
        generation: i64,
    },
}

impl PutKind {
    /// Returns when that which a write adds was first seen.
    pub(crate) fn first_seen(&self, now: Timestamp) -> Timestamp {
        match self {
            Self::Migrated { first_seen }
            | Self::Copied { first_seen, .. }
            | Self::Restored { first_seen, .. } => *first_seen,
            Self::New | Self::Merged { .. } | Self::Shrunk { .. } => now,
        }
    }

    /// Returns when that which a write adds last changed.
    pub(crate) fn changed(&self, now: Timestamp) -> Timestamp {
        if let Self::Copied { changed, .. } = self { *changed } else { now }
    }
}

/// What became of a [`Put`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// Written.
    Done(CertId),
    /// Somebody else changed or added the certificate since it was read: read it again and merge again.
    Conflict,
}

/// The only writer, unless it was [begun beside others](Store::begin_beside). Dropping it without [`Transaction::commit`] takes everything back.
pub trait Transaction: WriteBindings + Send {
    /// Adds or replaces certificates. Index rows of the whole call are sorted before they are inserted.
    fn put(&mut self, batch: &[Put<'_>]) -> Result<Vec<PutOutcome>>;

    /// Remembers that this entry met these inputs, which led to certificates that did not change.
    fn remember_inputs(&mut self, inputs: &[(InputDigest, CertId)]) -> Result<()>;

    /// Notes where a certificate and its user IDs came from.
    fn set_origins(&mut self, id: CertId, origins: &Origins) -> Result<()>;

    /// Notes that another certificate store was taken over, or that the user was told about it.
    fn remember_migration(&mut self, migration: &Migration) -> Result<()>;

    /// Gives a key an owner trust, or takes it away. It can be given before the certificate is there.
    fn set_owner_trust(&mut self, primary: &Fingerprint, value: Option<u8>) -> Result<()>;

    /// Takes away the owner trust of keys.
    fn forget_owner_trust(&mut self, primaries: &[Fingerprint]) -> Result<()>;

    /// Removes certificates with everything derived from them, their input digests and owner trust included.
    fn remove(&mut self, ids: &[CertId], removal: Removal) -> Result<()>;

    /// Purges what is left of a certificate that was removed earlier: what the journal holds of it, and everything
    /// else that is known of its primary key. Says whether there was anything; nothing happens to one that is here.
    fn purge_removed(&mut self, primary: &Fingerprint) -> Result<bool>;

    /// Reads what this transaction sees, its own writes included.
    fn snapshot(&self) -> &dyn Snapshot;

    /// The journal entry this transaction writes under.
    fn journal(&self) -> JournalId;

    /// Marks the journal entry complete.
    fn finish_journal(&mut self) -> Result<()>;

    /// Marks an earlier entry as undone by this one; what that one had undone is in force again.
    fn mark_undone(&mut self, entry: JournalId) -> Result<()>;

    /// Makes everything durable and visible.
    fn commit(self: Box<Self>) -> Result<()>;
}

/// What a removal leaves in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// What it was, so that it can be undone.
    Undoable,
    /// Nothing but the fingerprint; what earlier entries hold of it goes too.
    Purge,
}
