//! From the ultimately trusted keys outwards, to every key.

use cert::{Fingerprint, Timestamp};

use super::count::{Count, Counter, Tally};
use super::{
    Certificate, CertifiedUserId, Certifier, Delegation, Interest, Introducer, IntroducerStatus, Settings,
    Web,
};
use crate::{KeyMap, KeySet, OwnerTrust, Validity};

/// What came of all keys.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Every key that was fully valid on a level on which it could introduce others, even if it may not certify any
    /// more.
    pub introducers: KeyMap<Introducer>,
    /// What happened on each level.
    pub levels: Vec<Level>,
    /// Ultimately trusted keys that are not there.
    pub missing: Vec<Fingerprint>,
    /// The first end of a certification that counted.
    pub first_end: Option<Timestamp>,
    ultimate: KeySet,
    users: KeyMap<Vec<(usize, Validity)>>,
}

/// What happened on one level; GnuPG's `--check-trustdb` prints a line of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Keys of this level.
    pub valid: usize,
    /// Certificates that have a certification by one of them.
    pub certified: usize,
    /// The keys of this level by the trust in their owners, [`OwnerTrust::Unknown`] first.
    pub trusts: [usize; 6],
}

/// The validities of one certificate's user IDs.
#[derive(Clone, Copy, Debug)]
pub enum Validities<'o> {
    /// The key is ultimately trusted.
    Ultimate,
    /// By the places of the components; of others nothing is known.
    Counted(&'o [(usize, Validity)]),
}

impl Validities<'_> {
    /// Returns the validity of a user ID, by its place among the certificate's components.
    pub fn of(self, component: usize) -> Validity {
        match self {
            Self::Ultimate => Validity::Ultimate,
            Self::Counted(users) => {
                let user = users.iter().find(|(place, _)| *place == component);
                user.map_or(Validity::Unknown, |(_, validity)| *validity)
            }
        }
    }
}

impl Outcome {
    /// Returns the validity of a user ID, by its place among the certificate's components.
    pub fn validity(&self, key: &Fingerprint, component: usize) -> Validity {
        self.validities(key).of(component)
    }

    /// Returns the validities of a certificate's user IDs.
    pub fn validities(&self, key: &Fingerprint) -> Validities<'_> {
        match self.users.get(key) {
            _ if self.ultimate.contains(key) => Validities::Ultimate,
            users => Validities::Counted(users.map_or(&[], Vec::as_slice)),
        }
    }

    pub(super) fn add_ultimate(&mut self, key: Fingerprint) {
        self.ultimate.insert(key);
    }

    /// Says whether a key is ultimately trusted.
    pub fn is_ultimate(&self, key: &Fingerprint) -> bool {
        self.ultimate.contains(key)
    }

    /// Says whether a valid key certified a user ID of this certificate.
    pub fn is_certified(&self, key: &Fingerprint) -> bool {
        self.users.contains_key(key)
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
    settings: &Settings,
) -> Result<Outcome, W::Error> {
    spread_as(Purpose::Summary, web, ultimate, settings)
}

/// Computes the same, but for the certificates that each level certified and the first end: those are too few then, as
/// certifications that make no difference to validity are not looked at. User IDs that are not fully valid are left out
/// as far as the web can tell of them itself ([`Web::certified_enough`], [`Web::certified_lightly`]).
///
/// # Errors
///
/// Those of the web.
pub fn spread_unsummed<W: Web>(
    web: &mut W,
    ultimate: &[Fingerprint],
    settings: &Settings,
) -> Result<Outcome, W::Error> {
    spread_as(Purpose::Validity, web, ultimate, settings)
}

/// What validity is computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// To know it.
    Validity,
    /// To sum up, as well, what happened on the way.
    Summary,
}

fn spread_as<W: Web>(
    purpose: Purpose,
    web: &mut W,
    ultimate: &[Fingerprint],
    settings: &Settings,
) -> Result<Outcome, W::Error> {
    let mut spreading = Spreading::new(purpose, settings);
    let mut keys = spreading.begin(web, ultimate)?;
    for level in 0..settings.max_cert_depth {
        if keys.is_empty() {
            break;
        }
        keys = spreading.level(web, level, &keys)?;
    }
    let light = std::mem::take(&mut spreading.light);
    spreading.count(&light, |asked, visit| web.certified_lightly(asked, visit))?;
    Ok(spreading.finish())
}

struct Spreading<'s> {
    purpose: Purpose,
    settings: &'s Settings,
    outcome: Outcome,
    tallies: KeyMap<(Tally, Vec<usize>)>,
    /// Keys that were fully valid on some level.
    used: KeySet,
    /// The introducers who were asked about, level by level.
    asked: Vec<KeyMap<Introducer>>,
    /// Introducers of all levels whose certifications change nothing on any level, only what is shown of a user ID that
    /// nobody else certified. They are asked for when all levels are done, so that each certificate is read once for it.
    light: KeyMap<Introducer>,
}

/// Is told of a certificate, and says what still matters of it.
type Visit<'v> = dyn FnMut(Certificate<'_>) -> Interest + 'v;

/// A key that became fully valid, and what trust signatures gave it.
type Promoted = (Fingerprint, Delegation);

impl<'s> Spreading<'s> {
    fn new(purpose: Purpose, settings: &'s Settings) -> Self {
        Self {
            purpose,
            settings,
            outcome: Outcome::default(),
            tallies: KeyMap::default(),
            used: KeySet::default(),
            asked: Vec::new(),
            light: KeyMap::default(),
        }
    }

    fn begin<W: Web>(&mut self, web: &mut W, ultimate: &[Fingerprint]) -> Result<Vec<Promoted>, W::Error> {
        for key in ultimate {
            if self.outcome.ultimate.insert(*key) && web.standing(key)?.is_none() {
                self.outcome.missing.push(*key);
            }
        }
        Ok(self.outcome.ultimate.iter().map(|key| (*key, Delegation::default())).collect())
    }

    /// Counts what the keys of one level certified, and returns those of the next.
    fn level<W: Web>(
        &mut self,
        web: &mut W,
        level: u8,
        keys: &[Promoted],
    ) -> Result<Vec<Promoted>, W::Error> {
        let mut summary = Level { valid: keys.len(), ..Level::default() };
        let mut issuers = KeyMap::with_capacity_and_hasher(keys.len(), Default::default());
        let mut light = KeyMap::default();
        for (key, delegation) in keys {
            let given = if level == 0 { OwnerTrust::Ultimate } else { web.owner_trust(key)? };
            let introducer = Introducer::new(level, given, delegation.clone(), self.settings);
            summary.trusts[introducer.trust as usize] += 1;
            if web.standing(key)? == Some(IntroducerStatus::Usable) {
                let asked = if self.can_wait(&introducer) { &mut light } else { &mut issuers };
                asked.insert(*key, introducer.clone());
            }
            self.outcome.introducers.insert(*key, introducer);
        }
        web.expect_lightly(&certifiers(&light));
        self.light.extend(light);
        let purpose = self.purpose;
        let (certified, promoted) = self.count(&issuers, |asked, visit| match purpose {
            Purpose::Validity => web.certified_enough(asked, visit),
            Purpose::Summary => web.certified_by(asked, visit),
        })?;
        self.asked.push(issuers);
        self.outcome.levels.push(Level { certified, ..summary });
        Ok(promoted)
    }

    /// Says whether an introducer's certifications change nothing on its level.
    fn can_wait(&self, introducer: &Introducer) -> bool {
        let Settings { completes_needed, marginals_needed, .. } = *self.settings;
        let untrusted_is_full = completes_needed == 0 || marginals_needed == 0;
        self.purpose == Purpose::Validity && !introducer.weighs() && !untrusted_is_full
    }

    /// Counts what some introducers certified; returns how many certificates these are, and who is fully valid now.
    fn count<E>(
        &mut self,
        issuers: &KeyMap<Introducer>,
        read: impl FnOnce(&[Certifier], &mut Visit<'_>) -> Result<(), E>,
    ) -> Result<(usize, Vec<Promoted>), E> {
        let mut asked = certifiers(issuers);
        asked.sort_unstable_by_key(|certifier| certifier.key);
        let (mut certified, mut promoted) = (0, Vec::new());
        let mut counter = Counter::new(self.settings);
        read(&asked, &mut |certificate| {
            certified += usize::from(self.certificate(&certificate, issuers, &mut counter, &mut promoted));
            self.interest(&certificate)
        })?;
        Ok((certified, promoted))
    }

    /// Counts what the keys of this level certified of one certificate; says whether that is anything.
    fn certificate(
        &mut self,
        certificate: &Certificate<'_>,
        issuers: &KeyMap<Introducer>,
        counter: &mut Counter<'_>,
        promoted: &mut Vec<Promoted>,
    ) -> bool {
        if certificate.standing == IntroducerStatus::Dead || self.outcome.ultimate.contains(&certificate.key)
        {
            return false;
        }
        let is_new = !self.tallies.contains_key(&certificate.key);
        let (tally, places) = self.tallies.entry(certificate.key).or_default();
        if is_new {
            // It may have been held back on the levels before.
            for earlier in &self.asked {
                counter.count(certificate, tally, &|key| earlier.get(key), &mut |_, _, _| {});
            }
        }
        if tally.settled {
            return false;
        }
        places.clear();
        places.extend(certificate.users.iter().map(|user| user.component));
        let step = counter.count(certificate, tally, &|key| issuers.get(key), &mut |_, _, _| {});
        self.outcome.first_end = [self.outcome.first_end, step.first_end].into_iter().flatten().min();
        if step.full && self.used.insert(certificate.key) {
            promoted.push((certificate.key, step.delegation));
        }
        step.certified
    }

    /// Says what further levels may do to a certificate.
    fn interest(&self, certificate: &Certificate<'_>) -> Interest {
        let Some((tally, _)) = self.tallies.get(&certificate.key) else { return Interest::Nothing };
        let is_certified = |(user, count): (&CertifiedUserId<'_>, &Count)| count.certified || !user.live;
        if tally.settled {
            Interest::Nothing
        } else if self.purpose == Purpose::Validity
            && certificate.users.iter().zip(&tally.users).all(is_certified)
        {
            // Who does not weigh can only certify a user ID for the first time.
            Interest::Weighing
        } else {
            Interest::All
        }
    }

    fn finish(self) -> Outcome {
        let Self { settings, mut outcome, tallies, .. } = self;
        outcome.users.reserve(tallies.len());
        for (key, (tally, places)) in tallies {
            let validities = tally.users.iter().map(|count| count.validity(settings));
            let users: Vec<_> = places
                .into_iter()
                .zip(validities)
                .filter(|(_, validity)| *validity != Validity::Unknown)
                .collect();
            if !users.is_empty() {
                outcome.users.insert(key, users);
            }
        }
        outcome
    }
}

/// Returns whom to ask about, in any order.
fn certifiers(introducers: &KeyMap<Introducer>) -> Vec<Certifier> {
    let certifier = |(key, it): (&Fingerprint, &Introducer)| Certifier {
        key: *key,
        weighs: it.weighs(),
        counts: it.counts(),
    };
    introducers.iter().map(certifier).collect()
}
