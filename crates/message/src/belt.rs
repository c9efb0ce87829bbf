//! Pieces that several threads work on side by side, and that come out in their order: each thread takes whatever is to be
//! done next, who loads and who unloads too.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

use crate::batch::take_turns;
use crate::pipeline::lock;

/// Starts `helpers` threads that do `work` on pieces side by side, and `finish` on one after the other, in their order.
///
/// Who unloads helps while there is nothing to unload, so one helper fewer than processors keeps all of them busy. At
/// most `ahead` pieces are on the belt.
pub(crate) fn start<'scope, T: Send + 'scope, U: Send + 'scope, V: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    helpers: usize,
    ahead: usize,
    work: impl Fn(T) -> U + Send + Sync + 'scope,
    finish: impl FnMut(U) -> V + Send + 'scope,
) -> (Loader<'scope, T, U, V>, Unloader<'scope, T, U, V>) {
    let belt = Arc::new(Belt {
        work: Box::new(work),
        ahead,
        state: Mutex::new(State {
            places: VecDeque::with_capacity(ahead),
            unloaded: 0,
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
        let helper = Unloader(belt.clone());
        scope.spawn(move || {
            take_turns();
            helper.0.help();
        });
    }
    (Loader(belt.clone()), Unloader(belt))
}

/// Where pieces are put on a belt.
pub(crate) struct Loader<'a, T, U, V>(Arc<Belt<'a, T, U, V>>);

/// Where pieces are taken off a belt, in the order in which they were put on it.
pub(crate) struct Unloader<'a, T, U, V>(Arc<Belt<'a, T, U, V>>);

struct Belt<'a, T, U, V> {
    work: Box<dyn Fn(T) -> U + Send + Sync + 'a>,
    ahead: usize,
    state: Mutex<State<'a, T, U, V>>,
    /// There is something to do for a helper.
    task: Condvar,
    /// There is a piece to unload, or something to do for who waits for it.
    piece: Condvar,
    /// There is room for pieces.
    room: Condvar,
}

/// Pieces have numbers, from 0.
struct State<'a, T, U, V> {
    places: VecDeque<Place<T, U, V>>,
    /// The number of the first piece on the belt.
    unloaded: usize,
    /// The number of the first piece that nobody works on yet.
    begun: usize,
    /// The number of the first piece that is not finished.
    finished: usize,
    /// Not here while somebody finishes a piece.
    finish: Option<Finish<'a, U, V>>,
    /// How many helpers wait.
    idle: usize,
    /// Whether who unloads waits.
    is_awaited: bool,
    /// Nothing more is loaded.
    is_complete: bool,
    /// Nothing more is unloaded.
    is_abandoned: bool,
}

type Finish<'a, U, V> = Box<dyn FnMut(U) -> V + Send + 'a>;

enum Place<T, U, V> {
    Loaded(T),
    /// Somebody has the piece.
    Away,
    Worked(U),
    Finished(V),
}

impl<T, U, V> Place<T, U, V> {
    fn is_worked(&self) -> bool {
        matches!(self, Self::Worked(_))
    }
}

enum Task<'a, T, U, V> {
    Work(usize, T),
    Finish(U, Finish<'a, U, V>),
}

impl<'a, T, U, V> State<'a, T, U, V> {
    /// Takes a piece from its place if it is as far as `is` says.
    fn take(&mut self, number: usize, is: fn(&Place<T, U, V>) -> bool) -> Option<Place<T, U, V>> {
        let place = self.places.get_mut(number - self.unloaded).filter(|place| is(place))?;
        Some(mem::replace(place, Place::Away))
    }

    fn put(&mut self, number: usize, place: Place<T, U, V>) {
        // What is not finished is never unloaded.
        self.places[number - self.unloaded] = place;
    }

    /// Returns what is to be done next: to finish comes first, since that cannot be done side by side.
    fn next_task(&mut self) -> Option<Task<'a, T, U, V>> {
        if self.finish.is_some()
            && let Some(Place::Worked(piece)) = self.take(self.finished, Place::is_worked)
        {
            return self.finish.take().map(|finish| Task::Finish(piece, finish));
        }
        let Some(Place::Loaded(piece)) = self.take(self.begun, |_| true) else { return None };
        self.begun += 1;
        Some(Task::Work(self.begun - 1, piece))
    }

    fn has_task(&self) -> bool {
        let is_worked = || self.places.get(self.finished - self.unloaded).is_some_and(Place::is_worked);
        self.begun < self.unloaded + self.places.len() || (self.finish.is_some() && is_worked())
    }
}

impl<'a, T, U, V> Belt<'a, T, U, V> {
    /// Does a task, while the belt goes on.
    fn run<'b>(
        &'b self,
        state: MutexGuard<'b, State<'a, T, U, V>>,
        task: Task<'a, T, U, V>,
    ) -> MutexGuard<'b, State<'a, T, U, V>> {
        drop(state);
        match task {
            Task::Work(number, piece) => {
                let worked = (self.work)(piece);
                let mut state = lock(&self.state);
                state.put(number, Place::Worked(worked));
                state
            }
            Task::Finish(piece, mut finish) => {
                let finished = finish(piece);
                let mut state = lock(&self.state);
                let number = state.finished;
                state.put(number, Place::Finished(finished));
                state.finish = Some(finish);
                state.finished += 1;
                if state.is_awaited && state.finished == state.unloaded + 1 {
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

impl<T, U, V> Loader<'_, T, U, V> {
    /// Puts a piece on the belt as soon as there is room; `None` if nobody unloads any more.
    pub(crate) fn load(&self, piece: T) -> Option<()> {
        let mut state = lock(&self.0.state);
        while state.places.len() >= self.0.ahead && !state.is_abandoned {
            state = self.0.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.places.push_back(Place::Loaded(piece));
        self.0.call(&state);
        (!state.is_abandoned).then_some(())
    }

    /// Puts a piece on the belt as well, and helps unless somebody waits for work: a piece that was just read is in this
    /// core's cache. Counts as one helper.
    pub(crate) fn load_and_help(&self, piece: T) -> Option<()> {
        let belt = &*self.0;
        let mut state = lock(&belt.state);
        while state.places.len() >= belt.ahead && !state.is_abandoned {
            state = match state.next_task() {
                Some(task) => belt.run(state, task),
                None => belt.room.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        state.places.push_back(Place::Loaded(piece));
        while state.idle == 0
            && !state.is_awaited
            && !state.is_abandoned
            && let Some(task) = state.next_task()
        {
            state = belt.run(state, task);
        }
        belt.call(&state);
        (!state.is_abandoned).then_some(())
    }
}

impl<T, U, V> Drop for Loader<'_, T, U, V> {
    /// Ends the loading; and the work, where it fails here with a piece that would be waited for in vain.
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.is_complete = true;
        state.is_abandoned |= thread::panicking();
        drop(state);
        self.0.task.notify_all();
        self.0.piece.notify_all();
    }
}

impl<T, U, V> Unloader<'_, T, U, V> {
    /// Takes the next piece off the belt, and works until there is one; `None` after the last one.
    pub(crate) fn unload(&mut self) -> Option<V> {
        let belt = &*self.0;
        let mut state = lock(&belt.state);
        loop {
            if let Some(Place::Finished(_)) = state.places.front()
                && let Some(Place::Finished(piece)) = state.places.pop_front()
            {
                state.unloaded += 1;
                // Many pieces at once cost less to wake for than one by one.
                if state.places.len() <= belt.ahead / 2 {
                    belt.room.notify_one();
                }
                belt.call(&state);
                return Some(piece);
            }
            if state.is_abandoned || (state.is_complete && state.places.is_empty()) {
                return None;
            }
            if let Some(task) = state.next_task() {
                state = belt.run(state, task);
            } else {
                state.is_awaited = true;
                state = belt.piece.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.is_awaited = false;
            }
        }
    }
}

impl<T, U, V> Drop for Unloader<'_, T, U, V> {
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
    fn pieces_come_off_a_belt_in_their_order_however_many_help() {
        for helpers in 0..4 {
            thread::scope(|scope| {
                let mut number = 0;
                let finish = move |square: u64| {
                    number += 1;
                    (number - 1, square)
                };
                let (loader, mut unloader) = start(scope, helpers, 3, |piece: u64| piece * piece, finish);
                scope.spawn(move || {
                    for piece in 0..1000 {
                        let loaded = match piece % 3 {
                            0 => loader.load(piece),
                            _ => loader.load_and_help(piece),
                        };
                        assert!(loaded.is_some());
                    }
                });
                let pieces = std::iter::from_fn(|| unloader.unload());
                assert!(pieces.eq((0..1000).map(|piece| (piece, piece * piece))), "{helpers} helpers");
            });
        }
    }

    #[test]
    fn who_loads_works_while_nobody_unloads() {
        thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            let work = move |piece: u8| {
                tell.send((piece, thread::current().id())).expect("somebody listens");
                piece
            };
            let (loader, unloader) = start(scope, 0, 4, work, |piece| piece);
            let loading = scope.spawn(move || {
                (0..4).for_each(|piece| assert!(loader.load_and_help(piece).is_some()));
                thread::current().id()
            });
            let loader = loading.join().expect("no piece waits");
            assert!(told.iter().take(4).eq((0..4).map(|piece| (piece, loader))));
            drop(unloader);
        });
    }

    #[test]
    fn pieces_wait_for_room_on_a_belt_and_for_nobody_who_is_gone() {
        thread::scope(|scope| {
            let (loader, mut unloader) = start(scope, 1, 2, |piece: u8| piece, |piece| piece);
            let (tell, told) = mpsc::channel();
            scope.spawn(move || {
                for piece in 0..=255 {
                    let loaded = loader.load(piece);
                    tell.send(piece).expect("somebody listens");
                    if loaded.is_none() {
                        return;
                    }
                }
            });
            assert_eq!(unloader.unload(), Some(0));
            drop(unloader);
            // One was unloaded, two were on the belt, and the next one came when nobody unloaded any more.
            assert!(told.into_iter().count() <= 4);
        });
    }

    #[test]
    fn who_unloads_does_not_wait_for_who_failed_while_loading() {
        let (ended, of_unloading) = mpsc::channel();
        let failed = std::panic::catch_unwind(move || {
            thread::scope(|scope| {
                let (loader, mut unloader) = start(scope, 0, 2, |()| panic!("as a test"), |()| ());
                scope.spawn(move || loader.load_and_help(())).join().expect_err("it fails");
                ended.send(unloader.unload()).expect("somebody listens");
            });
        });
        assert!(failed.is_ok());
        assert_eq!(of_unloading.recv(), Ok(None));
    }

    #[test]
    fn who_unloads_does_not_wait_for_a_helper_that_failed() {
        let (tell, told) = mpsc::channel();
        let (ended, of_unloading) = mpsc::channel();
        let failed = std::panic::catch_unwind(move || {
            thread::scope(|scope| {
                let work = move |()| {
                    tell.send(()).expect("somebody listens");
                    panic!("as a test");
                };
                let (loader, mut unloader) = start(scope, 1, 2, work, |()| ());
                assert!(loader.load(()).is_some());
                told.recv().expect("the helper begins");
                ended.send(unloader.unload()).expect("somebody listens");
            });
        });
        assert!(failed.is_err());
        assert_eq!(of_unloading.recv(), Ok(None));
    }
}
