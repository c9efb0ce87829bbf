//! Keeping the verdicts on signatures: written when nobody else writes, or not at all.

use std::panic::resume_unwind;
use std::sync::mpsc::{SendError, sync_channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::access::Access;
use super::certifications::{ProvenRow, VerdictRow};
use super::error::Context;
use super::store::SqliteStore;
use super::{certifications, schema, wal, write_lock};
use crate::{CertId, Error, KeptVerdict, Result, packed};

const DOING: &str = "keeping verdicts";

/// Certificates with verdicts that wait until it is worked out what these prove.
const JUDGED_AHEAD: usize = 64;

/// Adds verdicts to those that are kept, if that can be done at once; says whether it was.
pub(super) fn keep(store: &SqliteStore, found: &[(CertId, Vec<KeptVerdict>)]) -> Result<bool> {
    if let Access::Immutable(..) | Access::Empty = store.access {
        return Ok(false);
    }
    let mut connection = store.take()?;
    connection.busy_timeout(Duration::ZERO).context(&store.path, DOING)?;
    let written = write(store, &mut connection, found);
    connection.busy_timeout(write_lock::LOCK_TIMEOUT).context(&store.path, DOING)?;
    store.give_back(connection);
    match written {
        Ok(()) => Ok(true),
        Err(Error::Locked { .. } | Error::Unwritable { .. } | Error::Full { .. } | Error::Refused { .. }) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn write(
    store: &SqliteStore,
    connection: &mut Connection,
    found: &[(CertId, Vec<KeptVerdict>)],
) -> Result<()> {
    wal::sync_lazily(connection, &store.path)?;
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).context(&store.path, DOING)?;
    schema::check_version(&transaction, &store.path)?;
    let proven = add_all(&transaction, found).context(&store.path, DOING)?;
    certifications::write_proven(&transaction, proven).context(&store.path, DOING)?;
    transaction.commit().context(&store.path, DOING)
}

/// Adds verdicts, and works out on another core what they prove; here, where no thread can be made.
fn add_all(
    transaction: &Transaction<'_>,
    found: &[(CertId, Vec<KeptVerdict>)],
) -> rusqlite::Result<Vec<ProvenRow>> {
    thread::scope(|scope| {
        let (sender, judged) = sync_channel::<VerdictRow>(JUDGED_AHEAD);
        // What is damaged proves nothing; the doctor finds it.
        let proven = |judged: VerdictRow| judged.proven_rows().unwrap_or_default();
        let prove_all = move || judged.into_iter().flat_map(proven).collect();
        let proving = thread::Builder::new().spawn_scoped(scope, prove_all).ok();
        let mut proven_here = Vec::new();
        for (id, verdicts) in found.iter().filter(|(_, verdicts)| !verdicts.is_empty()) {
            add(transaction, *id, verdicts)?;
            let Some(judged) = certifications::judged(transaction, *id)? else { continue };
            if let Err(SendError(judged)) = sender.send(judged) {
                // A thread that does not receive it has panicked.
                if proving.is_some() {
                    break;
                }
                proven_here.extend(proven(judged));
            }
        }
        drop(sender);
        let join =
            |proving: ScopedJoinHandle<'_, _>| proving.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok(proving.map_or(proven_here, join))
    })
}

/// Adds to what is kept of one certificate, if it is still there.
fn add(transaction: &Transaction<'_>, CertId(id): CertId, verdicts: &[KeptVerdict]) -> rusqlite::Result<()> {
    const SQL: &str = "SELECT verdicts FROM cert LEFT JOIN verdicts ON cert = id WHERE id = ?1";
    let kept: Option<Option<Vec<u8>>> =
        transaction.prepare_cached(SQL)?.query_row([id], |row| row.get(0)).optional()?;
    let Some(kept) = kept else { return Ok(()) };
    let kept = kept.unwrap_or_default();
    // What cannot be read is of no use to anybody.
    let mut all = packed::unpack_verdicts(&kept).unwrap_or_default();
    all.extend_from_slice(verdicts);
    let all = packed::pack_verdicts(&all);
    if all != kept {
        let mut replace =
            transaction.prepare_cached("REPLACE INTO verdicts (cert, verdicts) VALUES (?1, ?2)")?;
        replace.execute(params![id, all])?;
    }
    Ok(())
}
