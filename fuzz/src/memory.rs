//! How much memory an input may cost.

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Bytes that reading an input of a fuzzer, which is short, may take at once, besides what was taken before: the buffers
/// of a message's threads are most of them.
const MOST: usize = 128 << 20;

/// Runs something.
///
/// # Panics
///
/// If that takes more memory than any input may.
pub(crate) fn bounded(run: impl FnOnce()) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    run();
    let most = MEMORY.peak_usage();
    assert!(most.saturating_sub(before) <= MOST, "{} bytes of memory", most - before);
}

#[cfg(test)]
mod tests {
    use super::{MOST, bounded};

    #[test]
    #[should_panic(expected = "bytes of memory")]
    fn more_memory_than_any_input_may_cost_is_noticed() {
        bounded(|| drop(std::hint::black_box(vec![0_u8; MOST + 1])));
    }
}
