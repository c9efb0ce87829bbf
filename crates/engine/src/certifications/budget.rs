//! The budget for verifying one certificate's signatures by other keys.

use std::collections::HashMap;

use verify::limits;

use super::checks::IssuerCheck;
use super::issuers::IssuerNumber;

/// Removes the checks that exceed a certificate's budget, and returns them. The checks are in the order of the
/// certificates.
///
/// Of each certificate those are done first whose issuer has cost least so far: any number of forgeries under one
/// costly key leaves other issuers their share.
pub(super) fn withhold(
    checks: &mut Vec<IssuerCheck>,
    cost: impl Fn(IssuerNumber) -> usize,
) -> Vec<IssuerCheck> {
    let by_certificate = checks.chunk_by(|a, b| a.certificate == b.certificate);
    let affordable: Vec<bool> = by_certificate.flat_map(|checks| affordable(checks, &cost)).collect();
    let mut affordable = affordable.into_iter();
    checks.extract_if(.., |_| affordable.next() == Some(false)).collect()
}

/// Says of each check of one certificate whether it is within the budget.
fn affordable(checks: &[IssuerCheck], cost: &impl Fn(IssuerNumber) -> usize) -> Vec<bool> {
    let costs: Vec<usize> = checks.iter().map(|check| cost(check.issuer)).collect();
    let mut left = limits::MAX_CERTIFICATION_CHECKS;
    if costs.iter().sum::<usize>() <= left {
        return vec![true; checks.len()];
    }
    let mut spent: HashMap<IssuerNumber, usize> = HashMap::new();
    let mut order: Vec<(usize, usize)> = Vec::with_capacity(checks.len());
    for (index, check) in checks.iter().enumerate() {
        let of_issuer = spent.entry(check.issuer).or_default();
        *of_issuer += costs[index];
        order.push((*of_issuer, index));
    }
    order.sort_unstable();
    let mut affordable = vec![false; checks.len()];
    for (_, index) in order {
        let Some(rest) = left.checked_sub(costs[index]) else { break };
        left = rest;
        affordable[index] = true;
    }
    affordable
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A check for each issuer, all about one certificate.
    fn about(certificate: usize, issuers: &[usize]) -> Vec<IssuerCheck> {
        let check = |(signature, &issuer)| IssuerCheck {
            certificate,
            component: 1,
            signature,
            issuer: IssuerNumber::numbered(issuer),
        };
        issuers.iter().enumerate().map(check).collect()
    }

    const COSTLY: usize = 7;

    /// A key that costs a 64th of the budget, among keys that cost one.
    fn cost(issuer: IssuerNumber) -> usize {
        if issuer == IssuerNumber::numbered(COSTLY) { limits::MAX_CERTIFICATION_CHECKS / 64 } else { 1 }
    }

    #[test]
    fn what_is_within_the_budget_is_all_asked() {
        let mut checks = about(0, &vec![1; limits::MAX_CERTIFICATION_CHECKS]);
        assert_eq!(withhold(&mut checks, cost).len(), 0);
        assert_eq!(checks.len(), limits::MAX_CERTIFICATION_CHECKS);
    }

    #[test]
    fn a_flood_under_a_costly_key_leaves_other_issuers_their_share() {
        let mut checks = about(0, &[&[COSTLY; 500][..], &[1, 2, 3, 1], &[COSTLY; 500]].concat());
        let withheld = withhold(&mut checks, cost);
        assert!(withheld.iter().all(|check| check.issuer == IssuerNumber::numbered(COSTLY)));
        let signatures: Vec<usize> = checks.iter().map(|check| check.signature).collect();
        let expected: Vec<usize> = (0..63).chain(500..504).collect();
        assert_eq!(signatures, expected, "in the order of the packets");
    }

    #[test]
    fn a_flood_by_many_keys_at_one_cost_each_is_asked_as_far_as_the_budget_goes() {
        let issuers: Vec<usize> = (100..100 + limits::MAX_CERTIFICATION_CHECKS + 5).collect();
        let mut checks = about(0, &issuers);
        assert_eq!(withhold(&mut checks, cost).len(), 5);
    }

    #[test]
    fn each_certificate_has_its_own_budget() {
        let mut checks = [about(0, &[COSTLY; 100]), about(1, &[COSTLY; 60])].concat();
        let withheld = withhold(&mut checks, cost);
        assert_eq!(withheld.len(), 36);
        assert!(withheld.iter().all(|check| check.certificate == 0));
    }
}
