//! Writing what trust on first use remembers, with what it takes to undo that: the same for every engine.

use std::collections::HashMap;

use cert::{BoundAddress, Fingerprint, Timestamp};

use crate::tofu::{AUTO, Binding, BindingChange, BindingId, KeptBinding, SeenMessages, VerifiedMessage};
use crate::{ReadTrust, Result, WriteBindings};

/// The rows of an engine.
pub(crate) trait BindingRows: ReadTrust {
    /// Says whether the key's certificate is there.
    fn has_certificate(&self, key: &Fingerprint) -> Result<bool>;

    /// Writes a binding's row, over the one that is there.
    fn write(&self, binding: &Binding) -> Result<BindingId>;

    /// Takes a binding's row away.
    fn remove(&self, id: BindingId) -> Result<()>;

    /// Notes a signed message, unless the same signature was noted before, whoever handed it in; says whether it is new.
    fn add_verified(&self, id: BindingId, message: &VerifiedMessage) -> Result<bool>;

    /// Takes a signed message away; says whether it was there.
    fn remove_verified(&self, id: BindingId, message: &VerifiedMessage) -> Result<bool>;

    /// Notes a message that was encrypted.
    fn add_encrypted(&self, id: BindingId, time: Timestamp) -> Result<()>;

    /// Takes one message away that was encrypted at that time; says whether there was one.
    fn remove_encrypted(&self, id: BindingId, time: Timestamp) -> Result<bool>;

    /// Takes every message away.
    fn remove_messages(&self, id: BindingId) -> Result<()>;
}

/// A transaction of an engine.
pub(crate) trait BindingWriter {
    /// Returns the rows as they are by now.
    fn rows(&self) -> &dyn BindingRows;

    /// Returns the time of the transaction.
    fn now(&self) -> Timestamp;

    /// Writes into the journal what became of a binding.
    fn journal(&mut self, key: &Fingerprint, change: &BindingChange) -> Result<()>;
}

/// Messages that came, and messages that went.
type Exchanged = (SeenMessages, SeenMessages);

/// Changes what is remembered of a key with an address, and writes what became of it into the journal.
///
/// `change` is told of the binding, which has a number if there is a row.
fn change_remembered(
    writer: &mut impl BindingWriter,
    key: &Fingerprint,
    address: &BoundAddress,
    change: impl FnOnce(&dyn BindingRows, Option<&Binding>) -> Result<Exchanged>,
) -> Result<()> {
    let rows = writer.rows();
    let before = rows.binding(key, address)?;
    let (added, removed) = change(rows, before.as_ref())?;
    let after = rows.binding(key, address)?;
    let [before, after] = [before, after].map(|binding| binding.and_then(Binding::into_kept));
    let change = BindingChange { address: address.clone(), before, after, added, removed };
    if change.is_none() { Ok(()) } else { writer.journal(key, &change) }
}

impl<W: BindingWriter> WriteBindings for W {
    fn decide(
        &mut self,
        fingerprint: &Fingerprint,
        address: &BoundAddress,
        user_id: &[u8],
        policy: u8,
    ) -> Result<()> {
        let now = self.now();
        change_remembered(self, fingerprint, address, |rows, known| {
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
            rows.write(&binding)?;
            Ok(Exchanged::default())
        })
    }

    fn take_over_binding(&mut self, binding: &Binding, messages: &SeenMessages) -> Result<()> {
        change_remembered(self, &binding.fingerprint, &binding.address, |rows, known| {
            let id = take_over(rows, known, binding)?;
            Ok((add(rows, id, messages)?, SeenMessages::default()))
        })
    }

    fn restore_binding(&mut self, binding: &Binding, messages: &SeenMessages) -> Result<()> {
        let id = self.rows().write(binding)?;
        add(self.rows(), id, messages).map(drop)
    }

    fn forget_binding(&mut self, fingerprint: &Fingerprint, address: &BoundAddress) -> Result<()> {
        change_remembered(self, fingerprint, address, |rows, known| {
            let Some((row, id)) = with_row(known) else { return Ok(Exchanged::default()) };
            let verified = rows.verified_messages(id)?;
            let seen = SeenMessages { verified, encrypted: rows.encrypted_messages(id)? };
            rows.remove_messages(id)?;
            remove(rows, row, id, rows.has_certificate(fingerprint)?)?;
            Ok((SeenMessages::default(), seen))
        })
    }

    fn change_binding(&mut self, fingerprint: &Fingerprint, change: &BindingChange) -> Result<()> {
        change_remembered(self, fingerprint, &change.address, |rows, known| {
            let (mut added, mut removed) = Exchanged::default();
            if let Some((_, id)) = with_row(known) {
                removed = take_away(rows, id, &change.removed)?;
            }
            match (&change.after, with_row(known)) {
                (Some(KeptBinding { user_id, since, policy }), _) => {
                    let id = rows.write(&Binding {
                        id: None,
                        fingerprint: *fingerprint,
                        address: change.address.clone(),
                        user_id: user_id.clone(),
                        since: *since,
                        policy: *policy,
                    })?;
                    added = add(rows, id, &change.added)?;
                }
                (None, Some((row, id))) => {
                    let left = rows.messages(id)?;
                    remove(rows, row, id, left.verified.count + left.encrypted.count > 0)?;
                }
                (None, None) => {}
            }
            Ok((added, removed))
        })
    }

    fn note_binding(&mut self, binding: &Binding) -> Result<BindingId> {
        let rows = self.rows();
        take_over(rows, rows.binding(&binding.fingerprint, &binding.address)?.as_ref(), binding)
    }

    fn add_verified(&mut self, binding: BindingId, message: &VerifiedMessage) -> Result<bool> {
        self.rows().add_verified(binding, message)
    }

    fn add_encrypted(&mut self, binding: BindingId, time: Timestamp) -> Result<()> {
        self.rows().add_encrypted(binding, time)
    }
}

fn with_row(known: Option<&Binding>) -> Option<(&Binding, BindingId)> {
    known.and_then(|binding| Some((binding, binding.id?)))
}

/// Keeps a binding: the older time stays, and so do a decision and the user ID of one that has a row.
fn take_over(rows: &dyn BindingRows, known: Option<&Binding>, binding: &Binding) -> Result<BindingId> {
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
    rows.write(&kept)
}

/// Takes a binding's row away; of one that stays, only the decision.
fn remove(rows: &dyn BindingRows, row: &Binding, id: BindingId, stays: bool) -> Result<()> {
    if !stays {
        return rows.remove(id);
    }
    rows.write(&Binding { policy: AUTO, ..row.clone() }).map(drop)
}

/// Notes messages, so that there are as many encrypted ones of each second as here; returns those that came.
fn add(rows: &dyn BindingRows, id: BindingId, messages: &SeenMessages) -> Result<SeenMessages> {
    let mut added = SeenMessages::default();
    for message in &messages.verified {
        if rows.add_verified(id, message)? {
            added.verified.push(message.clone());
        }
    }
    let mut there: HashMap<Timestamp, usize> = HashMap::new();
    for time in rows.encrypted_messages(id)? {
        *there.entry(time).or_default() += 1;
    }
    for &time in &messages.encrypted {
        match there.get_mut(&time).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => {
                rows.add_encrypted(id, time)?;
                added.encrypted.push(time);
            }
        }
    }
    Ok(added)
}

/// Takes messages away; returns those that were there.
fn take_away(rows: &dyn BindingRows, id: BindingId, messages: &SeenMessages) -> Result<SeenMessages> {
    let mut gone = SeenMessages::default();
    for message in &messages.verified {
        if rows.remove_verified(id, message)? {
            gone.verified.push(message.clone());
        }
    }
    for &time in &messages.encrypted {
        if rows.remove_encrypted(id, time)? {
            gone.encrypted.push(time);
        }
    }
    Ok(gone)
}
