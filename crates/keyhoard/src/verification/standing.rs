//! What a signature is worth.

use std::fmt;

use cert::Timestamp;
use cert::effective::Usage;
use verify::policy::DigestPolicy;

use super::{Examined, Maker, Outcome, Statement};

/// What a signature is worth at a moment, whoever its maker may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is over this content, made with a key that could sign then.
    Good,
    /// It is not over this content, or not by the key that it names.
    Bad,
    /// The key that made it is not here.
    NoKey,
    /// Nobody here can tell: an algorithm or a version is not known.
    Unsupported,
    /// Its digest is too weak to be believed.
    WeakDigest,
    /// It demands what is not understood here.
    UnknownDemand,
    /// It has ended.
    Expired,
    /// It was made in the future, or before its key.
    WrongTime,
    /// Its key was revoked.
    KeyRevoked,
    /// Its key had ended when it was made.
    KeyExpired,
    /// Its key is not for signing, or its certificate does not vouch for it.
    KeyUnusable,
}

impl Standing {
    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::NoKey => "no-key",
            Self::Unsupported => "unsupported",
            Self::WeakDigest => "weak-digest",
            Self::UnknownDemand => "unknown-demand",
            Self::Expired => "expired",
            Self::WrongTime => "wrong-time",
            Self::KeyRevoked => "key-revoked",
            Self::KeyExpired => "key-expired",
            Self::KeyUnusable => "key-unusable",
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Good => "good signature",
            Self::Bad => "BAD signature",
            Self::NoKey => "cannot verify: the key is not here",
            Self::Unsupported => "cannot verify: an algorithm or version is not known",
            Self::WeakDigest => "not accepted: its digest is too weak",
            Self::UnknownDemand => "not accepted: it demands what is not understood",
            Self::Expired => "not accepted: the signature has expired",
            Self::WrongTime => "not accepted: it was made in the future, or before its key",
            Self::KeyRevoked => "not accepted: the key was revoked",
            Self::KeyExpired => "not accepted: the key had expired when it was made",
            Self::KeyUnusable => "not accepted: the key is not one for signing",
        })
    }
}

impl Examined {
    /// Decides what the signature is worth.
    ///
    /// That its key has expired since does not count against it; that its key was revoked does, whenever that was: who
    /// has the secret key can date a signature back.
    pub fn standing(&self, digests: DigestPolicy, now: Timestamp) -> Standing {
        match (&self.outcome, &self.statement) {
            (Outcome::Good(maker), Some(statement)) => worth(maker, statement, digests, now),
            (Outcome::Bad(_), _) => Standing::Bad,
            (Outcome::NoKey, _) => Standing::NoKey,
            (Outcome::Unsupported | Outcome::Good(_), _) => Standing::Unsupported,
        }
    }
}

fn worth(maker: &Maker, statement: &Statement, digests: DigestPolicy, now: Timestamp) -> Standing {
    let key = maker.state();
    if digests.is_weak(statement.hash) {
        Standing::WeakDigest
    } else if statement.unknown_critical {
        Standing::UnknownDemand
    } else if key.revoked.is_some() {
        Standing::KeyRevoked
    } else if !key.valid || !key.usage.contains(Usage::SIGN) || !maker.is_cross_certified() {
        Standing::KeyUnusable
    } else if statement.created > now || statement.created < maker.key().created {
        Standing::WrongTime
    } else if maker.expires().is_some_and(|end| end < statement.created) {
        Standing::KeyExpired
    } else if statement.expires.is_some_and(|end| end <= now) {
        Standing::Expired
    } else {
        Standing::Good
    }
}
