//! Writing what trust on first use remembers, with what it takes to undo that: the same for every engine.

use cert::{BoundAddress, Fingerprint, Timestamp};

use crate::tofu::{Binding, BindingChange, BindingId, KeptBinding, SeenMessages, VerifiedMessage};
use crate::{ReadBindings, Result, WriteBindings};

/// The rows of an engine.
pub(crate) trait BindingRows: ReadBindings {
    /// Returns what is kept of a binding, with its number.
    fn kept(
        &self,
        fingerprint: &Fingerprint,
        address: &BoundAddress,
    ) -> Result<Option<(BindingId, KeptBinding)>>;

    /// Notes what the user decided; the binding is made if it is not there.
    fn decide(
        &self,
        fingerprint: &Fingerprint,
        address: &BoundAddress,
        user_id: &[u8],
        policy: u8,
        now: Timestamp,
    ) -> Result<BindingId>;

    /// Keeps a binding that another program kept, or that messages are to be noted with.
    fn take_over(&self, binding: &Binding) -> Result<BindingId>;

    /// Makes a binding as another database kept it.
    fn restore(&self, binding: &Binding) -> Result<BindingId>;

    /// Forgets the decision and the messages, and the binding itself where its certificate is not there.
    fn forget(&self, id: BindingId, fingerprint: &Fingerprint) -> Result<()>;

    /// Takes a binding away; while messages are left only the decision goes.
    fn remove_unless_used(&self, id: BindingId) -> Result<()>;

    /// Notes a signed message, unless the same signature was noted before, whoever handed it in.
    fn add_verified(&self, id: BindingId, message: &VerifiedMessage) -> Result<bool>;

    /// Takes signed messages away; returns those that were there.
    fn remove_verified(&self, id: BindingId, messages: &[VerifiedMessage]) -> Result<Vec<VerifiedMessage>>;

    /// Notes a message that was encrypted.
    fn add_encrypted(&self, id: BindingId, time: Timestamp) -> Result<()>;

    /// Notes messages that were encrypted, so that there are as many of each second as there; returns the new ones.
    fn take_over_encrypted(&self, id: BindingId, times: &[Timestamp]) -> Result<Vec<Timestamp>>;

    /// Takes away one encrypted message of each of these times; returns those that were there.
    fn remove_encrypted(&self, id: BindingId, times: &[Timestamp]) -> Result<Vec<Timestamp>>;
}

/// A transaction of an engine.
pub(crate) trait Remembering {
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
fn change_remembered(
    writer: &mut impl Remembering,
    key: &Fingerprint,
    address: &BoundAddress,
    change: impl FnOnce(&dyn BindingRows, Option<&(BindingId, KeptBinding)>) -> Result<Exchanged>,
) -> Result<()> {
    let rows = writer.rows();
    let before = rows.kept(key, address)?;
    let (added, removed) = change(rows, before.as_ref())?;
    let after = rows.kept(key, address)?;
    let [before, after] = [before, after].map(|kept| kept.map(|(_, kept)| kept));
    let change = BindingChange { address: address.clone(), before, after, added, removed };
    if change.is_none() { Ok(()) } else { writer.journal(key, &change) }
}

impl<W: Remembering> WriteBindings for W {
    fn decide(
        &mut self,
        fingerprint: &Fingerprint,
        address: &BoundAddress,
        user_id: &[u8],
        policy: u8,
    ) -> Result<()> {
        let now = self.now();
        change_remembered(self, fingerprint, address, |rows, _| {
            rows.decide(fingerprint, address, user_id, policy, now)?;
            Ok(Exchanged::default())
        })
    }

    fn take_over_binding(&mut self, binding: &Binding, messages: &SeenMessages) -> Result<()> {
        change_remembered(self, &binding.fingerprint, &binding.address, |rows, _| {
            let id = rows.take_over(binding)?;
            Ok((add(rows, id, messages)?, SeenMessages::default()))
        })
    }

    fn restore_binding(&mut self, binding: &Binding, messages: &SeenMessages) -> Result<()> {
        let id = self.rows().restore(binding)?;
        add(self.rows(), id, messages).map(drop)
    }

    fn forget_binding(&mut self, fingerprint: &Fingerprint, address: &BoundAddress) -> Result<()> {
        change_remembered(self, fingerprint, address, |rows, kept| {
            let Some((id, _)) = kept else { return Ok(Exchanged::default()) };
            let verified = rows.verified_messages(*id)?;
            let seen = SeenMessages { verified, encrypted: rows.encrypted_messages(*id)? };
            rows.forget(*id, fingerprint)?;
            Ok((SeenMessages::default(), seen))
        })
    }

    fn change_binding(&mut self, fingerprint: &Fingerprint, change: &BindingChange) -> Result<()> {
        change_remembered(self, fingerprint, &change.address, |rows, kept| {
            let (mut added, mut removed) = Exchanged::default();
            if let Some((id, _)) = kept {
                removed.verified = rows.remove_verified(*id, &change.removed.verified)?;
                removed.encrypted = rows.remove_encrypted(*id, &change.removed.encrypted)?;
            }
            match (&change.after, kept) {
                (Some(KeptBinding { user_id, since, policy }), _) => {
                    let id = rows.restore(&Binding {
                        id: None,
                        fingerprint: *fingerprint,
                        address: change.address.clone(),
                        user_id: user_id.clone(),
                        since: *since,
                        policy: *policy,
                    })?;
                    added = add(rows, id, &change.added)?;
                }
                (None, Some((id, _))) => rows.remove_unless_used(*id)?,
                (None, None) => {}
            }
            Ok((added, removed))
        })
    }

    fn note_binding(&mut self, binding: &Binding) -> Result<BindingId> {
        self.rows().take_over(binding)
    }

    fn add_verified(&mut self, binding: BindingId, message: &VerifiedMessage) -> Result<bool> {
        self.rows().add_verified(binding, message)
    }

    fn add_encrypted(&mut self, binding: BindingId, time: Timestamp) -> Result<()> {
        self.rows().add_encrypted(binding, time)
    }
}

/// Notes messages; returns those that were not noted before.
fn add(rows: &dyn BindingRows, id: BindingId, messages: &SeenMessages) -> Result<SeenMessages> {
    let mut verified = Vec::new();
    for message in &messages.verified {
        if rows.add_verified(id, message)? {
            verified.push(message.clone());
        }
    }
    Ok(SeenMessages { verified, encrypted: rows.take_over_encrypted(id, &messages.encrypted)? })
}
