//! The names of issuers: key ID to primary user ID.
//!
//! GnuPG shows for an issuer's key ID the primary user ID of the first certificate that has a key, primary or subkey,
//! with this key ID. Nothing is verified: a name in a listing of signatures is a hint like the key ID.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use cert::effective::{Effective, Moment, View, evaluate};
use cert::facts::{ComponentKind, Facts};
use cert::{KeyId, Timestamp};
use store::{Detail, Selection, Snapshot};

use super::IssuerName;
use crate::Result;

/// Databases with more certificates than this are not read as a whole for names; this also bounds how many names are
/// remembered (about 100 bytes each).
const MANY: u64 = 100_000;

/// Reading a certificate on the way costs about this fraction of looking one up.
const LOOKUP_COST: u64 = 16;

/// Names that are known, and a database to look up the others in.
#[derive(Clone)]
pub struct Names<'s> {
    now: Timestamp,
    view: View,
    /// Where names come from that are not known yet; `None` if all are.
    source: Option<&'s dyn Snapshot>,
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
    /// Knows no names and looks none up.
    pub fn none(now: Timestamp, view: View) -> Self {
        Self { now, view, source: None, known: HashMap::new(), text: Vec::new() }
    }

    /// Looks names up in a database when a certificate needs them.
    pub fn in_database(source: &'s dyn Snapshot, now: Timestamp, view: View) -> Self {
        Self { source: Some(source), ..Self::none(now, view) }
    }

    /// Reads all names of a database at once, unless it is very large.
    pub fn of_database(source: &'s dyn Snapshot, now: Timestamp, view: View) -> Result<Self> {
        let mut names = Self::in_database(source, now, view);
        if source.count()? <= MANY {
            names.read_all(source)?;
        }
        Ok(names)
    }

    /// Adds the names of one certificate; whoever comes first keeps a key ID.
    pub fn add(&mut self, facts: &Facts) {
        let effective = evaluate(facts, Moment::new(self.now, self.view));
        self.add_evaluated(facts, &effective);
    }

    /// Makes sure that every issuer in a certificate is known, or known to be missing.
    pub fn prepare(&mut self, facts: &Facts) -> Result<()> {
        let Some(source) = self.source else { return Ok(()) };
        if self.known.len() as u64 > MANY {
            self.known.clear();
            self.text.clear();
        }
        let missing = self.missing(facts);
        let count = source.count()?;
        if count <= MANY && missing.len() as u64 * LOOKUP_COST > count {
            return self.read_all(source);
        }
        missing.into_iter().try_for_each(|key_id| self.look_up(source, key_id))
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

    fn read_all(&mut self, source: &dyn Snapshot) -> Result<()> {
        source.visit(Selection::All, Detail::Own, &mut |record| {
            if let Some(facts) = &record.facts {
                self.add(facts);
            }
            ControlFlow::Continue(())
        })?;
        self.source = None;
        Ok(())
    }

    fn look_up(&mut self, source: &dyn Snapshot, key_id: KeyId) -> Result<()> {
        if let Some(hit) = source.keys_by_id(key_id)?.first() {
            source.visit(Selection::Ids(&[hit.cert]), Detail::Own, &mut |record| {
                if let Some(facts) = &record.facts {
                    self.add(facts);
                }
                ControlFlow::Continue(())
            })?;
        }
        self.known.entry(key_id).or_insert(Known::NoKey);
        Ok(())
    }

    fn add_evaluated(&mut self, facts: &Facts, effective: &Effective) {
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
}
