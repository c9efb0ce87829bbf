//! Evaluates a certificate's self-signatures at a given time.
//!
//! [`evaluate`] decides which keys are bound, revoked or expired and what they may do, which user IDs are valid, and
//! which is the primary one, as it was at any moment: a signature is judged by the certificate when it was made. It uses
//! the verdicts in the facts and verifies nothing. The rules are those of GnuPG 2.2 when it merges self-signatures into
//! keys (its `g10/getkey.c`), or where the [view](PacketView) is full, those of RFC 9580.

mod context;
mod key;
pub mod objections;
mod self_signatures;
mod state;
mod usage;
mod user_id;

pub use context::{DesignatedRevocation, EvaluationContext, PacketView};
pub use state::{ComponentState, Effective, KeyState, Revocation, UserIdState};
pub use usage::{Usage, can_be_primary};

use crate::facts::{ComponentKind, Facts};
use self_signatures::SelfSignatureFilter;

/// Evaluates a certificate at a given time. It is not valid unless it is [fully checked](Facts::is_fully_checked).
pub fn evaluate(facts: &Facts, context: EvaluationContext) -> Effective {
    let effective = evaluate_checked_part(facts, context);
    if facts.is_fully_checked() { effective } else { effective.not_fully_checked() }
}

/// Evaluates a certificate at a given time as if it were fully checked.
pub fn evaluate_checked_part(facts: &Facts, context: EvaluationContext) -> Effective {
    let self_signatures = SelfSignatureFilter { primary: facts.primary(), context };
    let mut users = user_id::evaluate(facts, &self_signatures);
    user_id::choose_primary(facts, context.view, &mut users.states);
    let (primary, revokers) = key::primary(facts, &users, &self_signatures);

    let mut components: Vec<ComponentState> = facts
        .components
        .iter()
        .zip(users.states)
        .enumerate()
        .map(|(index, (component, user))| match &component.kind {
            ComponentKind::Key(_) if index == 0 => ComponentState::Key(primary),
            ComponentKind::Key(subkey) => {
                ComponentState::Key(key::subkey(facts, subkey, component, &primary, &self_signatures))
            }
            ComponentKind::UserId(_) | ComponentKind::Attribute(_) => ComponentState::User(user),
            ComponentKind::Unknown(_) => ComponentState::Unknown,
        })
        .collect();
    key::join_repeated_subkeys(facts, &mut components);
    Effective { components, revokers, fully_checked: true }
}

#[cfg(test)]
mod tests;
