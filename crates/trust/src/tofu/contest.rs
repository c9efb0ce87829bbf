//! Who is in conflict with whom about one address.

use std::collections::BTreeSet;

use super::policy::Policy;

/// What speaks for a binding besides the user's decision. Only signatures that verified are evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// Nothing does.
    #[default]
    None,
    /// An ultimately trusted key certified its user ID.
    Vouched,
    /// The key is ultimately trusted itself.
    Own,
}

/// A key's claim to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What the user decided.
    pub policy: Policy,
    /// What speaks for it.
    pub evidence: Evidence,
    /// The user ID is revoked, or has expired: it keeps its place, but puts no older binding into question.
    pub lapsed: bool,
    /// Its place in the order of arrival: less is older.
    pub arrival: i128,
}

impl Claim {
    /// Returns the policy that is in effect if nobody else claims the address.
    pub fn uncontested(&self) -> Policy {
        match (self.policy, self.evidence) {
            (Policy::Auto, Evidence::Own | Evidence::Vouched) => Policy::Good,
            (policy, _) => policy,
        }
    }

    /// Returns whether a claim that comes later than another one leaves that one alone: GnuPG never goes back to a binding
    /// that it believed when it meets another one that is settled by evidence.
    fn is_quiet(&self) -> bool {
        self.policy == Policy::Auto && (self.lapsed || self.evidence != Evidence::None)
    }
}

/// All claims to one address.
#[derive(Clone, Debug)]
pub struct Contest {
    claims: Vec<Claim>,
    /// For each claim the claims of keys that certified each other with its key, ascending.
    partners: Vec<Vec<usize>>,
    /// Claims that nobody can overlook.
    loud: usize,
    /// When the quiet ones came, ascending.
    quiet: Vec<i128>,
}

impl Contest {
    /// Takes the claims in the order of their keys' fingerprints, and pairs of claims whose keys certified each other's
    /// user ID with this address.
    ///
    /// # Panics
    ///
    /// If a pair names a claim that is not there.
    pub fn new(claims: Vec<Claim>, cross_signed: &[(usize, usize)]) -> Self {
        let mut partners = vec![Vec::new(); claims.len()];
        for &(one, other) in cross_signed {
            partners[one].push(other);
            partners[other].push(one);
        }
        for list in &mut partners {
            list.sort_unstable();
            list.dedup();
        }
        let mut quiet: Vec<i128> =
            claims.iter().filter(|claim| claim.is_quiet()).map(|claim| claim.arrival).collect();
        quiet.sort_unstable();
        let loud = claims.len() - quiet.len();
        Self { claims, partners, loud, quiet }
    }

    /// Returns the claims.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// Returns the policy in effect for a claim: what the user decided, else good where something speaks for it, else
    /// ask where another claim is in conflict with it.
    pub fn policy(&self, index: usize) -> Policy {
        match self.claims[index].uncontested() {
            Policy::Auto if self.is_disputed(index) => Policy::Ask,
            policy => policy,
        }
    }

    /// Returns the claims that are in conflict with one, ascending: all but those of keys that belong to the same person
    /// by their cross-signatures.
    pub fn rivals(&self, index: usize) -> Vec<usize> {
        let allies = self.allies(index);
        (0..self.claims.len()).filter(|other| *other != index && !allies.contains(other)).collect()
    }

    /// Counts instead of comparing each with each: anybody can claim an address any number of times.
    fn is_disputed(&self, index: usize) -> bool {
        let claim = &self.claims[index];
        let older_quiet = self.quiet.partition_point(|&arrival| arrival < claim.arrival);
        let others = self.loud - usize::from(!claim.is_quiet()) + older_quiet;
        let counts = |other: &&usize| {
            let other = &self.claims[**other];
            !other.is_quiet() || other.arrival < claim.arrival
        };
        others > self.allies(index).iter().filter(counts).count()
    }

    /// Follows cross-signatures as GnuPG does: from the claim itself, then once through the others in ascending order,
    /// onwards only.
    fn allies(&self, index: usize) -> BTreeSet<usize> {
        let mut allies: BTreeSet<usize> = self.partners[index].iter().copied().collect();
        let mut from = 0;
        while let Some(&ally) = allies.range(from..).next() {
            allies.extend(self.partners[ally].iter().filter(|&&next| next > ally && next != index));
            from = ally + 1;
        }
        allies
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn claim(arrival: i128) -> Claim {
        Claim { policy: Policy::Auto, evidence: Evidence::None, lapsed: false, arrival }
    }

    fn policies(contest: &Contest) -> Vec<Policy> {
        (0..contest.claims().len()).map(|index| contest.policy(index)).collect()
    }

    #[test]
    fn an_address_that_came_with_one_key_is_believed() {
        assert_eq!(policies(&Contest::new(vec![claim(1)], &[])), [Policy::Auto]);
    }

    #[test]
    fn keys_with_the_same_address_are_in_conflict_whichever_came_first() {
        let contest = Contest::new(vec![claim(2), claim(1), claim(3)], &[]);
        assert_eq!(policies(&contest), [Policy::Ask; 3]);
        assert_eq!(contest.rivals(1), [0, 2]);
    }

    #[test]
    fn keys_that_certified_each_other_are_not_in_conflict() {
        let contest = Contest::new(vec![claim(2), claim(1)], &[(0, 1)]);
        assert_eq!(policies(&contest), [Policy::Auto; 2]);
        assert_eq!(contest.rivals(0), []);
    }

    #[test]
    fn a_third_key_is_in_conflict_with_both() {
        let contest = Contest::new(vec![claim(1), claim(2), claim(3)], &[(0, 1)]);
        assert_eq!(policies(&contest), [Policy::Ask; 3]);
        assert_eq!(contest.rivals(0), [2]);
        assert_eq!(contest.rivals(2), [0, 1]);
    }

    #[test]
    fn cross_signatures_are_followed_onwards_only() {
        // 1 and 2 are one person's, and so are 2 and 0; but from 1, the way to 0 leads back.
        let contest = Contest::new(vec![claim(1), claim(2), claim(3)], &[(0, 2), (1, 2)]);
        assert_eq!(contest.rivals(2), []);
        assert_eq!(contest.rivals(0), [1]);
        assert_eq!(contest.rivals(1), [0]);
        let onwards = Contest::new(vec![claim(1), claim(2), claim(3)], &[(0, 1), (1, 2)]);
        assert_eq!(onwards.rivals(0), []);
    }

    #[test]
    fn what_the_user_decided_is_in_effect_and_settles_nothing_for_others() {
        for policy in [Policy::Good, Policy::Unknown, Policy::Bad, Policy::Ask] {
            for arrival in [0, 2] {
                let contest = Contest::new(vec![claim(1), Claim { policy, ..claim(arrival) }], &[]);
                assert_eq!(policies(&contest), [Policy::Ask, policy]);
            }
        }
    }

    #[test]
    fn a_key_that_an_own_key_vouches_for_is_good_and_questions_who_comes_after_it() {
        for evidence in [Evidence::Own, Evidence::Vouched] {
            let vouched = |arrival| Claim { evidence, ..claim(arrival) };
            let contest = Contest::new(vec![claim(2), vouched(1)], &[]);
            assert_eq!(policies(&contest), [Policy::Ask, Policy::Good]);
            let contest = Contest::new(vec![claim(1), vouched(2)], &[]);
            assert_eq!(policies(&contest), [Policy::Auto, Policy::Good]);
        }
    }

    #[test]
    fn a_user_id_that_has_lapsed_questions_only_who_comes_after_it() {
        let lapsed = |arrival| Claim { lapsed: true, ..claim(arrival) };
        assert_eq!(policies(&Contest::new(vec![claim(2), lapsed(1)], &[])), [Policy::Ask, Policy::Ask]);
        assert_eq!(policies(&Contest::new(vec![claim(1), lapsed(2)], &[])), [Policy::Auto, Policy::Ask]);
    }

    /// GnuPG's own way: bindings are met in the order of arrival, twice; a policy in effect is computed anew only where
    /// there was a conflict.
    fn met_twice(contest: &Contest) -> Vec<Policy> {
        let claims = contest.claims();
        let mut order: Vec<usize> = (0..claims.len()).collect();
        order.sort_by_key(|&index| claims[index].arrival);
        let mut known: Vec<bool> = claims.iter().map(|claim| claim.policy != Policy::Auto).collect();
        let mut effective: Vec<Option<Policy>> = vec![None; claims.len()];
        let mut conflict = vec![false; claims.len()];
        let mut last_met = vec![Policy::Auto; claims.len()];
        for index in order.iter().chain(&order).copied() {
            known[index] = true;
            // GnuPG knows nobody else yet who is not in its table.
            let rivals: Vec<usize> = rivals_among(contest, index, &known);
            if effective[index].is_none() || conflict[index] {
                let policy = match claims[index].uncontested() {
                    Policy::Auto if !rivals.is_empty() => Policy::Ask,
                    policy => policy,
                };
                effective[index] = Some(policy);
                conflict[index] = policy == Policy::Ask && claims[index].policy == Policy::Auto;
            }
            last_met[index] = effective[index].unwrap_or_default();
            if last_met[index] == Policy::Ask && !claims[index].lapsed {
                for rival in rivals {
                    if effective[rival] != Some(Policy::Ask) {
                        effective[rival] = None;
                        conflict[rival] = true;
                    }
                }
            }
        }
        last_met
    }

    fn rivals_among(contest: &Contest, index: usize, known: &[bool]) -> Vec<usize> {
        let mut allies = BTreeSet::from([index]);
        let mut positions: Vec<usize> = vec![index];
        positions.extend((0..known.len()).filter(|&other| other != index && known[other]));
        for place in 0..positions.len() {
            if allies.contains(&positions[place]) {
                for later in &positions[place + 1..] {
                    if contest.partners[positions[place]].contains(later) {
                        allies.insert(*later);
                    }
                }
            }
        }
        positions.into_iter().filter(|position| !allies.contains(position)).collect()
    }

    fn any_claim() -> impl Strategy<Value = Claim> {
        let policy = prop_oneof![6 => Just(Policy::Auto), 1 => Just(Policy::Bad), 1 => Just(Policy::Ask)];
        let evidence =
            prop_oneof![5 => Just(Evidence::None), 2 => Just(Evidence::Vouched), 1 => Just(Evidence::Own)];
        (policy, evidence, prop::bool::weighted(0.15)).prop_map(|(policy, evidence, lapsed)| Claim {
            policy,
            evidence,
            lapsed,
            arrival: 0,
        })
    }

    proptest! {
        /// Pairs that certified each other; no chains, in which GnuPG's second look depends on more than the order.
        #[test]
        fn the_order_of_arrival_decides_as_when_gnupg_meets_all_twice(
            claims in prop::collection::vec(any_claim(), 1..7).prop_shuffle(),
            arrivals in Just((0..7).collect::<Vec<i128>>()).prop_shuffle(),
            pairs in 0..4_usize,
        ) {
            let mut claims = claims;
            claims.iter_mut().zip(arrivals).for_each(|(claim, arrival)| claim.arrival = arrival);
            let pairs: Vec<_> =
                (0..pairs).map(|pair| (2 * pair, 2 * pair + 1)).filter(|pair| pair.1 < claims.len()).collect();
            let contest = Contest::new(claims, &pairs);
            prop_assert_eq!(policies(&contest), met_twice(&contest));
        }
    }
}
