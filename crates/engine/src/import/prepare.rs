//! The parallel part of an import: recognises, cleans and merges the certificates of a chunk.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use cert::Facts;
use cert::certificate::Certificate;
use cert::clean::{Cleaned, CleaningNote, clean};
use cert::effective::{EvaluationContext, PacketView, evaluate};
use cert::key;
use cert::packet::Packets;
use cert::split::{RawCertificate, SecretKey};
use rayon::prelude::*;
use store::{
    CertId, Detail, Fingerprint, InputDigest, Prepared, PutKind, ReadCertificates, Selection, Store,
    Timestamp,
};
use verify::cores::on_all_cores;
use verify::naming::sha256;

use super::event::{Additions, ImportRefusal, Imported};
use super::options::ImportOptions;
use super::revocation::revokes;
use super::secrets;
use crate::Result;
use crate::designated_revocation::claimed_revokers;
use crate::pending;
use crate::retry::retry_transient;
use crate::stored::{self, Stored};

/// A certificate of the input, or an error with its position.
pub(super) enum Incoming {
    /// `revocation`: it was put together for a standalone revocation.
    Certificate {
        raw: RawCertificate,
        revocation: bool,
    },
    Unread {
        position: u64,
        reason: ImportRefusal,
    },
}

/// Prepares the certificates of an input for the database.
///
/// It takes a snapshot for each query and drops it at once: while one exists, SQLite's log cannot be truncated.
pub(super) struct Preparer<'a> {
    /// The database; `None` if it has no certificates that could be read.
    pub(super) store: Option<&'a dyn Store>,
    pub(super) options: &'a ImportOptions<'a>,
    pub(super) digest_prefix: Option<Vec<u8>>,
    pub(super) now: Timestamp,
}

/// A certificate of a chunk after preparation.
pub(super) enum Item {
    Refused {
        position: u64,
        reason: ImportRefusal,
    },
    /// An earlier import has processed it.
    Known {
        imported: Imported,
        digest: InputDigest,
        id: CertId,
    },
    Ready(Box<Ready>),
}

/// A certificate that can be written.
pub(super) struct Ready {
    /// The report, without the outcome.
    pub(super) imported: Imported,
    pub(super) digest: Option<InputDigest>,
    /// The secret keys that came with it and belong to it.
    pub(super) secrets: Vec<SecretKey>,
    pub(super) has_user_ids: bool,
    /// The cleaned certificate, if it is to be shown.
    pub(super) shown: Option<Certificate>,
    /// The certificate as it would be written, joined with what the database holds.
    pub(super) prepared: Prepared,
    pub(super) effect: Effect,
}

/// What writing a certificate does.
pub(super) enum Effect {
    New,
    Nothing(CertId),
    Merge(PutKind, Additions),
}

/// A certificate between cleaning and merging.
struct CleanedCertificate {
    imported: Imported,
    digest: Option<InputDigest>,
    certificate: Certificate,
    has_user_ids: bool,
    secrets: Vec<SecretKey>,
}

/// A certificate after cleaning.
enum Step {
    Done(Item),
    Clean(Box<CleanedCertificate>),
    /// An earlier import has taken it, and left possible revocations unchecked: those that turn out to be forged are
    /// removed, so that merging it again would only bring them back.
    Unfinished(Box<Unfinished>),
}

/// A certificate that was taken and is to be verified further.
struct Unfinished {
    imported: Imported,
    digest: InputDigest,
    id: CertId,
}

/// A chunk between cleaning and merging.
pub(super) struct CleanChunk {
    steps: Vec<Step>,
    /// Primary keys that the database did not have when it was read.
    pub(super) absent: HashSet<Fingerprint>,
}

/// What an earlier import has made of an input.
struct KnownInput {
    id: CertId,
    fingerprint: Fingerprint,
    /// The primary user ID, if names were requested.
    user_id: Option<Vec<u8>>,
    /// It left no possible revocation unchecked.
    is_finished: bool,
}

type KnownInputs = HashMap<InputDigest, KnownInput>;

impl Preparer<'_> {
    /// Recognises what was imported before, and cleans the rest.
    pub(super) fn clean(&self, incoming: Vec<Incoming>) -> Result<CleanChunk> {
        let digests: Vec<Option<InputDigest>> =
            on_all_cores(|| incoming.par_iter().map(|incoming| self.digest(incoming)).collect());
        let (known, absent) = self.look_up(&incoming, &digests)?;
        let steps = incoming.into_par_iter().zip(digests);
        let steps = steps.map(|(incoming, digest)| self.clean_one(incoming, digest, &known));
        let steps = on_all_cores(|| steps.collect());
        Ok(CleanChunk { steps, absent })
    }

    /// Merges cleaned certificates with those of the database.
    ///
    /// `is_in_batch` says whether a certificate with a primary key is in the current batch: then it is merged with that one,
    /// not with the database's.
    pub(super) fn merge(
        &self,
        clean: CleanChunk,
        is_in_batch: impl Fn(&Fingerprint) -> bool,
    ) -> Result<Vec<Item>> {
        let mut fingerprints: Vec<Fingerprint> = clean
            .fingerprints()
            .filter(|found| !clean.absent.contains(found) && !is_in_batch(found))
            .collect();
        fingerprints.sort_unstable();
        fingerprints.dedup();
        let known = match self.store {
            Some(store) => retry_transient(|| stored::read(store.snapshot()?.as_ref(), &fingerprints))?,
            None => HashMap::new(),
        };
        self.prepare_all(clean, &known)
    }

    /// Merges cleaned certificates with those of the database that are known.
    pub(super) fn prepare_all(
        &self,
        clean: CleanChunk,
        known: &HashMap<Fingerprint, Stored>,
    ) -> Result<Vec<Item>> {
        on_all_cores(|| clean.steps.into_par_iter().map(|step| self.prepare(step, known)).collect())
    }

    fn digest(&self, incoming: &Incoming) -> Option<InputDigest> {
        match incoming {
            // An earlier import may have left the secret keys out.
            Incoming::Certificate { raw, .. } if self.takes_secrets(raw) => None,
            Incoming::Certificate { raw, .. } => {
                Some(InputDigest(sha256(&[self.digest_prefix.as_deref()?, &raw.bytes])))
            }
            Incoming::Unread { .. } => None,
        }
    }

    fn takes_secrets(&self, raw: &RawCertificate) -> bool {
        self.options.secret_keys.is_some() && !raw.secrets.is_empty()
    }

    /// Returns the inputs of a chunk that an earlier import has processed, and the primary keys that the database does
    /// not have. Only the input digests of the others are looked up: removing a certificate deletes its input digests.
    fn look_up(
        &self,
        incoming: &[Incoming],
        digests: &[Option<InputDigest>],
    ) -> Result<(KnownInputs, HashSet<Fingerprint>)> {
        let Some(store) = self.store else { return Ok(Default::default()) };
        let keys: Vec<Option<Fingerprint>> =
            on_all_cores(|| incoming.par_iter().map(Incoming::primary_key).collect());
        let fingerprints: Vec<Fingerprint> = keys.iter().flatten().copied().collect();
        retry_transient(|| {
            let snapshot = store.snapshot()?;
            let ids = fingerprints.iter().zip(snapshot.by_fingerprint(&fingerprints)?);
            let absent: HashSet<_> = ids.filter(|(_, id)| id.is_none()).map(|(key, _)| *key).collect();
            let present = keys.iter().zip(digests).filter_map(|(key, digest)| Some(((*key)?, (*digest)?)));
            let present: Vec<_> = present.filter(|(key, _)| !absent.contains(key)).collect();
            let digests: Vec<InputDigest> = present.iter().map(|(_, digest)| *digest).collect();
            let ids = snapshot.known_inputs(&digests)?;
            let others = digests.iter().zip(&ids).filter(|(_, id)| id.is_none());
            let others: Vec<InputDigest> = others.map(|(digest, _)| unfinished(digest)).collect();
            let mut unfinished = snapshot.known_inputs(&others)?.into_iter();
            let ids: Vec<(Option<CertId>, bool)> = ids
                .into_iter()
                .map(|id| (id.or_else(|| unfinished.next().flatten()), id.is_some()))
                .collect();
            let user_ids =
                self.user_ids(snapshot.as_ref(), ids.iter().filter_map(|(id, _)| *id).collect())?;
            let known = present.into_iter().zip(ids);
            let known = known.filter_map(|((fingerprint, digest), (id, is_finished))| {
                let (id, user_id) = (id?, user_ids.get(&id?).cloned());
                Some((digest, KnownInput { id, fingerprint, user_id, is_finished }))
            });
            Ok((known.collect(), absent))
        })
    }

    /// Returns the primary user IDs of certificates, if names were requested.
    fn user_ids(
        &self,
        snapshot: &dyn ReadCertificates,
        mut ids: Vec<CertId>,
    ) -> Result<HashMap<CertId, Vec<u8>>> {
        let mut user_ids = HashMap::new();
        if !self.options.names {
            return Ok(user_ids);
        }
        ids.sort_unstable();
        ids.dedup();
        snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
            let user_id = record.facts.as_ref().and_then(|facts| primary_user_id(facts, self.now));
            user_ids.extend(user_id.map(|user_id| (record.id, user_id)));
            ControlFlow::Continue(())
        })?;
        Ok(user_ids)
    }

    fn clean_one(&self, incoming: Incoming, digest: Option<InputDigest>, known: &KnownInputs) -> Step {
        let (mut raw, revocation) = match incoming {
            Incoming::Certificate { raw, revocation } => (raw, revocation),
            Incoming::Unread { position, reason } => return Step::Done(Item::Refused { position, reason }),
        };
        if let Some(digest) = digest
            && let Some(KnownInput { id, fingerprint, user_id, is_finished }) = known.get(&digest)
        {
            let id = *id;
            let imported = Imported::new(&raw, revocation, *fingerprint, user_id.clone());
            return match is_finished {
                true => Step::Done(Item::Known { imported, digest, id }),
                false => Step::Unfinished(Box::new(Unfinished { imported, digest, id })),
            };
        }
        match clean(&raw, &self.options.clean, self.now) {
            Ok(Cleaned { certificate, .. }) if revocation && !revokes(&certificate.facts) => {
                let key_id = certificate.facts.primary().fingerprint.key_id();
                let reason = ImportRefusal::BadRevocation(key_id);
                Step::Done(Item::Refused { position: raw.position, reason })
            }
            Ok(Cleaned { mut certificate, notes, mut has_user_ids, .. }) => {
                // The outcome for a key from the future depends on the clock, so its input is not remembered.
                let is_of_the_past = certificate.facts.primary().created <= self.now;
                let digest = digest.filter(|_| is_of_the_past);
                if let Some(filter) = &self.options.filter {
                    certificate = filter(certificate);
                    has_user_ids = certificate.facts.user_ids().next().is_some();
                }
                let facts = &certificate.facts;
                let name = self.options.names.then(|| primary_user_id(facts, self.now)).flatten();
                let fingerprint = facts.primary().fingerprint;
                let imported = Imported { notes, ..Imported::new(&raw, revocation, fingerprint, name) };
                let mut secrets = Vec::new();
                if self.takes_secrets(&raw) {
                    secrets = std::mem::take(&mut raw.secrets);
                }
                let clean = CleanedCertificate { imported, digest, certificate, has_user_ids, secrets };
                Step::Clean(Box::new(clean))
            }
            Err(refused) => Step::Done(Item::Refused { position: raw.position, reason: refused.into() }),
        }
    }

    fn prepare(&self, step: Step, known: &HashMap<Fingerprint, Stored>) -> Result<Item> {
        let clean = match step {
            Step::Clean(clean) => *clean,
            Step::Unfinished(unfinished) => match known.get(&unfinished.imported.fingerprint) {
                Some(stored) => unfinished.take_up(stored),
                // This import writes it already.
                None => return Ok(unfinished.report()),
            },
            Step::Done(item) => return Ok(item),
        };
        let CleanedCertificate { mut imported, digest, certificate, has_user_ids, mut secrets } = clean;
        let is_shown = self.options.show && !imported.revocation;
        let shown = is_shown.then(|| certificate.clone());
        let stored = known.get(&imported.fingerprint);
        let (certificate, effect) = match stored {
            None => (certificate, Effect::New),
            Some(stored) => match self.options.merge(&stored.certificate, &certificate) {
                None => (certificate, Effect::Nothing(stored.id)),
                Some(merged) => {
                    let additions = Additions::of(&merged);
                    (merged.certificate, Effect::Merge(stored.merged_with(merged.added_packets), additions))
                }
            },
        };
        let (certificate, effect) = self.checked_further(certificate, effect, stored)?;
        let merged = merged(&certificate, &effect, stored);
        let pending = note_pending(merged, &mut imported.notes);
        // A subkey that came without a binding signature may have one in the stored certificate.
        let keys: Vec<Fingerprint> = merged.facts.keys().map(|key| key.fingerprint).collect();
        imported.secrets = secrets::left_out(&secrets, &keys);
        secrets.retain(|secret| keys.contains(&secret.fingerprint));
        // The next import of it continues to verify.
        let digest = digest.map(|digest| if pending { unfinished(&digest) } else { digest });
        imported.missing_revokers = claimed_revokers(&merged.facts, self.now);
        if self.options.names && stored.is_some() {
            imported.name = primary_user_id(&merged.facts, self.now).or(imported.name);
        }
        let prepared = Prepared::new(certificate);
        let ready = Ready { imported, digest, secrets, has_user_ids, shown, prepared, effect };
        Ok(Item::Ready(Box::new(ready)))
    }

    /// Continues to verify possible revocations that an earlier import left unchecked, and removes forged ones by
    /// designated revokers if they are many.
    fn checked_further(
        &self,
        certificate: Certificate,
        effect: Effect,
        stored: Option<&Stored>,
    ) -> Result<(Certificate, Effect)> {
        let merged = merged(&certificate, &effect, stored);
        let further = pending::check_further(merged, stored.is_some(), || match self.store {
            Some(store) => Ok(Some(store.snapshot()?)),
            None => Ok(None),
        })?;
        Ok(match (further, effect, stored) {
            (None, effect, _) => (certificate, effect),
            (Some(further), Effect::Nothing(_), Some(stored)) => {
                (further, Effect::Merge(stored.merged_with(Vec::new()), Additions::default()))
            }
            (Some(further), effect, _) => (further, effect),
        })
    }
}

/// Returns a certificate as the database will have it.
fn merged<'c>(certificate: &'c Certificate, effect: &Effect, stored: Option<&'c Stored>) -> &'c Certificate {
    match (effect, stored) {
        (Effect::Nothing(_), Some(stored)) => &stored.certificate,
        _ => certificate,
    }
}

/// Notes how many possible revocations of a certificate are unchecked, and says whether there are any.
fn note_pending(certificate: &Certificate, notes: &mut Vec<CleaningNote>) -> bool {
    notes.retain(|note| !matches!(note, CleaningNote::RevocationsUnchecked(_)));
    let signatures = certificate.facts.components.iter().flat_map(|component| &component.signatures);
    let pending = signatures.filter(|signature| signature.is_pending()).count();
    notes.extend((pending > 0).then_some(CleaningNote::RevocationsUnchecked(pending)));
    pending > 0
}

/// Returns what is remembered of an input while the certificate that it became has unchecked possible revocations.
fn unfinished(InputDigest(input): &InputDigest) -> InputDigest {
    InputDigest(sha256(&[b"not fully checked", input]))
}

impl Unfinished {
    /// Takes the stored certificate up as if it had been imported once more.
    fn take_up(self, stored: &Stored) -> CleanedCertificate {
        CleanedCertificate {
            imported: self.imported,
            digest: Some(self.digest),
            certificate: stored.certificate.clone(),
            has_user_ids: true,
            secrets: Vec::new(),
        }
    }

    /// Reports that nothing was done.
    fn report(self) -> Item {
        Item::Known { imported: self.imported, digest: unfinished(&self.digest), id: self.id }
    }
}

impl Incoming {
    /// Returns the fingerprint of the primary key, if the certificate begins with one.
    fn primary_key(&self) -> Option<Fingerprint> {
        let Self::Certificate { raw, .. } = self else { return None };
        let packet = Packets::new(&raw.bytes).next()?.ok()?;
        Some(key::parse_public(packet.body).ok()?.fingerprint())
    }
}

impl CleanChunk {
    /// Returns the primary keys of what is to be merged.
    pub(super) fn fingerprints(&self) -> impl Iterator<Item = Fingerprint> {
        self.steps.iter().filter_map(|step| match step {
            Step::Clean(clean) => Some(clean.imported.fingerprint),
            Step::Unfinished(unfinished) => Some(unfinished.imported.fingerprint),
            Step::Done(_) => None,
        })
    }
}

/// Returns the primary user ID of a certificate at a moment.
fn primary_user_id(facts: &Facts, now: Timestamp) -> Option<Vec<u8>> {
    let effective = evaluate(facts, EvaluationContext::new(now, PacketView::Gnupg));
    effective.primary_name(facts).map(<[u8]>::to_vec)
}
