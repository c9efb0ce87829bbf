//! The databases that validity is computed from.

use store::{ReadCertificates, ReadTrust, Store};

/// Where certificates are, and what the user says of them.
#[derive(Clone, Default)]
pub struct Sources<'a> {
    /// The databases, the first one first: of a certificate that several have, the first one's copy counts.
    pub certificates: Vec<&'a dyn ReadCertificates>,
    /// The database that holds the owner trust.
    pub owner_trust: Option<&'a dyn ReadTrust>,
    /// Where the first one of `certificates` keeps verdicts that are found on the way.
    pub keeper: Option<&'a dyn Store>,
}
