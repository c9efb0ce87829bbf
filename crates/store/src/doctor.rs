//! What the doctor finds when it compares derived rows with the bytes they are derived from.

pub(crate) mod derived;

use std::collections::HashMap;
use std::fmt;

use cert::facts::{SelfSignature, SignatureFacts};
use cert::{Facts, Fingerprint};
use verify::{Verdict, limits};

use crate::{CertId, packed};

/// What a certificate's facts are derived from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCertificate {
    /// Its number.
    pub id: CertId,
    /// Its primary key's fingerprint, as it was when the certificate came.
    pub fingerprint: Option<Fingerprint>,
    /// Its exact bytes.
    pub bytes: Vec<u8>,
    /// Where the superseded signatures begin in the bytes, ascending.
    pub superseded: Vec<u32>,
    /// Where those self-signatures begin, ascending, that the stored facts know to be good: to be verified first.
    pub proven: Vec<u32>,
}

impl StoredCertificate {
    /// Takes from the stored facts what they know to be good. Facts that cannot be read, or are not of these bytes, know
    /// nothing. So few signatures that all are verified in any case need no memory here.
    pub(crate) fn load_proven(&mut self, own: &[u8]) {
        let stored = self.stored(own);
        let flooded =
            stored.filter(|facts| signatures(facts).nth(limits::MAX_CHECKS_PER_COMPONENT).is_some());
        self.proven = flooded.map_or(Vec::new(), |facts| {
            let is_good = |own: &SelfSignature| own.verdict == Some(Verdict::Good);
            let is_proven = |one: &&SignatureFacts| one.own.as_deref().is_some_and(is_good);
            signatures(&facts).filter(is_proven).map(|one| one.span.start).collect()
        });
    }

    /// Says whether there was too much to verify, when the facts were stored or now that they are derived again.
    pub(crate) fn was_too_much(&self, own: &[u8], derived: &Facts) -> bool {
        let stored = self.stored(own);
        [Some(derived), stored.as_ref()].into_iter().flatten().flat_map(signatures).any(is_unchecked)
    }

    /// Returns what the rows are compared with: what the bytes yield, but of signatures that were left unchecked, then or
    /// now, what the stored facts say. How far verification goes depends on when it was done, and not on the bytes alone.
    pub(crate) fn comparable(
        &self,
        mut derived: Facts,
        own: Option<&[u8]>,
        third_party: Option<&[u8]>,
    ) -> Facts {
        let own = own.filter(|own| self.was_too_much(own, &derived));
        let Some(stored) = own.and_then(|own| packed::unpack(own, third_party).ok()) else { return derived };
        let stored: HashMap<u32, &SignatureFacts> =
            signatures(&stored).map(|signature| (signature.span.start, signature)).collect();
        for signature in derived.components.iter_mut().flat_map(|component| &mut component.signatures) {
            if let Some(stored) = stored.get(&signature.span.start)
                && (is_unchecked(stored) || is_unchecked(signature))
            {
                signature.own.clone_from(&stored.own);
                signature.content = stored.content;
            }
        }
        derived
    }

    fn stored(&self, own: &[u8]) -> Option<Facts> {
        if packed::is_checksum_of_other_bytes(own, self.fingerprint, &self.bytes) {
            return None;
        }
        packed::unpack(own, None).ok()
    }

    /// Says what is wrong, if the bytes are not those that this blob of own facts was packed with.
    pub(crate) fn damage(&self, own: &[u8]) -> Option<String> {
        let is_damaged = packed::is_checksum_of_other_bytes(own, self.fingerprint, &self.bytes);
        is_damaged.then(|| "its packets are damaged: they are not those that were stored".to_owned())
    }
}

fn signatures(facts: &Facts) -> impl Iterator<Item = &SignatureFacts> {
    facts.components.iter().flat_map(|component| &component.signatures)
}

/// Says whether a self-signature was left unverified.
fn is_unchecked(signature: &SignatureFacts) -> bool {
    signature.own.as_ref().is_some_and(|own| own.verdict.is_none())
}

/// Derives the facts of several certificates, in order; the reason in words where that cannot be done.
pub type Derive<'a> = dyn FnMut(&[StoredCertificate]) -> Vec<std::result::Result<Facts, String>> + 'a;

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// SQLite finds its own structures broken; its words.
    Structure(String),
    /// A certificate's packets are not there. Its other rows are not judged.
    Lost {
        /// The certificate.
        cert: CertId,
        /// Its primary key's fingerprint, where that is one.
        fingerprint: Option<Fingerprint>,
    },
    /// A certificate's bytes are no certificate. Its other rows are not judged.
    Bytes {
        /// The certificate.
        cert: CertId,
        /// What is wrong.
        reason: String,
    },
    /// Rows of a certificate are not what its bytes say.
    Rows {
        /// The certificate.
        cert: CertId,
        /// The table.
        table: &'static str,
    },
    /// A table has rows that belong to no certificate, or lacks some.
    Count {
        /// The table.
        table: &'static str,
        /// Rows that are there.
        found: u64,
        /// Rows that the certificates' bytes ask for.
        expected: u64,
    },
    /// A table that is not derived has rows that belong to nothing.
    Orphans {
        /// The table.
        table: &'static str,
        /// How many.
        rows: u64,
    },
}

impl Finding {
    /// Says whether deriving everything again heals it.
    pub fn is_healed_by_rebuilding(&self) -> bool {
        match self {
            Self::Rows { .. } | Self::Count { .. } | Self::Orphans { .. } => true,
            Self::Structure(_) | Self::Lost { .. } | Self::Bytes { .. } => false,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Structure(words) => write!(f, "SQLite: {words}"),
            Self::Lost { cert, fingerprint: Some(fingerprint) } => {
                write!(f, "certificate {} ({fingerprint}): its packets are lost", cert.0)
            }
            Self::Lost { cert, fingerprint: None } => {
                write!(f, "certificate {}: its packets are lost", cert.0)
            }
            Self::Bytes { cert, reason } => write!(f, "certificate {}: {reason}", cert.0),
            Self::Rows { cert, table } => {
                write!(f, "certificate {}: {table} does not match the packets", cert.0)
            }
            Self::Count { table, found, expected } => {
                write!(f, "{table}: {found} rows instead of {expected}")
            }
            Self::Orphans { table, rows } => {
                write!(f, "{table}: {rows} rows that refer to rows that are not there")
            }
        }
    }
}

/// What deriving everything again came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// Certificates that are there.
    pub certificates: u64,
    /// Certificates whose packets were lost, and of which nothing is left now.
    pub lost: Vec<Finding>,
}
