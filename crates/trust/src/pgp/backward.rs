//! The validity of few keys.
//!
//! A search follows the certifications of these keys backwards, from certified key to certifier, and finds the keys on
//! which their validity may depend: their certifiers, the certifiers of those that may be introducers, and so on, for at
//! most `max_cert_depth` steps. Then validity is computed from the ultimately trusted keys, among the found keys only.
//!
//! The result is the same as among all keys: the validity of a key on a level depends on a certifier that is `n` steps
//! away only if that certifier is an introducer at least `n` levels above. So with each step the number of levels that
//! are left falls by one.

use std::collections::{HashMap, HashSet};

use cert::Fingerprint;

use super::forward::spread_among;
use super::{IntroducerStatus, Outcome, Purpose, Settings, TrustSignatures, Web};
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
) -> Result<Outcome<W::Id>, W::Error> {
    let mut search = Search::new(web, ultimate, settings);
    let mut layer = keys.to_vec();
    for level in (0..settings.max_cert_depth).rev() {
        layer = search.step(&layer, level)?;
    }
    let Search { web, certified, .. } = search;
    let roots: Vec<Fingerprint> =
        ultimate.iter().copied().filter(|key| certified.contains_key(key)).collect();
    let mut outcome = spread_among(web, &roots, Some(certified), Purpose::Summary, settings)?;
    outcome.ultimate.extend(ultimate);
    Ok(outcome)
}

/// Searches for the keys on which the validity of others may depend.
struct Search<'a, W> {
    web: &'a mut W,
    ultimate: HashSet<Fingerprint>,
    settings: &'a Settings,
    /// By certifier, the keys that it is said to have certified.
    certified: HashMap<Fingerprint, Vec<Fingerprint>>,
    /// Keys whose certifiers are known.
    expanded: HashSet<Fingerprint>,
    chains: HashMap<Chain, bool>,
}

/// Trust signatures that lead from an ultimately trusted key to another one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Chain {
    /// The key to which they lead.
    to: Fingerprint,
    /// The least depth of the last one: one for the key, and one for each key that follows.
    depth: u8,
    /// The greatest number of signatures.
    length: u8,
}

impl<'a, W: Web> Search<'a, W> {
    fn new(web: &'a mut W, ultimate: &[Fingerprint], settings: &'a Settings) -> Self {
        Self {
            web,
            ultimate: ultimate.iter().copied().collect(),
            settings,
            certified: HashMap::new(),
            expanded: HashSet::new(),
            chains: HashMap::new(),
        }
    }

    /// Returns the certifiers of these keys on which their validity may depend, if they introduce others on this level or
    /// an earlier one. On the last level, that of the keys that are asked about, it may depend on any valid one.
    fn step(&mut self, keys: &[Fingerprint], level: u8) -> Result<Vec<Fingerprint>, W::Error> {
        let any = level + 1 == self.settings.max_cert_depth;
        let mut next = Vec::new();
        for key in keys {
            if self.ultimate.contains(key) || !self.expanded.insert(*key) {
                continue;
            }
            for certifier in self.web.certifiers(key)? {
                if (any || self.may_introduce(&certifier, level)?)
                    && self.web.status(&certifier)? == Some(IntroducerStatus::Usable)
                {
                    self.certified.entry(certifier).or_default().push(*key);
                    next.push(certifier);
                }
            }
        }
        Ok(next)
    }

    /// Returns whether a key's certifications could be worth something if it is valid on a level.
    fn may_introduce(&mut self, key: &Fingerprint, level: u8) -> Result<bool, W::Error> {
        if self.ultimate.contains(key) {
            return Ok(true);
        }
        if level == 0 {
            return Ok(false);
        }
        if self.web.owner_trust(key)? >= OwnerTrust::Marginal {
            return Ok(true);
        }
        match self.settings.trust_signatures {
            TrustSignatures::Ignored => Ok(false),
            TrustSignatures::OverrideNever | TrustSignatures::RespectNever => {
                self.may_exist(Chain { to: *key, depth: 1, length: level })
            }
        }
    }

    /// Returns whether there might be such a chain.
    fn may_exist(&mut self, chain: Chain) -> Result<bool, W::Error> {
        if let Some(known) = self.chains.get(&chain) {
            return Ok(*known);
        }
        let found = self.look_for(chain)?;
        self.chains.insert(chain, found);
        Ok(found)
    }

    fn look_for(&mut self, Chain { to, depth, length }: Chain) -> Result<bool, W::Error> {
        if length == 1 && !self.may_be_certified_ultimately(&to)? {
            return Ok(false);
        }
        let delegators = self.web.delegators(&to, depth)?;
        if delegators.iter().any(|key| self.ultimate.contains(key)) {
            return Ok(true);
        }
        for to in delegators.into_iter().filter(|_| length > 1) {
            if self.may_exist(Chain { to, depth: depth + 1, length: length - 1 })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn may_be_certified_ultimately(&mut self, key: &Fingerprint) -> Result<bool, W::Error> {
        for ultimate in &self.ultimate {
            if self.web.may_have_certified(ultimate, key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
