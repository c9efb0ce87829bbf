//! How much of the long comparisons a run makes.

use std::env;

/// Returns whether everything is to be compared and every long run made in full (`make oracle`, `make stress`),
/// rather than a sample (`make test`).
pub fn is_full() -> bool {
    env::var("KEYHOARD_TEST_SCALE").is_ok_and(|scale| scale == "full")
}

/// Returns the seed that chooses the samples (`make test SEED=7`), 1 if none is set, and prints how to repeat the run:
/// the output of a test that fails shows it.
pub fn seed() -> u64 {
    let seed = match env::var("KEYHOARD_TEST_SEED") {
        Ok(seed) => seed.parse().expect("KEYHOARD_TEST_SEED is a number"),
        Err(_) => 1,
    };
    println!("sampled with seed {seed}: repeat with make test SEED={seed}");
    seed
}

/// Returns `full` in a full run and `sample` otherwise.
pub fn choose<T>(full: T, sample: T) -> T {
    if is_full() { full } else { sample }
}
