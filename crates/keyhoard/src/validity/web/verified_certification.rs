//! What is proven already of the certifications by those who were asked for.

use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering};

use cert::facts::{SignatureType, TrustSignature};
use cert::{Fingerprint, Timestamp};
use store::{CertId, MOST_READERS, Proven, ReadCertificates};
use trust::Validity;
use trust::pgp::{self, Certification};

use super::claims::{accepts, certification, lasts};
use super::issuer_set::IssuerSet;
use crate::Result;
use crate::validity::TrustSettings;

/// So many signatures are in memory at once: about 10 MB. Those beyond are read with their certificates.
const AT_ONCE: usize = 100_000;

/// Certificates that name one of those who were asked for as the issuer of a signature.
#[derive(Default)]
pub(super) struct Certified {
    /// Those of which not everything is proven that was asked for, ascending.
    pub(super) open: Vec<CertId>,
    /// What is proven of the others, by certificate, in the order of the packets.
    pub(super) proven: Vec<VerifiedCertification>,
}

/// A good and acceptable signature on a component of a certificate: what matters of it, since there are many.
pub(super) struct VerifiedCertification {
    pub(super) id: CertId,
    pub(super) component: usize,
    /// Where its packet begins: those on one component are in order by it.
    start: u32,
    pub(super) maker: Fingerprint,
    kind: SignatureType,
    created: Timestamp,
    expires: Option<Timestamp>,
    revocable: bool,
    trust: Option<TrustSignature>,
    regexp: Option<Box<[u8]>>,
}

impl VerifiedCertification {
    /// Walks what is proven of a certificate and acceptable.
    fn all(id: CertId, proven: &Proven, settings: &TrustSettings) -> impl Iterator<Item = Self> {
        let maker = proven.issuer;
        let acceptable = proven.signatures.iter().filter(|(_, signature)| accepts(settings, signature));
        acceptable.map(move |(component, signature)| Self {
            id,
            component: *component,
            start: signature.span.start,
            maker,
            kind: signature.kind,
            created: signature.created,
            expires: signature.expires,
            revocable: signature.flags.revocable,
            trust: signature.trust,
            regexp: signature.trust_regexp.as_deref().map(Box::from),
        })
    }

    /// Returns it as the web of trust sees it.
    pub(super) fn certification(&self) -> Certification<'_> {
        Certification {
            issuer: self.maker,
            kind: self.kind,
            created: self.created,
            expires: self.expires,
            revocable: self.revocable,
            trust: self.trust,
            regexp: self.regexp.as_deref(),
        }
    }

    /// Certificates ascend, and their signatures stand in the order of the packets.
    pub(super) fn order(&self) -> (CertId, usize, u32) {
        (self.id, self.component, self.start)
    }

    pub(super) fn is_on_the_same(&self, other: &Self) -> bool {
        (self.id, self.component) == (other.id, other.component)
    }
}

/// Adds what is in no order; the first and biggest part is not copied.
pub(super) fn join<T>(all: &mut Vec<T>, mut part: Vec<T>) {
    if all.len() < part.len() {
        std::mem::swap(all, &mut part);
    }
    all.append(&mut part);
}

/// Walks the certificates that signatures are on.
pub(super) fn by_certificate(
    signatures: &[VerifiedCertification],
) -> impl Iterator<Item = &[VerifiedCertification]> {
    signatures.chunk_by(|one, other| one.id == other.id)
}

impl Certified {
    /// Reads who names them, as far as it `matters`: that is told of the certificate, and whether the issuer weighs.
    pub(super) fn read(
        asked: &IssuerSet,
        source: &dyn ReadCertificates,
        settings: &TrustSettings,
        matters: &mut dyn FnMut(CertId, bool) -> bool,
    ) -> Result<Self> {
        let mut parts: [(Self, Vec<_>); MOST_READERS] = Default::default();
        let count = AtomicUsize::new(0);
        asked.visit_certified(source, &mut parts, &|(part, seen), id, weighs, found| {
            seen.push((id, !weighs));
            let fits = |found: &&Proven| {
                let more = found.signatures.len();
                count.fetch_add(more, Ordering::Relaxed) + more <= AT_ONCE
            };
            match found.filter(fits) {
                Some(found) => part.proven.extend(VerifiedCertification::all(id, found, settings)),
                None => part.open.push(id),
            }
        })?;
        let (mut open, mut proven, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        for (part, of_part) in parts {
            join(&mut open, part.open);
            join(&mut proven, part.proven);
            join(&mut seen, of_part);
        }
        // Those who weigh come first.
        seen.sort_unstable();
        seen.dedup_by_key(|(id, _)| *id);
        seen.retain(|(id, is_light)| matters(*id, !is_light));
        let is_asked = |id: CertId| seen.binary_search_by_key(&id, |(seen, _)| *seen).is_ok();
        open.retain(|id| is_asked(*id));
        open.sort_unstable();
        open.dedup();
        proven.retain(|one| is_asked(one.id) && open.binary_search(&one.id).is_err());
        proven.sort_unstable_by_key(VerifiedCertification::order);
        Ok(Self { open, proven })
    }
}

/// User IDs and attributes that were certified, but not so that they could be fully valid: so valid they are at least,
/// if neither they nor their keys are revoked or expired.
#[derive(Default)]
pub(crate) struct Touched {
    /// Certificates of the only database, and places of components, ascending.
    places: Vec<(CertId, usize, Validity)>,
    /// Where the last one that was asked about stands: who lists certificates asks in their order.
    last: Cell<usize>,
}

impl Touched {
    /// Adds what is proven about one certificate by a key that nobody trusts.
    pub(super) fn add(&mut self, id: CertId, proven: &Proven, settings: &TrustSettings) {
        let rules = settings.web();
        for of_user in proven.signatures.chunk_by(|(one, _), (other, _)| one == other) {
            if let [(component, signature)] = of_user
                && accepts(settings, signature)
                && lasts(settings, signature)
            {
                self.places.push((id, *component, Validity::Undefined));
                continue;
            }
            let accepted = of_user.iter().filter(|(_, signature)| accepts(settings, signature));
            let certifications: Vec<_> =
                accepted.map(|(_, signature)| certification(proven.issuer, signature)).collect();
            if pgp::certifies(&certifications, &rules) {
                self.places.push((id, of_user[0].0, Validity::Undefined));
            }
        }
    }

    /// Adds a user ID or attribute.
    pub(super) fn add_user(&mut self, id: CertId, component: usize, validity: Validity) {
        if validity > Validity::Unknown {
            self.places.push((id, component, validity));
        }
    }

    /// Takes over what another part of the certificates came to.
    pub(super) fn append(&mut self, other: Self) {
        join(&mut self.places, other.places);
    }

    /// Leaves out certificates of which this is not wanted.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(CertId) -> bool) {
        self.places.retain(|(id, ..)| is_wanted(*id));
    }

    /// Makes it ready to be asked. Parts that are ready already take little time.
    pub(super) fn finish(&mut self) {
        self.places.sort_by_key(|&(id, component, validity)| (id, component, Reverse(validity)));
        self.places.dedup_by_key(|(id, component, _)| (*id, *component));
    }

    /// Returns how valid one is at least.
    pub(crate) fn validity(&self, id: CertId, component: usize) -> Validity {
        let is_before = |&(other, place, _): &(CertId, usize, Validity)| (other, place) < (id, component);
        let last = self.last.get();
        let start = if self.places[..last].last().is_none_or(is_before) { last } else { 0 };
        // Usually it is one of the next.
        let mut reach = 1;
        while self.places.get(start + reach).is_some_and(is_before) {
            reach *= 2;
        }
        let end = self.places.len().min(start + reach + 1);
        let place = start + self.places[start..end].partition_point(is_before);
        self.last.set(place);
        match self.places.get(place) {
            Some(&(other, at, validity)) if (other, at) == (id, component) => validity,
            _ => Validity::Unknown,
        }
    }
}
