//! Work on all cores, in forked processes too.

use std::process;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process that uses rayon's global threads: none of them is in its forked children, where work for them would wait
/// for ever.
static FIRST: OnceLock<u32> = OnceLock::new();

/// The threads of a forked child, with its process ID.
static FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs work that rayon divides among threads: its global ones, or in a forked child some that belong to the child.
///
/// # Panics
///
/// Where a forked child gets no threads.
pub fn on_all_cores<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let process = process::id();
    if *FIRST.get_or_init(|| process) == process {
        return work();
    }
    own_threads(process).install(work)
}

fn own_threads(process: u32) -> Arc<ThreadPool> {
    let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, threads)) = forked.as_ref().filter(|(owner, _)| *owner == process) {
        return threads.clone();
    }
    let threads = Arc::new(
        ThreadPoolBuilder::new().build().expect("the system gives threads, as to every other program"),
    );
    // Threads of a process above this one cannot be ended here.
    if let Some(inherited) = forked.replace((process, threads.clone())) {
        std::mem::forget(inherited);
    }
    threads
}
