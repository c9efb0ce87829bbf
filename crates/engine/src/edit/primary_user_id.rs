//! Changing the primary user ID.

use cert::signed::Subject;
use cert::subpacket::Kind;
use cert::{Fingerprint, facts::Component};
use secret::Signer;
use sign::Subpacket;

use super::change::Change;
use super::target::UserId;
use super::{EditRefusal, Edited, Editor, Target};
use crate::Result;

impl Editor<'_> {
    /// Marks one user ID as the primary one, and removes the mark from all others.
    ///
    /// An edit without signatures if that is so already.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::NoUserId`] if no valid user ID has these bytes; those of signing and of the database.
    pub fn set_primary_user_id(&mut self, primary: &Fingerprint, user_id: &[u8]) -> Result<Edited> {
        let target = self.own(primary)?;
        let chosen = target.user_id(user_id)?;
        if !chosen.holds() {
            return Err(EditRefusal::NoUserId { user_id: user_id.to_vec() }.into());
        }
        let is_wrong = |found: &UserId<'_>| {
            found.holds() && found.state.binding.is_some() && {
                let is_marked = is_marked(target.component(found.index), found);
                is_marked != (found.index == chosen.index)
            }
        };
        let wrong: Vec<UserId<'_>> = target.user_ids().filter(is_wrong).collect();
        let mut change = Change::new(&target);
        if !wrong.is_empty() {
            let mut signer = self.open(primary)?;
            for found in wrong {
                let index = found.state.binding.ok_or(EditRefusal::NotBound { key: target.fingerprint() })?;
                let is_chosen = found.index == chosen.index;
                let packet = self.marked(&target, &found, index, is_chosen, signer.as_mut())?;
                change.renewed(found.index, index, &packet);
            }
        }
        self.write(change)
    }

    fn marked(
        &self,
        target: &Target,
        found: &UserId<'_>,
        index: usize,
        primary: bool,
        signer: &mut dyn Signer,
    ) -> Result<Vec<u8>> {
        let older = target.signature(target.component(found.index), index)?;
        let builder = self.renewed(target, &older)?.without(Kind::PRIMARY_USER_ID);
        let builder = if primary { builder.with(Subpacket::PrimaryUserId) } else { builder };
        self.sign_own(builder, target, Subject::UserId(found.value), signer)
    }
}

fn is_marked(component: &Component, found: &UserId<'_>) -> bool {
    let binding = found.state.binding.map(|index| &component.signatures[index]);
    binding.and_then(|signature| signature.own.as_ref()).is_some_and(|own| own.primary_user_id)
}
