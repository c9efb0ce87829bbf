//! The certifications by some issuers whose verdicts are kept, as the store's index by issuer has them.

use std::array;

use store::{CertId, MOST_READERS, Proven, ReadCertificates};
use trust::pgp::{self, Certification, Edge};

use super::acceptable::{accepts, certification, never_expires};
use super::certificate_position::{CertificatePosition, PositionedEdge};
use super::issuer_set::IssuerSet;
use crate::Result;
use crate::validity::settings::TrustSettings;

/// What the index has of some issuers.
pub(super) struct Found<T> {
    /// In no order.
    pub(super) found: Vec<T>,
    /// Certificates of which not everything is verified that was asked for, ascending.
    pub(super) open: Vec<CertId>,
}

impl<T: Send> Found<T> {
    /// Reads it, on several threads where that is worth it.
    fn read(
        issuers: &IssuerSet,
        snapshot: &dyn ReadCertificates,
        add: impl Fn(&mut Vec<T>, CertId, &Proven) + Sync,
    ) -> Result<Self> {
        let mut parts: [Self; MOST_READERS] =
            array::from_fn(|_| Self { found: Vec::new(), open: Vec::new() });
        issuers.visit_certified(snapshot, &mut parts, &|part, id, proven| match proven {
            Some(proven) => add(&mut part.found, id, proven),
            None => part.open.push(id),
        })?;
        let mut all = Self { found: Vec::new(), open: Vec::new() };
        for part in parts {
            all.found.extend(part.found);
            all.open.extend(part.open);
        }
        all.open.sort_unstable();
        all.open.dedup();
        Ok(all)
    }
}

/// Reads the good certifications from database number `source`; none is on a certificate that is open.
pub(super) fn verified_edges(
    issuers: &IssuerSet,
    source: usize,
    snapshot: &dyn ReadCertificates,
    settings: &TrustSettings,
) -> Result<Found<PositionedEdge>> {
    let mut all = Found::read(issuers, snapshot, |edges, id, proven| {
        for (component, signature) in proven.signatures.iter().filter(|(_, it)| accepts(settings, it)) {
            let certification = certification(proven.issuer, signature);
            let edge = Edge { certificate: (source, id), component: *component, certification };
            edges.push((signature.span.start, edge));
        }
    })?;
    let Found { found, open } = &mut all;
    found.retain(|(_, edge)| open.binary_search(&edge.certificate.1).is_err());
    Ok(all)
}

/// Reads the components of certificates of the only database that one of the issuers at least certifies.
pub(super) fn certified_components(
    issuers: &IssuerSet,
    snapshot: &dyn ReadCertificates,
    settings: &TrustSettings,
) -> Result<Found<(CertificatePosition, usize)>> {
    Found::read(issuers, snapshot, |components, id, proven| {
        for of_user in proven.signatures.chunk_by(|(a, _), (b, _)| a == b) {
            let accepted = of_user.iter().map(|(_, signature)| signature).filter(|it| accepts(settings, it));
            let accepted: Vec<_> = accepted.collect();
            let is_certified = match accepted[..] {
                [signature] if never_expires(settings, signature) => true,
                _ => {
                    let certifications: Vec<Certification> =
                        accepted.into_iter().map(|it| certification(proven.issuer, it)).collect();
                    pgp::certifies(&certifications.iter().collect::<Vec<_>>(), &settings.web())
                }
            };
            if is_certified {
                components.push(((0, id), of_user[0].0));
            }
        }
    })
}
