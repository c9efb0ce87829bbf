//! Verifies the self-signatures of a certificate within a budget.

use super::block::{Block, SignaturePosition};
use crate::facts::{SignatureFacts, SignatureType};
use crate::identity::Timestamp;
use crate::key::Key;
use crate::signed::{Digester, question};
use std::cmp::Reverse;
use std::collections::HashSet;
use verify::{Check, Verdict, limits};

/// A signature that may be a self-signature.
#[derive(Clone, Copy)]
struct Candidate {
    position: SignaturePosition,
    /// The part over which it is verified.
    target: usize,
    created: Timestamp,
}

/// Returns how many irrevocable signatures of a certificate with this primary key may be verified.
pub(crate) fn irrevocable_checks(primary: &Key<'_>) -> usize {
    limits::MAX_IRREVOCABLE_CHECKS.div_ceil(primary.public_key().cost())
}

/// The numbers of unchecked signatures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unchecked {
    /// Irrevocable signatures.
    pub(super) irrevocable: usize,
    pub(super) bindings: usize,
    /// Components without a good binding signature among those that were verified, but with unchecked ones.
    pub(super) undecided: usize,
}

/// The binding signatures of one component, which share a budget with those of other components.
struct BindingGroup<'c> {
    /// The signatures to verify: those that were good before, then those whose digest prefix matches, then the others;
    /// of each the newest first.
    waiting: &'c [Candidate],
    /// The rest, which counts as bad once the others are verified.
    impossible: &'c [Candidate],
    found_good: bool,
}

/// The most signatures in one batch.
const BATCH: usize = 4 << 10;

/// Verifies the self-signatures, each over its component or the last one of the right kind before it, as in GnuPG.
///
/// Since the issuer key ID is only a hint, all binding signatures, revocations and direct-key signatures are tried, and
/// those that verify are self-signatures. Binding signatures are verified within the certificate's budget, of which
/// every component has its share. Irrevocable signatures have a budget of their own. Signatures at offsets for which
/// `is_proven` returns true were good before and come first, whatever their digest prefix is.
pub(super) fn verify(
    block: &mut Block<'_>,
    checks: &mut usize,
    is_proven: &dyn Fn(u32) -> bool,
) -> Unchecked {
    let (irrevocable, mut bindings) = candidates(block, |_| true);
    let (unchecked, undecided) = verify_bindings(block, &mut bindings, is_proven);
    let good = bindings.iter().filter(|at| is_good(block, at)).map(|at| at.target);
    let bound: HashSet<usize> = good.chain([0]).collect();
    let irrevocable = verify_irrevocable(block, irrevocable, &bound, checks, is_proven);
    Unchecked { irrevocable, bindings: unchecked, undecided }
}

/// Continues with the irrevocable signatures that were left unchecked, and returns the number of those that still are.
pub(super) fn continue_verification(block: &mut Block<'_>, checks: &mut usize) -> usize {
    let (irrevocable, _) = candidates(block, SignatureFacts::is_pending);
    let bound = irrevocable.iter().map(|at| at.target).collect();
    verify_irrevocable(block, irrevocable, &bound, checks, &|_| false)
}

fn same_target(a: &Candidate, b: &Candidate) -> bool {
    a.target == b.target
}

/// Verifies binding signatures within the budget, of which each component has its share: those that were good before,
/// all those whose digest prefix matches, and of the others, which occur only by damage or forgery, the newest; the rest
/// counts as bad. Returns the number of unchecked signatures, and of components that have unchecked ones, but no good
/// one.
fn verify_bindings(
    block: &mut Block<'_>,
    bindings: &mut [Candidate],
    is_proven: &dyn Fn(u32) -> bool,
) -> (usize, usize) {
    // Keys before user IDs, since there are fewer of them and they matter more.
    bindings.sort_by_key(|candidate| {
        let is_user = block.parts[candidate.target].is_user();
        (is_user, candidate.target, Reverse(candidate.created))
    });
    let mut budget = limits::MAX_LIKELY_CHECKS.div_ceil(block.primary.public_key().cost());
    let first_share = share(budget, bindings.chunk_by(same_target).count());
    let mut groups: Vec<BindingGroup<'_>> = bindings
        .chunk_by_mut(same_target)
        .map(|group| BindingGroup::new(block, group, first_share, is_proven))
        .collect();
    while !groups.is_empty() && budget > 0 {
        let share = share(budget, groups.len());
        let mut round = Vec::new();
        for group in &mut groups {
            let asked = group.next(share.min(budget));
            budget -= asked.len();
            round.extend_from_slice(asked);
        }
        verify_batch(block, &round);
        let mut answered = round.chunk_by(same_target);
        groups.retain_mut(|group| {
            group.found_good |=
                answered.next().is_some_and(|asked| asked.iter().any(|at| is_good(block, at)));
            if group.waiting.is_empty() {
                group.impossible.iter().for_each(|at| note(block, at, Verdict::Bad));
            }
            !group.waiting.is_empty()
        });
    }
    let unchecked = groups.iter().map(|group| group.waiting.len() + group.impossible.len()).sum();
    (unchecked, groups.iter().filter(|group| !group.found_good).count())
}

/// Returns the number of signatures of each group that are verified in one round.
fn share(budget: usize, groups: usize) -> usize {
    (budget / groups.max(1)).clamp(1, BATCH)
}

impl<'c> BindingGroup<'c> {
    /// Creates a group. If it is small enough to be verified at once, digest prefixes are not compared.
    fn new(
        block: &Block<'_>,
        group: &'c mut [Candidate],
        share: usize,
        is_proven: &dyn Fn(u32) -> bool,
    ) -> Self {
        let mut most = group.len();
        if most > share.min(limits::MAX_CHECKS_PER_COMPONENT) {
            let likely = sort_likely_first(block, group, is_proven);
            most = most.min(likely + limits::MAX_CHECKS_PER_COMPONENT);
        }
        let (waiting, impossible) = group.split_at(most);
        Self { waiting, impossible, found_good: false }
    }

    fn next(&mut self, share: usize) -> &'c [Candidate] {
        let (asked, waiting) = self.waiting.split_at(self.waiting.len().min(share));
        self.waiting = waiting;
        asked
    }
}

/// Verifies the irrevocable signatures whose digest prefix matches or that are proven, and returns the number of those
/// that the budget left unchecked. Of the others, which occur only by damage or forgery, the newest are verified, and
/// the rest counts as bad. Revocations of certifications that name another key in their hashed part are among these
/// others, since they are hardly ever the owner's.
///
/// Those of components without a good self-signature come last, since such components are not kept.
fn verify_irrevocable(
    block: &mut Block<'_>,
    mut candidates: Vec<Candidate>,
    bound: &HashSet<usize>,
    checks: &mut usize,
    is_proven: &dyn Fn(u32) -> bool,
) -> usize {
    candidates.sort_by_key(|at| at.target);
    if candidates.len() <= limits::MAX_CHECKS_PER_COMPONENT.min(*checks) {
        *checks -= candidates.len();
        verify_batch(block, &candidates);
        return 0;
    }
    let likely = likely_candidates(block, &candidates);
    let proven = |at: &Candidate| is_proven(block.signature(at.position).start());
    let primary = &block.primary_facts.fingerprint;
    let may_be_own = |at: &Candidate| {
        block.signature(at.position).facts.as_ref().is_some_and(|facts| facts.may_be_by(primary))
    };
    let (mut likely, mut unlikely): (Vec<Candidate>, Vec<Candidate>) =
        candidates.into_iter().partition(|at| likely.contains(&at.position) && may_be_own(at) || proven(at));
    likely.sort_by_cached_key(|at| (!proven(at), !bound.contains(&at.target), Reverse(at.created)));
    let pending = likely.split_off(likely.len().min(*checks));
    *checks -= likely.len();
    for batch in likely.chunks_mut(BATCH) {
        batch.sort_by_key(|at| at.target);
        verify_batch(block, batch);
    }
    pending.iter().for_each(|at| block.signature_mut(at.position).leave_pending());
    unlikely.sort_by_key(|at| Reverse(at.created));
    let most = limits::MAX_UNLIKELY_CHECKS.div_ceil(block.primary.public_key().cost());
    let impossible = unlikely.split_off(unlikely.len().min(most));
    unlikely.sort_by_key(|at| at.target);
    verify_batch(block, &unlikely);
    impossible.iter().for_each(|at| note(block, at, Verdict::Bad));
    pending.len()
}

fn is_good(block: &Block<'_>, at: &Candidate) -> bool {
    block.signature(at.position).facts.as_ref().is_some_and(SignatureFacts::verifies)
}

/// Verifies candidates in one batch and sets their verdicts.
fn verify_batch(block: &mut Block<'_>, candidates: &[Candidate]) {
    let mut digester = Digester::new(block.primary);
    let mut checks: Vec<Check<'_>> = Vec::with_capacity(candidates.len());
    let mut verdicts: Vec<Option<Verdict>> = Vec::with_capacity(candidates.len());
    for candidates in candidates.chunk_by(same_target) {
        let subject = block.parts[candidates[0].target].subject.expect("targets are of known types");
        let mut over = digester.over(subject);
        for at in candidates {
            let signature = block.signature(at.position).signature();
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
    let signature = block.signature_mut(at.position);
    if verdict == Verdict::Good {
        return signature.become_good();
    }
    signature.facts.as_mut().expect("candidates have been read").reject(&primary, verdict);
}

/// Sorts a group so that the signatures come first that were good before, then those whose digest prefix matches; returns
/// the number of both.
fn sort_likely_first(block: &Block<'_>, group: &mut [Candidate], is_proven: &dyn Fn(u32) -> bool) -> usize {
    let likely = likely_candidates(block, group);
    let proven = |at: &Candidate| is_proven(block.signature(at.position).start());
    let rank = |at: &Candidate| (proven(at), likely.contains(&at.position));
    group.sort_by_cached_key(|at| Reverse((rank(at), at.created)));
    group.partition_point(|at| rank(at) != (false, false))
}

/// Returns the positions of the candidates whose digest prefix matches. Candidates of one component must be adjacent.
fn likely_candidates(block: &Block<'_>, candidates: &[Candidate]) -> HashSet<SignaturePosition> {
    let mut digester = Digester::new(block.primary);
    let mut likely = HashSet::new();
    for group in candidates.chunk_by(same_target) {
        let subject = block.parts[group[0].target].subject.expect("targets are of known types");
        let mut over = digester.over(subject);
        let group = group.iter().map(|at| at.position);
        likely.extend(group.filter(|&at| over.is_likely(&block.signature(at).signature())));
    }
    likely
}

/// Finds the possible self-signatures, grouped by component: the irrevocable ones that are `wanted`, and the others.
fn candidates(
    block: &mut Block<'_>,
    wanted: impl Fn(&SignatureFacts) -> bool,
) -> (Vec<Candidate>, Vec<Candidate>) {
    let primary = block.primary_facts.fingerprint;
    let (mut irrevocable, mut bindings) = (Vec::new(), Vec::new());
    let mut targets = Targets::default();
    for part in 0..block.parts.len() {
        targets.pass(block, part);
        // Signatures after a packet of an unknown type may be made over that, and cannot be verified.
        if block.parts[part].subject.is_none() {
            let own = block.parts[part]
                .signatures
                .iter_mut()
                .filter_map(|signature| signature.facts.as_mut()?.own.as_mut());
            own.for_each(|own| own.verdict = Some(Verdict::Unsupported));
            continue;
        }
        for (index, signature) in block.parts[part].signatures.iter_mut().enumerate() {
            let is_irrevocable = signature.is_irrevocable();
            let may_be_own = |facts: &&mut SignatureFacts| {
                facts.kind == SignatureType::CERTIFICATION_REVOCATION || facts.may_be_by(&primary)
            };
            let Some(facts) = signature.facts.as_mut().filter(may_be_own) else { continue };
            let target = targets.of(facts.kind);
            let position = (part, index);
            let candidate = target.map(|target| Candidate { position, target, created: facts.created });
            match (candidate, &mut facts.own) {
                (Some(candidate), _) if !is_irrevocable => bindings.push(candidate),
                (Some(candidate), _) => irrevocable.extend(wanted(facts).then_some(candidate)),
                (None, Some(own)) => own.verdict = Some(Verdict::Bad),
                (None, None) => {}
            }
        }
    }
    (irrevocable, bindings)
}

/// The last user ID and the last subkey so far, over which GnuPG verifies signatures of other components.
#[derive(Default)]
pub(super) struct Targets {
    user: Option<usize>,
    subkey: Option<usize>,
}

impl Targets {
    /// Goes to the next part.
    pub(super) fn pass(&mut self, block: &Block<'_>, part: usize) {
        if block.parts[part].is_user() {
            self.user = Some(part);
        } else if block.parts[part].is_subkey() {
            self.subkey = Some(part);
        }
    }

    /// Returns the part over which a signature of this type at this position is verified.
    pub(super) fn of(&self, kind: SignatureType) -> Option<usize> {
        match kind {
            SignatureType::DIRECT_KEY | SignatureType::KEY_REVOCATION => Some(0),
            SignatureType::SUBKEY_BINDING | SignatureType::SUBKEY_REVOCATION => self.subkey,
            kind if kind.covers_user() => self.user,
            _ => None,
        }
    }
}
