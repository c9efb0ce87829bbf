//! A key that a message is encrypted to, as the keyrings have it.

use std::ops::ControlFlow;

use engine::cert::effective::{ComponentState, Effective, EvaluationContext, PacketView, Usage, evaluate};
use engine::cert::facts::{Component, ComponentKind, KeyFacts};
use engine::cert::{Facts, KeyId};
use engine::owner_trust::{OptionNames, effective};
use engine::store::{Detail, Fingerprint, Query, Selection};

use crate::keyrings::Keyrings;
use crate::render::validity;
use crate::settings::Settings;

/// A key of a certificate in the keyrings.
pub(crate) struct KnownKey {
    pub(crate) key: KeyFacts,
    pub(crate) primary: Fingerprint,
    /// The certificate's primary user ID.
    pub(crate) user_id: Vec<u8>,
    /// All of its user IDs.
    user_ids: Vec<Vec<u8>>,
    /// Whether messages may be encrypted to it, perhaps as to an additional decryption subkey.
    pub(crate) encrypts: bool,
    /// The ciphers that its owner prefers.
    ciphers: Vec<u8>,
    /// How far the owner is trusted, as gpg's letter.
    pub(crate) owner_trust: char,
}

impl KnownKey {
    /// Finds a key by its ID: in the given certificate; else in the certificate whose primary key it is, else in the
    /// first one that has it as a subkey.
    pub(crate) fn find(
        settings: &Settings,
        keyrings: &Keyrings,
        key_id: KeyId,
        certificate: Option<&Fingerprint>,
    ) -> anyhow::Result<Option<Self>> {
        let moment = EvaluationContext::new(settings.now, PacketView::Gnupg);
        let mut found: Option<Self> = None;
        let snapshots = keyrings.snapshots()?;
        for (_, snapshot) in snapshots.iter() {
            let ids = snapshot.find(&Query::KeyId(key_id))?;
            snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
                let is_named = match certificate {
                    Some(certificate) => record.fingerprint == *certificate,
                    None => record.fingerprint.key_id() == key_id,
                };
                if let Some(facts) = record.facts.filter(|_| is_named || found.is_none()) {
                    found = Self::of(&facts, &evaluate(&facts, moment), key_id).or(found.take());
                }
                if is_named { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            if let Some(known) = &mut found {
                let assigned =
                    snapshots.owner_trust()?.map(|trust| trust.owner_trust(&known.primary)).transpose()?;
                let owner_trust = effective(assigned.flatten(), OptionNames::Nothing);
                known.owner_trust = validity::letter(owner_trust.into()).into();
                break;
            }
        }
        Ok(found)
    }

    fn of(facts: &Facts, effective: &Effective, key_id: KeyId) -> Option<Self> {
        let key = facts.keys().find(|key| key.fingerprint.key_id() == key_id)?.clone();
        let user_id = effective.primary_name(facts).unwrap_or(b"[User ID not found]").to_vec();
        let ciphers = facts.components.iter().zip(&effective.components).filter_map(|(component, state)| {
            let ComponentState::User(user) = state else { return None };
            let signature = &component.signatures[user.binding.filter(|_| !user.revoked)?];
            signature.own.as_deref()?.cipher_preferences.clone()
        });
        let ciphers = ciphers.flatten().collect();
        let encrypts = facts.components.iter().zip(&effective.components).any(|pair| match pair {
            (Component { kind: ComponentKind::Key(other), .. }, ComponentState::Key(state)) => {
                let decrypts =
                    [Usage::ENCRYPT, Usage::ALSO_DECRYPT].iter().any(|it| state.usage.contains(*it));
                other.fingerprint == key.fingerprint && decrypts
            }
            _ => false,
        });
        let user_ids = facts.user_ids().map(<[u8]>::to_vec).collect();
        let primary = facts.primary().fingerprint;
        Some(Self { key, primary, user_id, user_ids, encrypts, ciphers, owner_trust: '-' })
    }

    /// Returns the user ID that a name matches; `None` if it names the key itself.
    pub(crate) fn named_as(&self, name: &Query) -> Option<&[u8]> {
        self.user_ids.iter().map(Vec::as_slice).find(|user_id| name.matches_user_id(user_id))
    }

    /// Says whether the owner's programs read a cipher.
    pub(crate) fn reads(&self, cipher: u8) -> bool {
        const IMPLICIT: u8 = 2;
        cipher == IMPLICIT || self.ciphers.contains(&cipher)
    }
}
