//! The certifications by some issuers whose verdicts are kept, as the store's index by issuer has them.

use store::{CertId, MOST_READERS, Proven, ReadCertificates};
use trust::pgp::{self, Certification, Edge};

use super::acceptable::{accepts, certification, never_expires};
use super::certificate_position::{CertificatePosition, PositionedEdge};
use super::issuer_set::IssuerSet;
use crate::Result;
use crate::validity::settings::TrustSettings;

/// What the index has of some issuers.
#[derive(Default)]
pub(super) struct VerifiedEdges {
    /// Good certifications, in no order.
    pub(super) edges: Vec<PositionedEdge>,
    /// Certificates of which not everything is verified that was asked for, ascending; no edge is on one of them.
    pub(super) open: Vec<CertId>,
}

impl VerifiedEdges {
    /// Reads them from database number `source`, on several threads where that is worth it.
    pub(super) fn read(
        issuers: &IssuerSet,
        source: usize,
        snapshot: &dyn ReadCertificates,
        settings: &TrustSettings,
    ) -> Result<Self> {
        let mut parts: [Self; MOST_READERS] = Default::default();
        issuers.visit_certified(snapshot, &mut parts, &|part, id, proven| match proven {
            Some(proven) => part.add((source, id), proven, settings),
            None => part.open.push(id),
        })?;
        let mut all = Self::default();
        for part in parts {
            all.edges.extend(part.edges);
            all.open.extend(part.open);
        }
        all.open.sort_unstable();
        all.open.dedup();
        all.edges.retain(|(_, edge)| all.open.binary_search(&edge.certificate.1).is_err());
        Ok(all)
    }

    fn add(&mut self, certificate: CertificatePosition, proven: &Proven, settings: &TrustSettings) {
        for (component, signature) in proven.signatures.iter().filter(|(_, it)| accepts(settings, it)) {
            let certification = certification(proven.issuer, signature);
            self.edges
                .push((signature.span.start, Edge { certificate, component: *component, certification }));
        }
    }
}

/// The components of certificates of the only database that some issuers certified.
#[derive(Default)]
pub(super) struct CertifiedComponents {
    /// Those that one of the issuers at least certifies, in no order.
    pub(super) components: Vec<(CertificatePosition, usize)>,
    /// Certificates of which not everything is verified that was asked for, ascending.
    pub(super) open: Vec<CertId>,
}

impl CertifiedComponents {
    /// Reads them, on several threads where that is worth it.
    pub(super) fn read(
        issuers: &IssuerSet,
        snapshot: &dyn ReadCertificates,
        settings: &TrustSettings,
    ) -> Result<Self> {
        let mut parts: [Self; MOST_READERS] = Default::default();
        issuers.visit_certified(snapshot, &mut parts, &|part, id, proven| match proven {
            Some(proven) => part.add(id, proven, settings),
            None => part.open.push(id),
        })?;
        let mut all = Self::default();
        for part in parts {
            all.components.extend(part.components);
            all.open.extend(part.open);
        }
        all.open.sort_unstable();
        all.open.dedup();
        Ok(all)
    }

    fn add(&mut self, id: CertId, proven: &Proven, settings: &TrustSettings) {
        for of_user in proven.signatures.chunk_by(|(one, _), (other, _)| one == other) {
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
                self.components.push(((0, id), of_user[0].0));
            }
        }
    }
}
