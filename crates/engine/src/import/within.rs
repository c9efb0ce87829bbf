//! Import within a transaction of the caller: all or nothing, whatever else it does.

use std::io::Read;
use std::thread;

use cert::split::Piece;
use store::{PutKind, ReadCertificates, Snapshot, Timestamp, Transaction};

use super::batch::{Batch, Report};
use super::chunk::{Chunk, read_ahead};
use super::event::{ImportOutcome, ImportRefusal, ImportSummary};
use super::options::ImportOptions;
use super::prepare::{Effect, Incoming, Item, Preparer, Ready};
use super::revocation::{stored_primary_key, with_primary_key};
use super::secrets;
use crate::{Result, stored};

/// Imports one input within a transaction, which sees what was imported before, and whose snapshots see what is.
///
/// Secret keys are stored at once: one without its certificate is no loss. `on_refusal` hears of what could not be used, with
/// its position.
///
/// # Errors
///
/// The database's errors, after which the transaction must not be committed.
pub fn import_within(
    transaction: &mut dyn Transaction,
    input: impl Read + Send,
    options: &ImportOptions<'_>,
    now: Timestamp,
    on_refusal: &mut dyn FnMut(u64, &ImportRefusal),
) -> Result<ImportSummary> {
    let mut summary = ImportSummary { journal: Some(transaction.journal()), ..ImportSummary::default() };
    let preparer = Preparer { store: None, options, digest_prefix: options.digest_prefix(), now };
    thread::scope(|scope| {
        let mut chunks = read_ahead(scope, input, options.armor).into_iter();
        chunks.try_for_each(|chunk| add(chunk, transaction, &preparer, &mut summary, on_refusal))
    })?;
    Ok(summary)
}

fn add(
    chunk: Chunk,
    transaction: &mut dyn Transaction,
    preparer: &Preparer<'_>,
    summary: &mut ImportSummary,
    on_refusal: &mut dyn FnMut(u64, &ImportRefusal),
) -> Result<()> {
    let incoming = incoming(chunk, transaction.snapshot()?)?;
    let clean = preparer.clean(incoming)?;
    let fingerprints: Vec<_> = clean.fingerprints().collect();
    let known = stored::read(transaction.snapshot()?, &fingerprints)?;
    let mut batch = Batch::default();
    for item in preparer.prepare_all(clean, &known)? {
        let report = match item {
            Item::Refused { position, reason } => Report::Refused { input: 0, position, reason },
            Item::Known { imported, digest, id } => {
                batch.remember(digest, id);
                Report::Imported { imported, secrets: Vec::new() }
            }
            Item::Ready(ready) => plan(*ready, &mut batch),
        };
        batch.reports.push(report);
    }
    if let Some(secret_keys) = preparer.options.secret_keys {
        secrets::keep(&mut batch, secret_keys, false)?;
    }
    batch.write_into(transaction, preparer.options)?;
    for report in batch.reports {
        match report {
            Report::Imported { imported, .. } => summary.count(&imported),
            Report::Refused { position, reason, .. } => {
                on_refusal(position, &reason);
                summary.count_refused();
            }
        }
    }
    Ok(())
}

fn incoming(chunk: Chunk, snapshot: &dyn Snapshot) -> Result<Vec<Incoming>> {
    let mut incoming = Vec::with_capacity(chunk.len());
    for piece in chunk {
        incoming.push(match piece {
            Ok(Piece::Ignored(_)) => continue,
            Ok(Piece::Certificate(raw)) => Incoming::Certificate { raw, revocation: false },
            Ok(Piece::Revocation(revocation)) => {
                let key = |issuer: &_| stored_primary_key(snapshot as &dyn ReadCertificates, issuer);
                match with_primary_key(&revocation, key)? {
                    Ok(raw) => Incoming::Certificate { raw, revocation: true },
                    Err(reason) => Incoming::Unread { position: revocation.position, reason },
                }
            }
            Err(error) => Incoming::Unread { position: error.position(), reason: error.into() },
        });
    }
    Ok(incoming)
}

/// Adds a certificate to what is to be written, and returns its report.
fn plan(ready: Ready, batch: &mut Batch) -> Report {
    let Ready { mut imported, digest, secrets, has_user_ids, prepared, effect, .. } = ready;
    imported.outcome = match effect {
        _ if batch.contains(&prepared.fingerprint()) => batch.merge_pending(&prepared, digest),
        Effect::Nothing(id) => {
            digest.into_iter().for_each(|digest| batch.remember(digest, id));
            ImportOutcome::Unchanged
        }
        Effect::Merge(kind, additions) => {
            batch.put(prepared, kind, digest);
            ImportOutcome::Changed(additions)
        }
        Effect::New if !has_user_ids => ImportOutcome::SkippedWithoutUserId,
        Effect::New => {
            batch.put(prepared, PutKind::New, digest);
            ImportOutcome::New
        }
    };
    Report::Imported { imported, secrets }
}
