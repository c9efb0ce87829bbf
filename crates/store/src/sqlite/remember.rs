//! Writing what trust on first use remembers, with what it takes to undo that.

use cert::{BoundAddress, Fingerprint, Timestamp};

use super::tofu;
use super::view::View;
use super::write::Writer;
use crate::journal::NewChange;
use crate::tofu::{Binding, BindingChange, BindingId, KeptBinding, SeenMessages, VerifiedMessage};
use crate::{Result, WriteBindings};

/// Messages that came, and messages that went.
type Exchanged = (SeenMessages, SeenMessages);

impl Writer<'_> {
    /// Changes what is remembered of a key with an address, and writes what became of it into the journal.
    fn change_remembered(
        &mut self,
        key: &Fingerprint,
        address: &BoundAddress,
        change: impl FnOnce(&View<'_>, Option<&(BindingId, KeptBinding)>) -> Result<Exchanged>,
    ) -> Result<()> {
        let before = tofu::kept(&self.view, key, address)?;
        let (added, removed) = change(&self.view, before.as_ref())?;
        let after = tofu::kept(&self.view, key, address)?;
        let [before, after] = [before, after].map(|kept| kept.map(|(_, kept)| kept));
        let change = BindingChange { address: address.clone(), before, after, added, removed };
        match change.is_none() {
            true => Ok(()),
            false => self.journal.write(&self.view, key, &NewChange::binding(&change)),
        }
    }
}

impl WriteBindings for Writer<'_> {
    fn decide(
        &mut self,
        fingerprint: &Fingerprint,
        address: &BoundAddress,
        user_id: &[u8],
        policy: u8,
    ) -> Result<()> {
        let now = self.now;
        self.change_remembered(fingerprint, address, |view, _| {
            tofu::decide(view, fingerprint, address, user_id, policy, now)?;
            Ok(Exchanged::default())
        })
    }

    fn take_over_binding(&mut self, binding: &Binding, messages: &SeenMessages) -> Result<()> {
        self.change_remembered(&binding.fingerprint, &binding.address, |view, _| {
            let id = tofu::take_over(view, binding)?;
            Ok((add(view, id, messages)?, SeenMessages::default()))
        })
    }

    fn restore_binding(&mut self, binding: &Binding, messages: &SeenMessages) -> Result<()> {
        let id = tofu::restore(&self.view, binding)?;
        add(&self.view, id, messages).map(drop)
    }

    fn forget_binding(&mut self, fingerprint: &Fingerprint, address: &BoundAddress) -> Result<()> {
        self.change_remembered(fingerprint, address, |view, kept| {
            let Some((id, _)) = kept else { return Ok(Exchanged::default()) };
            let seen = SeenMessages {
                verified: tofu::verified_messages(view, *id)?,
                encrypted: tofu::encrypted_messages(view, *id)?,
            };
            tofu::forget(view, *id, fingerprint)?;
            Ok((SeenMessages::default(), seen))
        })
    }

    fn change_binding(&mut self, fingerprint: &Fingerprint, change: &BindingChange) -> Result<()> {
        self.change_remembered(fingerprint, &change.address, |view, kept| {
            let mut exchanged = Exchanged::default();
            if let Some((id, _)) = kept {
                exchanged.1.verified = tofu::remove_verified(view, *id, &change.removed.verified)?;
                exchanged.1.encrypted = tofu::remove_encrypted(view, *id, &change.removed.encrypted)?;
            }
            match (&change.after, kept) {
                (Some(KeptBinding { user_id, since, policy }), _) => {
                    let id = tofu::restore(
                        view,
                        &Binding {
                            id: None,
                            fingerprint: *fingerprint,
                            address: change.address.clone(),
                            user_id: user_id.clone(),
                            since: *since,
                            policy: *policy,
                        },
                    )?;
                    exchanged.0 = add(view, id, &change.added)?;
                }
                (None, Some((id, _))) => tofu::remove_unless_used(view, *id)?,
                (None, None) => {}
            }
            Ok(exchanged)
        })
    }

    fn note_binding(&mut self, binding: &Binding) -> Result<BindingId> {
        tofu::take_over(&self.view, binding)
    }

    fn add_verified(&mut self, binding: BindingId, message: &VerifiedMessage) -> Result<bool> {
        tofu::add_verified(&self.view, binding, message)
    }

    fn add_encrypted(&mut self, binding: BindingId, time: Timestamp) -> Result<()> {
        tofu::add_encrypted(&self.view, binding, time)
    }
}

/// Notes messages; returns those that were not noted before.
fn add(view: &View<'_>, id: BindingId, messages: &SeenMessages) -> Result<SeenMessages> {
    let mut verified = Vec::new();
    for message in &messages.verified {
        if tofu::add_verified(view, id, message)? {
            verified.push(message.clone());
        }
    }
    Ok(SeenMessages { verified, encrypted: tofu::take_over_encrypted(view, id, &messages.encrypted)? })
}
