//! Where a certificate is, and certifications on it.

use cert::Facts;
use cert::effective::Effective;
use store::CertId;
use trust::pgp::Edge;

/// The number of a database, and of a certificate in it.
pub type CertificatePosition = (usize, CertId);

/// A user ID or attribute of a certificate of one database: the index of its component.
pub(super) type User = (CertId, usize);

/// A certificate of a database, and what it means at the moment.
pub(crate) struct PresentCertificate {
    pub(crate) position: CertificatePosition,
    pub(crate) facts: Facts,
    pub(crate) effective: Effective,
}

/// A certification, and where its packet begins: those on one component are in order by it.
pub(super) type PositionedEdge = (u32, Edge<CertificatePosition>);
