//! What a certificate's self-signatures mean at a given moment.
//!
//! [`evaluate`] decides as GnuPG 2.2 does when it merges self-signatures into keys (its `g10/getkey.c`):
//! which keys are bound, revoked or expired and what they may do, which user IDs hold, and which is the
//! primary one. It looks at verdicts that are there already and verifies nothing.

mod context;
mod key;
pub mod objections;
mod self_signatures;
mod state;
mod usage;
mod user_id;

pub use context::{EvaluationContext, PacketView};
pub use state::{ComponentState, Effective, KeyState, Revocation, UserIdState};
pub use usage::{Usage, can_be_primary};

use crate::facts::{ComponentKind, Facts};
use self_signatures::SelfSignatureFilter;

/// Decides what a certificate means at a moment. It is not valid unless it is [fully
/// checked](Facts::is_fully_checked).
pub fn evaluate(facts: &Facts, moment: EvaluationContext) -> Effective {
    let effective = evaluate_checked_part(facts, moment);
    if facts.is_fully_checked() { effective } else { effective.not_fully_checked() }
}

/// Decides what a certificate would mean at a moment if nothing of it was left unchecked.
pub fn evaluate_checked_part(facts: &Facts, moment: EvaluationContext) -> Effective {
    let judge = SelfSignatureFilter { primary: facts.primary(), moment };
    let mut users = user_id::evaluate(facts, &judge);
    let primary = key::primary(facts, &users, &judge);
    user_id::choose_primary(facts, moment.view, &mut users.states);

    let components = facts
        .components
        .iter()
        .zip(users.states)
        .enumerate()
        .map(|(index, (component, user))| match &component.kind {
            ComponentKind::Key(_) if index == 0 => ComponentState::Key(primary.state),
            ComponentKind::Key(subkey) => {
                ComponentState::Key(key::subkey(subkey, component, &primary.state, &judge))
            }
            ComponentKind::UserId(_) | ComponentKind::Attribute(_) => ComponentState::User(user),
            ComponentKind::Unknown(_) => ComponentState::Unknown,
        })
        .collect();
    Effective { components, revokers: primary.revokers, fully_checked: true }
}

#[cfg(test)]
mod tests;
