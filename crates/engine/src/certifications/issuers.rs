//! The possible issuers of signatures: primary keys by the key IDs of all keys of their certificates.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use cert::facts::Issuer;
use cert::key::{self, Key};
use cert::packet::Packets;
use cert::{Fingerprint, KeyId};
use foldhash::fast::RandomState;
use store::{CertId, KeyHit, ReadCertificates};
use verify::limits;

use super::{VerifyRequest, Wanted};
use crate::Result;

/// The most key IDs that are cached from one batch to the next, and the most certificates whose keys are read as a
/// whole.
const MAX_KEY_IDS: usize = 50_000;

/// Beyond so many key IDs, reading all keys may be quicker than looking them up one by one.
const MAX_SINGLE_LOOKUPS: usize = 32;

/// The keys of so many certificates are read in the time of one look-up.
const LOOKUP_COST: usize = 4;

/// Primary keys, read from databases when they are needed.
pub(super) struct Issuers<'s> {
    sources: Vec<&'s dyn ReadCertificates>,
    primaries: Vec<Primary>,
    by_position: HashMap<(usize, CertId), IssuerNumber, RandomState>,
    known: HashMap<KeyId, Vec<Candidate>, RandomState>,
    /// Every key of the databases is known.
    complete: bool,
}

/// A primary key's number among those that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct IssuerNumber(usize);

#[cfg(test)]
impl IssuerNumber {
    pub(super) fn numbered(number: usize) -> Self {
        Self(number)
    }
}

struct Primary {
    fingerprint: Fingerprint,
    source: usize,
    cert: CertId,
    /// Its packet, once it was read.
    packet: Option<Arc<Read>>,
}

/// A primary key's packet.
struct Read {
    body: Vec<u8>,
    /// What verifying under the key costs; 0 if the packet is damaged.
    cost: usize,
}

/// Most key packets are shorter.
const USUAL_PACKET_BYTES: usize = 1000;

impl Read {
    fn of(cert: CertId, source: &dyn ReadCertificates) -> Result<Self> {
        let body = match first_body(source.first_bytes(cert, USUAL_PACKET_BYTES)?) {
            Some(body) => body,
            None => first_body(source.bytes(cert)?).unwrap_or_default(),
        };
        let cost = key::parse_public(&body).map_or(0, |key| key.public_key().cost());
        Ok(Self { body, cost })
    }
}

/// Returns the body of the first packet, if that is whole.
fn first_body(bytes: Option<Vec<u8>>) -> Option<Vec<u8>> {
    let bytes = bytes?;
    let first = Packets::new(&bytes).next()?.ok()?;
    Some(first.body.to_vec())
}

/// A key with a key ID, and its certificate's primary key, often the same.
struct Candidate {
    key: Fingerprint,
    primary: IssuerNumber,
}

/// The primary keys of some checks; threads share them.
#[derive(Default)]
pub(super) struct Keys(HashMap<IssuerNumber, (Fingerprint, Arc<Read>), RandomState>);

impl Keys {
    /// Returns a key; `None` if its packet is damaged.
    pub(super) fn key(&self, number: IssuerNumber) -> Option<Key<'_>> {
        key::parse_public(&self.0[&number].1.body).ok()
    }

    pub(super) fn fingerprint(&self, number: IssuerNumber) -> Fingerprint {
        self.0[&number].0
    }

    /// Returns what a verification under a key [costs](verify::PublicKey::cost); nothing if its packet is damaged.
    pub(super) fn cost(&self, number: IssuerNumber) -> usize {
        self.0[&number].1.cost
    }
}

impl<'s> Issuers<'s> {
    /// Begins without any key.
    pub(super) fn of(sources: Vec<&'s dyn ReadCertificates>) -> Self {
        Self {
            sources,
            primaries: Vec::new(),
            by_position: HashMap::default(),
            known: HashMap::default(),
            complete: false,
        }
    }

    /// Looks up the key IDs that the wanted signatures name.
    pub(super) fn prepare(&mut self, requests: &[VerifyRequest<'_>], wanted: &Wanted<'_>) -> Result<()> {
        if self.complete {
            return Ok(());
        }
        if self.known.len() > MAX_KEY_IDS {
            self.forget();
        }
        let components = requests.iter().flat_map(|request| &request.facts.components);
        let signatures = components.flat_map(|component| &component.signatures);
        let foreign = signatures.filter(|signature| signature.own.is_none() && wanted(signature));
        let unknown = foreign
            .map(|signature| signature.issuer.key_id)
            .filter(|key_id| !self.known.contains_key(key_id));
        let mut unknown: Vec<KeyId> = unknown.collect();
        unknown.sort_unstable();
        unknown.dedup();
        if unknown.len() > MAX_SINGLE_LOOKUPS
            && self.count()? <= MAX_KEY_IDS.min((unknown.len() + self.known.len()) * LOOKUP_COST)
        {
            return self.read_all();
        }
        unknown.into_iter().try_for_each(|key_id| self.look_up(key_id))
    }

    /// Returns the primary keys that may have made a signature: only the one with the hashed issuer fingerprint, if
    /// there is one.
    pub(super) fn behind(&self, issuer: &Issuer) -> impl Iterator<Item = IssuerNumber> {
        let candidates = self.known.get(&issuer.key_id).into_iter().flatten();
        let named = issuer.fingerprint;
        candidates
            .filter(move |candidate| named.is_none_or(|named| named == candidate.key))
            .map(|candidate| candidate.primary)
    }

    pub(super) fn fingerprint(&self, IssuerNumber(number): IssuerNumber) -> Fingerprint {
        self.primaries[number].fingerprint
    }

    /// Reads the packets of these keys.
    pub(super) fn load(&mut self, numbers: impl Iterator<Item = IssuerNumber>) -> Result<Keys> {
        let mut keys = Keys::default();
        for number in numbers {
            let Entry::Vacant(new) = keys.0.entry(number) else { continue };
            let primary = &mut self.primaries[number.0];
            let packet = match &primary.packet {
                Some(packet) => packet.clone(),
                None => {
                    let read = Read::of(primary.cert, self.sources[primary.source])?;
                    primary.packet.insert(Arc::new(read)).clone()
                }
            };
            new.insert((primary.fingerprint, packet));
        }
        Ok(keys)
    }

    fn forget(&mut self) {
        self.known.clear();
        self.by_position.clear();
        self.primaries.clear();
    }

    fn count(&self) -> Result<usize> {
        let counts = self.sources.iter().map(|source| source.count());
        Ok(counts.sum::<store::Result<u64>>()? as usize)
    }

    fn read_all(&mut self) -> Result<()> {
        self.forget();
        for (source, snapshot) in self.sources.clone().into_iter().enumerate() {
            snapshot.visit_keys(&mut |cert, keys| {
                for &fingerprint in keys {
                    self.add(source, KeyHit { cert, fingerprint, primary: keys[0] });
                }
            })?;
        }
        self.complete = true;
        Ok(())
    }

    fn look_up(&mut self, key_id: KeyId) -> Result<()> {
        self.known.insert(key_id, Vec::new());
        for (source, snapshot) in self.sources.clone().into_iter().enumerate() {
            for (cert, primary) in snapshot.primaries_by_id(key_id)? {
                self.add(source, KeyHit { cert, fingerprint: primary, primary });
            }
            for hit in snapshot.keys_by_id(key_id)? {
                self.add(source, hit);
            }
        }
        Ok(())
    }

    fn add(&mut self, source: usize, KeyHit { cert, fingerprint: key, primary }: KeyHit) {
        let candidates = self.known.entry(key.key_id()).or_default();
        let number = *self.by_position.entry((source, cert)).or_insert_with(|| {
            self.primaries.push(Primary { fingerprint: primary, source, cert, packet: None });
            IssuerNumber(self.primaries.len() - 1)
        });
        // A certificate that several sources have is the same key.
        let is_there = candidates.iter().any(|candidate| {
            candidate.key == key && self.primaries[candidate.primary.0].fingerprint == primary
        });
        // Only primary keys certify. Certificates that list the key as a subkey must not displace it.
        let others = candidates
            .iter()
            .filter(|candidate| self.primaries[candidate.primary.0].fingerprint != candidate.key);
        if !is_there && (key == primary || others.count() < limits::MAX_ISSUER_CANDIDATES) {
            candidates.push(Candidate { key, primary: number });
        }
    }
}
