//! Which certificates a listing shows.

use engine::cert::Timestamp;
use engine::listing::{KeyListing, ListedItem, Validity};

use crate::expiry::Expiry;
use crate::naming;

/// The options that leave out certificates; all that are given must hold.
#[derive(Debug, clap::Args)]
pub(super) struct Filter {
    /// Only certificates that have expired.
    #[arg(long)]
    expired: bool,

    /// Only certificates that are revoked.
    #[arg(long)]
    revoked: bool,

    /// Only certificates that can be used now and expire before this: a span like 60d, or a day like 2030-01-01.
    #[arg(long, value_name = "WHEN")]
    expires_before: Option<Expiry>,

    /// Only certificates with a secret key here.
    #[arg(long)]
    pub(super) secret: bool,

    /// Only certificates with at least this validity.
    #[arg(long, value_name = "VALIDITY", value_enum)]
    validity: Option<ValidityWord>,

    /// Only certificates with a key of this algorithm, such as rsa4096, ed25519 or rsa.
    #[arg(long, value_name = "NAME")]
    algorithm: Option<String>,
}

/// The validities that can be asked for.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ValidityWord {
    /// Marginally valid, or more.
    Marginal,
    /// Fully valid: the owner is verified.
    Full,
    /// The user's own keys.
    Ultimate,
}

impl From<ValidityWord> for Validity {
    fn from(word: ValidityWord) -> Self {
        match word {
            ValidityWord::Marginal => Self::Marginal,
            ValidityWord::Full => Self::Full,
            ValidityWord::Ultimate => Self::Ultimate,
        }
    }
}

impl Filter {
    /// Says whether anything is left out.
    pub(super) fn is_given(&self) -> bool {
        let Self { expired, revoked, expires_before, secret, validity, algorithm } = self;
        *expired
            || *revoked
            || *secret
            || expires_before.is_some()
            || validity.is_some()
            || algorithm.is_some()
    }

    /// Says whether a certificate is shown; whether its secret key is here is not looked at.
    pub(super) fn shows(&self, listing: &KeyListing<'_>, now: Timestamp) -> bool {
        let (_, state) = listing.primary();
        let is_revoked = state.revoked.is_some();
        let ends_before = |end: Expiry| {
            let limit = end.after(now);
            !is_revoked
                && !state.expired
                && state.expires.is_some_and(|expires| limit.is_none_or(|limit| expires < limit))
        };
        let is_valid = |least: ValidityWord| state.is_usable() && listing.trust.key >= least.into();
        (!self.expired || (state.expired && !is_revoked))
            && (!self.revoked || is_revoked)
            && self.expires_before.is_none_or(ends_before)
            && self.validity.is_none_or(is_valid)
            && self.algorithm.as_deref().is_none_or(|wanted| has_algorithm(listing, wanted))
    }
}

/// Says whether a key has this algorithm, given with or without the number of bits.
fn has_algorithm(listing: &KeyListing<'_>, wanted: &str) -> bool {
    let wanted = wanted.to_ascii_lowercase();
    listing.components.iter().any(|listed| match listed.item {
        ListedItem::Primary(facts, _) | ListedItem::Subkey(facts, _) => {
            let name = naming::algorithm(facts).to_ascii_lowercase();
            name == wanted || name.trim_end_matches(|digit: char| digit.is_ascii_digit()) == wanted
        }
        _ => false,
    })
}
