//! The names of issuers: key ID to primary user ID.
//!
//! GnuPG shows for an issuer's key ID the primary user ID of the first certificate that has a key, primary or subkey,
//! with this key ID. Nothing is verified: a name in a listing of signatures is a hint like the key ID.

use std::collections::HashMap;
use std::ops::ControlFlow;

use cert::effective::{EvaluationContext, PacketView, evaluate};
use cert::facts::Facts;
use cert::{KeyId, Timestamp};
use store::{Detail, ReadCertificates, Selection};
use verify::policy::DigestPolicy;

use super::IssuerName;
use crate::Result;

/// The most certificates of databases that are read as a whole for names: the table takes up to 34 bytes for each name,
/// besides the text.
const MAX_CERTIFICATES: u64 = 1_000_000;

/// The most keys whose names are cached; some certificates have several. The table has its final size then.
const MOST_KEYS: usize = 1_800_000;

/// The most bytes of user IDs that are cached.
const MOST_TEXT: usize = 40 << 20;

/// Beyond so many names, reading all of them may be quicker than looking them up one by one.
const MAX_SINGLE_LOOKUPS: u64 = 32;

/// So many certificates are read for names in the time of one look-up.
const LOOKUP_COST: u64 = 16;

/// Names that are known, and databases to look up the others in.
#[derive(Clone)]
pub struct Names<'s> {
    context: EvaluationContext,
    /// Where names come from that are not known yet, the first one first; empty if all are known.
    sources: Vec<&'s dyn ReadCertificates>,
    looked_up: u64,
    /// How many certificates the sources hold, once that was asked.
    count: Option<u64>,
    /// Reading everything was tried and exceeded the limits.
    too_much: bool,
    known: HashMap<KeyId, Holder>,
    /// The user IDs, one after the other, each after its length in four bytes.
    text: Vec<u8>,
}

/// The offset of a user ID in the text, or one of the two constants; four bytes, since a keyring may have a million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known(u32);

/// The certificate that a key ID stands for.
#[derive(Clone, Copy, Debug)]
struct Holder {
    name: Known,
    /// The key is its primary key.
    is_own: bool,
}

impl Known {
    const NO_KEY: Self = Self(u32::MAX);
    const NO_USER_ID: Self = Self(u32::MAX - 1);
}

impl<'s> Names<'s> {
    /// Takes names from these databases, in their order, when a certificate needs them.
    pub fn new(sources: Vec<&'s dyn ReadCertificates>, now: Timestamp, view: PacketView) -> Self {
        Self {
            context: EvaluationContext::new(now, view),
            sources,
            looked_up: 0,
            count: None,
            too_much: false,
            known: HashMap::new(),
            text: Vec::new(),
        }
    }

    /// Accepts these hash algorithms in self-signatures, on which it depends which user ID is the primary one.
    pub fn with_digests(self, digests: DigestPolicy) -> Self {
        Self { context: self.context.with_digests(digests), ..self }
    }

    /// Adds the names of one certificate. A key ID is that of a primary key if there is one, since anybody can list
    /// anybody's key as a subkey; of several certificates the first one counts.
    pub fn add(&mut self, facts: &Facts) {
        let effective = evaluate(facts, self.context);
        let name = effective.primary_name(facts).map_or(Known::NO_USER_ID, |user_id| self.remember(user_id));
        for (index, key) in facts.keys().enumerate() {
            let holder = Holder { name, is_own: index == 0 };
            let known = self.known.entry(key.fingerprint.key_id()).or_insert(holder);
            if holder.is_own && !known.is_own {
                *known = holder;
            }
        }
    }

    fn remember(&mut self, user_id: &[u8]) -> Known {
        let start = u32::try_from(self.text.len()).expect("the text is emptied long before");
        let length = u32::try_from(user_id.len()).expect("a packet is shorter");
        self.text.extend_from_slice(&length.to_be_bytes());
        self.text.extend_from_slice(user_id);
        Known(start)
    }

    /// Looks up every issuer in a certificate.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn prepare(&mut self, facts: &Facts) -> Result<()> {
        let view = self.context.view;
        let signatures = facts.components.iter().flat_map(|component| &component.signatures);
        let shown = signatures.filter(|signature| view.shows(signature));
        self.prepare_issuers(shown.map(|signature| signature.issuer.key_id))
    }

    /// Looks up these issuers.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn prepare_issuers(&mut self, key_ids: impl Iterator<Item = KeyId>) -> Result<()> {
        if self.sources.is_empty() {
            return Ok(());
        }
        if self.is_full() {
            self.known.clear();
            self.text.clear();
        }
        let mut missing: Vec<KeyId> = key_ids.filter(|key_id| !self.known.contains_key(key_id)).collect();
        missing.sort_unstable();
        missing.dedup();
        self.looked_up += missing.len() as u64;
        if self.looked_up > MAX_SINGLE_LOOKUPS
            && !self.too_much
            && self.count()? <= MAX_CERTIFICATES.min(self.looked_up * LOOKUP_COST)
            && self.read_all()?
        {
            return Ok(());
        }
        missing.into_iter().try_for_each(|key_id| self.look_up(key_id))
    }

    /// Returns the name of a key ID; one that was not looked up counts as missing.
    pub fn issuer(&self, key_id: KeyId) -> IssuerName<'_> {
        match self.known.get(&key_id).map(|holder| holder.name) {
            Some(Known::NO_KEY) | None => IssuerName::NoKey,
            Some(Known::NO_USER_ID) => IssuerName::NoUserId,
            Some(Known(start)) => {
                let (length, text) =
                    self.text[start as usize..].split_first_chunk().expect("a length stands there");
                IssuerName::UserId(&text[..u32::from_be_bytes(*length) as usize])
            }
        }
    }

    fn is_full(&self) -> bool {
        self.known.len() > MOST_KEYS || self.text.len() > MOST_TEXT
    }

    fn count(&mut self) -> Result<u64> {
        if let Some(count) = self.count {
            return Ok(count);
        }
        let count = self.sources.iter().map(|source| source.count()).sum::<store::Result<u64>>()?;
        self.count = Some(count);
        Ok(count)
    }

    /// Reads the names of all certificates; returns whether that was possible.
    fn read_all(&mut self) -> Result<bool> {
        // While a table grows, it takes half as much again.
        let count = usize::try_from(self.count()?).unwrap_or(usize::MAX).min(MOST_KEYS);
        self.known.reserve(count.saturating_sub(self.known.len()));
        for source in self.sources.clone() {
            self.read(source, Selection::All)?;
            if self.is_full() {
                break;
            }
        }
        self.too_much = self.is_full();
        if !self.too_much {
            self.sources.clear();
        }
        Ok(!self.too_much)
    }

    fn look_up(&mut self, key_id: KeyId) -> Result<()> {
        for source in self.sources.clone() {
            let primary = source.primaries_by_id(key_id)?.first().map(|(id, _)| *id);
            let holder = match primary {
                Some(id) => Some(id),
                None => source.keys_by_id(key_id)?.first().map(|hit| hit.cert),
            };
            if let Some(id) = holder {
                return self.read(source, Selection::Ids(&[id]));
            }
        }
        self.known.insert(key_id, Holder { name: Known::NO_KEY, is_own: false });
        Ok(())
    }

    fn read(&mut self, source: &dyn ReadCertificates, selection: Selection<'_>) -> Result<()> {
        source.visit(selection, Detail::Own, &mut |record| {
            record.facts.iter().for_each(|facts| self.add(facts));
            if self.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cert::facts::ComponentKind;

    use super::*;
    use crate::keyring_file::KeyringFile;
    use crate::test_keyrings::{KARL, NEW_YEAR_2025 as NOW, RITA, keyring};

    const KARLS_PRIMARY: KeyId = KeyId(0x7209_DA07_F14A_20C8);
    const KARLS_SUBKEY: KeyId = KeyId(0x5B30_4B4B_641D_95F9);
    const RITAS_PRIMARY: KeyId = KeyId(0x1A8D_5A6C_528C_5BFE);

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
        let mut names = Names::new(Vec::new(), NOW, PacketView::Gnupg);
        names.add(&facts(&keyring(&[KARL])));
        let name = IssuerName::UserId(b"Karl Keyholder <karl@example.org>");
        assert_eq!(names.issuer(KARLS_PRIMARY), name);
        assert_eq!(names.issuer(KARLS_SUBKEY), name);
        assert_eq!(names.issuer(RITAS_PRIMARY), IssuerName::NoKey);
    }

    #[test]
    fn issuers_are_looked_up_in_every_database() {
        let (karl, rita) = (keyring(&[KARL]), keyring(&[RITA]));
        let (first, second) = (karl.snapshot(), rita.snapshot());
        let mut names = Names::new(vec![&*first, &*second], NOW, PacketView::Gnupg);
        names.prepare(&facts(&karl)).expect("no error");
        assert_eq!(names.issuer(RITAS_PRIMARY), IssuerName::UserId(b"Rita Revoker <rita@example.org>"));
        assert_ne!(names.issuer(KARLS_PRIMARY), IssuerName::NoKey);
    }

    #[test]
    fn an_issuer_that_is_nowhere_has_no_key() {
        let karl = keyring(&[KARL]);
        let snapshot = karl.snapshot();
        let mut names = Names::new(vec![&*snapshot], NOW, PacketView::Gnupg);
        names.prepare(&facts(&karl)).expect("no error");
        assert_eq!(names.issuer(RITAS_PRIMARY), IssuerName::NoKey);
    }

    #[test]
    fn a_certificate_without_user_ids_has_a_key_but_no_name() {
        let mut karl = facts(&keyring(&[KARL]));
        karl.components.retain(|component| !matches!(component.kind, ComponentKind::UserId(_)));
        let mut names = Names::new(Vec::new(), NOW, PacketView::Gnupg);
        names.add(&karl);
        assert_eq!(names.issuer(KARLS_PRIMARY), IssuerName::NoUserId);
    }

    #[test]
    fn whoever_comes_first_keeps_a_key_id() {
        let (karl, mut impostor) = (facts(&keyring(&[KARL])), facts(&keyring(&[KARL])));
        let is_user_id = |kind: &ComponentKind| matches!(kind, ComponentKind::UserId(_));
        impostor.components.retain(|component| !is_user_id(&component.kind));
        let mut names = Names::new(Vec::new(), NOW, PacketView::Gnupg);
        names.add(&karl);
        names.add(&impostor);
        assert_ne!(names.issuer(KARLS_PRIMARY), IssuerName::NoUserId);
    }
}
