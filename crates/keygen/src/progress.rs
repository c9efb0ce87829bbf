//! What is told of a long search.

/// A step of the search for primes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A number was tested that is not prime.
    Composite,
    /// A prime was found.
    Prime,
}

/// Who is told how the search for primes goes on. Steps come from several threads, one at a time.
pub trait Progress: Send {
    /// Tells one step.
    fn step(&mut self, step: Step);
}

/// Nobody: tells nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn step(&mut self, _: Step) {}
}
