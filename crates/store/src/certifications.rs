//! Signatures by other keys on one certificate.

use cert::facts::SignatureFacts;
use cert::{Facts, Fingerprint, SignatureDigest};

/// A certificate's number in this database, in the order of listings: of arrival in SQLite's engine, of (first seen,
/// fingerprint) in PostgreSQL's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CertId(pub i64);

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

/// What other keys signed on one certificate, as far as those were asked about.
#[derive(Clone, Debug)]
pub struct Certifications {
    /// The certificate.
    pub id: CertId,
    /// What it says about itself: the facts without signatures by other keys, or with all.
    pub own: Facts,
    /// The signatures with the numbers of their components, in the order of the packets. Spans are counted from the end
    /// of the component's own packet.
    pub signatures: Vec<(usize, SignatureFacts)>,
    /// The verdicts about these keys that are kept, by ascending issuer, the good ones before the bad ones, by ascending
    /// content.
    pub verdicts: Vec<KeptVerdict>,
}

/// What one key signed of a certificate's user IDs and attributes, when everything there that names its key ID was
/// verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proven {
    /// The primary key that made these signatures.
    pub issuer: Fingerprint,
    /// The signatures with the numbers of their components, in the order of the packets, without those that are older
    /// than the certificate's primary key. Spans only tell the order on a component; reasons and contents are left out.
    pub signatures: Vec<(usize, SignatureFacts)>,
}
