//! `addcardkey`: a card makes a subkey.

use super::agent_subkey;
use super::session::Session;
use super::subkeys;
use crate::commands::card::key_reference;
use crate::commands::card::new_keys;

/// Has the card make a subkey, and adds it.
pub(super) fn add(session: &mut Session<'_>) -> anyhow::Result<()> {
    let Some(made) = key_reference::new_subkey(&mut session.card())? else { return Ok(()) };
    let bound = agent_subkey::bind(&made.public, made.usage, made.seconds, session);
    let reported = subkeys::report(session, bound);
    new_keys::restore_pin(made.pin, &mut session.card());
    reported
}
