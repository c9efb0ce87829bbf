//! What is known of who made a signature.

use cert::Fingerprint;

use super::per_signature::PerSignature;

/// What is known of a signature by another key. It depends on nothing that can change, except for which keys are here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authenticity {
    /// Nobody asked, or the certificate's own primary key is the issuer.
    NotAsked,
    /// This primary key made it.
    Good(Fingerprint),
    /// No key here that goes by the issuer's key ID made it; this is the first of them.
    Bad(Fingerprint),
    /// No key here goes by the issuer's key ID.
    NoIssuer,
    /// Nobody here knows the algorithm, the curve or the size; this is the first key that might have made it.
    Unsupported(Fingerprint),
    /// There was more to verify on the certificate than it is worth at once
    /// ([`MAX_CERTIFICATION_CHECKS`](verify::limits::MAX_CERTIFICATION_CHECKS)); this is the first key that might have
    /// made it. Where verdicts are kept, the next time goes on from there.
    Unchecked(Fingerprint),
}

impl Authenticity {
    /// Returns the primary key that it is about.
    pub fn issuer(&self) -> Option<Fingerprint> {
        match *self {
            Self::Good(issuer) | Self::Bad(issuer) | Self::Unsupported(issuer) | Self::Unchecked(issuer) => {
                Some(issuer)
            }
            Self::NotAsked | Self::NoIssuer => None,
        }
    }

    /// Notes that a key was not tried; another one may have made the signature.
    pub(super) fn leave_unchecked(&mut self) {
        if let Self::Bad(issuer) = *self {
            *self = Self::Unchecked(issuer);
        }
    }
}

/// The findings on one certificate's signatures.
pub type Authenticities = PerSignature<Authenticity>;
