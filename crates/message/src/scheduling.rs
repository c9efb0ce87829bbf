//! How the system schedules the threads of this crate.
//!
//! The only module of this crate with `unsafe` code: the two calls of the scheduler read no memory but their arguments.

#![allow(unsafe_code, reason = "no library here has the scheduler's calls")]

use std::sync::atomic::{AtomicBool, Ordering};

static IS_BATCH: AtomicBool = AtomicBool::new(false);

/// Has the threads that messages are processed in from now on scheduled as batch work (`SCHED_BATCH`, sched(7)).
///
/// A thread that is woken then does not interrupt another one, which saves up to a third of the time where threads hand
/// pieces to one another. This is for programs: a library does not know what else its process does.
/// Threads of a process for which somebody chose another policy keep that.
pub fn use_batch_scheduling() {
    IS_BATCH.store(true, Ordering::Relaxed);
}

/// Applies the policy to the calling thread, if [`use_batch_scheduling`] was called.
pub(crate) fn apply_to_this_thread() {
    if IS_BATCH.load(Ordering::Relaxed) {
        schedule_as_batch();
    }
}

/// Other systems than Linux have no such policy.
#[cfg(not(target_os = "linux"))]
fn schedule_as_batch() {}

#[cfg(target_os = "linux")]
fn schedule_as_batch() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: 0 is the calling thread, and the parameters live until the call returns. If it fails, nothing changes.
    unsafe {
        if libc::sched_getscheduler(0) == libc::SCHED_OTHER {
            libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameters);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_policy_of_one_thread_changes_and_the_others_stay_as_they_are() {
        // SAFETY: 0 is the calling thread.
        let policy = || unsafe { libc::sched_getscheduler(0) };
        let before = policy();
        let changed = std::thread::spawn(move || {
            schedule_as_batch();
            policy()
        });
        let expected = if before == libc::SCHED_OTHER { libc::SCHED_BATCH } else { before };
        assert_eq!(changed.join().expect("the thread does not panic"), expected);
        assert_eq!(policy(), before);
    }
}
