//! Self-signatures that stand under another component than the one they are made over: GnuPG's
//! `key_check_all_keysigs`.
//!
//! GnuPG moves certifications by others too, which takes verifying every one of them; they stay where they are here.

use super::block::{Block, SignaturePacket};
use super::self_signatures::{Budget, Targets};
use crate::facts::{SignatureFacts, SignatureType};
use crate::signature::Signature;
use crate::signed::{Digester, question};
use std::collections::HashMap;
use verify::{Check, Verdict, limits};

/// A self-signature to be moved.
struct Relocation {
    /// The part it stands under.
    from: usize,
    /// Its place among the signatures there.
    index: usize,
    /// The part it is made over.
    to: usize,
}

/// Moves each misplaced self-signature to the place just behind the component it is made over, in the order in which
/// they stand. Returns how many were moved.
pub(super) fn put_in_place(block: &mut Block<'_>, budget: &mut Budget) -> usize {
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
            let held = &block.parts[part].signatures[index];
            let to = match irrevocable.get(&(part, index)) {
                Some(&to) => Some(to),
                None => destination(block, part, held, &targets, &mut search),
            };
            let Some(to) = to.filter(|&to| to != part) else { continue };
            block.parts[part].signatures[index].become_good();
            moves.push(Relocation { from: part, index, to });
        }
    }
    moves
}

/// A signature by its part and its place there.
type SignaturePosition = (usize, usize);

/// Finds the components that misplaced irrevocable signatures are made over, whoever they say made them: all of those
/// whose digest begins as they say over one of them, verified in one batch.
fn find_irrevocable(block: &Block<'_>, budget: &mut Budget) -> HashMap<SignaturePosition, usize> {
    let misplaced = misplaced_irrevocable(block);
    if misplaced.is_empty() {
        return HashMap::new();
    }
    let vouched = |part: &usize| {
        let mut signatures = block.parts[*part].signatures.iter();
        *part == 0 || signatures.any(|held| held.facts.as_ref().is_some_and(SignatureFacts::verifies))
    };
    // There may be any number of made-up components.
    let (mut targets, others): (Vec<usize>, Vec<usize>) = (0..block.parts.len()).partition(vouched);
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

/// Returns the irrevocable signatures that may be the primary key's own, and that are not made over what they stand
/// behind.
fn misplaced_irrevocable<'a>(block: &Block<'a>) -> Vec<(SignaturePosition, Signature<'a>)> {
    let primary = block.primary_facts.fingerprint;
    let mut digester = Digester::new(block.primary);
    let mut misplaced = Vec::new();
    for (number, part) in block.parts.iter().enumerate() {
        let mut over = part.subject.map(|subject| (subject, digester.over(subject)));
        for (index, held) in part.signatures.iter().enumerate().filter(|(_, held)| held.is_irrevocable()) {
            let Some(facts) = &held.facts else { continue };
            let is_open = facts
                .own
                .as_ref()
                .is_none_or(|own| own.verdict == Some(Verdict::Bad) || part.subject.is_none());
            if !is_open || !facts.may_verify() || !facts.may_be_by(&primary) {
                continue;
            }
            let signature = held.signature();
            let fits = over.as_mut().is_some_and(|(subject, over)| {
                let begins = |over: &mut crate::signed::SubjectDigester<'_, '_>| {
                    over.digest(&signature).is_ok_and(|digest| digest.prefix() == signature.digest_prefix)
                };
                subject.suits(facts.kind) && begins(over)
            });
            if !fits {
                misplaced.push(((number, index), signature));
            }
        }
    }
    misplaced
}

/// Returns the component that a self-signature is made over, if it can be found.
fn destination<'a>(
    block: &Block<'a>,
    part: usize,
    held: &SignaturePacket<'a>,
    targets: &Targets,
    search: &mut Search<'a>,
) -> Option<usize> {
    let facts = held.facts.as_ref()?;
    match facts.own.as_ref().and_then(|own| own.verdict) {
        Some(Verdict::Good) if facts.verifies() => match targets.of(facts.kind)? {
            target if target == part => Some(part),
            // A subkey that occurs twice gets it where it occurs first.
            target => {
                let packet = block.parts[target].packet();
                block.parts.iter().position(|part| part.subject.is_some() && part.packet() == packet)
            }
        },
        Some(Verdict::Good | Verdict::Unsupported) => None,
        // Where it names nobody, it has no verdict yet.
        Some(Verdict::Bad) | None => {
            let may_be_own = facts.may_verify() && facts.may_be_by(&block.primary_facts.fingerprint);
            may_be_own.then(|| search.find(block, &held.signature())).flatten()
        }
    }
}

/// The search for the component that a signature is made over.
struct Search<'a> {
    digester: Digester<'a>,
    /// How many digests may still be made.
    digests: usize,
    /// How many signatures may still be verified whose digest does not begin as they say.
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
        // Nothing protects the digest's first bytes in the packet, so that they prove nothing.
        unlikely.truncate(self.unlikely_checks);
        self.unlikely_checks -= unlikely.len();
        unlikely.iter().find(|(_, check)| is_good(check)).map(|&(index, _)| index)
    }
}

fn is_good(check: &Check<'_>) -> bool {
    verify::verify(std::slice::from_ref(check)) == [Verdict::Good]
}

/// Repairs what old key servers did to certificates with several subkeys, GnuPG's `fix_pks_corruption`: all bindings
/// are gone but that of the first subkey, which stands behind the last one. Says whether it was so.
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

/// `moves` are sorted by where the signatures stand.
fn apply(block: &mut Block<'_>, moves: &[Relocation]) {
    let mut taken: Vec<(usize, SignaturePacket<'_>)> = Vec::with_capacity(moves.len());
    for moves in moves.chunk_by(|one, other| one.from == other.from) {
        let mut leaving = moves.iter().peekable();
        let part = &mut block.parts[moves[0].from];
        for (index, held) in std::mem::take(&mut part.signatures).into_iter().enumerate() {
            match leaving.next_if(|next| next.index == index) {
                Some(next) => taken.push((next.to, held)),
                None => part.signatures.push(held),
            }
        }
    }
    for (to, held) in taken {
        block.parts[to].signatures.insert(0, held);
    }
}
