//! How the system runs the threads of a pipeline.
//!
//! The only module of this crate with `unsafe` code: the two calls of the scheduler read no memory but their arguments.

#![allow(unsafe_code, reason = "no library here has the scheduler's calls")]

/// Has the calling thread interrupt nobody when it is woken: it takes its turn. Threads that hand pieces to one another
/// and interrupt each other in the middle of them take up to a third longer (docs/benchmarks.md).
///
/// Where somebody chose how the program is to be run, that stays.
pub(crate) fn take_turns() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: 0 is the calling thread, and the parameters live until the call returns. It may refuse: then nothing changes.
    unsafe {
        if libc::sched_getscheduler(0) == libc::SCHED_OTHER {
            libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameters);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_takes_turns_and_the_others_stay_as_they_are() {
        // SAFETY: 0 is the calling thread.
        let policy = || unsafe { libc::sched_getscheduler(0) };
        let before = policy();
        let there = std::thread::spawn(move || {
            take_turns();
            policy()
        });
        let expected = if before == libc::SCHED_OTHER { libc::SCHED_BATCH } else { before };
        assert_eq!(there.join().expect("it does not fail"), expected);
        assert_eq!(policy(), before);
    }
}
