//! Moves self-signatures to the component over which they are made: GnuPG's `key_check_all_keysigs`.
//!
//! Unlike in GnuPG, certifications by other keys are not moved, since that would require verifying all of them.

use super::block::{Block, SignaturePacket};
use super::self_signatures::{Budget, Targets};
use crate::facts::{SignatureFacts, SignatureType};
use crate::signature::Signature;
use crate::signed::{Digester, question};
use std::collections::HashMap;
use verify::{Check, Verdict, limits};

/// A self-signature to move.
struct Relocation {
    /// The part that has it.
    from: usize,
    /// Its index among the signatures of that part.
    index: usize,
    /// The part over which it is made.
    to: usize,
}

/// Moves misplaced self-signatures directly after the component over which they are made, keeping their order. Returns
/// the number of moved signatures.
pub(super) fn relocate(block: &mut Block<'_>, budget: &mut Budget) -> usize {
    let moves = find(block, budget);
    apply(block, &moves);
    moves.len()
}

fn find(block: &mut Block<'_>, budget: &mut Budget) -> Vec<Relocation> {
    let irrevocable = find_irrevocable(block, budget);
    let mut moves = Vec::new();
    let mut targets = Targets::default();
    let mut search = Search::new(block);
    for part in 0..block.parts.len() {
        targets.pass(block, part);
        for index in 0..block.parts[part].signatures.len() {
            let signature = &block.parts[part].signatures[index];
            let to = match irrevocable.get(&(part, index)) {
                Some(&to) => Some(to),
                None => destination(block, part, signature, &targets, &mut search),
            };
            let Some(to) = to.filter(|&to| to != part) else { continue };
            block.parts[part].signatures[index].become_good();
            moves.push(Relocation { from: part, index, to });
        }
    }
    moves
}

/// A signature by its part and its index.
type SignaturePosition = (usize, usize);

/// Finds the components over which misplaced irrevocable signatures are made, whoever their alleged issuer is: verifies
/// all those whose digest prefix matches in one batch.
fn find_irrevocable(block: &Block<'_>, budget: &mut Budget) -> HashMap<SignaturePosition, usize> {
    let misplaced = misplaced_irrevocable(block);
    if misplaced.is_empty() {
        return HashMap::new();
    }
    let is_bound = |part: &usize| {
        let mut signatures = block.parts[*part].signatures.iter();
        *part == 0
            || signatures.any(|signature| signature.facts.as_ref().is_some_and(SignatureFacts::verifies))
    };
    // There may be any number of forged components.
    let (mut targets, others): (Vec<usize>, Vec<usize>) = (0..block.parts.len()).partition(is_bound);
    targets.extend(others);
    let mut digests = limits::MAX_SEARCHED_IRREVOCABLE_DIGESTS;
    let mut digester = Digester::new(block.primary);
    let mut likely: Vec<(SignaturePosition, usize, Check<'_>)> = Vec::new();
    for target in targets {
        let Some(subject) = block.parts[target].subject else { continue };
        let mut over = digester.over(subject);
        for (at, signature) in misplaced.iter().filter(|(_, signature)| subject.suits(signature.kind)) {
            let Some(left) = digests.checked_sub(1) else { break };
            digests = left;
            let digest = over.digest(signature).ok();
            let digest = digest.filter(|digest| digest.prefix() == signature.digest_prefix);
            let check = digest.and_then(|digest| question(&block.primary, signature, digest).ok());
            likely.extend(check.map(|check| (*at, target, check)));
        }
    }
    likely.truncate(budget.checks);
    budget.checks -= likely.len();
    let checks: Vec<Check<'_>> = likely.iter().map(|(.., check)| *check).collect();
    let verdicts = verify::verify(&checks);
    let good = likely.iter().zip(verdicts).filter(|(_, verdict)| *verdict == Verdict::Good);
    good.map(|(&(at, target, _), _)| (at, target)).collect()
}

/// Returns the irrevocable signatures that may be self-signatures, and are not made over their component.
fn misplaced_irrevocable<'a>(block: &Block<'a>) -> Vec<(SignaturePosition, Signature<'a>)> {
    let primary = block.primary_facts.fingerprint;
    let mut digester = Digester::new(block.primary);
    let mut misplaced = Vec::new();
    for (number, part) in block.parts.iter().enumerate() {
        let mut over = part.subject.map(|subject| (subject, digester.over(subject)));
        for (index, signature) in
            part.signatures.iter().enumerate().filter(|(_, signature)| signature.is_irrevocable())
        {
            let Some(facts) = &signature.facts else { continue };
            let is_open = facts
                .own
                .as_ref()
                .is_none_or(|own| own.verdict == Some(Verdict::Bad) || part.subject.is_none());
            if !is_open || !facts.may_verify() || !facts.may_be_by(&primary) {
                continue;
            }
            let signature = signature.signature();
            let fits = over.as_mut().is_some_and(|(subject, over)| {
                let is_likely = |over: &mut crate::signed::SubjectDigester<'_, '_>| {
                    over.digest(&signature).is_ok_and(|digest| digest.prefix() == signature.digest_prefix)
                };
                subject.suits(facts.kind) && is_likely(over)
            });
            if !fits {
                misplaced.push(((number, index), signature));
            }
        }
    }
    misplaced
}

/// Returns the component over which a self-signature is made, if it is found.
fn destination<'a>(
    block: &Block<'a>,
    part: usize,
    signature: &SignaturePacket<'a>,
    targets: &Targets,
    search: &mut Search<'a>,
) -> Option<usize> {
    let facts = signature.facts.as_ref()?;
    match facts.own.as_ref().and_then(|own| own.verdict) {
        Some(Verdict::Good) if facts.verifies() => match targets.of(facts.kind)? {
            target if target == part => Some(part),
            // A signature of a repeated subkey goes to the first occurrence.
            target => {
                let packet = block.parts[target].packet();
                block.parts.iter().position(|part| part.subject.is_some() && part.packet() == packet)
            }
        },
        Some(Verdict::Good | Verdict::Unsupported) => None,
        // Without an alleged issuer, it has no verdict yet.
        Some(Verdict::Bad) | None => {
            let may_be_own = facts.may_verify() && facts.may_be_by(&block.primary_facts.fingerprint);
            may_be_own.then(|| search.find(block, &signature.signature())).flatten()
        }
    }
}

/// Searches the components over which signatures are made.
struct Search<'a> {
    digester: Digester<'a>,
    /// The number of digests that may still be computed.
    digests: usize,
    /// The number of signatures that may still be verified although their digest prefix does not match.
    unlikely_checks: usize,
}

impl<'a> Search<'a> {
    fn new(block: &Block<'a>) -> Self {
        Self {
            digester: Digester::new(block.primary),
            digests: limits::MAX_SEARCHED_DIGESTS,
            unlikely_checks: limits::MAX_UNLIKELY_CHECKS.div_ceil(block.primary.public_key().cost()),
        }
    }

    fn find(&mut self, block: &Block<'a>, signature: &Signature<'a>) -> Option<usize> {
        let mut unlikely = Vec::new();
        for (index, part) in block.parts.iter().enumerate() {
            let Some(subject) = part.subject.filter(|subject| subject.suits(signature.kind)) else {
                continue;
            };
            self.digests = self.digests.checked_sub(1)?;
            let Ok(digest) = self.digester.over(subject).digest(signature) else { continue };
            let Ok(check) = question(&block.primary, signature, digest) else { continue };
            if digest.prefix() != signature.digest_prefix {
                unlikely.push((index, check));
            } else if is_good(&check) {
                return Some(index);
            }
        }
        // The digest prefix in the packet is not authenticated.
        unlikely.truncate(self.unlikely_checks);
        self.unlikely_checks -= unlikely.len();
        unlikely.iter().find(|(_, check)| is_good(check)).map(|&(index, _)| index)
    }
}

fn is_good(check: &Check<'_>) -> bool {
    verify::verify(std::slice::from_ref(check)) == [Verdict::Good]
}

/// Repairs certificates with several subkeys that old key servers damaged, as GnuPG's `fix_pks_corruption`: all binding
/// signatures are lost except that of the first subkey, which follows the last one. Returns whether there was such
/// damage.
pub(super) fn give_first_subkey_its_binding(block: &mut Block<'_>) -> bool {
    let Some(first) = block.parts.iter().position(|part| part.is_subkey()) else { return false };
    let [.., before, last] = &mut block.parts[..] else { return false };
    let is_bare = before.is_subkey() && before.signatures.is_empty() && last.is_subkey();
    let [binding] = &last.signatures[..] else { return false };
    let is_binding = binding.facts.as_ref().is_some_and(|facts| facts.kind == SignatureType::SUBKEY_BINDING);
    if !is_bare || !is_binding {
        return false;
    }
    let signature = binding.signature();
    if Search::new(block).find(block, &signature) != Some(first) {
        return false;
    }
    let last = block.parts.len() - 1;
    apply(block, &[Relocation { from: last, index: 0, to: first }]);
    true
}

/// Applies `moves`, which are sorted by the positions of the signatures.
fn apply(block: &mut Block<'_>, moves: &[Relocation]) {
    let mut taken: Vec<(usize, SignaturePacket<'_>)> = Vec::with_capacity(moves.len());
    for moves in moves.chunk_by(|one, other| one.from == other.from) {
        let mut leaving = moves.iter().peekable();
        let part = &mut block.parts[moves[0].from];
        for (index, signature) in std::mem::take(&mut part.signatures).into_iter().enumerate() {
            match leaving.next_if(|next| next.index == index) {
                Some(next) => taken.push((next.to, signature)),
                None => part.signatures.push(signature),
            }
        }
    }
    for (to, signature) in taken {
        block.parts[to].signatures.insert(0, signature);
    }
}
