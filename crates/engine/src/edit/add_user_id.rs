//! A new user ID.

use cert::Fingerprint;
use cert::effective::{KeyState, Usage};
use cert::facts::SignatureType;
use cert::packet::{self, Tag};
use cert::signed::Subject;
use cert::subpacket::Kind;
use sign::{Builder, KeyFlags, Subpacket};
use verify::limits;

use super::change::Change;
use super::self_signature::with_key_expiration;
use super::{EditRefusal, Edited, Editor, Target};
use crate::Result;

impl Editor<'_> {
    /// Adds a user ID.
    ///
    /// Its self-signature has the subpackets of the primary user ID's one; with `preferences`, it has the key flags,
    /// the expiration time and these.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::InvalidUserId`] and [`EditRefusal::DuplicateUserId`]; those of signing and of the database.
    pub fn add_user_id(
        &mut self,
        primary: &Fingerprint,
        user_id: &[u8],
        preferences: Option<&[Subpacket]>,
    ) -> Result<Edited> {
        if !can_be_user_id(user_id) {
            return Err(EditRefusal::InvalidUserId { user_id: user_id.to_vec() }.into());
        }
        let target = self.own(primary)?;
        if target.user_ids().any(|found| found.value == user_id) {
            return Err(EditRefusal::DuplicateUserId { user_id: user_id.to_vec() }.into());
        }
        let builder = match preferences {
            Some(preferences) => self.described(&target, preferences)?,
            None => self.like_the_others(&target)?,
        };
        let mut signer = self.open(primary)?;
        let signature = self.sign_own(builder, &target, Subject::UserId(user_id), signer.as_mut())?;
        let mut change = Change::new(&target);
        change.new_component(&packet::write(Tag::USER_ID, user_id));
        change.signed(&signature);
        self.write(change)
    }

    /// Adds an attribute, such as a photograph, by the body of its packet; `preferences` as of a user ID.
    ///
    /// # Errors
    ///
    /// Those of signing and of the database.
    pub fn add_attribute(
        &mut self,
        primary: &Fingerprint,
        body: &[u8],
        preferences: &[Subpacket],
    ) -> Result<Edited> {
        let target = self.own(primary)?;
        let builder = self.described(&target, preferences)?;
        let mut signer = self.open(primary)?;
        let signature = self.sign_own(builder, &target, Subject::Attribute(body), signer.as_mut())?;
        let mut change = Change::new(&target);
        change.new_component(&packet::write(Tag::ATTRIBUTE, body));
        change.signed(&signature);
        self.write(change)
    }

    pub(super) fn described(&self, target: &Target, preferences: &[Subpacket]) -> Result<Builder> {
        let state = target.effective.primary();
        let builder = self.new_signature(target, SignatureType::POSITIVE_CERTIFICATION, self.now)?;
        let builder = builder.with(Subpacket::KeyFlags(flags(state)));
        let builder = with_key_expiration(builder, target.primary_facts().created, state.expires);
        Ok(preferences.iter().cloned().fold(builder, Builder::with))
    }

    fn like_the_others(&self, target: &Target) -> Result<Builder> {
        let plain = || self.new_signature(target, SignatureType::POSITIVE_CERTIFICATION, self.now);
        // A direct-key signature counts for every user ID (RFC 9580, 5.2.3.10).
        if target.effective.primary().binding.is_some() {
            return plain();
        }
        let Some(model) = target.user_ids().find(|found| found.state.primary && found.holds()) else {
            return plain();
        };
        let Some(index) = model.state.binding else { return plain() };
        let older = target.signature(target.component(model.index), index)?;
        let builder = self.renewed(target, &older)?;
        Ok([Kind::PRIMARY_USER_ID, Kind::NOTATION].into_iter().fold(builder, Builder::without))
    }
}

/// Says whether these bytes can be a user ID: they are not empty, not too long, and have no control characters.
pub fn can_be_user_id(user_id: &[u8]) -> bool {
    let has_text = user_id.iter().any(|byte| !byte.is_ascii_whitespace());
    has_text && user_id.len() <= limits::MAX_USER_ID && !user_id.iter().any(u8::is_ascii_control)
}

/// Returns the key flags of a primary key.
fn flags(state: &KeyState) -> KeyFlags {
    let uses = [
        (Usage::SIGN, KeyFlags::SIGN),
        (Usage::ENCRYPT, KeyFlags::ENCRYPT),
        (Usage::AUTHENTICATE, KeyFlags::AUTHENTICATE),
    ];
    let named = uses.into_iter().filter(|(usage, _)| state.usage.contains(*usage));
    named.fold(KeyFlags::CERTIFY, |flags, (_, flag)| flags | flag)
}
