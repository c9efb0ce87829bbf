//! What of a certificate is kept: GnuPG's `chk_self_sigs` and `delete_inv_parts`.

use super::block::{Block, SignaturePacket};
use super::note::CleaningNote;
use super::options::CleanOptions;
use crate::facts::{SignatureFacts, SignatureType};
use crate::identity::Timestamp;

/// Marks the components that a self-signature vouches for, the bindings that a newer one supersedes, and the
/// self-signatures that are not worth keeping. Returns how many self-signatures over user IDs stand before any user ID.
pub(super) fn judge(block: &mut Block<'_>, now: Timestamp) -> usize {
    let mut user: Option<usize> = None;
    let mut without_user = 0;
    let mut subkey: Option<Subkey> = None;
    for part in 0..block.parts.len() {
        if block.parts[part].is_user() {
            user = Some(part);
        } else if block.parts[part].is_subkey() {
            subkey = Some(Subkey { part, binding: None, revocation: None });
        } else if block.parts[part].subject.is_none() {
            continue;
        }
        for index in 0..block.parts[part].signatures.len() {
            let held = &block.parts[part].signatures[index];
            let Some(facts) = held.facts.as_ref().filter(|facts| facts.own.is_some()) else { continue };
            let standing = SelfSignatureStatus::of(facts, block, now);
            let at = SignaturePosition { part, index, created: facts.created };
            match facts.kind {
                SignatureType::SUBKEY_BINDING | SignatureType::SUBKEY_REVOCATION => match &mut subkey {
                    Some(subkey) => subkey.judge(block, at, standing),
                    None => at.drop(block),
                },
                SignatureType::DIRECT_KEY | SignatureType::KEY_REVOCATION
                    if standing == SelfSignatureStatus::Bad =>
                {
                    at.drop(block);
                }
                kind if kind.is_over_user() => match user {
                    Some(user) => block.parts[user].vouched |= standing == SelfSignatureStatus::Good,
                    None => {
                        without_user += 1;
                        at.drop(block);
                    }
                },
                _ => {}
            }
        }
    }
    without_user
}

/// What a self-signature is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SelfSignatureStatus {
    Good,
    Bad,
    Unchecked,
}

impl SelfSignatureStatus {
    fn of(facts: &SignatureFacts, block: &Block<'_>, now: Timestamp) -> Self {
        let is_unchecked = facts.own.as_ref().is_some_and(|own| own.verdict.is_none());
        let is_of_the_past = block.primary_facts.created <= now;
        if facts.counts(&block.primary_facts) && is_of_the_past {
            Self::Good
        } else if is_unchecked {
            Self::Unchecked
        } else {
            Self::Bad
        }
    }
}

/// Where a signature stands, and when it was made.
#[derive(Clone, Copy)]
struct SignaturePosition {
    part: usize,
    index: usize,
    created: Timestamp,
}

impl SignaturePosition {
    fn facts<'b>(&self, block: &'b mut Block<'_>) -> &'b mut SignatureFacts {
        let facts = block.parts[self.part].signatures[self.index].facts.as_mut();
        facts.expect("only what was read is judged")
    }

    fn drop(&self, block: &mut Block<'_>) {
        block.parts[self.part].signatures[self.index].dropped = true;
    }

    fn supersede(&self, block: &mut Block<'_>) {
        self.facts(block).flags.superseded = true;
    }
}

/// The subkey passed last, with the newest signature that binds it and the newest one that revokes it.
struct Subkey {
    part: usize,
    binding: Option<SignaturePosition>,
    revocation: Option<SignaturePosition>,
}

impl Subkey {
    /// A revocation vouches for its subkey too, so that one without a binding can be imported (Debian's patch).
    fn judge(&mut self, block: &mut Block<'_>, at: SignaturePosition, standing: SelfSignatureStatus) {
        let newest = if at.facts(block).kind.revokes() { &mut self.revocation } else { &mut self.binding };
        match (standing, *newest) {
            (SelfSignatureStatus::Unchecked, _) => {}
            (SelfSignatureStatus::Bad, _) => at.drop(block),
            (SelfSignatureStatus::Good, Some(newest)) if at.created < newest.created => at.supersede(block),
            (SelfSignatureStatus::Good, older) => {
                if let Some(older) = older {
                    older.supersede(block);
                }
                block.parts[self.part].vouched = true;
                *newest = Some(at);
            }
        }
    }
}

/// Drops the components that nothing vouches for, with their signatures, and the signatures that have no place.
pub(super) fn drop_invalid(block: &mut Block<'_>, options: &CleanOptions, notes: &mut Vec<CleaningNote>) {
    let mut place = PassedComponents { after_user: false, after_subkey: false };
    let mut local = 0;
    block.parts.retain_mut(|part| {
        place.after_user |= part.is_user();
        if part.is_user() && !part.vouched && !options.accept_unsigned_user_ids {
            notes.push(CleaningNote::UserIdSkipped(part.body().to_vec()));
            return false;
        }
        if part.is_subkey() && !part.vouched {
            notes.push(CleaningNote::SubkeySkipped);
            return false;
        }
        place.after_subkey |= part.is_subkey();
        for held in &mut part.signatures {
            let is_local = held.facts.as_ref().is_some_and(|facts| !facts.flags.exportable);
            if is_local && !options.keep_local {
                held.dropped = true;
                local += 1;
            }
            held.dropped |= !place.has_room_for(held);
        }
        true
    });
    if local > 0 {
        notes.push(CleaningNote::LocalSignaturesSkipped(local));
    }
}

/// What was passed before a signature.
struct PassedComponents {
    after_user: bool,
    after_subkey: bool,
}

impl PassedComponents {
    fn has_room_for(&self, held: &SignaturePacket<'_>) -> bool {
        held.facts.as_ref().is_none_or(|facts| match facts.kind {
            SignatureType::KEY_REVOCATION => !self.after_user,
            SignatureType::SUBKEY_BINDING | SignatureType::SUBKEY_REVOCATION => self.after_subkey,
            SignatureType::DIRECT_KEY => true,
            kind => kind.is_over_user(),
        })
    }
}
