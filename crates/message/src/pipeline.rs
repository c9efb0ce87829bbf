//! Pieces of a stream on their way through threads, joined by short queues: what a message costs in memory does not
//! depend on its length.

use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

pub(crate) use cert::buffer::Buffer;
use crossbeam_channel::{Receiver, Sender, bounded};

use crate::scheduling;

/// Bytes of a piece: enough that handing it on costs nothing, and little enough to stay in a core's cache.
pub(crate) const PIECE: usize = 128 << 10;

/// Pieces that wait between two stages.
const QUEUE: usize = 4;

/// Returns how many threads do the same work side by side.
pub(crate) fn workers() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(8)
}

/// Returns how many pieces of a size are read ahead: few if they are long, so that memory stays small.
pub(crate) fn ahead(size: usize) -> usize {
    ((3 << 19) / size).clamp(2, 64)
}

/// The near end of a queue to another thread.
pub(crate) type Input<T> = Sender<T>;
/// The far end of a queue from another thread.
pub(crate) type Output<T> = Receiver<T>;

/// Makes a queue between two threads.
pub(crate) fn queue<T>() -> (Input<T>, Output<T>) {
    bounded(QUEUE)
}

/// Runs `work` on everything that comes, in order, in a thread of its own, until nothing comes or nobody takes it.
pub(crate) fn stage<'scope, T: Send + 'scope, U: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    input: impl IntoIterator<Item = T> + Send + 'scope,
    mut work: impl FnMut(T) -> U + Send + 'scope,
) -> Output<U> {
    let (sender, output) = queue();
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

/// Buffers that go round: filled at one end of the pipeline, given back at the other. The last one given back comes
/// first, since it is likely to be in a core's cache still.
#[derive(Clone, Default)]
pub(crate) struct Pool(Arc<Mutex<Vec<Buffer>>>);

impl Pool {
    /// Returns an empty buffer.
    pub(crate) fn take(&self) -> Buffer {
        lock(&self.0).pop().unwrap_or_default()
    }

    /// Takes a buffer back, and forgets what is in it.
    pub(crate) fn give(&self, mut buffer: Buffer) {
        buffer.clear();
        lock(&self.0).push(buffer);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
