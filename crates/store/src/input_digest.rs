//! How inputs that were imported before are recognised.

/// SHA-256 over an imported certificate's bytes, the options, and the version of our import rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InputDigest(pub [u8; 32]);
