//! One of each user ID, and one copy of each signature.

use super::block::{Block, Part};
use crate::packet::Tag;
use crate::value::Value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Joins user IDs, and attributes, that occur more than once, as GnuPG's `collapse_uids`: the signatures of a later
/// one go in front of those of the first one. Returns how many were joined.
pub(super) fn join_users(block: &mut Block<'_>) -> usize {
    let mut first: HashMap<(Tag, &[u8]), usize> = HashMap::new();
    let mut joined = 0;
    let mut parts: Vec<Part<'_>> = Vec::with_capacity(block.parts.len());
    for mut part in std::mem::take(&mut block.parts) {
        let known = part.user().and_then(|user| match first.entry(user) {
            Entry::Occupied(entry) => Some(*entry.get()),
            Entry::Vacant(entry) => {
                entry.insert(parts.len());
                None
            }
        });
        match known {
            None => parts.push(part),
            Some(known) => {
                joined += 1;
                part.signatures.append(&mut parts[known].signatures);
                parts[known].signatures = part.signatures;
                drop_copies(&mut parts[known], Stays::First);
            }
        }
    }
    block.parts = parts;
    joined
}

/// Drops all but one copy of each signature under each component: the last one, as GnuPG's `remove_duplicate_sigs`.
/// Returns how many were dropped.
pub(super) fn drop_all_copies(block: &mut Block<'_>) -> usize {
    block.parts.iter_mut().map(|part| drop_copies(part, Stays::Last)).sum()
}

/// Which copy of a signature stays.
#[derive(Clone, Copy)]
enum Stays {
    First,
    Last,
}

fn drop_copies(part: &mut Part<'_>, stays: Stays) -> usize {
    if part.signatures.len() < 2 {
        return 0;
    }
    let mut values: Vec<(Value<'_>, usize)> = Vec::with_capacity(part.signatures.len());
    for (index, held) in part.signatures.iter().enumerate().filter(|(_, held)| held.facts.is_some()) {
        values.push((Value::of(&held.signature()), index));
    }
    values.sort_unstable();
    let before = part.signatures.len();
    for copies in values.chunk_by(|(one, _), (other, _)| one == other).filter(|copies| copies.len() > 1) {
        // A copy whose issuer somebody changed must not push aside the one that names the primary key.
        let is_own = |(_, index): &&(Value<'_>, usize)| part.signatures[*index].is_own();
        let chosen = match stays {
            Stays::First => copies.iter().find(is_own).or(copies.first()),
            Stays::Last => copies.iter().rfind(is_own).or(copies.last()),
        };
        let chosen = chosen.map(|&(_, index)| index);
        for &(_, index) in copies.iter().filter(|&&(_, index)| Some(index) != chosen) {
            part.signatures[index].dropped = true;
        }
    }
    part.signatures.retain(|held| !held.dropped);
    before - part.signatures.len()
}
