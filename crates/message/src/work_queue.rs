//! An ordered work queue: several threads process pieces side by side, and the consumer gets them in the order in which
//! they were pushed. Producer and consumer help while they would wait.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

use crate::batch::take_turns;
use crate::pipeline::lock;

/// Starts `helpers` threads that do `work` on pieces side by side, and `finish` on one after the other, in their order.
///
/// The consumer helps while there is nothing to pop, so one helper fewer than processors keeps all of them busy. At most
/// `ahead` pieces are in the queue.
pub(crate) fn start<'scope, T: Send + 'scope, U: Send + 'scope, V: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    helpers: usize,
    ahead: usize,
    work: impl Fn(T) -> U + Send + Sync + 'scope,
    finish: impl FnMut(U) -> V + Send + 'scope,
) -> (Producer<'scope, T, U, V>, Consumer<'scope, T, U, V>) {
    let queue = Arc::new(WorkQueue {
        work: Box::new(work),
        ahead,
        state: Mutex::new(State {
            items: VecDeque::with_capacity(ahead),
            popped: 0,
            begun: 0,
            finished: 0,
            finish: Some(Box::new(finish)),
            idle: 0,
            is_awaited: false,
            is_complete: false,
            is_abandoned: false,
        }),
        task: Condvar::new(),
        piece: Condvar::new(),
        room: Condvar::new(),
    });
    for _ in 0..helpers {
        let helper = Consumer(queue.clone());
        scope.spawn(move || {
            take_turns();
            helper.0.help();
        });
    }
    (Producer(queue.clone()), Consumer(queue))
}

/// Pushes pieces.
pub(crate) struct Producer<'a, T, U, V>(Arc<WorkQueue<'a, T, U, V>>);

/// Pops pieces, in the order in which they were pushed.
pub(crate) struct Consumer<'a, T, U, V>(Arc<WorkQueue<'a, T, U, V>>);

struct WorkQueue<'a, T, U, V> {
    work: Box<dyn Fn(T) -> U + Send + Sync + 'a>,
    ahead: usize,
    state: Mutex<State<'a, T, U, V>>,
    /// There is something to do for a helper.
    task: Condvar,
    /// There is a piece to pop, or something to do for the consumer, who waits for it.
    piece: Condvar,
    /// There is room for pieces.
    room: Condvar,
}

/// Pieces have numbers, from 0.
struct State<'a, T, U, V> {
    items: VecDeque<QueueItem<T, U, V>>,
    /// The number of the first piece in the queue.
    popped: usize,
    /// The number of the first piece that nobody works on yet.
    begun: usize,
    /// The number of the first piece that is not finished.
    finished: usize,
    /// Not here while somebody finishes a piece.
    finish: Option<Finish<'a, U, V>>,
    /// How many helpers wait.
    idle: usize,
    /// Whether the consumer waits.
    is_awaited: bool,
    /// Nothing more is pushed.
    is_complete: bool,
    /// Nothing more is popped.
    is_abandoned: bool,
}

type Finish<'a, U, V> = Box<dyn FnMut(U) -> V + Send + 'a>;

enum QueueItem<T, U, V> {
    Queued(T),
    /// Somebody has the piece.
    InProgress,
    Processed(U),
    Finished(V),
}

impl<T, U, V> QueueItem<T, U, V> {
    fn is_processed(&self) -> bool {
        matches!(self, Self::Processed(_))
    }
}

enum Task<'a, T, U, V> {
    Work(usize, T),
    Finish(U, Finish<'a, U, V>),
}

impl<'a, T, U, V> State<'a, T, U, V> {
    /// Takes a piece from its place if it is as far as `is` says.
    fn take(&mut self, number: usize, is: fn(&QueueItem<T, U, V>) -> bool) -> Option<QueueItem<T, U, V>> {
        let item = self.items.get_mut(number - self.popped).filter(|item| is(item))?;
        Some(mem::replace(item, QueueItem::InProgress))
    }

    fn put(&mut self, number: usize, item: QueueItem<T, U, V>) {
        // What is not finished is never popped.
        self.items[number - self.popped] = item;
    }

    /// Returns what is to be done next: to finish comes first, since that cannot be done side by side.
    fn next_task(&mut self) -> Option<Task<'a, T, U, V>> {
        if self.finish.is_some()
            && let Some(QueueItem::Processed(piece)) = self.take(self.finished, QueueItem::is_processed)
        {
            return self.finish.take().map(|finish| Task::Finish(piece, finish));
        }
        let Some(QueueItem::Queued(piece)) = self.take(self.begun, |_| true) else { return None };
        self.begun += 1;
        Some(Task::Work(self.begun - 1, piece))
    }

    fn has_task(&self) -> bool {
        let is_processed =
            || self.items.get(self.finished - self.popped).is_some_and(QueueItem::is_processed);
        self.begun < self.popped + self.items.len() || (self.finish.is_some() && is_processed())
    }
}

impl<'a, T, U, V> WorkQueue<'a, T, U, V> {
    /// Does a task, without the lock.
    fn run<'b>(
        &'b self,
        state: MutexGuard<'b, State<'a, T, U, V>>,
        task: Task<'a, T, U, V>,
    ) -> MutexGuard<'b, State<'a, T, U, V>> {
        drop(state);
        match task {
            Task::Work(number, piece) => {
                let processed = (self.work)(piece);
                let mut state = lock(&self.state);
                state.put(number, QueueItem::Processed(processed));
                state
            }
            Task::Finish(piece, mut finish) => {
                let finished = finish(piece);
                let mut state = lock(&self.state);
                let number = state.finished;
                state.put(number, QueueItem::Finished(finished));
                state.finish = Some(finish);
                state.finished += 1;
                if state.is_awaited && state.finished == state.popped + 1 {
                    self.piece.notify_one();
                }
                state
            }
        }
    }

    /// Wakes somebody if there is something to do.
    fn call(&self, state: &State<'a, T, U, V>) {
        if (state.idle > 0 || state.is_awaited) && state.has_task() {
            if state.idle > 0 { &self.task } else { &self.piece }.notify_one();
        }
    }

    fn help(&self) {
        let mut state = lock(&self.state);
        while !state.is_abandoned {
            if let Some(task) = state.next_task() {
                state = self.run(state, task);
            } else {
                state.idle += 1;
                state = self.task.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }
}

impl<T, U, V> Producer<'_, T, U, V> {
    /// Pushes a piece as soon as there is room; `None` if the consumer is gone.
    pub(crate) fn push(&self, piece: T) -> Option<()> {
        let mut state = lock(&self.0.state);
        while state.items.len() >= self.0.ahead && !state.is_abandoned {
            state = self.0.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.items.push_back(QueueItem::Queued(piece));
        self.0.call(&state);
        (!state.is_abandoned).then_some(())
    }

    /// Pushes a piece, and helps unless somebody waits for work: a piece that was just read is in this
    /// core's cache. Counts as one helper.
    pub(crate) fn push_and_help(&self, piece: T) -> Option<()> {
        let queue = &*self.0;
        let mut state = lock(&queue.state);
        while state.items.len() >= queue.ahead && !state.is_abandoned {
            state = match state.next_task() {
                Some(task) => queue.run(state, task),
                None => queue.room.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        state.items.push_back(QueueItem::Queued(piece));
        while state.idle == 0
            && !state.is_awaited
            && !state.is_abandoned
            && let Some(task) = state.next_task()
        {
            state = queue.run(state, task);
        }
        queue.call(&state);
        (!state.is_abandoned).then_some(())
    }
}

impl<T, U, V> Drop for Producer<'_, T, U, V> {
    /// Ends the input; and the work, where the producer fails with a piece that would be waited for in vain.
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.is_complete = true;
        state.is_abandoned |= thread::panicking();
        drop(state);
        self.0.task.notify_all();
        self.0.piece.notify_all();
    }
}

impl<T, U, V> Consumer<'_, T, U, V> {
    /// Pops the next piece, and helps until there is one; `None` after the last one.
    pub(crate) fn pop(&mut self) -> Option<V> {
        let queue = &*self.0;
        let mut state = lock(&queue.state);
        loop {
            if let Some(QueueItem::Finished(_)) = state.items.front()
                && let Some(QueueItem::Finished(piece)) = state.items.pop_front()
            {
                state.popped += 1;
                // Many pieces at once cost less to wake for than one by one.
                if state.items.len() <= queue.ahead / 2 {
                    queue.room.notify_one();
                }
                queue.call(&state);
                return Some(piece);
            }
            if state.is_abandoned || (state.is_complete && state.items.is_empty()) {
                return None;
            }
            if let Some(task) = state.next_task() {
                state = queue.run(state, task);
            } else {
                state.is_awaited = true;
                state = queue.piece.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.is_awaited = false;
            }
        }
    }
}

impl<T, U, V> Drop for Consumer<'_, T, U, V> {
    /// Ends the work; also where a helper fails, whose piece would be waited for in vain.
    fn drop(&mut self) {
        lock(&self.0.state).is_abandoned = true;
        self.0.task.notify_all();
        self.0.piece.notify_all();
        self.0.room.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn pieces_come_in_their_order_however_many_help() {
        for helpers in 0..4 {
            thread::scope(|scope| {
                let mut number = 0;
                let finish = move |square: u64| {
                    number += 1;
                    (number - 1, square)
                };
                let (producer, mut consumer) = start(scope, helpers, 3, |piece: u64| piece * piece, finish);
                scope.spawn(move || {
                    for piece in 0..1000 {
                        let pushed = match piece % 3 {
                            0 => producer.push(piece),
                            _ => producer.push_and_help(piece),
                        };
                        assert!(pushed.is_some());
                    }
                });
                let pieces = std::iter::from_fn(|| consumer.pop());
                assert!(pieces.eq((0..1000).map(|piece| (piece, piece * piece))), "{helpers} helpers");
            });
        }
    }

    #[test]
    fn the_producer_helps_while_the_consumer_does_not() {
        thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            let work = move |piece: u8| {
                tell.send((piece, thread::current().id())).expect("somebody listens");
                piece
            };
            let (producer, consumer) = start(scope, 0, 4, work, |piece| piece);
            let producing = scope.spawn(move || {
                (0..4).for_each(|piece| assert!(producer.push_and_help(piece).is_some()));
                thread::current().id()
            });
            let producer = producing.join().expect("no piece waits");
            assert!(told.iter().take(4).eq((0..4).map(|piece| (piece, producer))));
            drop(consumer);
        });
    }

    #[test]
    fn pieces_wait_for_room_but_not_for_a_consumer_that_is_gone() {
        thread::scope(|scope| {
            let (producer, mut consumer) = start(scope, 1, 2, |piece: u8| piece, |piece| piece);
            let (tell, told) = mpsc::channel();
            scope.spawn(move || {
                for piece in 0..=255 {
                    let pushed = producer.push(piece);
                    tell.send(piece).expect("somebody listens");
                    if pushed.is_none() {
                        return;
                    }
                }
            });
            assert_eq!(consumer.pop(), Some(0));
            drop(consumer);
            // One was popped, two were in the queue, and the next one came when the consumer was gone.
            assert!(told.into_iter().count() <= 4);
        });
    }

    #[test]
    fn the_consumer_does_not_wait_for_a_producer_that_failed() {
        let (ended, of_consuming) = mpsc::channel();
        let failed = std::panic::catch_unwind(move || {
            thread::scope(|scope| {
                let (producer, mut consumer) = start(scope, 0, 2, |()| panic!("as a test"), |()| ());
                scope.spawn(move || producer.push_and_help(())).join().expect_err("it fails");
                ended.send(consumer.pop()).expect("somebody listens");
            });
        });
        assert!(failed.is_ok());
        assert_eq!(of_consuming.recv(), Ok(None));
    }

    #[test]
    fn the_consumer_does_not_wait_for_a_helper_that_failed() {
        let (tell, told) = mpsc::channel();
        let (ended, of_consuming) = mpsc::channel();
        let failed = std::panic::catch_unwind(move || {
            thread::scope(|scope| {
                let work = move |()| {
                    tell.send(()).expect("somebody listens");
                    panic!("as a test");
                };
                let (producer, mut consumer) = start(scope, 1, 2, work, |()| ());
                assert!(producer.push(()).is_some());
                told.recv().expect("the helper begins");
                ended.send(consumer.pop()).expect("somebody listens");
            });
        });
        assert!(failed.is_err());
        assert_eq!(of_consuming.recv(), Ok(None));
    }
}
