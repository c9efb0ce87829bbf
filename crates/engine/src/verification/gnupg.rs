//! What GnuPG says of a signature over content: its checks in its order, which is not that of [`SignatureStatus`].
//!
//! [`SignatureStatus`]: super::SignatureStatus

use cert::effective::objections::Objection;
use message::HashHeaders;
use trust::Validity;
use verify::HashAlgorithm;

use super::{ExaminedSignature, SignaturePolicy, SignerVerdict};

/// What GnuPG says of a signature; only `Bad`, `Expired` and `Valid` ones are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GnupgVerdict {
    /// The version is not known, or the packet is damaged.
    UnknownVersion,
    /// The key is not here.
    NoKey,
    /// Too many certificates claim the key.
    Undecided,
    /// The hash algorithm is not known.
    UnknownDigest,
    /// The algorithm of the key is not supported.
    UnsupportedAlgorithm,
    /// The `Hash` headers of clear text do not name the hash algorithm, or name an unknown one.
    DigestConflict,
    /// The primary key is from the future.
    KeyFromFuture,
    /// The hash algorithm is too weak.
    WeakDigest,
    /// The key may not make it.
    Refused(Objection),
    /// It is not over this content, or has a critical subpacket that is not known.
    Bad,
    /// It has expired.
    Expired,
    /// It is valid, whether or not its key has expired or was revoked.
    Valid(Option<Objection>),
}

impl GnupgVerdict {
    /// Says whether GnuPG counts the signature as bad, where the certificate with its key has this validity.
    pub fn counts_as_bad(self, validity: Validity) -> bool {
        match self {
            Self::Bad | Self::Expired => true,
            Self::Valid(_) => validity == Validity::Never,
            _ => false,
        }
    }
}

impl ExaminedSignature {
    /// Returns what GnuPG says of the signature. `announced` are the `Hash` headers of clear text. A policy that overlooks
    /// that the signature is older than the key also does so with a key from the future (`--ignore-time-conflict`).
    pub fn gnupg(&self, announced: Option<&HashHeaders>, policy: &SignaturePolicy<'_>) -> GnupgVerdict {
        let Some(statement) = &self.statement else { return GnupgVerdict::UnknownVersion };
        let (signer, is_good) = match &self.signer {
            SignerVerdict::Good(signer) => (signer, true),
            SignerVerdict::Bad(signer) => (signer, false),
            SignerVerdict::NoKey => return GnupgVerdict::NoKey,
            SignerVerdict::Undecided => return GnupgVerdict::Undecided,
            SignerVerdict::Unsupported => match HashAlgorithm::name(statement.hash) {
                Some(_) => return GnupgVerdict::UnsupportedAlgorithm,
                None => return GnupgVerdict::UnknownDigest,
            },
        };
        let objections = signer.objections(statement, policy.now);
        let has = |objection: &Objection| objections.contains(*objection);
        let ignores_time = policy.overlooked.contains(&Objection::BeforeKey);
        let unbound = [Objection::Unbound, Objection::NotCrossCertified].into_iter().find(has);
        if !self.is_announced(announced) {
            GnupgVerdict::DigestConflict
        } else if signer.certificate.facts.primary().created > policy.now && !ignores_time {
            GnupgVerdict::KeyFromFuture
        } else if has(&Objection::BeforeKey) && !ignores_time {
            GnupgVerdict::Refused(Objection::BeforeKey)
        } else if policy.digests.is_weak(statement.hash) {
            GnupgVerdict::WeakDigest
        } else if has(&Objection::WrongUse) && !has(&Objection::Unbound) {
            GnupgVerdict::Refused(Objection::WrongUse)
        } else if let Some(objection) = unbound.filter(|_| is_good) {
            GnupgVerdict::Refused(objection)
        } else if !is_good || self.has_unknown_critical(policy.notations) {
            GnupgVerdict::Bad
        } else if statement.expires.is_some_and(|end| end <= policy.now) {
            GnupgVerdict::Expired
        } else {
            GnupgVerdict::Valid([Objection::Expired, Objection::Revoked].into_iter().find(has))
        }
    }

    /// Says whether the `Hash` headers of clear text name the hash algorithm; `true` for all other content.
    pub fn is_announced(&self, announced: Option<&HashHeaders>) -> bool {
        let (Some(announced), Some(statement)) = (announced, &self.statement) else { return true };
        !announced.has_unknown && announced.digests.contains(&statement.hash)
    }
}
