//! Verifying a certificate's self-signatures, within a budget.

use super::block::Block;
use crate::facts::{SignatureFacts, SignatureType};
use crate::identity::Timestamp;
use crate::key::Key;
use crate::signed::{Digester, question};
use std::cmp::Reverse;
use std::collections::HashSet;
use verify::{Check, Verdict, limits};

/// A signature that may be the primary key's own.
#[derive(Clone, Copy)]
struct Candidate {
    part: usize,
    index: usize,
    /// What it is tried over.
    target: usize,
    created: Timestamp,
}

/// Signatures that may be the primary key's own, those over one component side by side.
#[derive(Default)]
struct Candidates {
    /// Those that revoke something or name a designated revoker.
    irrevocable: Vec<Candidate>,
    bindings: Vec<Candidate>,
}

/// How many irrevocable signatures of one certificate may still be verified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) checks: usize,
}

impl Budget {
    /// Returns what a certificate with this primary key is worth.
    pub(crate) fn of(primary: &Key<'_>) -> Self {
        Self { checks: limits::MAX_IRREVOCABLE_CHECKS.div_ceil(primary.public_key().cost()) }
    }
}

/// How many signatures stay unchecked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unchecked {
    /// Those that may revoke something or name a designated revoker.
    pub(super) irrevocable: usize,
    pub(super) bindings: usize,
    /// Components whose bindings may be good, but none that was verified is.
    pub(super) undecided: usize,
}

/// Bindings of one component, which compete with those of the others for a budget.
struct BindingGroup<'c> {
    /// The likely ones first, then the newest.
    waiting: &'c [Candidate],
    /// How many of those have a digest that begins as they say.
    likely: usize,
    asked: usize,
    found_good: bool,
}

/// The most irrevocable signatures that are verified in one batch.
const BATCH: usize = 4 << 10;

/// Verifies the self-signatures, each over the component that GnuPG would try it over: the one it stands under, or
/// the last one of the right kind before it.
///
/// An issuer key ID is a hint: bindings, revocations and direct-key signatures are tried whatever it says, and what
/// verifies is a self-signature. Bindings are verified while the certificate's budget lasts, of which every component has
/// its share. What is irrevocable has a budget of its own; first comes what begins at an offset of which `is_proven` says
/// that it was good before.
pub(super) fn verify(
    block: &mut Block<'_>,
    budget: &mut Budget,
    is_proven: &dyn Fn(u32) -> bool,
) -> Unchecked {
    let Candidates { irrevocable, mut bindings } = candidates(block, |_| true);
    let (unchecked, undecided) = verify_bindings(block, &mut bindings);
    let good = bindings.iter().filter(|at| is_good(block, at)).map(|at| at.target);
    let vouched: HashSet<usize> = good.chain([0]).collect();
    let irrevocable = verify_irrevocable(block, irrevocable, &vouched, budget, is_proven);
    Unchecked { irrevocable, bindings: unchecked, undecided }
}

/// Goes on with the irrevocable signatures that were left unchecked, and returns how many still are.
pub(super) fn go_on(block: &mut Block<'_>, budget: &mut Budget) -> usize {
    let Candidates { irrevocable, .. } = candidates(block, SignatureFacts::is_pending);
    let vouched = irrevocable.iter().map(|at| at.target).collect();
    verify_irrevocable(block, irrevocable, &vouched, budget, &|_| false)
}

fn same_target(one: &Candidate, other: &Candidate) -> bool {
    one.target == other.target
}

/// Verifies bindings: all whose digest begins as they say, as far as the budget goes, of which each component has its
/// share, the newest first. Of the others, which nobody makes but by damage, the newest are verified, and the rest is taken
/// for bad. Returns how many the budget left unchecked, and how many components have such, but none that is good.
fn verify_bindings(block: &mut Block<'_>, bindings: &mut [Candidate]) -> (usize, usize) {
    // Keys come before user IDs: there are fewer of them, and more depends on each.
    bindings.sort_by_key(|candidate| {
        let is_user = block.parts[candidate.target].is_user();
        (is_user, candidate.target, Reverse(candidate.created))
    });
    let mut budget = limits::MAX_LIKELY_CHECKS.div_ceil(block.primary.public_key().cost());
    let first_share = share(budget, bindings.chunk_by(same_target).count());
    let mut groups: Vec<BindingGroup<'_>> = bindings
        .chunk_by_mut(same_target)
        .map(|group| BindingGroup::new(block, group, first_share))
        .collect();
    while !groups.is_empty() && budget > 0 {
        let share = share(budget, groups.len());
        let mut round = Vec::new();
        for group in &mut groups {
            let asked = group.next(share.min(budget));
            budget -= asked.len();
            round.extend_from_slice(asked);
        }
        ask(block, &round);
        let mut answered = round.chunk_by(same_target);
        groups.retain_mut(|group| {
            group.found_good |=
                answered.next().is_some_and(|asked| asked.iter().any(|at| is_good(block, at)));
            if group.is_done() {
                group.waiting.iter().for_each(|at| note(block, at, Verdict::Bad));
            }
            !group.is_done()
        });
    }
    let unchecked = groups.iter().map(|group| group.waiting.len()).sum();
    (unchecked, groups.iter().filter(|group| !group.found_good).count())
}

/// Returns how many signatures of each group are verified in one round.
fn share(budget: usize, groups: usize) -> usize {
    (budget / groups.max(1)).clamp(1, BATCH)
}

impl<'c> BindingGroup<'c> {
    /// Makes a group, in which all are likely if there are no more of them than can be verified at once.
    fn new(block: &Block<'_>, group: &'c mut [Candidate], share: usize) -> Self {
        let few = share.min(limits::MAX_CHECKS_PER_COMPONENT);
        let likely = if group.len() <= few { group.len() } else { put_likely_ones_first(block, group) };
        Self { waiting: group, likely, asked: 0, found_good: false }
    }

    fn next(&mut self, share: usize) -> &'c [Candidate] {
        let enough = self.likely.max(limits::MAX_CHECKS_PER_COMPONENT.saturating_sub(self.asked));
        let (asked, waiting) = self.waiting.split_at(self.waiting.len().min(share).min(enough));
        self.waiting = waiting;
        self.likely = self.likely.saturating_sub(asked.len());
        self.asked += asked.len();
        asked
    }

    fn is_done(&self) -> bool {
        self.waiting.is_empty() || self.likely == 0 && self.asked >= limits::MAX_CHECKS_PER_COMPONENT
    }
}

/// Verifies irrevocable signatures, and returns how many the budget left unchecked: of those whose digest begins as
/// they say, or that are proven. Of the others, which nobody makes but by damage, the newest are verified, and the rest
/// is taken for bad.
///
/// Those over components that nothing vouches for come last: such a component is not kept.
fn verify_irrevocable(
    block: &mut Block<'_>,
    mut candidates: Vec<Candidate>,
    vouched: &HashSet<usize>,
    budget: &mut Budget,
    is_proven: &dyn Fn(u32) -> bool,
) -> usize {
    candidates.sort_by_key(|at| at.target);
    if candidates.len() <= limits::MAX_CHECKS_PER_COMPONENT.min(budget.checks) {
        budget.checks -= candidates.len();
        ask(block, &candidates);
        return 0;
    }
    let likely: HashSet<(usize, usize)> =
        likely_ones(block, &candidates).iter().map(|at| (at.part, at.index)).collect();
    let proven = |at: &Candidate| is_proven(block.parts[at.part].signatures[at.index].start());
    let (mut likely, mut unlikely): (Vec<Candidate>, Vec<Candidate>) =
        candidates.into_iter().partition(|at| likely.contains(&(at.part, at.index)) || proven(at));
    likely.sort_by_cached_key(|at| (!proven(at), !vouched.contains(&at.target), Reverse(at.created)));
    let pending = likely.split_off(likely.len().min(budget.checks));
    budget.checks -= likely.len();
    for batch in likely.chunks_mut(BATCH) {
        batch.sort_by_key(|at| at.target);
        ask(block, batch);
    }
    pending.iter().for_each(|at| leave_pending(block, at));
    unlikely.sort_by_key(|at| Reverse(at.created));
    let most = limits::MAX_UNLIKELY_CHECKS.div_ceil(block.primary.public_key().cost());
    let impossible = unlikely.split_off(unlikely.len().min(most));
    unlikely.sort_by_key(|at| at.target);
    ask(block, &unlikely);
    impossible.iter().for_each(|at| note(block, at, Verdict::Bad));
    pending.len()
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
    let primary = block.primary_facts.fingerprint;
    let held = &mut block.parts[at.part].signatures[at.index];
    if verdict == Verdict::Good {
        return held.become_good();
    }
    let facts = held.facts.as_mut().expect("candidates have been read");
    match &mut facts.own {
        Some(own) if facts.issuer.may_be(&primary) => own.verdict = Some(verdict),
        own => *own = None,
    }
}

/// Notes that the primary key may have made a signature, whatever that says of its issuer.
fn leave_pending(block: &mut Block<'_>, at: &Candidate) {
    let held = &mut block.parts[at.part].signatures[at.index];
    let signature = held.signature();
    let facts = held.facts.as_mut().expect("candidates have been read");
    facts.own.get_or_insert_with(|| Box::new(signature.self_signature()));
}

/// Sorts a group that is too large to be verified at once: in front, those whose digest begins as they say. Returns how
/// many these are.
fn put_likely_ones_first(block: &Block<'_>, group: &mut [Candidate]) -> usize {
    let likely: HashSet<(usize, usize)> =
        likely_ones(block, group).iter().map(|at| (at.part, at.index)).collect();
    group.sort_by_cached_key(|at| Reverse((likely.contains(&(at.part, at.index)), at.created)));
    likely.len()
}

/// Returns those whose digest begins as they say. Candidates over one component stand side by side.
fn likely_ones(block: &Block<'_>, candidates: &[Candidate]) -> Vec<Candidate> {
    let mut digester = Digester::new(block.primary);
    let mut likely = Vec::new();
    for group in candidates.chunk_by(same_target) {
        let subject = block.parts[group[0].target].subject.expect("targets are of known types");
        let mut over = digester.over(subject);
        likely.extend(group.iter().filter(|at| {
            let signature = block.parts[at.part].signatures[at.index].signature();
            over.digest(&signature).is_ok_and(|digest| digest.prefix() == signature.digest_prefix)
        }));
    }
    likely
}

/// Finds the signatures that may be the primary key's own; of the irrevocable ones those that are `wanted`.
fn candidates(block: &mut Block<'_>, wanted: impl Fn(&SignatureFacts) -> bool) -> Candidates {
    let primary = block.primary_facts.fingerprint;
    let mut candidates = Candidates::default();
    let mut targets = Targets::default();
    for part in 0..block.parts.len() {
        targets.pass(block, part);
        // What follows a packet of an unknown type may be made over that, which nobody here can verify.
        if block.parts[part].subject.is_none() {
            let own =
                block.parts[part].signatures.iter_mut().filter_map(|held| held.facts.as_mut()?.own.as_mut());
            own.for_each(|own| own.verdict = Some(Verdict::Unsupported));
            continue;
        }
        for (index, held) in block.parts[part].signatures.iter_mut().enumerate() {
            let is_irrevocable = held.is_irrevocable();
            let Some(facts) = held.facts.as_mut().filter(|facts| facts.may_be_by(&primary)) else { continue };
            let target = targets.of(facts.kind);
            let candidate = target.map(|target| Candidate { part, index, target, created: facts.created });
            match (candidate, &mut facts.own) {
                (Some(candidate), _) if !is_irrevocable => candidates.bindings.push(candidate),
                (Some(candidate), _) => candidates.irrevocable.extend(wanted(facts).then_some(candidate)),
                (None, Some(own)) => own.verdict = Some(Verdict::Bad),
                (None, None) => {}
            }
        }
    }
    candidates
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
