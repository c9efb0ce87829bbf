//! To few keys, from those who certified them.
//!
//! First it is found out, backwards from the keys that are asked about, who may have a say: their certifiers; the
//! certifiers of these as far as they may introduce others; and so on, for as many steps as there are levels. Then
//! validity spreads among these keys alone.
//!
//! That gives the same as among all keys. A key that is so many steps away has a say only if it introduces others on a
//! level so much earlier, and the keys on which that depends are one step further away at most.

use std::collections::{HashMap, HashSet};

use cert::Fingerprint;

use super::{Certificate, Certifier, Interest, Outcome, Settings, Standing, TrustSignatures, Web, spread};
use crate::OwnerTrust;

/// Computes the validity of the user IDs of some keys; the outcome says nothing certain about others.
///
/// # Errors
///
/// Those of the web.
pub fn trace<W: Web>(
    web: &mut W,
    ultimate: &[Fingerprint],
    keys: &[Fingerprint],
    settings: &Settings,
) -> Result<Outcome, W::Error> {
    let mut search = Search::new(web, ultimate, settings);
    let mut layer = keys.to_vec();
    for step in 0..settings.max_cert_depth {
        layer = search.step(&layer, step == 0)?;
    }
    let Search { certified, .. } = search;
    let roots: Vec<Fingerprint> =
        ultimate.iter().copied().filter(|key| certified.contains_key(key)).collect();
    let mut part = Part { web, certified };
    let mut outcome = spread(&mut part, &roots, settings)?;
    ultimate.iter().for_each(|key| outcome.add_ultimate(*key));
    Ok(outcome)
}

/// Looks for who may have a say.
struct Search<'a, W> {
    web: &'a mut W,
    ultimate: HashSet<Fingerprint>,
    settings: &'a Settings,
    /// By certifier: what it is said to have certified.
    certified: HashMap<Fingerprint, Vec<Fingerprint>>,
    /// Keys whose certifiers are known.
    expanded: HashSet<Fingerprint>,
    delegators: HashMap<(Fingerprint, u8), Vec<Fingerprint>>,
    /// Whether a chain of trust signatures might lead to a key.
    delegates: HashMap<Fingerprint, bool>,
}

impl<'a, W: Web> Search<'a, W> {
    fn new(web: &'a mut W, ultimate: &[Fingerprint], settings: &'a Settings) -> Self {
        Self {
            web,
            ultimate: ultimate.iter().copied().collect(),
            settings,
            certified: HashMap::new(),
            expanded: HashSet::new(),
            delegators: HashMap::new(),
            delegates: HashMap::new(),
        }
    }

    /// Returns the certifiers of these keys that may have a say: any valid one has in the keys that are asked about.
    fn step(&mut self, keys: &[Fingerprint], any: bool) -> Result<Vec<Fingerprint>, W::Error> {
        let mut next = Vec::new();
        for key in keys {
            if self.ultimate.contains(key) || !self.expanded.insert(*key) {
                continue;
            }
            for certifier in self.web.certifiers(key)? {
                if (any || self.may_introduce(&certifier)?) && self.is_usable(&certifier)? {
                    self.certified.entry(certifier).or_default().push(*key);
                    next.push(certifier);
                }
            }
        }
        Ok(next)
    }

    /// Says whether a key's certifications could be worth something if it is valid.
    fn may_introduce(&mut self, key: &Fingerprint) -> Result<bool, W::Error> {
        if self.ultimate.contains(key) || self.web.owner_trust(key)? >= OwnerTrust::Marginal {
            return Ok(true);
        }
        match self.settings.trust_signatures {
            TrustSignatures::Ignored => Ok(false),
            TrustSignatures::OverrideNever | TrustSignatures::RespectNever => self.may_be_delegate(key),
        }
    }

    /// Says whether a chain of trust signatures might lead from an ultimately trusted key to this one.
    fn may_be_delegate(&mut self, key: &Fingerprint) -> Result<bool, W::Error> {
        if let Some(known) = self.delegates.get(key) {
            return Ok(*known);
        }
        // A chain that comes back to where it was leads nowhere new.
        let mut seen = HashSet::from([*key]);
        let mut layer = vec![*key];
        let mut found = false;
        // With each step away from the user a chain has one level less to give.
        for depth in 1..=self.settings.max_cert_depth {
            let mut next = Vec::new();
            for key in &layer {
                for delegator in self.delegators(key, depth)? {
                    found |= self.ultimate.contains(&delegator);
                    if seen.insert(delegator) {
                        next.push(delegator);
                    }
                }
            }
            if found || next.is_empty() {
                break;
            }
            layer = next;
        }
        self.delegates.insert(*key, found);
        Ok(found)
    }

    fn is_usable(&mut self, key: &Fingerprint) -> Result<bool, W::Error> {
        Ok(self.web.standing(key)? == Some(Standing::Usable))
    }

    fn delegators(&mut self, key: &Fingerprint, depth: u8) -> Result<Vec<Fingerprint>, W::Error> {
        if let Some(delegators) = self.delegators.get(&(*key, depth)) {
            return Ok(delegators.clone());
        }
        let delegators = self.web.delegators(key, depth)?;
        self.delegators.insert((*key, depth), delegators.clone());
        Ok(delegators)
    }
}

/// A part of a web: the certificates that were found.
struct Part<'a, W> {
    web: &'a mut W,
    certified: HashMap<Fingerprint, Vec<Fingerprint>>,
}

impl<W: Web> Web for Part<'_, W> {
    type Error = W::Error;

    fn owner_trust(&mut self, key: &Fingerprint) -> Result<OwnerTrust, Self::Error> {
        self.web.owner_trust(key)
    }

    fn standing(&mut self, key: &Fingerprint) -> Result<Option<Standing>, Self::Error> {
        self.web.standing(key)
    }

    fn certified_by(
        &mut self,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>) -> Interest,
    ) -> Result<(), Self::Error> {
        let certified = certifiers.iter().filter_map(|certifier| self.certified.get(&certifier.key));
        let mut keys: Vec<Fingerprint> = certified.flatten().copied().collect();
        keys.sort_unstable();
        keys.dedup();
        let mut visit = |certificate: Certificate<'_>| {
            visit(certificate);
        };
        keys.iter().try_for_each(|key| self.web.certificate(key, certifiers, &mut visit))
    }

    fn certificate(
        &mut self,
        key: &Fingerprint,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>),
    ) -> Result<(), Self::Error> {
        self.web.certificate(key, certifiers, visit)
    }

    fn certifiers(&mut self, key: &Fingerprint) -> Result<Vec<Fingerprint>, Self::Error> {
        self.web.certifiers(key)
    }

    fn delegators(&mut self, key: &Fingerprint, depth: u8) -> Result<Vec<Fingerprint>, Self::Error> {
        self.web.delegators(key, depth)
    }
}
