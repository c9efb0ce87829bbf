//! Progress of the search for primes.

/// A step of the search for primes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A number was tested and is not prime.
    Composite,
    /// A prime was found.
    Prime,
}

/// Observes the search for primes. Steps are reported by several threads, one at a time.
pub trait Progress: Send {
    /// Takes note of a step.
    fn step(&mut self, step: Step);
}

/// Reports no progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn step(&mut self, _: Step) {}
}
