//! Certifications by others that the owner of a certificate approves (draft-dkg-openpgp-1pa3pc).
//!
//! A signature of type 0x16 over a user ID or attribute lists digests of certifications of it.

use crate::certificate::Certificate;
use crate::facts::{Component, SignatureFacts, SignatureType};
use crate::identity::Timestamp;
use crate::signature::{self, Signature};
use crate::subpacket::{Kind, Subpackets};
use std::collections::BTreeSet;
use verify::HashAlgorithm;
use verify::hash::Hasher;
use verify::policy::DigestPolicy;

/// The certifications of one user ID or attribute that the owner of the certificate approves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvals {
    /// When they were approved; `None` if the owner never approved any, nor withdrew that.
    pub created: Option<Timestamp>,
    /// The digests, in ascending order, with the hash algorithm of each.
    pub digests: BTreeSet<(HashAlgorithm, Vec<u8>)>,
    /// The hash algorithms of the digests.
    algorithms: BTreeSet<HashAlgorithm>,
}

impl Approvals {
    /// Reads the approvals of a component at a moment. Only the newest valid signature counts; of several that were made
    /// in the same second all do.
    pub fn of(certificate: &Certificate, component: &Component, now: Timestamp) -> Self {
        let signatures = component.signatures.iter();
        let read = signatures.filter_map(|facts| Some((facts.created, valid(certificate, facts, now)?)));
        let read: Vec<(Timestamp, Signature<'_>)> = read.collect();
        let created = read.iter().map(|(created, _)| *created).max();
        let newest = read.iter().filter(|(made, _)| Some(*made) == created);
        let digests: BTreeSet<_> = newest.flat_map(|(_, signature)| digests(signature)).collect();
        Self { created, algorithms: digests.iter().map(|(algorithm, _)| *algorithm).collect(), digests }
    }

    /// Returns whether a certification is approved; `body` is that of its packet.
    pub fn contain(&self, body: &[u8]) -> bool {
        self.algorithms.iter().any(|&algorithm| {
            digest(body, algorithm).is_some_and(|digest| self.digests.contains(&(algorithm, digest)))
        })
    }
}

/// Returns the digest by which an approval names the certification with this packet body: over the packet without its
/// unhashed subpackets (RFC 9580, 5.2.4, signatures over signatures). `None` for an unknown hash algorithm and for what is
/// no signature.
pub fn digest(body: &[u8], algorithm: HashAlgorithm) -> Option<Vec<u8>> {
    let signature = signature::parse(body).ok()?;
    let (before, after) = match signature.version {
        2 | 3 => (body, &[][..]),
        version => {
            let zeros = if version == 6 { 4 } else { 2 };
            let after = signature.covered.len() + zeros + signature.unhashed.len();
            (signature.covered, body.get(after..)?)
        }
    };
    let zeros: &[u8] = match signature.version {
        2 | 3 => &[],
        6 => &[0; 4],
        _ => &[0; 2],
    };
    let length = u32::try_from(before.len() + zeros.len() + after.len()).ok()?;
    let mut hasher = Hasher::new(algorithm)?;
    hasher.update(&[0x88]);
    hasher.update(&length.to_be_bytes());
    [before, zeros, after].into_iter().for_each(|part| hasher.update(part));
    Some(hasher.finish()?.as_bytes().to_vec())
}

/// Returns a signature that approves certifications and is valid at a moment.
fn valid<'a>(certificate: &'a Certificate, facts: &SignatureFacts, now: Timestamp) -> Option<Signature<'a>> {
    let may_count = facts.kind == SignatureType::CERTIFICATION_APPROVAL
        && facts.is_good()
        && !DigestPolicy::GNUPG.with_weak(HashAlgorithm::SHA1).is_weak(facts.hash_algorithm)
        && (certificate.facts.primary().created..=now).contains(&facts.created);
    let signature = signature::parse(certificate.body(facts.span).filter(|_| may_count)?).ok()?;
    let has_expired = signature.expires_by_rfc9580().is_some_and(|end| end <= now);
    (!has_expired && !signature.has_unknown_critical_by_rfc9580(&[])).then_some(signature)
}

/// Returns the digests in a signature; a subpacket of the wrong length has none.
fn digests(signature: &Signature<'_>) -> Vec<(HashAlgorithm, Vec<u8>)> {
    let algorithm = signature.hash_algorithm;
    let Some(length) = Hasher::new(algorithm).and_then(Hasher::finish).map(|digest| digest.as_bytes().len())
    else {
        return Vec::new();
    };
    Subpackets::new(signature.hashed)
        .map_while(Result::ok)
        .filter(|subpacket| subpacket.kind == Kind::APPROVED_CERTIFICATIONS)
        .filter(|subpacket| subpacket.body.len() % length == 0)
        .flat_map(|subpacket| subpacket.body.chunks_exact(length))
        .map(|digest| (algorithm, digest.to_vec()))
        .collect()
}
