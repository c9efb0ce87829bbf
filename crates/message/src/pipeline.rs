//! Pipelines of threads connected by bounded channels, so that a message of any length is processed in constant memory.

use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

pub(crate) use cert::buffer::Buffer;
use crossbeam_channel::{Receiver, Sender, bounded};

use crate::scheduling;

/// The size of a piece in bytes: large enough that the cost of a channel does not matter, small enough for a core's
/// cache.
pub(crate) const PIECE: usize = 128 << 10;

/// The capacity of the channel between two stages.
const CAPACITY: usize = 4;

/// Returns the number of threads that do the same work in parallel.
pub(crate) fn workers() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(8)
}

/// Returns how many pieces of a size in bytes are read ahead; fewer long ones, to bound memory.
pub(crate) fn ahead(size: usize) -> usize {
    ((3 << 19) / size).clamp(2, 64)
}

/// Creates the channel between two stages.
pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
    bounded(CAPACITY)
}

/// Starts a thread that applies `work` to the items of `input` in order, until the input ends or the receiver is
/// dropped.
pub(crate) fn stage<'scope, T: Send + 'scope, U: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    input: impl IntoIterator<Item = T> + Send + 'scope,
    mut work: impl FnMut(T) -> U + Send + 'scope,
) -> Receiver<U> {
    let (sender, output) = channel();
    scope.spawn(move || {
        scheduling::apply_to_this_thread();
        for item in input {
            if sender.send(work(item)).is_err() {
                break;
            }
        }
    });
    output
}

/// A pool of buffers, which are taken at one end of the pipeline and returned at the other. The last returned buffer is
/// taken first, since it is likely to be still in a core's cache.
#[derive(Clone, Default)]
pub(crate) struct Pool(Arc<Mutex<Vec<Buffer>>>);

impl Pool {
    /// Takes an empty buffer.
    pub(crate) fn take(&self) -> Buffer {
        lock(&self.0).pop().unwrap_or_default()
    }

    /// Returns a buffer and clears it.
    pub(crate) fn put_back(&self, mut buffer: Buffer) {
        buffer.clear();
        lock(&self.0).push(buffer);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
