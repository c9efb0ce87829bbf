//! Verdicts on signatures by other keys.

use cert::{Fingerprint, SignatureDigest};

/// What was found out about a signature by another key: whether its value verifies over exactly this content, under
/// exactly this primary key.
///
/// Nothing that can change takes part, so it holds for ever. Who shows it makes sure that the issuer is still here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeptVerdict {
    /// The signature, with what it is made over.
    pub content: SignatureDigest,
    /// The primary key that was tried.
    pub issuer: Fingerprint,
    /// Whether it made the signature.
    pub good: bool,
}
