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
    questions: &mut Vec<IssuerCheck>,
    cost: impl Fn(IssuerNumber) -> usize,
) -> Vec<IssuerCheck> {
    let by_certificate = questions.chunk_by(|one, other| one.certificate == other.certificate);
    let affordable: Vec<bool> = by_certificate.flat_map(|questions| affordable(questions, &cost)).collect();
    let mut affordable = affordable.into_iter();
    questions.extract_if(.., |_| affordable.next() == Some(false)).collect()
}

/// Says of each check of one certificate whether it is within the budget.
fn affordable(questions: &[IssuerCheck], cost: &impl Fn(IssuerNumber) -> usize) -> Vec<bool> {
    let costs: Vec<usize> = questions.iter().map(|question| cost(question.issuer)).collect();
    let mut left = limits::MAX_CERTIFICATION_CHECKS;
    if costs.iter().sum::<usize>() <= left {
        return vec![true; questions.len()];
    }
    let mut spent: HashMap<IssuerNumber, usize> = HashMap::new();
    let mut order: Vec<(usize, usize)> = Vec::with_capacity(questions.len());
    for (index, question) in questions.iter().enumerate() {
        let of_issuer = spent.entry(question.issuer).or_default();
        *of_issuer += costs[index];
        order.push((*of_issuer, index));
    }
    order.sort_unstable();
    let mut affordable = vec![false; questions.len()];
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

    /// A question for each issuer, all about one certificate.
    fn about(certificate: usize, issuers: &[usize]) -> Vec<IssuerCheck> {
        let question = |(signature, &issuer)| IssuerCheck {
            certificate,
            component: 1,
            signature,
            issuer: IssuerNumber::numbered(issuer),
        };
        issuers.iter().enumerate().map(question).collect()
    }

    const COSTLY: usize = 7;

    /// A key that costs a 64th of the budget, among keys that cost one.
    fn cost(issuer: IssuerNumber) -> usize {
        if issuer == IssuerNumber::numbered(COSTLY) { limits::MAX_CERTIFICATION_CHECKS / 64 } else { 1 }
    }

    #[test]
    fn what_is_within_the_budget_is_all_asked() {
        let mut questions = about(0, &vec![1; limits::MAX_CERTIFICATION_CHECKS]);
        assert_eq!(withhold(&mut questions, cost).len(), 0);
        assert_eq!(questions.len(), limits::MAX_CERTIFICATION_CHECKS);
    }

    #[test]
    fn a_flood_under_a_costly_key_leaves_other_issuers_their_share() {
        let mut questions = about(0, &[&[COSTLY; 500][..], &[1, 2, 3, 1], &[COSTLY; 500]].concat());
        let withheld = withhold(&mut questions, cost);
        assert!(withheld.iter().all(|question| question.issuer == IssuerNumber::numbered(COSTLY)));
        let signatures: Vec<usize> = questions.iter().map(|question| question.signature).collect();
        let expected: Vec<usize> = (0..63).chain(500..504).collect();
        assert_eq!(signatures, expected, "in the order of the packets");
    }

    #[test]
    fn a_flood_by_many_keys_at_one_cost_each_is_asked_as_far_as_the_budget_goes() {
        let issuers: Vec<usize> = (100..100 + limits::MAX_CERTIFICATION_CHECKS + 5).collect();
        let mut questions = about(0, &issuers);
        assert_eq!(withhold(&mut questions, cost).len(), 5);
    }

    #[test]
    fn each_certificate_has_its_own_budget() {
        let mut questions = [about(0, &[COSTLY; 100]), about(1, &[COSTLY; 60])].concat();
        let withheld = withhold(&mut questions, cost);
        assert_eq!(withheld.len(), 36);
        assert!(withheld.iter().all(|question| question.certificate == 0));
    }
}
