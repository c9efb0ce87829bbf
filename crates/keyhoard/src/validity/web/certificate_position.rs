//! Where a certificate is, and certifications on it.

use store::CertId;
use trust::pgp::Edge;

/// The number of a database, and of a certificate in it.
pub type CertificatePosition = (usize, CertId);

/// A certification, and where its packet begins: those on one component are in order by it.
pub(super) type PositionedEdge = (u32, Edge<CertificatePosition>);
