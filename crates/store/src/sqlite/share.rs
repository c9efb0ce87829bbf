//! Reading the same moment on several connections, each on a thread of its own.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

use rusqlite::Connection;

use super::error::Context;
use super::store::SqliteStore;
use super::view::View;
use super::{certifications, wal};
use crate::{KeyId, MOST_READERS, Result, VisitCertified};

/// A thread takes so many things at once; for fewer none is started.
const PART: usize = 32;

/// SQLite's cache, in negated KiB, of connections that read in parallel: they hardly ever come back to a page, and
/// what is small stays near the processor.
const PARALLEL_CACHE: i64 = -512;

impl<'s> View<'s> {
    /// Starts to read what is committed now, with one connection for each core.
    ///
    /// If somebody commits at that very moment, there is only one.
    pub(super) fn begin_on_all_cores(store: &'s SqliteStore) -> Result<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let connection = store.take()?;
        wal::before_reading(&connection, &store.path, &store.access)?;
        let version = data_version(&connection, store)?;
        let readers = cores.min(MOST_READERS);
        let another = |_| {
            let view = Self::begin(store)?;
            view.set_cache(PARALLEL_CACHE)?;
            Ok(view)
        };
        let others = (1..readers).map(another).collect::<Result<Vec<_>>>()?;
        let view = Self::begin_on(store, connection)?;
        view.set_cache(PARALLEL_CACHE)?;
        // The others began between two moments that are one, unless somebody committed in between.
        if data_version(view.connection(), store)? == version {
            view.parallel.replace(others);
        }
        Ok(view)
    }

    /// Has what each of `issuers` signed read for one of the visitors.
    pub(super) fn share(&self, issuers: &[KeyId], visitors: &mut [&mut VisitCertified<'_>]) -> Result<()> {
        let Some((own, others)) = visitors.split_first_mut() else { return Ok(()) };
        let mut parallel = self.parallel.borrow_mut();
        if issuers.len() <= PART || parallel.is_empty() {
            return read(self, issuers, own);
        }
        let parts = Mutex::new(issuers.chunks(PART));
        let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = |view: &View<'_>, visitor: &mut VisitCertified<'_>| {
            while let Some(part) = next() {
                read(view, part, visitor)?;
            }
            Ok(())
        };
        let work = &work;
        thread::scope(|scope| {
            let pairs = parallel.iter_mut().zip(others);
            // Where no thread can be made, those that are there do its part.
            let threads: Vec<_> = pairs
                .filter_map(|(view, visitor)| {
                    thread::Builder::new().spawn_scoped(scope, move || work(view, visitor)).ok()
                })
                .collect();
            let outcome = work(self, own);
            let join = |thread: thread::ScopedJoinHandle<'_, Result<()>>| {
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            };
            threads.into_iter().map(join).fold(outcome, Result::and)
        })
    }
}

/// Hands what is proven of each issuer's signatures to a visitor.
fn read(view: &View<'_>, issuers: &[KeyId], visitor: &mut VisitCertified<'_>) -> Result<()> {
    issuers.iter().try_for_each(|&issuer| {
        certifications::visit_proven(view, issuer, &mut |id, proven| visitor(issuer, id, proven))
    })
}

/// Returns a number that changes, for this connection, whenever another one has committed.
fn data_version(connection: &Connection, store: &SqliteStore) -> Result<i64> {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0)).context(&store.path, "reading")
}
