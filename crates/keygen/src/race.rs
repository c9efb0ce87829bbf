//! Generates an RSA key on all cores.

use crate::aws_lc::{self, Event};
use crate::error::{Error, Result};
use crate::progress::{Progress, Step};
use crate::rsa::{self, Numbers, Size};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

/// Generates the numbers of a new RSA key: a generator runs on each core, the first key is taken, and the other
/// generators are stopped.
///
/// aws-lc makes keys of sizes that are a multiple of 128 bits and not weak; keys of other sizes are OpenSSL's, on one core.
///
/// # Errors
///
/// [`Error::Memory`] and [`Error::Library`].
pub(crate) fn generate(size: Size, progress: &mut dyn Progress) -> Result<Numbers> {
    const PRIMES: usize = 2;
    if !size.bits().is_multiple_of(128) || size.bits() < 2048 {
        let numbers = rsa::generate_by_openssl(size)?;
        (0..PRIMES).for_each(|_| progress.step(Step::Prime));
        return Ok(numbers);
    }
    let is_done = AtomicBool::new(false);
    let (sender, events) = mpsc::channel();
    let results: Vec<_> = thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let runners: Vec<_> = (0..threads)
            .map(|runner| {
                let (sender, is_done) = (sender.clone(), &is_done);
                scope.spawn(move || {
                    run(size, is_done, |event| {
                        sender
                            .send((runner, event))
                            .expect("events are received until the last generator ends");
                    })
                })
            })
            .collect();
        drop(sender);
        report(events, threads, progress);
        runners.into_iter().map(|runner| runner.join().expect("a generator does not panic")).collect()
    });
    // Two keys may be complete in the same moment.
    let mut failure = Error::Memory;
    for result in results {
        match result {
            Ok(Some(numbers)) => return Ok(numbers),
            Ok(None) => {}
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Runs a generator until it has a key or another one has.
fn run(size: Size, is_done: &AtomicBool, tell: impl Fn(Event)) -> Result<Option<Numbers>> {
    let generated = aws_lc::generate(size, |event| {
        if event != Event::Working {
            tell(event);
        }
        !is_done.load(Ordering::Relaxed)
    })?;
    if generated.is_some() {
        is_done.store(true, Ordering::Relaxed);
    }
    Ok(generated)
}

/// Reports the events of the generators until all have ended. Of primes those of the generator that has most are
/// reported, so that each prime of the key is reported once.
fn report(events: mpsc::Receiver<(usize, Event)>, runners: usize, progress: &mut dyn Progress) {
    let mut primes = vec![0; runners];
    let mut reported = 0;
    for (runner, event) in events {
        match event {
            Event::Working => {}
            Event::Composite => progress.step(Step::Composite),
            Event::Prime => {
                primes[runner] += 1;
                if primes[runner] > reported {
                    reported = primes[runner];
                    progress.step(Step::Prime);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    #[derive(Default)]
    struct Counted {
        composites: usize,
        primes: usize,
    }

    impl Progress for Counted {
        fn step(&mut self, step: Step) {
            match step {
                Step::Composite => self.composites += 1,
                Step::Prime => self.primes += 1,
            }
        }
    }

    #[test]
    fn both_primes_are_reported_once() {
        for bits in [2048, 2056] {
            let mut counted = Counted::default();
            let numbers = generate(Size::new(bits).unwrap(), &mut counted).unwrap();
            assert_eq!((numbers.n.len(), counted.primes), (bits as usize / 8, 2));
            assert_eq!(counted.composites > 0, bits == 2048, "OpenSSL does not report them");
        }
    }

    #[test]
    fn no_two_keys_are_the_same() {
        let [first, second] = [(); 2].map(|()| generate(Size::new(2048).unwrap(), &mut Silent).unwrap());
        assert_ne!(first.n, second.n);
        assert!(first.p != second.p && first.q != second.q);
    }
}
