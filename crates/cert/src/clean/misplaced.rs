//! Moves self-signatures to the component over which they are made: GnuPG's `key_check_all_keysigs`.
//!
//! Unlike in GnuPG, certifications by other keys are not moved, since that would require verifying all of them.

use super::block::{Block, SignaturePacket, SignaturePosition};
use super::self_signatures::Targets;
use crate::facts::{SignatureFacts, SignatureType};
use crate::signature::Signature;
use crate::signed::{Digester, question};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use verify::{Check, Verdict, limits};

/// A self-signature to move, and the part over which it is made.
type Relocation = (SignaturePosition, usize);

/// The check of a signature over a component that it may be made over.
struct Candidate<'a> {
    position: SignaturePosition,
    target: usize,
    check: Check<'a>,
    /// Whether the digest prefix matches.
    is_likely: bool,
}

/// What [`relocate`] did.
pub(super) struct Relocated {
    /// The number of moved signatures.
    pub(super) moved: usize,
    /// The number of irrevocable signatures whose component was not found before a limit was reached, or not verified.
    pub(super) unchecked: usize,
}

/// Moves misplaced self-signatures directly after the component over which they are made; of several equal components
/// the first one. Irrevocable signatures that the budget leaves unchecked are moved to the component over which they are
/// probably made, and left pending there.
pub(super) fn relocate(block: &mut Block<'_>, checks: &mut usize) -> Relocated {
    let (mut destinations, unchecked) = find_irrevocable(block, checks);
    let mut searched = Vec::new();
    let mut verified_over = HashMap::new();
    let mut targets = Targets::default();
    for part in 0..block.parts.len() {
        targets.pass(block, part);
        for (index, signature) in block.parts[part].signatures.iter().enumerate() {
            if destinations.contains_key(&(part, index)) {
                continue;
            }
            match search_for(block, signature, &targets) {
                SearchFor::Nothing => {}
                SearchFor::EqualOf(target) if target == part => {}
                SearchFor::EqualOf(target) => {
                    destinations.extend(first_equal(block, target).map(|first| ((part, index), first)));
                }
                SearchFor::Component(verified) => {
                    verified_over.extend(verified.map(|target| ((part, index), target)));
                    searched.push(((part, index), signature.signature()));
                }
            }
        }
    }
    let found = search(block, &searched, &verified_over);
    found.keys().for_each(|&position| block.signature_mut(position).become_good());
    destinations.extend(found);
    let mut moves: Vec<Relocation> = destinations.into_iter().filter(|&((from, _), to)| from != to).collect();
    moves.sort_unstable();
    apply(block, &moves);
    Relocated { moved: moves.len(), unchecked }
}

/// Finds the components over which misplaced irrevocable signatures are made, whoever their alleged issuer is: verifies
/// all those whose digest prefix matches. Marks those that the budget leaves unchecked as pending. Returns also the
/// number of signatures that were not compared with all components or not verified.
fn find_irrevocable(block: &mut Block<'_>, checks: &mut usize) -> (HashMap<SignaturePosition, usize>, usize) {
    let misplaced = misplaced_irrevocable(block);
    if misplaced.is_empty() {
        return (HashMap::new(), 0);
    }
    let is_bound = |part: &usize| {
        let mut signatures = block.parts[*part].signatures.iter();
        *part == 0
            || signatures.any(|signature| signature.facts.as_ref().is_some_and(SignatureFacts::verifies))
    };
    // There may be any number of forged components.
    let (bound, others): (Vec<usize>, Vec<usize>) = (0..block.parts.len()).partition(is_bound);
    let mut likely = Vec::new();
    let mut compare_with = |targets: &[usize], most| {
        compare(block, targets, &misplaced, most, |candidate| {
            likely.extend(Some(candidate).filter(|candidate| candidate.is_likely));
        })
    };
    let is_complete = compare_with(&bound, limits::MAX_SEARCHED_IRREVOCABLE_DIGESTS);
    compare_with(&others, limits::MAX_SEARCHED_UNBOUND_DIGESTS);
    let pending = likely.split_off(likely.len().min(*checks));
    *checks -= likely.len();
    let mut found = verified(&likely);
    found.keys().for_each(|&position| block.signature_mut(position).become_good());
    let mut unchecked = if is_complete { 0 } else { misplaced.len() - found.len() };
    for Candidate { position, target, .. } in pending {
        if let Entry::Vacant(unknown) = found.entry(position) {
            block.signature_mut(position).leave_pending();
            unknown.insert(target);
            unchecked += usize::from(is_complete);
        }
    }
    (found, unchecked)
}

/// Compares the digest prefixes of signatures with those over components, ordered by component. Returns whether no more
/// than `most` digests had to be computed.
fn compare<'a>(
    block: &Block<'a>,
    targets: &[usize],
    signatures: &[(SignaturePosition, Signature<'a>)],
    most: usize,
    mut take: impl FnMut(Candidate<'a>),
) -> bool {
    let mut digester = Digester::new(block.primary);
    let mut computed = 0;
    for &target in targets {
        let Some(subject) = block.parts[target].subject else { continue };
        let mut over = digester.over(subject);
        for &(position, ref signature) in signatures.iter().filter(|(_, it)| subject.suits(it.kind)) {
            if computed == most {
                return false;
            }
            computed += 1;
            let Ok(digest) = over.digest(signature) else { continue };
            let is_likely = digest.prefix() == signature.digest_prefix;
            if let Ok(check) = question(&block.primary, signature, digest) {
                take(Candidate { position, target, check, is_likely });
            }
        }
    }
    true
}

/// Verifies candidates; returns for each signature that is good the first component over which it is made.
fn verified(candidates: &[Candidate<'_>]) -> HashMap<SignaturePosition, usize> {
    let checks: Vec<Check<'_>> = candidates.iter().map(|candidate| candidate.check).collect();
    let mut found = HashMap::new();
    for (candidate, verdict) in candidates.iter().zip(verify::verify(&checks)) {
        if verdict == Verdict::Good {
            let first = found.entry(candidate.position).or_insert(candidate.target);
            *first = candidate.target.min(*first);
        }
    }
    found
}

/// Returns the irrevocable signatures that may be self-signatures, and are not made over their component.
fn misplaced_irrevocable<'a>(block: &Block<'a>) -> Vec<(SignaturePosition, Signature<'a>)> {
    let primary = block.primary_facts.fingerprint;
    let mut digester = Digester::new(block.primary);
    let mut misplaced = Vec::new();
    for (number, part) in block.parts.iter().enumerate() {
        let mut over = part.subject.map(|subject| digester.over(subject));
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
            if !over.as_mut().is_some_and(|over| over.is_likely(&signature)) {
                misplaced.push(((number, index), signature));
            }
        }
    }
    misplaced
}

/// Where the component over which a signature is made has to be searched.
enum SearchFor {
    /// It is no self-signature, or cannot be verified.
    Nothing,
    /// It is good over this component: the first one that is equal to it.
    EqualOf(usize),
    /// It may be made over any component but the one over which it was verified: what is bad there is not tried again.
    Component(Option<usize>),
}

fn search_for(block: &Block<'_>, signature: &SignaturePacket<'_>, targets: &Targets) -> SearchFor {
    let Some(facts) = &signature.facts else { return SearchFor::Nothing };
    match facts.verdict() {
        Some(Verdict::Good) if facts.verifies() => {
            targets.of(facts.kind).map_or(SearchFor::Nothing, SearchFor::EqualOf)
        }
        // A limit left it unverified where it probably belongs.
        None if facts.own.is_some() => SearchFor::Nothing,
        Some(Verdict::Bad) | None
            if facts.may_verify() && facts.may_be_by(&block.primary_facts.fingerprint) =>
        {
            SearchFor::Component(targets.of(facts.kind))
        }
        _ => SearchFor::Nothing,
    }
}

/// Returns the first component that is equal to this one.
fn first_equal(block: &Block<'_>, target: usize) -> Option<usize> {
    let packet = block.parts[target].packet();
    block.parts.iter().position(|part| part.subject.is_some() && part.packet() == packet)
}

/// Finds the components over which signatures are made, other than those over which they are `verified_over` already.
///
/// The digest prefix tells which one it is. Since it is not authenticated, some of the signatures whose prefix matches
/// nowhere are verified over every component.
fn search<'a>(
    block: &Block<'a>,
    signatures: &[(SignaturePosition, Signature<'a>)],
    verified_over: &HashMap<SignaturePosition, usize>,
) -> HashMap<SignaturePosition, usize> {
    let all: Vec<usize> = (0..block.parts.len()).collect();
    let (mut likely, mut unlikely) = (Vec::new(), Vec::new());
    let mut matching = HashSet::new();
    compare(block, &all, signatures, limits::MAX_SEARCHED_DIGESTS, |candidate| {
        let is_verified = verified_over.get(&candidate.position) == Some(&candidate.target);
        if candidate.is_likely {
            matching.insert(candidate.position);
        }
        match (is_verified, candidate.is_likely) {
            (true, _) => {}
            (false, true) => likely.push(candidate),
            (false, false) => unlikely.push(candidate),
        }
    });
    let mut found = verified(&likely);
    unlikely.retain(|candidate| !matching.contains(&candidate.position));
    unlikely.truncate(limits::MAX_UNLIKELY_CHECKS.div_ceil(block.primary.public_key().cost()));
    found.extend(verified(&unlikely));
    found
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
    let last = block.parts.len() - 1;
    if search(block, &[((last, 0), signature)], &HashMap::new()).get(&(last, 0)) != Some(&first) {
        return false;
    }
    apply(block, &[((last, 0), first)]);
    true
}

/// Applies `moves`, which are sorted by the positions of the signatures. As in GnuPG, the last one comes first.
fn apply(block: &mut Block<'_>, moves: &[Relocation]) {
    let mut taken: HashMap<usize, Vec<SignaturePacket<'_>>> = HashMap::new();
    for moves in moves.chunk_by(|((a, _), _), ((b, _), _)| a == b) {
        let mut leaving = moves.iter().peekable();
        let ((from, _), _) = moves[0];
        let part = &mut block.parts[from];
        for (index, signature) in std::mem::take(&mut part.signatures).into_iter().enumerate() {
            match leaving.next_if(|((_, next), _)| *next == index) {
                Some((_, to)) => taken.entry(*to).or_default().push(signature),
                None => part.signatures.push(signature),
            }
        }
    }
    for (to, signatures) in taken {
        block.parts[to].signatures.splice(0..0, signatures.into_iter().rev());
    }
}
