//! Stages of work on pieces of a stream, each in a thread of its own, joined by short queues: what a message costs in
//! memory does not depend on its length.

use std::num::NonZero;
use std::thread::{self, Scope};

use crossbeam_channel::{Receiver, Sender, bounded};
use zeroize::Zeroize;

/// Octets of a piece: enough that handing it on costs nothing, and little enough to stay in a core's cache.
pub(crate) const PIECE: usize = 128 << 10;

/// Pieces that wait between two stages.
const QUEUE: usize = 4;

/// Returns how many threads do the same work side by side.
pub(crate) fn workers() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(8)
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
    input: Output<T>,
    mut work: impl FnMut(T) -> U + Send + 'scope,
) -> Output<U> {
    let (sender, output) = queue();
    scope.spawn(move || {
        for item in input {
            if sender.send(work(item)).is_err() {
                break;
            }
        }
    });
    output
}

/// Where work is handed to several threads in turn.
pub(crate) struct Fan<T> {
    threads: Vec<Sender<T>>,
    next: usize,
}

/// Where the results come back, in the order in which the work was handed out.
pub(crate) struct Gather<U> {
    threads: Vec<Receiver<U>>,
    next: usize,
}

/// Starts threads that all do `work`, up to `ahead` pieces each.
pub(crate) fn fan<'scope, T: Send + 'scope, U: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    ahead: usize,
    work: impl Fn(T) -> U + Send + Clone + 'scope,
) -> (Fan<T>, Gather<U>) {
    let mut fan = Fan { threads: Vec::new(), next: 0 };
    let mut gather = Gather { threads: Vec::new(), next: 0 };
    for _ in 0..workers() {
        let (to_thread, input) = bounded::<T>(ahead);
        let (sender, from_thread) = bounded(ahead);
        let work = work.clone();
        scope.spawn(move || {
            for item in input {
                if sender.send(work(item)).is_err() {
                    break;
                }
            }
        });
        fan.threads.push(to_thread);
        gather.threads.push(from_thread);
    }
    (fan, gather)
}

impl<T> Fan<T> {
    /// Hands a piece of work to the next thread; `None` if nobody wants results any more.
    pub(crate) fn send(&mut self, item: T) -> Option<()> {
        let sent = self.threads[self.next].send(item);
        self.next = (self.next + 1) % self.threads.len();
        sent.ok()
    }
}

impl<U> Gather<U> {
    /// Waits for the next result; `None` after the last one.
    pub(crate) fn receive(&mut self) -> Option<U> {
        let received = self.threads[self.next].recv().ok();
        self.next = (self.next + 1) % self.threads.len();
        received
    }
}

/// Buffers that go round: filled at one end of the pipeline, given back at the other.
#[derive(Clone)]
pub(crate) struct Pool {
    give: Sender<Vec<u8>>,
    take: Receiver<Vec<u8>>,
}

impl Pool {
    pub(crate) fn new() -> Self {
        let (give, take) = bounded(4 * QUEUE);
        Self { give, take }
    }

    /// Returns a buffer, with whatever is in it.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.take.try_recv().unwrap_or_default()
    }

    /// Takes a buffer back.
    pub(crate) fn give(&self, buffer: Vec<u8>) {
        // One too many is simply freed.
        let _ = self.give.try_send(buffer);
    }
}

impl Drop for Pool {
    /// Wipes what plaintext is left in the buffers.
    fn drop(&mut self) {
        while let Ok(mut buffer) = self.take.try_recv() {
            buffer.zeroize();
        }
    }
}
