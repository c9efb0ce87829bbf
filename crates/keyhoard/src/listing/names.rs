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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::keyring_file::KeyringFile;

    const KARL: &[u8] = include_bytes!("../testdata/designated-revoker-karl.asc");
    const RITA: &[u8] = include_bytes!("../testdata/designated-revoker-rita.asc");

    const KARLS_PRIMARY: KeyId = KeyId(0x7209_DA07_F14A_20C8);
    const KARLS_SUBKEY: KeyId = KeyId(0x5B30_4B4B_641D_95F9);
    const RITAS_PRIMARY: KeyId = KeyId(0x1A8D_5A6C_528C_5BFE);

    const NOW: Timestamp = Timestamp(1_735_689_600);

    fn keyring(certificate: &[u8]) -> KeyringFile {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(certificate).expect("the file takes everything");
        KeyringFile::read(file.path()).expect("a keyring")
    }

    fn facts(keyring: &KeyringFile) -> Facts {
        let mut found = None;
        let visited = keyring.snapshot().visit(Selection::All, Detail::Full, &mut |record| {
            found = record.facts;
            ControlFlow::Break(())
        });
        visited.expect("no error");
        found.expect("there is a certificate")
    }

    #[test]
    fn every_key_of_a_certificate_goes_by_its_primary_user_id() {
        let mut names = Names::new(Vec::new(), NOW, View::Gnupg);
        names.add(&facts(&keyring(KARL)));
        let name = IssuerName::UserId(b"Karl Keyholder <karl@example.org>");
        assert_eq!(names.issuer(KARLS_PRIMARY), name);
        assert_eq!(names.issuer(KARLS_SUBKEY), name);
        assert_eq!(names.issuer(RITAS_PRIMARY), IssuerName::NoKey);
    }

    #[test]
    fn issuers_are_looked_up_in_every_database() {
        let (karl, rita) = (keyring(KARL), keyring(RITA));
        let (first, second) = (karl.snapshot(), rita.snapshot());
        let mut names = Names::new(vec![&*first, &*second], NOW, View::Gnupg);
        names.prepare(&facts(&karl)).expect("no error");
        assert_eq!(names.issuer(RITAS_PRIMARY), IssuerName::UserId(b"Rita Revoker <rita@example.org>"));
        assert_ne!(names.issuer(KARLS_PRIMARY), IssuerName::NoKey);
    }

    #[test]
    fn an_issuer_that_is_nowhere_has_no_key() {
        let karl = keyring(KARL);
        let snapshot = karl.snapshot();
        let mut names = Names::new(vec![&*snapshot], NOW, View::Gnupg);
        names.prepare(&facts(&karl)).expect("no error");
        assert_eq!(names.issuer(RITAS_PRIMARY), IssuerName::NoKey);
    }

    #[test]
    fn a_certificate_without_user_ids_has_a_key_but_no_name() {
        let mut karl = facts(&keyring(KARL));
        karl.components.retain(|component| !matches!(component.kind, ComponentKind::UserId(_)));
        let mut names = Names::new(Vec::new(), NOW, View::Gnupg);
        names.add(&karl);
        assert_eq!(names.issuer(KARLS_PRIMARY), IssuerName::NoUserId);
    }

    #[test]
    fn whoever_comes_first_keeps_a_key_id() {
        let (karl, mut impostor) = (facts(&keyring(KARL)), facts(&keyring(KARL)));
        let is_user_id = |kind: &ComponentKind| matches!(kind, ComponentKind::UserId(_));
        impostor.components.retain(|component| !is_user_id(&component.kind));
        let mut names = Names::new(Vec::new(), NOW, View::Gnupg);
        names.add(&karl);
        names.add(&impostor);
        assert_ne!(names.issuer(KARLS_PRIMARY), IssuerName::NoUserId);
    }
}
