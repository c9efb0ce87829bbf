//! The names of issuers: key ID to primary user ID.
//!
//! GnuPG shows for an issuer's key ID the primary user ID of the first certificate that has a key, primary or subkey,
//! with this key ID. Nothing is verified: a name in a listing of signatures is a hint like the key ID.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use cert::effective::{Moment, View, evaluate};
use cert::facts::{ComponentKind, Facts};
use cert::{KeyId, Timestamp};
use store::{Detail, Selection, Snapshot};

use super::IssuerName;
use crate::Result;

/// Databases with more certificates than this are not read as a whole for names; this also bounds how many names are
/// remembered (about 100 bytes each).
const MANY: u64 = 100_000;

/// So many names are looked up one by one before it is asked whether reading all of them would be quicker.
const FEW: u64 = 32;

/// How many certificates can be read for names in the time of looking one up.
const LOOKUP_COST: u64 = 16;

/// Names that are known, and databases to look up the others in.
#[derive(Clone)]
pub struct Names<'s> {
    now: Timestamp,
    view: View,
    /// Where names come from that are not known yet, the first one first; empty if all are known.
    sources: Vec<&'s dyn Snapshot>,
    looked_up: u64,
    /// How many certificates the sources hold, once that was asked.
    count: Option<u64>,
    known: HashMap<KeyId, Known>,
    /// The user IDs, one after the other.
    text: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Known {
    NoKey,
    NoUserId,
    UserId(Range<usize>),
}

impl std::fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names")
            .field("now", &self.now)
            .field("known", &self.known.len())
            .finish_non_exhaustive()
    }
}

impl<'s> Names<'s> {
    /// Takes names from these databases, the first one first, when a certificate needs them; none from no databases.
    pub fn new(sources: Vec<&'s dyn Snapshot>, now: Timestamp, view: View) -> Self {
        Self { now, view, sources, looked_up: 0, count: None, known: HashMap::new(), text: Vec::new() }
    }

    /// Adds the names of one certificate; whoever comes first keeps a key ID.
    pub fn add(&mut self, facts: &Facts) {
        let effective = evaluate(facts, Moment::new(self.now, self.view));
        let primary = effective.primary_user_id(facts).map(|index| &facts.components[index].kind);
        let name = match primary {
            Some(ComponentKind::UserId(value)) => {
                let start = self.text.len();
                self.text.extend_from_slice(value);
                Known::UserId(start..self.text.len())
            }
            _ => Known::NoUserId,
        };
        for key in facts.keys() {
            self.known.entry(key.fingerprint.key_id()).or_insert_with(|| name.clone());
        }
    }

    /// Makes sure that every issuer in a certificate is known, or known to be missing.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn prepare(&mut self, facts: &Facts) -> Result<()> {
        if self.sources.is_empty() {
            return Ok(());
        }
        if self.known.len() as u64 > MANY {
            self.known.clear();
            self.text.clear();
        }
        let missing = self.missing(facts);
        self.looked_up += missing.len() as u64;
        if self.looked_up > FEW && self.count()? <= MANY.min(self.looked_up * LOOKUP_COST) {
            return self.read_all();
        }
        missing.into_iter().try_for_each(|key_id| self.look_up(key_id))
    }

    /// Returns the name behind a key ID; one that was never prepared counts as missing.
    pub fn issuer(&self, key_id: KeyId) -> IssuerName<'_> {
        match self.known.get(&key_id) {
            Some(Known::UserId(range)) => IssuerName::UserId(&self.text[range.clone()]),
            Some(Known::NoUserId) => IssuerName::NoUserId,
            Some(Known::NoKey) | None => IssuerName::NoKey,
        }
    }

    fn missing(&self, facts: &Facts) -> Vec<KeyId> {
        let signatures = facts.components.iter().flat_map(|component| &component.signatures);
        let issuers = signatures.filter(|signature| self.view.shows(signature)).map(|s| s.issuer.key_id);
        let mut missing: Vec<KeyId> = issuers.filter(|key_id| !self.known.contains_key(key_id)).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    fn count(&mut self) -> Result<u64> {
        if let Some(count) = self.count {
            return Ok(count);
        }
        let count = self.sources.iter().map(|source| source.count()).sum::<store::Result<u64>>()?;
        self.count = Some(count);
        Ok(count)
    }

    fn read_all(&mut self) -> Result<()> {
        for source in std::mem::take(&mut self.sources) {
            self.read(source, Selection::All)?;
        }
        Ok(())
    }

    fn look_up(&mut self, key_id: KeyId) -> Result<()> {
        for source in self.sources.clone() {
            if let Some(hit) = source.keys_by_id(key_id)?.first() {
                return self.read(source, Selection::Ids(&[hit.cert]));
            }
        }
        self.known.insert(key_id, Known::NoKey);
        Ok(())
    }

    fn read(&mut self, source: &dyn Snapshot, selection: Selection<'_>) -> Result<()> {
        source.visit(selection, Detail::Own, &mut |record| {
            record.facts.iter().for_each(|facts| self.add(facts));
            ControlFlow::Continue(())
        })?;
        Ok(())
    }
}
