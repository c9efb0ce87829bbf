//! Requests to verify signatures.

use cert::Facts;
use cert::facts::SignatureFacts;
use store::{CertId, KeptVerdict, Record};

/// A certificate whose signatures are to be verified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerifyRequest<'a> {
    /// Its number in the database, where it is from there: verdicts are kept by it.
    pub(crate) id: Option<CertId>,
    /// All its facts.
    pub(crate) facts: &'a Facts,
    /// Its bytes; without them they are read when they are needed.
    pub(crate) bytes: Option<&'a [u8]>,
    /// The stored verdicts.
    pub(crate) kept: &'a [KeptVerdict],
}

impl<'a> VerifyRequest<'a> {
    /// Requests a certificate of the database, read with [`Detail::Verdicts`](store::Detail::Verdicts); `None` for one
    /// without facts.
    pub(crate) fn record(record: &'a Record) -> Option<Self> {
        let Record { id, facts, bytes, verdicts, .. } = record;
        Some(Self { id: Some(*id), facts: facts.as_ref()?, bytes: bytes.as_deref(), kept: verdicts })
    }
}

/// Says whether a signature by another key is to be verified.
pub type Wanted<'w> = dyn Fn(&SignatureFacts) -> bool + 'w;
