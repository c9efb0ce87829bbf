//! Reading the same moment on several connections, each on a thread of its own.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

use rusqlite::Connection;

use super::error::Context;
use super::log;
use super::store::SqliteStore;
use super::view::View;
use crate::{MOST_READERS, Result};

/// A thread takes so many things at once; for fewer none is started.
const PART: usize = 32;

/// SQLite's cache, in negated KiB, of connections that read beside one another: they hardly ever come back to a page, and
/// what is small stays near the processor.
const CACHE_BESIDE: i64 = -512;

impl<'s> View<'s> {
    /// Starts to read what is committed now, with one connection for each core, and if there are several with one more.
    ///
    /// If somebody commits at that very moment, there is only one.
    pub(super) fn begin_on_all_cores(store: &'s SqliteStore) -> Result<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let connection = store.take()?;
        log::before_reading(&connection, &store.path, &store.access)?;
        let version = data_version(&connection, store)?;
        let readers = cores.min(MOST_READERS);
        let another = || {
            let view = Self::begin(store)?;
            view.set_cache(CACHE_BESIDE)?;
            Ok(view)
        };
        let others = (1..readers).map(|_| another()).collect::<Result<Vec<_>>>()?;
        let ahead = if others.is_empty() { None } else { Some(Box::new(another()?)) };
        let view = Self::begin_on(store, connection)?;
        view.set_cache(CACHE_BESIDE)?;
        // The others began between two moments that are one, unless somebody committed in between.
        if data_version(view.connection(), store)? == version {
            view.beside.replace(others);
            view.ahead.replace(ahead);
        }
        Ok(view)
    }

    /// Has each of `items` read for one of the visitors.
    pub(super) fn share<T: Sync, V: Send>(
        &self,
        items: &[T],
        visitors: &mut [V],
        read: &(impl Fn(&View<'_>, &T, &mut V) -> Result<()> + Sync),
    ) -> Result<()> {
        let Some((own, others)) = visitors.split_first_mut() else { return Ok(()) };
        let mut beside = self.beside.borrow_mut();
        if items.len() <= PART || beside.is_empty() {
            return items.iter().try_for_each(|item| read(self, item, own));
        }
        let parts = Mutex::new(items.chunks(PART));
        let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = |view: &View<'_>, visitor: &mut V| {
            while let Some(part) = next() {
                part.iter().try_for_each(|item| read(view, item, visitor))?;
            }
            Ok(())
        };
        let work = &work;
        thread::scope(|scope| {
            let pairs = beside.iter_mut().zip(others);
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

/// Returns a number that changes, for this connection, whenever another one has committed.
fn data_version(connection: &Connection, store: &SqliteStore) -> Result<i64> {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0)).context(&store.path, "reading")
}
