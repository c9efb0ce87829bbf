//! Memory for secrets, on systems without the calls of `memory`: wiped, and neither kept out of swap nor out of dumps.

use std::ops::{Deref, DerefMut};

use zeroize::Zeroizing;

/// Bytes that are wiped when they are dropped.
pub(crate) struct Guarded(Zeroizing<Box<[u8]>>);

impl Guarded {
    /// Allocates `length` zero bytes.
    pub(crate) fn zeroed(length: usize) -> Self {
        Self(Zeroizing::new(vec![0; length].into()))
    }

    /// Allocates a copy; the caller wipes the original.
    pub(crate) fn copy_of(bytes: &[u8]) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }
}

impl Deref for Guarded {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Guarded {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
