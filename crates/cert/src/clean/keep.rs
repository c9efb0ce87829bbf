//! Decides which packets are kept: GnuPG's `chk_self_sigs` and `delete_inv_parts`.

use super::block::{Block, SignaturePacket};
use super::note::CleaningNote;
use super::options::CleanOptions;
use crate::facts::{SignatureFacts, SignatureType};
use crate::identity::Timestamp;

/// Marks the components with a good self-signature, the superseded binding signatures, and the self-signatures to drop.
/// Returns the number of self-signatures over user IDs before the first user ID.
pub(super) fn evaluate_self_signatures(block: &mut Block<'_>, now: Timestamp) -> usize {
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
            let signature = &block.parts[part].signatures[index];
            let Some(facts) = signature.facts.as_ref().filter(|facts| facts.own.is_some()) else { continue };
            let status = SelfSignatureStatus::of(facts, block, now);
            let position = SignaturePosition { part, index, created: facts.created };
            match facts.kind {
                SignatureType::SUBKEY_BINDING | SignatureType::SUBKEY_REVOCATION => match &mut subkey {
                    Some(subkey) => subkey.add(block, position, status),
                    None => position.drop(block),
                },
                SignatureType::DIRECT_KEY | SignatureType::KEY_REVOCATION
                    if status == SelfSignatureStatus::Bad =>
                {
                    position.drop(block);
                }
                kind if kind.is_over_user() => match user {
                    Some(user) => {
                        block.parts[user].has_good_self_signature |= status == SelfSignatureStatus::Good
                    }
                    None => {
                        without_user += 1;
                        position.drop(block);
                    }
                },
                _ => {}
            }
        }
    }
    without_user
}

/// The status of a self-signature.
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

/// The position of a signature and its creation time.
#[derive(Clone, Copy)]
struct SignaturePosition {
    part: usize,
    index: usize,
    created: Timestamp,
}

impl SignaturePosition {
    fn facts<'b>(&self, block: &'b mut Block<'_>) -> &'b mut SignatureFacts {
        let facts = block.parts[self.part].signatures[self.index].facts.as_mut();
        facts.expect("only parsed signatures have positions")
    }

    fn drop(&self, block: &mut Block<'_>) {
        block.parts[self.part].signatures[self.index].dropped = true;
    }

    fn supersede(&self, block: &mut Block<'_>) {
        self.facts(block).flags.superseded = true;
    }
}

/// The current subkey, with the newest signature that binds it and the newest one that revokes it.
struct Subkey {
    part: usize,
    binding: Option<SignaturePosition>,
    revocation: Option<SignaturePosition>,
}

impl Subkey {
    /// Takes a binding signature or revocation. A revocation also keeps its subkey, so that a subkey without a binding
    /// signature can be imported (Debian's patch).
    fn add(&mut self, block: &mut Block<'_>, position: SignaturePosition, status: SelfSignatureStatus) {
        let newest =
            if position.facts(block).kind.revokes() { &mut self.revocation } else { &mut self.binding };
        match (status, *newest) {
            (SelfSignatureStatus::Unchecked, _) => {}
            (SelfSignatureStatus::Bad, _) => position.drop(block),
            (SelfSignatureStatus::Good, Some(newest)) if position.created < newest.created => {
                position.supersede(block)
            }
            (SelfSignatureStatus::Good, older) => {
                if let Some(older) = older {
                    older.supersede(block);
                }
                block.parts[self.part].has_good_self_signature = true;
                *newest = Some(position);
            }
        }
    }
}

/// Drops the components without a good self-signature, and misplaced signatures.
pub(super) fn drop_invalid(block: &mut Block<'_>, options: &CleanOptions, notes: &mut Vec<CleaningNote>) {
    let mut passed = PassedComponents { after_user: false, after_subkey: false };
    let mut local = 0;
    block.parts.retain_mut(|part| {
        passed.after_user |= part.is_user();
        if part.is_user() && !part.has_good_self_signature && !options.accept_unsigned_user_ids {
            notes.push(CleaningNote::UserIdSkipped(part.body().to_vec()));
            return false;
        }
        if part.is_subkey() && !part.has_good_self_signature {
            notes.push(CleaningNote::SubkeySkipped);
            return false;
        }
        passed.after_subkey |= part.is_subkey();
        for signature in &mut part.signatures {
            let is_local = signature.facts.as_ref().is_some_and(|facts| !facts.flags.exportable);
            if is_local && !options.keep_local {
                signature.dropped = true;
                local += 1;
            }
            signature.dropped |= !passed.allows(signature);
        }
        true
    });
    if local > 0 {
        notes.push(CleaningNote::LocalSignaturesSkipped(local));
    }
}

/// The kinds of components before a signature.
struct PassedComponents {
    after_user: bool,
    after_subkey: bool,
}

impl PassedComponents {
    fn allows(&self, signature: &SignaturePacket<'_>) -> bool {
        signature.facts.as_ref().is_none_or(|facts| match facts.kind {
            SignatureType::KEY_REVOCATION => !self.after_user,
            SignatureType::SUBKEY_BINDING | SignatureType::SUBKEY_REVOCATION => self.after_subkey,
            SignatureType::DIRECT_KEY => true,
            kind => kind.is_over_user(),
        })
    }
}
