//! Pieces of a stream processed on several threads, with the results in the order of the pieces.

use std::sync::Arc;
use std::thread::Scope;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::scheduling;

/// Starts `workers` threads that apply `work` to the pieces that are pushed.
///
/// At most `ahead` results wait for the consumer, and as many pieces for a worker.
pub(crate) fn start<'scope, T: Send + 'scope, U: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    workers: usize,
    ahead: usize,
    work: impl Fn(T) -> U + Send + Sync + 'scope,
) -> (Producer<T, U>, Consumer<U>) {
    let (tasks, queue) = bounded::<Task<T, U>>(ahead);
    let (results, consumer) = bounded(ahead);
    let work = Arc::new(work);
    for _ in 0..workers {
        let (queue, work) = (queue.clone(), Arc::clone(&work));
        scope.spawn(move || {
            scheduling::apply_to_this_thread();
            for Task { piece, result } in queue {
                // Without a consumer nobody receives the result.
                let _ = result.send(work(piece));
            }
        });
    }
    (Producer { tasks, results }, Consumer(consumer))
}

/// A piece, and where its result goes.
struct Task<T, U> {
    piece: T,
    result: Sender<U>,
}

/// Pushes pieces. The stream ends when the producer is dropped.
pub(crate) struct Producer<T, U> {
    tasks: Sender<Task<T, U>>,
    /// For each piece, in order, the channel on which its result arrives.
    results: Sender<Receiver<U>>,
}

impl<T, U> Producer<T, U> {
    /// Pushes a piece as soon as there is room; `None` if the consumer is gone.
    pub(crate) fn push(&self, piece: T) -> Option<()> {
        let (result, receiver) = bounded(1);
        self.results.send(receiver).ok()?;
        self.tasks.send(Task { piece, result }).ok()
    }
}

/// Returns the results in the order of the pieces; ends early if a worker panicked.
pub(crate) struct Consumer<U>(Receiver<Receiver<U>>);

impl<U> Iterator for Consumer<U> {
    type Item = U;

    fn next(&mut self) -> Option<U> {
        self.0.recv().ok()?.recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn results_come_in_the_order_of_the_pieces_however_many_workers_there_are() {
        for workers in 1..4 {
            thread::scope(|scope| {
                let (producer, consumer) = start(scope, workers, 3, |piece: u64| piece * piece);
                scope.spawn(move || (0..1000).for_each(|piece| assert!(producer.push(piece).is_some())));
                assert!(consumer.eq((0..1000).map(|piece| piece * piece)), "{workers} workers");
            });
        }
    }

    #[test]
    fn pieces_wait_for_room_but_not_for_a_consumer_that_is_gone() {
        thread::scope(|scope| {
            let (producer, mut consumer) = start(scope, 1, 2, |piece: u8| piece);
            let producing =
                scope.spawn(move || (0..=255).take_while(|piece| producer.push(*piece).is_some()).count());
            assert_eq!(consumer.next(), Some(0));
            drop(consumer);
            // One result was taken, two wait, and one piece may have come between.
            assert!(producing.join().expect("the producer does not panic") <= 4);
        });
    }

    #[test]
    fn the_consumer_does_not_wait_for_a_producer_that_panicked() {
        thread::scope(|scope| {
            let (producer, mut consumer) = start(scope, 1, 2, |piece: u8| piece);
            let producing = scope.spawn(move || {
                assert!(producer.push(1).is_some());
                panic!("as a test");
            });
            producing.join().expect_err("it panics");
            assert_eq!([consumer.next(), consumer.next()], [Some(1), None]);
        });
    }

    #[test]
    fn the_consumer_does_not_wait_for_a_worker_that_panicked() {
        let panicked = std::panic::catch_unwind(|| {
            thread::scope(|scope| {
                let (producer, mut consumer) = start(scope, 1, 2, |_: u8| -> u8 { panic!("as a test") });
                assert!(producer.push(1).is_some());
                assert_eq!(consumer.next(), None);
            });
        });
        assert!(panicked.is_err());
    }
}
