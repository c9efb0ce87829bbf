//! A consistent view of a database.

use crate::{ReadCertificates, ReadJournal, ReadTrust};

/// Everything that was committed when the snapshot began, and nothing later. It lasts until it is dropped.
pub trait Snapshot: ReadCertificates + ReadJournal + ReadTrust {}

impl<T: ReadCertificates + ReadJournal + ReadTrust> Snapshot for T {}
