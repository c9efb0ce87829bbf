//! What came of an import.

use std::io;

use engine::causes;
use engine::cert::Error as CertError;
use engine::import::{ImportRefusal, ImportSummary};

use crate::{Error, Result};

/// The sums over an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// Certificates in the input.
    pub processed: u64,
    /// Certificates that were not here.
    pub new: u64,
    /// Certificates that brought something.
    pub changed: u64,
    /// Certificates that brought nothing.
    pub unchanged: u64,
    /// Certificates that could not be read, or have no user ID that anything vouches for.
    pub refused: u64,
    /// Secret keys that were not here.
    pub secret_keys: u64,
    /// The entry of the journal, if anything was written.
    pub entry: Option<i64>,
}

/// What of an input could not be read: where and why at first, and whether reading it failed at last.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    first: Option<String>,
    failure: Option<io::Error>,
}

impl Unread {
    /// Notes what was refused at a position.
    pub(crate) fn note(&mut self, position: u64, refusal: &ImportRefusal) {
        match refusal {
            ImportRefusal::Unreadable(CertError::Read { source, .. }) => {
                let copy = |number| io::Error::from_raw_os_error(number);
                let told = || io::Error::new(source.kind(), causes(refusal));
                self.failure = Some(source.raw_os_error().map_or_else(told, copy));
            }
            ImportRefusal::Unreadable(_) => {
                self.first.get_or_insert_with(|| format!("byte {position}: {}", causes(refusal)));
            }
            ImportRefusal::UnknownKey(_) | ImportRefusal::BadRevocation(_) => {}
        }
    }
}

impl Imported {
    /// Returns the sums, unless reading failed or nothing in the input was a certificate.
    pub(crate) fn of(summary: &ImportSummary, unread: Unread) -> Result<Self> {
        if let Some(failure) = unread.failure {
            return Err(Error::Io(failure));
        }
        let found = summary.processed - summary.refused;
        match unread.first {
            Some(first) if found == 0 => {
                Err(Error::Malformed(format!("there is no OpenPGP certificate in it; {first}")))
            }
            None if summary.processed == 0 => {
                Err(Error::Malformed("there is no OpenPGP certificate in it, from byte 0 on".to_owned()))
            }
            _ => Ok(Self::with_sums(summary)),
        }
    }

    fn with_sums(summary: &ImportSummary) -> Self {
        Self {
            processed: summary.processed,
            new: summary.imported,
            changed: summary.changed + summary.revocations,
            unchanged: summary.unchanged,
            refused: summary.refused + summary.without_user_id,
            secret_keys: summary.secret_imported,
            entry: summary.journal.map(|entry| entry.0),
        }
    }
}
