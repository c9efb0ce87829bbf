//! The validity of a user ID by its policy, and of a key by its user IDs.

use super::contest::Evidence;
use super::policy::Policy;
use crate::Validity;

/// Returns how valid a user ID is by the policy in effect for its address; `default` stands in for
/// [`Policy::Auto`] (GnuPG's `--tofu-default-policy`).
pub fn of_policy(policy: Policy, default: Policy) -> Validity {
    match if policy == Policy::Auto { default } else { policy } {
        Policy::Auto => Validity::Marginal,
        Policy::Good => Validity::Full,
        Policy::Unknown => Validity::Unknown,
        Policy::Bad => Validity::Never,
        // Nobody can be asked by who only computes.
        Policy::Ask => Validity::Undefined,
    }
}

/// Returns how valid a user ID is: the user's own is, whatever else is thought of its address.
pub fn of_user_id(evidence: Evidence, policy: Policy, default: Policy) -> Validity {
    match evidence {
        Evidence::Own => Validity::Ultimate,
        Evidence::Vouched | Evidence::None => of_policy(policy, default),
    }
}

/// Returns how valid a key is by its user IDs, in their order; those that are revoked are left out, of those that have
/// expired there is `None`. A key without a user ID that holds is not valid.
///
/// A user ID that is [never](Validity::Never) valid takes away what those before it gave, and those after it give again.
pub fn of_key(user_ids: impl IntoIterator<Item = Option<Validity>>) -> Validity {
    let mut holding = user_ids.into_iter().flatten().peekable();
    if holding.peek().is_none() {
        return Validity::Never;
    }
    holding.fold(Validity::Unknown, |all, validity| match validity {
        Validity::Never => Validity::Never,
        validity => all.max(validity),
    })
}

/// Joins what trust on first use says with what the web of trust says: never is stronger than anything, else the higher
/// one counts.
pub fn combine(tofu: Validity, web: Validity) -> Validity {
    match (tofu, web) {
        (Validity::Never, _) | (_, Validity::Never) => Validity::Never,
        (tofu, web) => tofu.max(web),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Validity::{Full, Marginal, Never, Ultimate, Undefined, Unknown};

    #[test]
    fn a_policy_makes_a_user_id_as_valid_as_gnupg_says() {
        let valid = Policy::ALL.map(|policy| of_policy(policy, Policy::Auto));
        assert_eq!(valid, [Marginal, Full, Unknown, Never, Undefined]);
    }

    #[test]
    fn the_default_policy_stands_in_for_auto_only() {
        let valid = Policy::ALL.map(|default| of_policy(Policy::Auto, default));
        assert_eq!(valid, [Marginal, Full, Unknown, Never, Undefined]);
        assert_eq!(of_policy(Policy::Ask, Policy::Good), Undefined);
    }

    #[test]
    fn an_own_key_is_valid_whatever_was_decided() {
        assert_eq!(of_user_id(Evidence::Own, Policy::Bad, Policy::Auto), Ultimate);
        assert_eq!(of_user_id(Evidence::Vouched, Policy::Bad, Policy::Auto), Never);
    }

    #[test]
    fn a_key_is_as_valid_as_its_best_user_id_after_the_last_bad_one() {
        assert_eq!(of_key([Some(Undefined), Some(Marginal)]), Marginal);
        assert_eq!(of_key([Some(Full), Some(Never)]), Never);
        assert_eq!(of_key([Some(Never), Some(Full)]), Full);
        assert_eq!(of_key([None, Some(Unknown)]), Unknown);
    }

    #[test]
    fn a_key_without_a_user_id_that_holds_is_not_valid() {
        assert_eq!(of_key([]), Never);
        assert_eq!(of_key([None, None]), Never);
    }

    #[test]
    fn never_is_stronger_than_anything_and_else_the_higher_one_counts() {
        assert_eq!(combine(Never, Ultimate), Never);
        assert_eq!(combine(Full, Never), Never);
        assert_eq!(combine(Marginal, Full), Full);
        assert_eq!(combine(Undefined, Unknown), Undefined);
    }
}
