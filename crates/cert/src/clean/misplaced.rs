//! Self-signatures that stand under another component than the one they are made over: GnuPG's
//! `key_check_all_keysigs`.
//!
//! GnuPG moves certifications by others too, which takes verifying every one of them; they stay where they are here.

use super::block::{Block, Held};
use super::self_signatures::Targets;
use crate::facts::SignatureType;
use crate::signature::Signature;
use crate::signed::{Digester, question};
use verify::{Check, Verdict, limits};

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
    let mut search = Search::new(block);
    for part in 0..block.parts.len() {
        targets.pass(block, part);
        for index in 0..block.parts[part].signatures.len() {
            let to = destination(block, part, &block.parts[part].signatures[index], &targets, &mut search);
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
    part: usize,
    held: &Held<'a>,
    targets: &Targets,
    search: &mut Search<'a>,
) -> Option<usize> {
    let facts = held.facts.as_ref()?;
    match facts.own.as_ref()?.verdict {
        Some(Verdict::Good) if facts.verifies() => match targets.of(facts.kind)? {
            target if target == part => Some(part),
            // A subkey that occurs twice gets it where it occurs first.
            target => {
                let body = block.parts[target].body();
                block.parts.iter().position(|part| part.subject.is_some() && part.body() == body)
            }
        },
        Some(Verdict::Bad) if facts.may_verify() => search.find(block, &held.signature()),
        _ => None,
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
        // Nothing protects the digest's first octets in the packet, so that they prove nothing.
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
