//! Removes repeated user IDs and copies of signatures.

use super::block::{Block, Part};
use crate::back_signature::BackSignatureSearch;
use crate::identity::{Fingerprint, KeyId};
use crate::packet::Tag;
use crate::signature_identity::{SignatureValue, SignedContent};
use crate::signed::Digester;
use std::collections::{HashMap, HashSet};

/// Joins repeated user IDs and attributes, as GnuPG's `collapse_uids`: the signatures of a later one go before those of
/// the first one. Packets of unknown types are joined, too. Returns the number of joined user IDs and attributes.
pub(super) fn join_users(block: &mut Block<'_>) -> usize {
    let mut first: HashMap<(Tag, &[u8]), usize> = HashMap::new();
    let mut joined = 0;
    let mut parts: Vec<Part<'_>> = Vec::with_capacity(block.parts.len());
    let mut repetitions: HashMap<usize, Vec<Part<'_>>> = HashMap::new();
    for part in std::mem::take(&mut block.parts) {
        let packet = Some(part.packet()).filter(|_| part.is_user() || part.subject.is_none());
        let index = packet.map_or(parts.len(), |packet| *first.entry(packet).or_insert(parts.len()));
        if index < parts.len() {
            joined += usize::from(part.is_user());
            repetitions.entry(index).or_default().push(part);
        } else {
            parts.push(part);
        }
    }
    for (index, repeated) in repetitions {
        let before = repeated.into_iter().rev().flat_map(|part| part.signatures);
        parts[index].signatures.splice(0..0, before);
        let primary = &block.primary_facts.fingerprint;
        drop_copies(&block.back_signatures, primary, &mut parts[index], KeptCopy::First);
    }
    block.parts = parts;
    joined
}

/// Drops all but the last copy of each signature of a component, as GnuPG's `remove_duplicate_sigs`, except copies that
/// are better than others in the sense of [`crate::merge`]. Only true copies are dropped. False copies of
/// self-signatures and revocations stay; those of certifications by other keys are marked as superseded. Returns the
/// number of dropped copies.
pub(super) fn drop_all_copies(block: &mut Block<'_>) -> usize {
    let Block { primary_facts, parts, back_signatures, .. } = block;
    let primary = &primary_facts.fingerprint;
    parts.iter_mut().map(|part| drop_copies(back_signatures, primary, part, KeptCopy::Last)).sum()
}

/// Drops further copies after self-signatures were verified, as GnuPG does: all but the last copy of each good
/// signature, and false copies with the value of another signature. Beside a good signature, those by other keys and
/// revocations that may be by other keys stay; otherwise the last one of each kind stays, and superseded ones. Returns
/// the number of dropped copies.
pub(super) fn drop_false_copies(block: &mut Block<'_>) -> usize {
    let Block { primary, parts, back_signatures, .. } = block;
    let mut digester = Digester::new(*primary);
    parts.iter_mut().map(|part| drop_false_copies_of(back_signatures, part, &mut digester)).sum()
}

fn drop_false_copies_of<'a>(
    back_signatures: &BackSignatureSearch<'_>,
    part: &mut Part<'a>,
    digester: &mut Digester<'a>,
) -> usize {
    let mut others = OtherCopies::default();
    let mut over = part.subject.map(|subject| digester.over(subject));
    for copies in values(part).chunk_by(|a, b| a.value == b.value).filter(|copies| copies.len() > 1) {
        let signature = |index: usize| &part.signatures[index];
        let is_any_good = copies.iter().any(|copy| signature(copy.index).is_good());
        let mut is_likely =
            |index: usize| over.as_mut().is_some_and(|over| over.is_likely(&signature(index).signature()));
        let mut may_revoke = |index: usize| {
            !signature(index).is_own() && signature(index).is_irrevocable() && is_likely(index)
        };
        let indices = copies.iter().map(|copy| copy.index);
        let compared: Vec<usize> =
            indices.filter(|&index| signature(index).is_good() || !may_revoke(index)).collect();
        let ranked = by_kind(back_signatures, part, compared.into_iter(), |index| signature(index).is_good());
        for copies in ranked.chunk_by(|(a, _), (b, _)| a == b) {
            let indices: Vec<usize> = copies.iter().map(|&(_, index)| index).collect();
            if copies[0].0.own || !is_any_good {
                let last = indices
                    .iter()
                    .rev()
                    .find(|&&index| !part.signatures[index].parsed_facts().flags.superseded);
                others.of(part, &indices, last.copied());
            } else {
                others.dropped.extend(indices);
            }
        }
    }
    others.apply(part)
}

/// The indices of the copies that are dropped or superseded.
#[derive(Default)]
struct OtherCopies {
    dropped: Vec<usize>,
    superseded: Vec<usize>,
}

impl OtherCopies {
    /// Adds all but one of several packets with the same value. Certifications by another key with other content may be
    /// false copies, which everybody can write: one copy of each is kept and marked as superseded, since GnuPG drops
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

    /// Marks and drops the copies; returns the number of dropped ones.
    fn apply(self, part: &mut Part<'_>) -> usize {
        self.superseded.iter().for_each(|&index| part.signatures[index].supersede());
        self.dropped.iter().for_each(|&index| part.signatures[index].dropped = true);
        part.signatures.retain(|signature| !signature.dropped);
        self.dropped.len()
    }
}

/// Which copy of a signature is kept.
#[derive(Clone, Copy)]
enum KeptCopy {
    First,
    Last,
}

/// A signature with the values that identify its copies.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Copied<'a> {
    value: SignatureValue<'a>,
    /// The content that true copies have in common; `None` for other signatures by another key.
    content: Option<SignedContent<'a>>,
    index: usize,
}

/// Returns the signatures of a component, sorted so that copies are adjacent.
fn values<'a>(part: &Part<'a>) -> Vec<Copied<'a>> {
    if part.signatures.len() < 2 {
        return Vec::new();
    }
    let mut values = Vec::with_capacity(part.signatures.len());
    for (index, signature) in
        part.signatures.iter().enumerate().filter(|(_, signature)| signature.facts.is_some())
    {
        let parsed = signature.signature();
        let content = signature.matters().then(|| SignedContent::of(&parsed));
        values.push(Copied { value: SignatureValue::of(&parsed), content, index });
    }
    values.sort_unstable();
    values
}

fn drop_copies(
    back_signatures: &BackSignatureSearch<'_>,
    primary: &Fingerprint,
    part: &mut Part<'_>,
    stays: KeptCopy,
) -> usize {
    let mut others = OtherCopies::default();
    for copies in values(part).chunk_by(|a, b| a.value == b.value).filter(|copies| copies.len() > 1) {
        let is_own = |index: usize| part.signatures[index].is_own();
        // A copy with a changed issuer must not replace the one that names the primary key.
        let is_own_there = copies.iter().any(|copy| is_own(copy.index));
        for copies in copies.chunk_by(|a, b| a.content == b.content) {
            // The alleged issuer can be changed in a copy: until the signature is verified, one copy stays that names
            // the primary key, and one for each other issuer.
            let is_irrevocable_own = |index: usize| is_own(index) && part.signatures[index].is_irrevocable();
            let indices = copies.iter().map(|copy| copy.index);
            let ranked = by_kind(back_signatures, part, indices, is_irrevocable_own);
            for copies in ranked.chunk_by(|(a, _), (b, _)| a == b) {
                let indices: Vec<usize> = copies.iter().map(|&(_, index)| index).collect();
                let is_by_another = indices.iter().all(|&index| part.is_by_another(index, primary));
                if is_by_another && is_own_there {
                    others.dropped.extend(indices);
                } else {
                    others.of(part, &indices, stays.choose(part, &indices));
                }
            }
        }
    }
    others.apply(part)
}

impl KeptCopy {
    /// Chooses one of several copies: one that is not superseded, names its issuer, and is exportable.
    fn choose(self, part: &Part<'_>, copies: &[usize]) -> Option<usize> {
        let rank = |index: &&usize| {
            let signature = &part.signatures[**index];
            (signature.is_own(), signature.names_issuer(), signature.parsed_facts().flags.exportable)
        };
        let copies = copies.iter().filter(|&&index| !part.signatures[index].parsed_facts().flags.superseded);
        match self {
            Self::First => copies.rev().max_by_key(rank).copied(),
            Self::Last => copies.max_by_key(rank).copied(),
        }
    }
}

impl Part<'_> {
    /// Returns whether a signature cannot be a self-signature. Only the primary key binds its subkeys, whatever issuer
    /// a copy names.
    fn is_by_another(&self, index: usize, primary: &Fingerprint) -> bool {
        let signature = &self.signatures[index];
        !signature.matters() && signature.facts.as_ref().is_none_or(|facts| !facts.may_be_by(primary))
    }
}

/// The kind of a copy of a signature; one copy of each kind stays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CopyKind {
    /// Taken for a self-signature.
    own: bool,
    /// Whether a binding signature contains the subkey's back-signature, which other copies may have lost. If the budget
    /// was spent, the copy at this index is unlike all others.
    back_signature: Result<bool, usize>,
    /// The issuer of a signature by another key, who can only verify copies that name them.
    issuer: Option<KeyId>,
}

/// Sorts copies of one signature by their kind, then by position.
fn by_kind(
    back_signatures: &BackSignatureSearch<'_>,
    part: &Part<'_>,
    copies: impl Iterator<Item = usize>,
    is_own: impl Fn(usize) -> bool,
) -> Vec<(CopyKind, usize)> {
    let kind = |index: usize| CopyKind {
        own: is_own(index),
        back_signature: back_signatures.is_in(&part.signatures[index].signature(), part.subject).ok_or(index),
        issuer: Some(part.signatures[index].parsed_facts())
            .filter(|facts| facts.own.is_none())
            .map(|facts| facts.issuer.key_id),
    };
    let mut ranked: Vec<(CopyKind, usize)> = copies.map(|index| (kind(index), index)).collect();
    ranked.sort_unstable();
    ranked
}
