//! Decides which packets are kept: GnuPG's `chk_self_sigs` and `delete_inv_parts`.

use super::block::{Block, SignaturePosition};
use super::note::CleaningNote;
use super::options::CleanOptions;
use super::self_signatures::Targets;
use crate::facts::{KeyFacts, SignatureFacts, SignatureType};
use crate::identity::Timestamp;
use verify::Verdict;

/// Marks the components with a good self-signature, the superseded binding signatures, and the self-signatures to drop.
/// Returns the number of self-signatures over user IDs before the first user ID.
///
/// A revocation also keeps its subkey, so that a subkey without a binding signature can be imported (Debian's patch). A
/// local signature that is dropped for that reason supersedes none.
pub(super) fn evaluate_self_signatures(
    block: &mut Block<'_>,
    options: &CleanOptions,
    now: Timestamp,
) -> usize {
    let mut without_user = 0;
    let mut targets = Targets::default();
    // The newest good binding signature and the newest good revocation of the current subkey.
    let mut newest = [None; 2];
    for part in 0..block.parts.len() {
        targets.pass(block, part);
        if block.parts[part].is_subkey() {
            newest = [None; 2];
        } else if block.parts[part].subject.is_none() {
            continue;
        }
        for index in 0..block.parts[part].signatures.len() {
            let facts = block.parts[part].signatures[index].facts.as_ref();
            let Some(facts) = facts.filter(|facts| facts.own.is_some()) else { continue };
            let (kind, created) = (facts.kind, facts.created);
            let stays = facts.flags.exportable || options.keep_local;
            let verdict = counted_verdict(facts, &block.primary_facts, now);
            let target = targets.of(kind);
            let drops = match kind {
                SignatureType::DIRECT_KEY | SignatureType::KEY_REVOCATION => verdict == Some(Verdict::Bad),
                SignatureType::SUBKEY_BINDING | SignatureType::SUBKEY_REVOCATION => {
                    target.is_none() || verdict == Some(Verdict::Bad)
                }
                // GnuPG knows none of its subpackets.
                SignatureType::CERTIFICATION_APPROVAL => {
                    facts.verdict() == Some(Verdict::Bad) || !block.parts[part].is_user()
                }
                _ => kind.is_over_user() && target.is_none(),
            };
            block.parts[part].signatures[index].dropped |= drops;
            without_user += usize::from(drops && kind.is_over_user());
            if kind == SignatureType::CERTIFICATION_APPROVAL {
                // It binds nothing, and GnuPG drops it.
                block.parts[part].signatures[index].supersede();
                continue;
            }
            let Some(target) = target.filter(|_| verdict == Some(Verdict::Good)) else { continue };
            block.parts[target].has_good_self_signature = true;
            if block.parts[target].is_subkey() && stays {
                let older = take_newest(&mut newest[usize::from(kind.revokes())], (part, index), created);
                if let Some((part, index)) = older {
                    block.parts[part].signatures[index].supersede();
                }
            }
        }
    }
    without_user
}

/// Returns whether GnuPG counts a self-signature as good or bad; `None` if it is unchecked.
fn counted_verdict(facts: &SignatureFacts, primary: &KeyFacts, now: Timestamp) -> Option<Verdict> {
    let is_good = facts.counts(primary) && primary.created <= now;
    facts.verdict().map(|_| if is_good { Verdict::Good } else { Verdict::Bad })
}

/// Compares a good signature with the newest one so far; returns the older one, which is superseded.
fn take_newest(
    newest: &mut Option<(SignaturePosition, Timestamp)>,
    position: SignaturePosition,
    created: Timestamp,
) -> Option<SignaturePosition> {
    match *newest {
        Some((_, newest)) if created < newest => Some(position),
        older => {
            *newest = Some((position, created));
            older.map(|(position, _)| position)
        }
    }
}

/// Drops the components without a good self-signature, and misplaced signatures.
pub(super) fn drop_invalid(block: &mut Block<'_>, options: &CleanOptions, notes: &mut Vec<CleaningNote>) {
    let (mut after_user, mut after_subkey) = (false, false);
    let mut local = 0;
    block.parts.retain_mut(|part| {
        after_user |= part.is_user();
        if part.is_user() && !part.has_good_self_signature && !options.accept_unsigned_user_ids {
            notes.push(CleaningNote::UserIdSkipped(part.body().to_vec()));
            return false;
        }
        if part.is_subkey() && !part.has_good_self_signature {
            notes.push(CleaningNote::SubkeySkipped);
            return false;
        }
        after_subkey |= part.is_subkey();
        for signature in &mut part.signatures {
            let is_local = signature.facts.as_ref().is_some_and(|facts| !facts.flags.exportable);
            if is_local && !options.keep_local {
                signature.dropped = true;
                local += 1;
            }
            // What only named the primary key as its issuer is somebody else's.
            signature.dropped |= options.self_signatures_only
                && signature.facts.as_ref().is_some_and(|facts| facts.own.is_none());
            signature.dropped |= signature.facts.as_ref().is_some_and(|facts| match facts.kind {
                SignatureType::KEY_REVOCATION => after_user,
                SignatureType::SUBKEY_BINDING | SignatureType::SUBKEY_REVOCATION => !after_subkey,
                SignatureType::DIRECT_KEY => false,
                SignatureType::CERTIFICATION_APPROVAL => facts.own.is_none(),
                kind => !kind.is_over_user(),
            });
        }
        true
    });
    if local > 0 {
        notes.push(CleaningNote::LocalSignaturesSkipped(local));
    }
}
