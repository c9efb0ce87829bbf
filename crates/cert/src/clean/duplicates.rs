//! One of each user ID, and one copy of each signature.

use super::block::{Block, Part};
use crate::back_signature;
use crate::facts::SignatureType;
use crate::identity::{Fingerprint, KeyId};
use crate::key::Key;
use crate::packet::Tag;
use crate::signature_identity::{SignatureValue, SignedContent};
use crate::signed::{Digester, Subject};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Joins user IDs, and attributes, that occur more than once, as GnuPG's `collapse_uids`: the signatures of a later
/// one go in front of those of the first one. So do packets of types that are not known. Returns how many user IDs and
/// attributes were joined.
pub(super) fn join_users(block: &mut Block<'_>) -> usize {
    let primary = block.primary;
    let mut first: HashMap<(Tag, &[u8]), usize> = HashMap::new();
    let mut joined = 0;
    let mut parts: Vec<Part<'_>> = Vec::with_capacity(block.parts.len());
    for mut part in std::mem::take(&mut block.parts) {
        let packet = Some(part.packet()).filter(|_| part.is_user() || part.subject.is_none());
        let known = packet.and_then(|packet| match first.entry(packet) {
            Entry::Occupied(entry) => Some(*entry.get()),
            Entry::Vacant(entry) => {
                entry.insert(parts.len());
                None
            }
        });
        match known {
            None => parts.push(part),
            Some(known) => {
                joined += usize::from(part.is_user());
                part.signatures.append(&mut parts[known].signatures);
                parts[known].signatures = part.signatures;
                drop_copies(primary, &mut parts[known], KeptCopy::First);
            }
        }
    }
    block.parts = parts;
    joined
}

/// Drops all but one copy of each signature under each component: the last one, as GnuPG's `remove_duplicate_sigs`, but
/// none that is good for more than others, as [`crate::merge`] says. Only true copies are dropped: of the certificate's
/// own signatures, and of revocations, others stay; of certifications by other keys, they are marked as superseded.
/// Returns how many were dropped.
pub(super) fn drop_all_copies(block: &mut Block<'_>) -> usize {
    let primary = block.primary;
    block.parts.iter_mut().map(|part| drop_copies(primary, part, KeptCopy::Last)).sum()
}

/// Drops what else turns out to be copies once the self-signatures are verified: all but the last copy of each good one,
/// and what somebody wrote around the value of another signature, as GnuPG does. Where a good signature has the value,
/// those by others and revocations that may be by others stay besides; else the last one of those that are good for the
/// same, and superseded ones. Returns how many were dropped.
pub(super) fn drop_false_copies(block: &mut Block<'_>) -> usize {
    let primary = block.primary;
    let mut digester = Digester::new(primary);
    block.parts.iter_mut().map(|part| drop_false_copies_of(primary, part, &mut digester)).sum()
}

fn drop_false_copies_of<'a>(primary: Key<'a>, part: &mut Part<'a>, digester: &mut Digester<'a>) -> usize {
    let mut others = OtherCopies::default();
    for copies in
        values(part).chunk_by(|one, other| one.value == other.value).filter(|copies| copies.len() > 1)
    {
        let held = |index: usize| &part.signatures[index];
        let is_any_good = copies.iter().any(|copy| held(copy.index).is_good());
        let mut may_revoke = |index: usize| {
            !held(index).is_own() && held(index).is_irrevocable() && part.is_likely(held(index), digester)
        };
        let indices = copies.iter().map(|copy| copy.index);
        let judged: Vec<usize> =
            indices.filter(|&index| held(index).is_good() || !may_revoke(index)).collect();
        let ranked = by_kind(primary, part, judged.into_iter(), |index| held(index).is_good());
        for copies in ranked.chunk_by(|(one, _), (other, _)| one == other) {
            let indices: Vec<usize> = copies.iter().map(|&(_, index)| index).collect();
            if copies[0].0.own || !is_any_good {
                let last = indices.iter().rev().find(|&&index| !part.signatures[index].is_superseded());
                others.of(part, &indices, last.copied());
            } else {
                others.dropped.extend(indices);
            }
        }
    }
    others.leave(part)
}

/// What becomes of the copies that do not stay, by their indices.
#[derive(Default)]
struct OtherCopies {
    dropped: Vec<usize>,
    superseded: Vec<usize>,
}

impl OtherCopies {
    /// Adds all but one of several packets with the same value. Of certifications by another key that say something else,
    /// who passes a certificate on may have written any: one copy of each is kept, marked as superseded, since GnuPG drops
    /// it.
    fn of(&mut self, part: &Part<'_>, copies: &[usize], stays: Option<usize>) {
        let content = |index: usize| SignedContent::of(&part.signatures[index].signature());
        let mut kept: HashSet<SignedContent<'_>> = stays.map(content).into_iter().collect();
        for &index in copies.iter().filter(|&&index| Some(index) != stays) {
            if !part.signatures[index].matters() && kept.insert(content(index)) {
                self.superseded.push(index);
            } else {
                self.dropped.push(index);
            }
        }
    }

    /// Marks and drops them; returns how many were dropped.
    fn leave(self, part: &mut Part<'_>) -> usize {
        self.superseded.iter().for_each(|&index| part.signatures[index].supersede());
        self.dropped.iter().for_each(|&index| part.signatures[index].dropped = true);
        part.signatures.retain(|held| !held.dropped);
        self.dropped.len()
    }
}

/// Which copy of a signature stays.
#[derive(Clone, Copy)]
enum KeptCopy {
    First,
    Last,
}

/// A signature, by what makes it a copy of another one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Copied<'a> {
    value: SignatureValue<'a>,
    /// What true copies have in common besides; `None` for a plain signature by another key.
    content: Option<SignedContent<'a>>,
    index: usize,
}

/// Returns the signatures under a component, copies side by side.
fn values<'a>(part: &Part<'a>) -> Vec<Copied<'a>> {
    if part.signatures.len() < 2 {
        return Vec::new();
    }
    let mut values = Vec::with_capacity(part.signatures.len());
    for (index, held) in part.signatures.iter().enumerate().filter(|(_, held)| held.facts.is_some()) {
        let signature = held.signature();
        let content = held.matters().then(|| SignedContent::of(&signature));
        values.push(Copied { value: SignatureValue::of(&signature), content, index });
    }
    values.sort_unstable();
    values
}

fn drop_copies<'a>(primary: Key<'a>, part: &mut Part<'a>, stays: KeptCopy) -> usize {
    let fingerprint = primary.fingerprint();
    let mut others = OtherCopies::default();
    for copies in
        values(part).chunk_by(|one, other| one.value == other.value).filter(|copies| copies.len() > 1)
    {
        let is_own = |index: usize| part.signatures[index].is_own();
        // A copy whose issuer somebody changed must not push aside the one that names the primary key.
        let is_own_there = copies.iter().any(|copy| is_own(copy.index));
        for copies in copies.chunk_by(|one, other| one.content == other.content) {
            // Who it says has made it can be changed in a copy: until it is verified, one stays that names the primary
            // key, and one for each other issuer.
            let claims = |index: usize| is_own(index) && part.signatures[index].is_irrevocable();
            let ranked = by_kind(primary, part, copies.iter().map(|copy| copy.index), claims);
            for copies in ranked.chunk_by(|(one, _), (other, _)| one == other) {
                let indices: Vec<usize> = copies.iter().map(|&(_, index)| index).collect();
                let is_by_another = indices.iter().all(|&index| part.is_by_another(index, &fingerprint));
                if is_by_another && is_own_there {
                    others.dropped.extend(indices);
                } else {
                    others.of(part, &indices, stays.choose(part, &indices));
                }
            }
        }
    }
    others.leave(part)
}

impl KeptCopy {
    /// Chooses one of several copies: one that is not superseded, says most of its issuer, and may be passed on.
    fn choose(self, part: &Part<'_>, copies: &[usize]) -> Option<usize> {
        let rank = |index: &&usize| {
            let held = &part.signatures[**index];
            (held.is_own(), held.names_issuer(), held.is_exportable())
        };
        let copies = copies.iter().filter(|&&index| !part.signatures[index].is_superseded());
        match self {
            Self::First => copies.rev().max_by_key(rank).copied(),
            Self::Last => copies.max_by_key(rank).copied(),
        }
    }
}

impl Part<'_> {
    /// Says whether a signature cannot be the primary key's own, which alone binds its subkeys, whoever a copy names.
    fn is_by_another(&self, index: usize, primary: &Fingerprint) -> bool {
        let held = &self.signatures[index];
        !held.matters() && held.facts.as_ref().is_none_or(|facts| !facts.may_be_by(primary))
    }
}

/// What tells copies of one signature apart: one of each kind stays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CopyKind {
    /// It is taken for the certificate's own.
    own: bool,
    back_signature: bool,
    /// Whose key may verify it, if that is another one: a copy that names somebody else is worth nothing to them.
    issuer: Option<KeyId>,
}

/// Sorts copies of one signature by their kind, then by where they stand.
fn by_kind<'a>(
    primary: Key<'a>,
    part: &Part<'a>,
    copies: impl Iterator<Item = usize>,
    is_own: impl Fn(usize) -> bool,
) -> Vec<(CopyKind, usize)> {
    let kind = |index: usize| CopyKind {
        own: is_own(index),
        back_signature: has_back_signature(primary, part, index),
        issuer: part.signatures[index].other_issuer(),
    };
    let mut ranked: Vec<(CopyKind, usize)> = copies.map(|index| (kind(index), index)).collect();
    ranked.sort_unstable();
    ranked
}

/// Says whether a copy of a binding signature holds the subkey's back-signature, which others may have lost.
fn has_back_signature<'a>(primary: Key<'a>, part: &Part<'a>, index: usize) -> bool {
    let signature = part.signatures[index].signature();
    match part.subject {
        Some(Subject::Subkey(subkey)) if signature.kind == SignatureType::SUBKEY_BINDING => {
            back_signature::is_in(&signature, primary, subkey)
        }
        _ => false,
    }
}
