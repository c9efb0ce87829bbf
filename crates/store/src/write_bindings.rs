//! Writing the data of trust on first use, with what is needed to undo that: the same for every engine.

use std::collections::HashMap;

use cert::{BoundAddress, Fingerprint, Timestamp};

use crate::binding_rows;
use crate::engine::Engine;
use crate::engine_writer::EngineWriter;
use crate::journal::change_row::NewChange;
use crate::tofu::{AUTO, Binding, BindingChange, BindingId, KeptBinding, SeenMessages, VerifiedMessage};
use crate::{ReadTrust, Result, WriteBindings};

/// The messages that a change adds, and those that it removes.
type MessageChanges = (SeenMessages, SeenMessages);

/// Changes what is remembered of a key with an address, and writes what became of it into the journal.
///
/// `change` gets the binding, which has a number if there is a row.
fn change_remembered<W: EngineWriter>(
    writer: &mut W,
    key: &Fingerprint,
    address: &BoundAddress,
    change: impl FnOnce(&W::Engine, Option<&Binding>) -> Result<MessageChanges>,
) -> Result<()> {
    let engine = writer.engine();
    let before = engine.binding(key, address)?;
    let (added, removed) = change(engine, before.as_ref())?;
    let after = engine.binding(key, address)?;
    let [before, after] = [before, after].map(|binding| binding.and_then(Binding::into_kept));
    let change = BindingChange { address: address.clone(), before, after, added, removed };
    if change.is_none() { Ok(()) } else { writer.record(key, NewChange::binding(&change)) }
}

impl<W: EngineWriter> WriteBindings for W {
    fn decide(
        &mut self,
        fingerprint: &Fingerprint,
        address: &BoundAddress,
        user_id: &[u8],
        policy: u8,
    ) -> Result<()> {
        let now = self.now();
        change_remembered(self, fingerprint, address, |engine, known| {
            let mut binding = Binding {
                id: None,
                fingerprint: *fingerprint,
                address: address.clone(),
                user_id: user_id.to_owned(),
                since: known.map_or(now, |known| known.since),
                policy,
            };
            if let Some(row) = known.filter(|known| known.id.is_some()) {
                binding.user_id.clone_from(&row.user_id);
            }
            binding_rows::write(engine, &binding)?;
            Ok(MessageChanges::default())
        })
    }

    fn take_over_binding(&mut self, binding: &Binding, messages: &SeenMessages) -> Result<()> {
        change_remembered(self, &binding.fingerprint, &binding.address, |engine, known| {
            let id = take_over(engine, known, binding)?;
            Ok((add(engine, id, messages)?, SeenMessages::default()))
        })
    }

    fn restore_binding(&mut self, binding: &Binding, messages: &SeenMessages) -> Result<()> {
        let id = binding_rows::write(self.engine(), binding)?;
        add(self.engine(), id, messages).map(drop)
    }

    fn forget_binding(&mut self, fingerprint: &Fingerprint, address: &BoundAddress) -> Result<()> {
        change_remembered(self, fingerprint, address, |engine, known| {
            let Some((row, id)) = with_row(known) else { return Ok(MessageChanges::default()) };
            let verified = engine.verified_messages(id)?;
            let seen = SeenMessages { verified, encrypted: engine.encrypted_messages(id)? };
            binding_rows::remove_messages(engine, id)?;
            remove(engine, row, id, engine.primary(fingerprint)?.is_some())?;
            Ok((SeenMessages::default(), seen))
        })
    }

    fn change_binding(&mut self, fingerprint: &Fingerprint, change: &BindingChange) -> Result<()> {
        change_remembered(self, fingerprint, &change.address, |engine, known| {
            let (mut added, mut removed) = MessageChanges::default();
            if let Some((_, id)) = with_row(known) {
                removed = take_away(engine, id, &change.removed)?;
            }
            match (&change.after, with_row(known)) {
                (Some(KeptBinding { user_id, since, policy }), _) => {
                    let id = binding_rows::write(
                        engine,
                        &Binding {
                            id: None,
                            fingerprint: *fingerprint,
                            address: change.address.clone(),
                            user_id: user_id.clone(),
                            since: *since,
                            policy: *policy,
                        },
                    )?;
                    added = add(engine, id, &change.added)?;
                }
                (None, Some((row, id))) => {
                    let left = engine.messages(id)?;
                    remove(engine, row, id, left.verified.count + left.encrypted.count > 0)?;
                }
                (None, None) => {}
            }
            Ok((added, removed))
        })
    }

    fn note_binding(&mut self, binding: &Binding) -> Result<BindingId> {
        let engine = self.engine();
        take_over(engine, engine.binding(&binding.fingerprint, &binding.address)?.as_ref(), binding)
    }

    fn note_use(&mut self, binding: &Binding) -> Result<()> {
        binding_rows::add(self.engine(), binding)
    }

    fn add_verified(&mut self, binding: BindingId, message: &VerifiedMessage) -> Result<bool> {
        binding_rows::add_verified(self.engine(), binding, message)
    }

    fn add_encrypted(&mut self, binding: BindingId, time: Timestamp) -> Result<()> {
        binding_rows::add_encrypted(self.engine(), binding, time)
    }
}

fn with_row(known: Option<&Binding>) -> Option<(&Binding, BindingId)> {
    known.and_then(|binding| Some((binding, binding.id?)))
}

/// Keeps a binding: the older time stays, and so do a decision and the user ID of one that has a row.
fn take_over(engine: &impl Engine, known: Option<&Binding>, binding: &Binding) -> Result<BindingId> {
    let mut kept = binding.clone();
    if let Some(known) = known {
        kept.since = known.since.min(binding.since);
    }
    if let Some((row, _)) = with_row(known) {
        kept.user_id.clone_from(&row.user_id);
        if row.policy != AUTO {
            kept.policy = row.policy;
        }
    }
    binding_rows::write(engine, &kept)
}

/// Takes a binding's row away; of one that stays, only the decision.
fn remove(engine: &impl Engine, row: &Binding, id: BindingId, stays: bool) -> Result<()> {
    if !stays {
        return binding_rows::remove(engine, id);
    }
    binding_rows::write(engine, &Binding { policy: AUTO, ..row.clone() }).map(drop)
}

/// Notes messages, so that there are as many encrypted ones of each second as here; returns those that came.
fn add(engine: &impl Engine, id: BindingId, messages: &SeenMessages) -> Result<SeenMessages> {
    let mut added = SeenMessages::default();
    for message in &messages.verified {
        if binding_rows::add_verified(engine, id, message)? {
            added.verified.push(message.clone());
        }
    }
    let mut there: HashMap<Timestamp, usize> = HashMap::new();
    for time in engine.encrypted_messages(id)? {
        *there.entry(time).or_default() += 1;
    }
    for &time in &messages.encrypted {
        match there.get_mut(&time).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => {
                binding_rows::add_encrypted(engine, id, time)?;
                added.encrypted.push(time);
            }
        }
    }
    Ok(added)
}

/// Takes messages away; returns those that were there.
fn take_away(engine: &impl Engine, id: BindingId, messages: &SeenMessages) -> Result<SeenMessages> {
    let mut gone = SeenMessages::default();
    for message in &messages.verified {
        if binding_rows::remove_verified(engine, id, message)? {
            gone.verified.push(message.clone());
        }
    }
    for &time in &messages.encrypted {
        if binding_rows::remove_encrypted(engine, id, time)? {
            gone.encrypted.push(time);
        }
    }
    Ok(gone)
}
