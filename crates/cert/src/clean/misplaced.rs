//! Self-signatures that stand under another component than the one they are made over: GnuPG's
//! `key_check_all_keysigs`.
//!
//! GnuPG moves certifications by others too, which takes verifying every one of them; they stay where they are here.

use super::block::{Block, Held};
use super::self_signatures::Targets;
use crate::facts::SignatureType;
use crate::signature::Signature;
use crate::signed::{Digester, question};
use verify::{Verdict, limits};

/// A self-signature to be moved.
struct Move {
    /// The part it stands under.
    from: usize,
    /// Its place among the signatures there.
    index: usize,
    /// The part it is made over.
    to: usize,
}

/// Moves each misplaced self-signature to the place just behind the component it is made over, in the order in which
/// they stand. Returns how many were moved.
pub(super) fn put_in_place(block: &mut Block<'_>) -> usize {
    let moves = find(block);
    apply(block, &moves);
    moves.len()
}

fn find(block: &mut Block<'_>) -> Vec<Move> {
    let mut moves = Vec::new();
    let mut targets = Targets::default();
    let mut search = Search { digester: Digester::new(block.primary), budget: limits::MAX_SEARCHED_DIGESTS };
    for part in 0..block.parts.len() {
        targets.pass(block, part);
        for index in 0..block.parts[part].signatures.len() {
            let to = destination(block, &block.parts[part].signatures[index], &targets, &mut search);
            let Some(to) = to.filter(|&to| to != part) else { continue };
            let facts = block.parts[part].signatures[index].facts.as_mut();
            let own = facts.and_then(|facts| facts.own.as_mut());
            own.expect("only self-signatures have a destination").verdict = Some(Verdict::Good);
            moves.push(Move { from: part, index, to });
        }
    }
    moves
}

/// Returns the component that a self-signature is made over, if it can be found.
fn destination<'a>(
    block: &Block<'a>,
    held: &Held<'a>,
    targets: &Targets,
    search: &mut Search<'a>,
) -> Option<usize> {
    let facts = held.facts.as_ref()?;
    match facts.own.as_ref()?.verdict {
        Some(Verdict::Good) => targets.of(facts.kind).filter(|_| facts.verifies()),
        Some(Verdict::Bad) if facts.may_verify() => search.find(block, &held.signature()),
        _ => None,
    }
}

/// The search for the component that a signature is made over.
struct Search<'a> {
    digester: Digester<'a>,
    /// How many digests may still be made.
    budget: usize,
}

impl<'a> Search<'a> {
    fn find(&mut self, block: &Block<'a>, signature: &Signature<'a>) -> Option<usize> {
        block.parts.iter().position(|part| {
            let Some(subject) = part.subject.filter(|subject| subject.suits(signature.kind)) else {
                return false;
            };
            let Some(budget) = self.budget.checked_sub(1) else { return false };
            self.budget = budget;
            let digest = self.digester.over(subject).digest(signature).ok();
            let likely = digest.filter(|digest| digest.prefix() == signature.digest_prefix);
            let check = likely.and_then(|digest| question(&block.primary, signature, digest).ok());
            check.is_some_and(|check| verify::verify(&[check]) == [Verdict::Good])
        })
    }
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
    let mut search = Search { digester: Digester::new(block.primary), budget: usize::MAX };
    if search.find(block, &signature) != Some(first) {
        return false;
    }
    let last = block.parts.len() - 1;
    apply(block, &[Move { from: last, index: 0, to: first }]);
    true
}

/// `moves` are sorted by where the signatures stand.
fn apply(block: &mut Block<'_>, moves: &[Move]) {
    let mut taken: Vec<(usize, Held<'_>)> = Vec::with_capacity(moves.len());
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
