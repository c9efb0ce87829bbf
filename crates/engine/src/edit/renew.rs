//! Renewing self-signatures with other subpackets.

use cert::Fingerprint;
use cert::facts::SignatureType;
use cert::signature::Signature;
use cert::signed::Subject;
use cert::subpacket::Kind;
use sign::{Builder, Subpacket};

use super::change::Change;
use super::{CertifiedIdentity, EditRefusal, Edited, Editor, Target};
use crate::Result;

/// A change of one subpacket of a self-signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alteration {
    /// The subpacket is set; one of a type that may repeat is added.
    Set(Subpacket),
    /// The same, as a critical subpacket.
    SetCritical(Subpacket),
    /// The subpackets of a type go.
    Remove(Kind),
}

impl Alteration {
    fn apply(self, builder: Builder) -> Builder {
        match self {
            Self::Set(subpacket) => builder.with(subpacket),
            Self::SetCritical(subpacket) => builder.with_critical(subpacket),
            Self::Remove(kind) => builder.without(kind),
        }
    }
}

impl Target {
    /// Returns the self-signature in force of a user ID or attribute.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn self_signature(&self, identity: &CertifiedIdentity) -> Result<Option<Signature<'_>>> {
        let Some(found) = self.identities().find(|found| found.identity == *identity) else {
            return Ok(None);
        };
        let binding = found.state.binding;
        binding.map(|index| self.signature(self.component(found.index), index)).transpose()
    }
}

impl Editor<'_> {
    /// Renews the self-signatures of user IDs and attributes, each with its own changes; those without a self-signature
    /// are left out.
    ///
    /// # Errors
    ///
    /// Those of signing and of the database.
    pub fn renew_identities(
        &mut self,
        primary: &Fingerprint,
        changes: Vec<(CertifiedIdentity, Vec<Alteration>)>,
    ) -> Result<Edited> {
        let target = self.target(primary)?;
        let mut signer = self.open(primary)?;
        let mut change = Change::new(&target);
        for (identity, alterations) in changes {
            let Some(found) = target.identities().find(|found| found.identity == identity) else { continue };
            let Some(index) = found.state.binding else { continue };
            let older = target.signature(target.component(found.index), index)?;
            let renewed = self.renewed(&target, &older)?;
            let builder = alterations.into_iter().fold(renewed, |builder, it| it.apply(builder));
            let signature = self.sign_own(builder, &target, target.subject(&found)?, signer.as_mut())?;
            change.renewed(found.index, index, &signature);
        }
        self.write(change)
    }

    /// Renews the binding signature of a subkey with some changes.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::NoSubkey`] and [`EditRefusal::NotBound`]; those of signing and of the database.
    pub fn renew_subkey_binding(
        &mut self,
        primary: &Fingerprint,
        subkey: &Fingerprint,
        alterations: Vec<Alteration>,
    ) -> Result<Edited> {
        let target = self.target(primary)?;
        let found = target.subkeys().find(|found| found.facts.fingerprint == *subkey);
        let found = found.ok_or(EditRefusal::NoSubkey { key: *subkey })?;
        let component = target.component(found.index);
        let binding = found.state.binding.ok_or(EditRefusal::NotBound { key: *subkey })?;
        let older = target.signature(component, binding)?;
        let renewed = self.renewed(&target, &older)?;
        let builder = alterations.into_iter().fold(renewed, |builder, it| it.apply(builder));
        let mut signer = self.open(primary)?;
        let subject = Subject::Subkey(target.key(component)?);
        let signature = self.sign_own(builder, &target, subject, signer.as_mut())?;
        let mut change = Change::new(&target);
        change.renewed(found.index, binding, &signature);
        self.write(change)
    }

    /// Gives the binding signature of a signing subkey the back-signature that it lacks (RFC 9580, 5.2.1.8).
    ///
    /// # Errors
    ///
    /// [`EditRefusal::NoSubkey`]; those of signing and of the database.
    pub fn cross_certify(&mut self, primary: &Fingerprint, subkey: &Fingerprint) -> Result<Edited> {
        let target = self.target(primary)?;
        let found = target.subkeys().find(|found| found.facts.fingerprint == *subkey);
        let found = found.ok_or(EditRefusal::NoSubkey { key: *subkey })?;
        let key = target.key(target.component(found.index))?;
        let mut signer = self.open(subkey)?;
        let hash = self.hash(&key);
        let consent = Builder::new(SignatureType::PRIMARY_KEY_BINDING, hash, self.now)
            .over(target.primary()?, Subject::Subkey(key))
            .body_by(signer.as_mut())?;
        let embedded = Alteration::Set(Subpacket::EmbeddedSignature(consent));
        self.renew_subkey_binding(primary, subkey, vec![embedded])
    }
}
