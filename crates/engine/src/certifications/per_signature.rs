//! One value for each signature of a certificate.

use cert::Facts;

/// One value for each signature of a certificate, in the order of its facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PerSignature<T> {
    /// Where each component's signatures begin.
    starts: Vec<usize>,
    all: Vec<T>,
}

impl<T: Copy> PerSignature<T> {
    /// Returns the same value for each.
    pub(super) fn filled(facts: &Facts, value: T) -> Self {
        let mut starts = Vec::with_capacity(facts.components.len() + 1);
        let mut count = 0;
        for component in &facts.components {
            starts.push(count);
            count += component.signatures.len();
        }
        starts.push(count);
        Self { starts, all: vec![value; count] }
    }

    /// Returns what belongs to a component's signature, both by their indices in the facts.
    ///
    /// # Panics
    ///
    /// If the certificate has no such signature.
    pub fn on(&self, component: usize, signature: usize) -> T {
        self.of(component)[signature]
    }

    /// Returns what belongs to each signature of a component, by the component's index.
    ///
    /// # Panics
    ///
    /// If the certificate has no such component.
    pub fn of(&self, component: usize) -> &[T] {
        &self.all[self.starts[component]..self.starts[component + 1]]
    }

    /// Walks through everything.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.all.iter()
    }

    pub(super) fn at_mut(&mut self, component: usize, signature: usize) -> &mut T {
        &mut self.all[self.starts[component] + signature]
    }
}
