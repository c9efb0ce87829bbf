//! Makes many certificates on all cores and writes them in the order of their numbers.

use std::io::{self, Write};
use std::{num::NonZero, thread};

/// The number of certificates that one thread makes before they are written.
pub(super) const BATCH: u64 = 2048;

/// Writes what `make` returns for each number below `count`.
///
/// # Errors
///
/// Those of `output`.
pub(super) fn write(
    count: u64,
    make: impl Fn(u64) -> Vec<u8> + Sync,
    output: &mut impl Write,
) -> io::Result<()> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get) as u64;
    for round in (0..count).step_by((BATCH * threads) as usize) {
        for bytes in batches(round, threads, count, &make) {
            output.write_all(&bytes)?;
        }
    }
    output.flush()
}

/// Makes a batch on each of `threads` threads, starting with number `first`; returns them in order.
fn batches(first: u64, threads: u64, count: u64, make: &(impl Fn(u64) -> Vec<u8> + Sync)) -> Vec<Vec<u8>> {
    thread::scope(|scope| {
        let batches: Vec<_> = (0..threads)
            .map(|thread| (first + thread * BATCH).min(count))
            .map(|start| scope.spawn(move || (start..(start + BATCH).min(count)).flat_map(make).collect()))
            .collect();
        batches.into_iter().map(|batch| batch.join().expect("making certificates does not panic")).collect()
    })
}
