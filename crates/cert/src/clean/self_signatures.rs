//! Verifying a certificate's self-signatures, within a budget.

use super::block::Block;
use crate::facts::{SignatureFacts, SignatureType};
use crate::identity::{KeyId, Timestamp};
use crate::signed::{Digester, question};
use std::cmp::Reverse;
use verify::{Check, Verdict, limits};

/// A signature that may be the primary key's own.
#[derive(Clone, Copy)]
struct Candidate {
    part: usize,
    index: usize,
    /// What it is tried over.
    target: usize,
    /// It competes for a budget with those that revoke, not with those that bind.
    revokes: bool,
    created: Timestamp,
}

/// Signatures that compete for a budget: those over one component that bind, or those that revoke.
struct Group<'c> {
    /// The likely ones first, then the newest.
    waiting: &'c [Candidate],
    asked: usize,
    found_good: bool,
}

/// Verifies the self-signatures, each over the component that GnuPG would try it over: the one it stands under, or
/// the last one of the right kind before it. Returns how many a budget left unchecked.
///
/// An issuer key ID is a hint: bindings, revocations and direct-key signatures are tried whatever it says, and what
/// verifies is a self-signature. Each component's newest are verified; where none of them is good, its others too
/// while the certificate's budget lasts, of which every component has its share.
pub(super) fn verify(block: &mut Block<'_>) -> usize {
    let mut candidates = candidates(block);
    // Keys come before user IDs: there are fewer of them, and more depends on each.
    candidates.sort_by_key(|candidate| {
        let is_user = block.parts[candidate.target].is_user();
        (is_user, candidate.target, candidate.revokes, Reverse(candidate.created))
    });
    let same_group =
        |one: &Candidate, other: &Candidate| (one.target, one.revokes) == (other.target, other.revokes);
    let mut budget = limits::MAX_CHECKS_PER_CERTIFICATE.div_ceil(block.primary.public_key().cost());
    let first_share = share(budget, candidates.chunk_by(same_group).count());
    for group in candidates.chunk_by_mut(same_group).filter(|group| group.len() > first_share) {
        put_likely_ones_first(block, group);
    }
    let groups = candidates.chunk_by(same_group);
    let mut groups: Vec<Group<'_>> =
        groups.map(|waiting| Group { waiting, asked: 0, found_good: false }).collect();
    let mut unchecked = 0;
    while !groups.is_empty() {
        let share = share(budget, groups.len());
        let mut round = Vec::new();
        for group in &mut groups {
            let asked = group.next(share.min(budget));
            budget -= asked.len();
            round.extend_from_slice(asked);
        }
        ask(block, &round);
        let mut answered = round.chunk_by(same_group);
        groups.retain_mut(|group| {
            group.found_good |=
                answered.next().is_some_and(|asked| asked.iter().any(|at| is_good(block, at)));
            let is_over = group.is_satisfied() || budget == 0;
            unchecked += if is_over { group.waiting.len() } else { 0 };
            !is_over
        });
    }
    unchecked
}

/// Returns how many signatures of each group are verified in one round.
fn share(budget: usize, groups: usize) -> usize {
    (budget / groups.max(1)).clamp(1, limits::MAX_CHECKS_PER_COMPONENT)
}

impl<'c> Group<'c> {
    fn next(&mut self, share: usize) -> &'c [Candidate] {
        // A round ends where it would be enough.
        let enough = limits::MAX_CHECKS_PER_COMPONENT - self.asked % limits::MAX_CHECKS_PER_COMPONENT;
        let (asked, waiting) = self.waiting.split_at(self.waiting.len().min(share).min(enough));
        self.waiting = waiting;
        self.asked += asked.len();
        asked
    }

    fn is_satisfied(&self) -> bool {
        self.waiting.is_empty() || self.found_good && self.asked >= limits::MAX_CHECKS_PER_COMPONENT
    }
}

fn is_good(block: &Block<'_>, at: &Candidate) -> bool {
    let facts = block.parts[at.part].signatures[at.index].facts.as_ref();
    facts.is_some_and(SignatureFacts::verifies)
}

/// Verifies candidates in one batch and notes the verdicts.
fn ask(block: &mut Block<'_>, candidates: &[Candidate]) {
    let mut digester = Digester::new(block.primary);
    let mut checks: Vec<Check<'_>> = Vec::with_capacity(candidates.len());
    let mut verdicts: Vec<Option<Verdict>> = Vec::with_capacity(candidates.len());
    for candidates in candidates.chunk_by(|one, other| one.target == other.target) {
        let subject = block.parts[candidates[0].target].subject.expect("targets are of known types");
        let mut over = digester.over(subject);
        for at in candidates {
            let signature = block.parts[at.part].signatures[at.index].signature();
            let digest = over.digest(&signature);
            let check = digest.and_then(|digest| question(&block.primary, &signature, digest));
            verdicts.push(check.err());
            checks.extend(check);
        }
    }
    let mut answers = verify::verify(&checks).into_iter();
    for (at, verdict) in candidates.iter().zip(verdicts) {
        let verdict = verdict.unwrap_or_else(|| answers.next().expect("one answer for each check"));
        note(block, at, verdict);
    }
}

fn note(block: &mut Block<'_>, at: &Candidate, verdict: Verdict) {
    let held = &mut block.parts[at.part].signatures[at.index];
    let signature = held.signature();
    let facts = held.facts.as_mut().expect("candidates have been read");
    if verdict == Verdict::Good && facts.own.is_none() {
        facts.own = Some(Box::new(signature.self_signature()));
    }
    if let Some(own) = &mut facts.own {
        own.verdict = Some(verdict);
    }
}

/// Sorts a group that is too large to be verified at once: in front, those whose digest begins as they say.
fn put_likely_ones_first(block: &Block<'_>, group: &mut [Candidate]) {
    let mut digester = Digester::new(block.primary);
    let subject = block.parts[group[0].target].subject.expect("targets are of known types");
    let mut over = digester.over(subject);
    group.sort_by_cached_key(|at| {
        let signature = block.parts[at.part].signatures[at.index].signature();
        let digest = over.digest(&signature);
        let is_likely = digest.is_ok_and(|digest| digest.prefix() == signature.digest_prefix);
        Reverse((is_likely, at.created))
    });
}

fn candidates(block: &mut Block<'_>) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut targets = Targets::default();
    for part in 0..block.parts.len() {
        targets.pass(block, part);
        // What follows a packet of an unknown type may be made over that.
        if block.parts[part].subject.is_none() {
            continue;
        }
        for (index, held) in block.parts[part].signatures.iter_mut().enumerate() {
            let Some(facts) = held.facts.as_mut().filter(|facts| may_be_own(facts)) else { continue };
            let (revokes, created) = (facts.kind.revokes(), facts.created);
            match (targets.of(facts.kind), &mut facts.own) {
                (Some(target), _) => candidates.push(Candidate { part, index, target, revokes, created }),
                (None, Some(own)) => own.verdict = Some(Verdict::Bad),
                (None, None) => {}
            }
        }
    }
    candidates
}

/// Says whether the primary key may have made it: it is named as the issuer, nobody is, or nobody else makes
/// signatures of this type but for rare exceptions.
fn may_be_own(facts: &SignatureFacts) -> bool {
    facts.own.is_some()
        || facts.issuer.key_id == KeyId(0)
        || matches!(
            facts.kind,
            SignatureType::DIRECT_KEY
                | SignatureType::KEY_REVOCATION
                | SignatureType::SUBKEY_BINDING
                | SignatureType::SUBKEY_REVOCATION
        )
}

/// The last user ID and the last subkey passed: what GnuPG takes a signature for that stands under neither.
#[derive(Default)]
pub(super) struct Targets {
    user: Option<usize>,
    subkey: Option<usize>,
}

impl Targets {
    /// Goes on to the next part.
    pub(super) fn pass(&mut self, block: &Block<'_>, part: usize) {
        if block.parts[part].is_user() {
            self.user = Some(part);
        } else if block.parts[part].is_subkey() {
            self.subkey = Some(part);
        }
    }

    /// Returns the part that a signature of this type, standing here, is tried over.
    pub(super) fn of(&self, kind: SignatureType) -> Option<usize> {
        match kind {
            SignatureType::DIRECT_KEY | SignatureType::KEY_REVOCATION => Some(0),
            SignatureType::SUBKEY_BINDING | SignatureType::SUBKEY_REVOCATION => self.subkey,
            kind if kind.is_over_user() => self.user,
            _ => None,
        }
    }
}
