//! Signatures by other keys on one certificate.

use cert::Fingerprint;
use cert::facts::SignatureFacts;

use crate::{CertId, KeptVerdict};

/// What other keys signed on one certificate, as far as those were asked about.
#[derive(Clone, Debug, Default)]
pub struct Certifications {
    /// The certificate.
    pub id: CertId,
    /// The signatures with the numbers of their components, in the order of the packets; their spans mean nothing.
    pub signatures: Vec<(usize, SignatureFacts)>,
    /// The verdicts about these keys that are kept, by ascending issuer, the good ones before the bad ones, by ascending
    /// content.
    pub verdicts: Vec<KeptVerdict>,
}

impl Certifications {
    /// Begins with another certificate.
    pub fn begin(&mut self, id: CertId) {
        self.id = id;
        self.signatures.clear();
        self.verdicts.clear();
    }
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
