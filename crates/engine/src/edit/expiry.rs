//! Changing when a key and its subkeys expire.

use cert::facts::SignatureType;
use cert::signed::Subject;
use cert::{Fingerprint, Timestamp};
use secret::Signer;

use super::change::Change;
use super::self_signature::with_key_expiration;
use super::{EditRefusal, Edited, Editor, Subkey, Target};
use crate::Result;

/// The keys of a certificate of which the expiry changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpiryTarget {
    /// The primary key, and with it the whole certificate.
    Primary,
    /// Every subkey that is neither revoked nor expired.
    Subkeys,
    /// These subkeys, expired ones too.
    These(Vec<Fingerprint>),
}

impl Editor<'_> {
    /// Sets when keys expire; `None` for never.
    ///
    /// For the primary key every valid self-signature is renewed, as GnuPG does, and the direct-key signature, which
    /// takes precedence.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::NoSubkey`] before anything is signed; those of signing and of the database.
    pub fn set_expiry(
        &mut self,
        primary: &Fingerprint,
        which: &ExpiryTarget,
        end: Option<Timestamp>,
    ) -> Result<Edited> {
        let target = self.own(primary)?;
        let subkeys = match which {
            ExpiryTarget::Primary => None,
            ExpiryTarget::Subkeys => Some(living_subkeys(&target)),
            ExpiryTarget::These(wanted) => Some(named_subkeys(&target, wanted)?),
        };
        let mut signer = self.open(primary)?;
        let mut change = Change::new(&target);
        match subkeys {
            None => self.renew_primary(&target, end, &mut change, signer.as_mut())?,
            Some(subkeys) => {
                for subkey in subkeys {
                    self.renew_subkey(&target, subkey, end, &mut change, signer.as_mut())?;
                }
            }
        }
        self.write(change)
    }

    fn renew_primary<'t>(
        &self,
        target: &'t Target,
        end: Option<Timestamp>,
        change: &mut Change<'t>,
        signer: &mut dyn Signer,
    ) -> Result<()> {
        let created = target.primary_facts().created;
        if let Some(index) = target.effective.primary().binding {
            let older = target.signature(target.component(0), index)?;
            // A direct-key signature that only names revokers does not determine the expiry.
            if older.self_signature().revokers.is_empty() {
                let builder = with_key_expiration(self.renewed(target, &older)?, created, end);
                change.renewed(0, index, &self.sign_own(builder, target, Subject::Primary, signer)?);
            }
        }
        for found in target.identities().filter(|found| found.state.created.is_some()) {
            let Some(index) = found.state.binding else { continue };
            let older = target.signature(target.component(found.index), index)?;
            let builder = with_key_expiration(self.renewed(target, &older)?, created, end);
            let signature = self.sign_own(builder, target, target.subject(&found)?, signer)?;
            change.renewed(found.index, index, &signature);
        }
        if change.is_empty() {
            return Err(EditRefusal::NotBound { key: target.fingerprint() }.into());
        }
        Ok(())
    }

    fn renew_subkey<'t>(
        &self,
        target: &'t Target,
        subkey: Subkey<'_>,
        end: Option<Timestamp>,
        change: &mut Change<'t>,
        signer: &mut dyn Signer,
    ) -> Result<()> {
        let component = target.component(subkey.index);
        let key = target.key(component)?;
        let binding = subkey.state.binding.ok_or(EditRefusal::NotBound { key: subkey.facts.fingerprint })?;
        let older = target.signature(component, binding)?;
        debug_assert_eq!(older.kind, SignatureType::SUBKEY_BINDING);
        let builder = with_key_expiration(self.renewed(target, &older)?, key.created, end);
        let signature = self.sign_own(builder, target, Subject::Subkey(key), signer)?;
        change.renewed(subkey.index, binding, &signature);
        Ok(())
    }
}

fn living_subkeys(target: &Target) -> Vec<Subkey<'_>> {
    let living = target.subkeys().filter(|subkey| subkey.state.revoked.is_none() && !subkey.state.expired);
    living.filter(|subkey| subkey.state.binding.is_some()).collect()
}

fn named_subkeys<'t>(target: &'t Target, wanted: &[Fingerprint]) -> Result<Vec<Subkey<'t>>> {
    let mut subkeys: Vec<Subkey<'_>> = Vec::new();
    for key in wanted {
        let found = target
            .subkeys()
            .find(|subkey| subkey.facts.fingerprint == *key && subkey.state.revoked.is_none())
            .ok_or(EditRefusal::NoSubkey { key: *key })?;
        if subkeys.iter().all(|subkey| subkey.index != found.index) {
            subkeys.push(found);
        }
    }
    Ok(subkeys)
}
