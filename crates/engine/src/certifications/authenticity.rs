//! Who made a signature, as far as that is known.

use cert::Fingerprint;

use super::per_signature::PerSignature;

/// Who made a signature by another key, as far as that is known. It depends on immutable bytes, and on which keys are
/// here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Authenticity {
    /// Not requested, or a self-signature.
    NotAsked,
    /// This primary key made it.
    Good(Fingerprint),
    /// None of the keys here with the issuer's key ID made it; this is the first of them.
    Bad(Fingerprint),
    /// No key here has the issuer's key ID.
    NoIssuer,
    /// The algorithm, the curve or the size is not supported; this is the first key that may have made it.
    Unsupported(Fingerprint),
    /// Not verified, since the certificate has too many signatures for one command
    /// ([`MAX_CERTIFICATION_CHECKS`](verify::limits::MAX_CERTIFICATION_CHECKS)); this is the first key that may have
    /// made it. Where verdicts are stored, the next command continues from there.
    Unchecked(Fingerprint),
}

impl Authenticity {
    /// Returns the primary key that it is about.
    pub(crate) fn issuer(&self) -> Option<Fingerprint> {
        match *self {
            Self::Good(issuer) | Self::Bad(issuer) | Self::Unsupported(issuer) | Self::Unchecked(issuer) => {
                Some(issuer)
            }
            Self::NotAsked | Self::NoIssuer => None,
        }
    }

    /// Notes that one of the possible issuers was not tried.
    pub(super) fn leave_unchecked(&mut self) {
        if let Self::Bad(issuer) = *self {
            *self = Self::Unchecked(issuer);
        }
    }
}

/// Who made each signature of one certificate.
pub(crate) type Authenticities = PerSignature<Authenticity>;
