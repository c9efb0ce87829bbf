//! The validity of all keys, computed level by level from the ultimately trusted keys.

use std::collections::{BTreeSet, HashMap, HashSet};

use cert::{Fingerprint, Timestamp};
use foldhash::fast::RandomState;

use super::user_id_validity::{IntroducerCount, LevelCount, count_introducers};
use super::{Certificate, Delegation, Edge, Introducer, IntroducerStatus, Settings, Web};
use crate::{KeyMap, KeySet, OwnerTrust, Validity};

/// What came of all keys.
#[derive(Debug)]
pub struct Outcome<I> {
    /// Every key that was fully valid on a level on which it could introduce others, even if it may not certify any
    /// more.
    pub introducers: KeyMap<Introducer>,
    /// What happened on each level; complete for [`Purpose::Summary`] only.
    pub levels: Vec<Level>,
    /// Ultimately trusted keys that are not there.
    pub missing: Vec<Fingerprint>,
    /// When the first certification that counted expires; for [`Purpose::Summary`] only.
    pub first_expiry: Option<Timestamp>,
    pub(super) ultimate: KeySet,
    /// By certificate and component.
    counts: HashMap<(I, usize), IntroducerCount, RandomState>,
    settings: Settings,
}

/// What happened on one level; GnuPG's `--check-trustdb` prints a line of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Keys of this level.
    pub valid: usize,
    /// Certificates that have a certification by one of them.
    pub certified: usize,
    /// The keys of this level by the trust in their owners, in the order of [`OwnerTrust::ALL`].
    pub trusts: [usize; 6],
}

/// What validity is computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To know it.
    Validity,
    /// To sum up what happened on the way as well.
    Summary,
}

impl<I: Copy + Eq + std::hash::Hash> Outcome<I> {
    /// Makes the outcome of a web in which nobody is trusted.
    pub fn nothing(settings: Settings) -> Self {
        Self {
            introducers: KeyMap::default(),
            levels: Vec::new(),
            missing: Vec::new(),
            first_expiry: None,
            ultimate: KeySet::default(),
            counts: HashMap::default(),
            settings,
        }
    }

    /// Returns the validity of a user ID, by its index among the components of a certificate with this primary key.
    ///
    /// `live` says that neither the user ID nor the key is revoked or expired, and that the key is not of the future: the
    /// outcome of [`Purpose::Validity`] knows that only where it decides who introduces others.
    pub fn validity(&self, key: &Fingerprint, certificate: I, component: usize, live: bool) -> Validity {
        if self.is_ultimate(key) {
            return Validity::Ultimate;
        }
        let count = self.counts.get(&(certificate, component)).filter(|_| live);
        count.map_or(Validity::Unknown, |count| count.validity(&self.settings))
    }

    /// Returns whether a key is ultimately trusted.
    pub fn is_ultimate(&self, key: &Fingerprint) -> bool {
        self.ultimate.contains(key)
    }

    /// Returns whether a valid key certified this user ID.
    pub fn is_certified(&self, certificate: I, component: usize) -> bool {
        self.counts.contains_key(&(certificate, component))
    }
}

/// Computes the validity of every user ID that is reached from the `ultimate` keys.
///
/// # Errors
///
/// Those of the web.
pub fn spread<W: Web>(
    web: &mut W,
    ultimate: &[Fingerprint],
    purpose: Purpose,
    settings: &Settings,
) -> Result<Outcome<W::Id>, W::Error> {
    spread_among(web, ultimate, None, purpose, settings)
}

/// Does so among all certificates, or those that are in `among`, by certifier.
pub(super) fn spread_among<W: Web>(
    web: &mut W,
    ultimate: &[Fingerprint],
    among: Option<HashMap<Fingerprint, Vec<Fingerprint>>>,
    purpose: Purpose,
    settings: &Settings,
) -> Result<Outcome<W::Id>, W::Error> {
    let outcome = Outcome::nothing(*settings);
    let mut spreading = Spreading {
        web,
        among,
        purpose,
        settings,
        outcome,
        certificates: HashMap::default(),
        settled: HashSet::default(),
        used: KeySet::default(),
        untrusted: Vec::new(),
    };
    let mut keys = spreading.begin(ultimate)?;
    for level in 0..settings.max_cert_depth {
        if keys.is_empty() {
            break;
        }
        keys = spreading.level(level, &keys)?;
    }
    spreading.finish()
}

struct Spreading<'s, W: Web> {
    web: &'s mut W,
    among: Option<HashMap<Fingerprint, Vec<Fingerprint>>>,
    purpose: Purpose,
    settings: &'s Settings,
    outcome: Outcome<W::Id>,
    /// Those that were read.
    certificates: HashMap<W::Id, Option<Certificate>, RandomState>,
    /// Certificates all of whose user IDs became fully valid on one level: nothing can change any more.
    settled: HashSet<W::Id, RandomState>,
    /// Keys that were fully valid on some level.
    used: KeySet,
    /// Introducers of all levels whose certifications change nothing on any level, only what is shown of a user ID that
    /// nobody else certified. They are asked for when all levels are done.
    untrusted: Vec<Fingerprint>,
}

/// A key that became fully valid, and what trust signatures gave it.
type Promoted = (Fingerprint, Delegation);

impl<W: Web> Spreading<'_, W> {
    fn begin(&mut self, ultimate: &[Fingerprint]) -> Result<Vec<Promoted>, W::Error> {
        for key in ultimate {
            if self.outcome.ultimate.insert(*key) && self.web.status(key)?.is_none() {
                self.outcome.missing.push(*key);
            }
        }
        Ok(self.outcome.ultimate.iter().map(|key| (*key, Delegation::default())).collect())
    }

    /// Counts what the keys of one level certified, and returns those of the next.
    fn level(&mut self, level: u8, keys: &[Promoted]) -> Result<Vec<Promoted>, W::Error> {
        let mut summary = Level { valid: keys.len(), ..Level::default() };
        let mut issuers = KeyMap::with_capacity_and_hasher(keys.len(), Default::default());
        let (mut trusted, mut untrusted) = (Vec::new(), Vec::new());
        for (key, delegation) in keys {
            let given = if level == 0 { OwnerTrust::Ultimate } else { self.web.owner_trust(key)? };
            let introducer = Introducer::new(level, given, delegation.clone(), self.settings);
            summary.trusts[Validity::from(introducer.trust) as usize] += 1;
            if self.web.status(key)? == Some(IntroducerStatus::Usable) {
                if self.can_wait(&introducer) {
                    self.untrusted.push(*key);
                } else {
                    if introducer.weighs() { &mut trusted } else { &mut untrusted }.push(*key);
                    issuers.insert(*key, introducer.clone());
                }
            }
            self.outcome.introducers.insert(*key, introducer);
        }
        let mut promoted = Vec::new();
        for edges in self.certified_by(&trusted, &untrusted)?.chunk_by(|a, b| a.certificate == b.certificate)
        {
            summary.certified += usize::from(self.certificate(edges, &issuers, &mut promoted)?);
        }
        self.outcome.levels.push(summary);
        Ok(promoted)
    }

    fn certified_by(
        &mut self,
        trusted: &[Fingerprint],
        untrusted: &[Fingerprint],
    ) -> Result<Vec<Edge<W::Id>>, W::Error> {
        let Self { web, among, settled, .. } = self;
        let Some(among) = among else {
            return web.certified_by(trusted, untrusted, &|id| settled.contains(&id));
        };
        let issuers = [trusted, untrusted].concat();
        let certified = issuers.iter().filter_map(|issuer| among.get(issuer));
        let keys: BTreeSet<Fingerprint> = certified.flatten().copied().collect();
        let mut edges = Vec::new();
        for key in keys {
            edges.extend(web.certifications_of(&key, &issuers)?);
        }
        Ok(edges)
    }

    /// Returns whether an introducer's certifications change nothing on its level.
    fn can_wait(&self, introducer: &Introducer) -> bool {
        let Settings { completes_needed, marginals_needed, .. } = *self.settings;
        let untrusted_is_full = completes_needed == 0 || marginals_needed == 0;
        self.purpose == Purpose::Validity && !introducer.weighs() && !untrusted_is_full
    }

    /// Counts what the keys of this level certified of one certificate; says whether that is anything.
    fn certificate(
        &mut self,
        edges: &[Edge<W::Id>],
        issuers: &KeyMap<Introducer>,
        promoted: &mut Vec<Promoted>,
    ) -> Result<bool, W::Error> {
        let id = edges[0].certificate;
        if self.settled.contains(&id) {
            return Ok(false);
        }
        let mut level = self.count(edges, None, issuers);
        let has_scope = |edge: &Edge<W::Id>| {
            issuers.get(&edge.certification.issuer).is_some_and(|issuer| issuer.delegation.scope.is_some())
        };
        // Most certificates are never read: there are too few certifications on them.
        let is_needed =
            self.purpose == Purpose::Summary || level.full(self.settings) > 0 || edges.iter().any(has_scope);
        if is_needed {
            if !self.certificates.contains_key(&id) {
                let certificate = self.web.certificate(id)?;
                self.certificates.insert(id, certificate);
            }
            let Some(Some(certificate)) = self.certificates.get(&id) else { return Ok(false) };
            if certificate.status == IntroducerStatus::Dead || self.outcome.is_ultimate(&certificate.key) {
                return Ok(false);
            }
            level = self.count(edges, Some(certificate), issuers);
            let full = level.full(self.settings);
            if full > 0 && self.used.insert(certificate.key) {
                promoted.push((certificate.key, level.delegation));
            }
            if full > 0 && full == certificate.users.len() {
                self.settled.insert(id);
            }
        }
        self.outcome.first_expiry = self.outcome.first_expiry.into_iter().chain(level.first_expiry).min();
        let is_certified = !level.users.is_empty();
        self.outcome.counts.extend(level.users.into_iter().map(|(user, count)| ((id, user), count)));
        Ok(is_certified)
    }

    fn count(
        &self,
        edges: &[Edge<W::Id>],
        certificate: Option<&Certificate>,
        issuers: &KeyMap<Introducer>,
    ) -> LevelCount {
        let id = edges[0].certificate;
        let before = |component| self.outcome.counts.get(&(id, component)).copied().unwrap_or_default();
        count_introducers(edges, certificate, self.settings, &|key| issuers.get(key), &before, &mut |_, _| {})
    }

    /// Adds what nobody who is trusted certified.
    fn finish(mut self) -> Result<Outcome<W::Id>, W::Error> {
        self.untrusted.sort_unstable();
        let Self { web, mut outcome, certificates, untrusted, .. } = self;
        let is_certified = |id| match certificates.get(&id) {
            Some(Some(Certificate { users, .. })) => {
                users.iter().all(|user| !user.live || outcome.is_certified(id, user.component))
            }
            _ => false,
        };
        for user in web.certified_by_untrusted(&untrusted, &is_certified)? {
            outcome.counts.entry(user).or_default().certified = true;
        }
        Ok(outcome)
    }
}
