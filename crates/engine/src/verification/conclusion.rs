//! What the signatures over one content say together.

use cert::Fingerprint;
use trust::Validity;

use super::{SignatureStatus, SignatureVerdict};
use crate::validity::Model;

/// Whose signatures are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedSigners {
    /// Anybody's.
    Anybody,
    /// Anybody's; the user takes every owner as verified.
    AnybodyAccepted,
    /// Only those of the certificates with these primary keys; the user vouches for their owners.
    These(Vec<Fingerprint>),
}

impl WantedSigners {
    /// Returns whose signatures are wanted where nobody is named: with [`Model::Always`] every owner counts as verified, as
    /// every key is good to encrypt to.
    pub fn unnamed(model: Model) -> Self {
        match model {
            Model::Always => Self::AnybodyAccepted,
            _ => Self::Anybody,
        }
    }
}

/// What the signatures over one content say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// A signature is good, and it is known whose key made it, or the user vouches for that.
    Good,
    /// A signature is good, and it is not known whose key made it.
    OwnerNotVerified,
    /// A signature is bad, or the only ones are not accepted, or not of who was wanted.
    Bad,
    /// The keys that made the signatures are not here.
    UnknownKey,
    /// What decides about the signatures was not fully verified.
    NotFullyChecked,
    /// Nothing but signatures that cannot be verified: with algorithms or versions that are not known.
    Unsupported,
}

impl Conclusion {
    /// Draws the conclusion from the verdicts on all signatures over a content: a bad one outweighs all others, then the
    /// best one counts.
    pub fn of(verdicts: &[SignatureVerdict], wanted: &WantedSigners) -> Self {
        let conclusions = || verdicts.iter().map(|verdict| Self::of_one(verdict, wanted));
        if verdicts.iter().any(|verdict| verdict.status == SignatureStatus::Bad) {
            return Self::Bad;
        }
        const BEST_FIRST: [Conclusion; 5] = [
            Conclusion::Good,
            Conclusion::OwnerNotVerified,
            Conclusion::NotFullyChecked,
            Conclusion::Bad,
            Conclusion::UnknownKey,
        ];
        let best = BEST_FIRST.into_iter().find(|conclusion| conclusions().any(|one| one == *conclusion));
        best.unwrap_or(Self::Unsupported)
    }

    fn of_one(verdict: &SignatureVerdict, wanted: &WantedSigners) -> Self {
        let signer = verdict.examined.signer.candidate();
        match (verdict.status, wanted) {
            (SignatureStatus::Good, WantedSigners::These(keys)) => {
                let is_wanted = signer.is_some_and(|signer| keys.contains(&signer.primary()));
                if is_wanted { Self::Good } else { Self::Bad }
            }
            (SignatureStatus::Good, WantedSigners::Anybody) => match verdict.trust.key >= Validity::Full {
                true => Self::Good,
                false => Self::OwnerNotVerified,
            },
            (SignatureStatus::Good, WantedSigners::AnybodyAccepted) => Self::Good,
            (SignatureStatus::NoKey, _) => Self::UnknownKey,
            (SignatureStatus::Undecided, _) => Self::NotFullyChecked,
            (SignatureStatus::Unsupported, _) => Self::Unsupported,
            _ if signer.is_some_and(|signer| !signer.effective.fully_checked) => Self::NotFullyChecked,
            _ => Self::Bad,
        }
    }

    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::OwnerNotVerified => "owner_not_verified",
            Self::Bad => "bad",
            Self::UnknownKey => "unknown_key",
            Self::NotFullyChecked => "not_fully_checked",
            Self::Unsupported => "unsupported",
        }
    }

    /// Says whether a signature is good and none is bad; with `surely`, whether it is known whose key made it, too.
    pub fn holds(self, surely: bool) -> bool {
        self == Self::Good || (self == Self::OwnerNotVerified && !surely)
    }
}
