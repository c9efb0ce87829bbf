//! Certifying others' user IDs and attributes.

use std::num::NonZeroU32;

use cert::effective::objections::{IssuerKey, Objection, objections};
use cert::facts::{SignatureFacts, SignatureType, TrustSignature};
use cert::{Fingerprint, Timestamp};
use secret::Signer;
use sign::{Builder, Subpacket};
use verify::HashAlgorithm;

use super::change::Change;
use super::target::Found;
use super::{CertifiedIdentity, EditRefusal, Edited, Editor, Target};
use crate::Result;

/// A certification to be made.
#[derive(Clone, Debug)]
pub struct Certification {
    /// The primary key that certifies.
    pub by: Fingerprint,
    /// The user IDs, by their bytes; `None` for all that can be certified, and all attributes.
    pub user_ids: Option<Vec<Vec<u8>>>,
    /// How well it was checked, 0 (not said) to 3 (RFC 9580, 5.2.1).
    pub level: u8,
    /// A local signature, which is not exported.
    pub local: bool,
    /// Whether it can be revoked.
    pub revocable: bool,
    /// Makes it a trust signature.
    pub trust: Option<TrustSignature>,
    /// The regular expression that limits a trust signature to some user IDs.
    pub regexp: Option<Vec<u8>>,
    /// After how many seconds it expires.
    pub expires: Option<NonZeroU32>,
    /// Further subpackets.
    pub subpackets: Vec<CertificationSubpacket>,
    /// What is certified again although this key has certified it before.
    pub recertify: Recertify,
}

/// A notation, a policy URI or another further subpacket of a certification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificationSubpacket {
    /// The subpacket.
    pub subpacket: Subpacket,
    /// The critical bit: who does not know the subpacket must not use the certification.
    pub critical: bool,
}

/// What is certified again although the same key has certified it before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recertify {
    /// Expired certifications, and local ones where an exportable one is made.
    Never,
    /// These and revoked ones.
    #[default]
    AfterRevocation,
    /// Everything.
    Always,
}

/// Why a user ID is not certified, or what is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificationObstacle {
    /// It is revoked.
    Revoked,
    /// Its self-signature has expired.
    Expired,
    /// No self-signature vouches for it.
    NotSelfSigned,
    /// This key has certified it already.
    Signed {
        /// That certification is a local one.
        local: bool,
    },
    /// An expired certification by this key is replaced: no obstacle.
    ReplacesExpired,
    /// A local certification by this key becomes a public one: no obstacle.
    ReplacesLocal,
}

impl CertificationObstacle {
    /// Says whether it prevents the certification.
    pub fn prevents(self) -> bool {
        !matches!(self, Self::ReplacesExpired | Self::ReplacesLocal)
    }
}

/// What prevents a certification, and what is certified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedCertification {
    /// Obstacles and replacements, in the order of the user IDs and attributes.
    pub obstacles: Vec<(CertifiedIdentity, CertificationObstacle)>,
    /// What is certified.
    pub identities: Vec<CertifiedIdentity>,
    /// What was written.
    pub edited: Edited,
}

impl Certification {
    /// Returns the default certification: of all user IDs, exportable, revocable, without expiry.
    pub fn new(by: Fingerprint) -> Self {
        Self {
            by,
            user_ids: None,
            level: 0,
            local: false,
            revocable: true,
            trust: None,
            regexp: None,
            expires: None,
            subpackets: Vec::new(),
            recertify: Recertify::default(),
        }
    }

    /// Returns what would be certified and what not, without certifying.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::NoUserId`] for a user ID that is not there.
    pub fn plan(&self, target: &Target, now: Timestamp) -> Result<PlannedCertification> {
        let mut plan = PlannedCertification::default();
        for wanted in self.user_ids.iter().flatten() {
            target.user_id(wanted)?;
        }
        for found in target.identities().filter(|found| self.wants(found)) {
            let obstacles = self.obstacles(target, &found, now);
            if !obstacles.iter().any(|obstacle| obstacle.prevents()) {
                plan.identities.push(found.identity.clone());
            }
            plan.obstacles.extend(obstacles.into_iter().map(|obstacle| (found.identity.clone(), obstacle)));
        }
        Ok(plan)
    }

    fn wants(&self, found: &Found<'_>) -> bool {
        let Some(wanted) = &self.user_ids else { return true };
        found.identity.user_id().is_some_and(|user_id| wanted.iter().any(|wanted| wanted == user_id))
    }

    fn obstacles(&self, target: &Target, found: &Found<'_>, now: Timestamp) -> Vec<CertificationObstacle> {
        let is_own = self.by == target.fingerprint();
        match found.state {
            state if state.revoked && !is_own => return vec![CertificationObstacle::Revoked],
            state if state.expired && !is_own => return vec![CertificationObstacle::Expired],
            state if state.created.is_none() && !is_own => return vec![CertificationObstacle::NotSelfSigned],
            _ => {}
        }
        let by_this = |signature: &&SignatureFacts| signature.issuer.may_be(&self.by);
        let signatures = || target.component(found.index).signatures.iter().filter(by_this);
        let is_revoked = signatures()
            .filter(|signature| signature.kind.is_over_user())
            .max_by_key(|signature| signature.created)
            .is_some_and(|signature| signature.kind.revokes());
        if self.recertify == Recertify::Always || (is_revoked && self.recertify == Recertify::AfterRevocation)
        {
            return Vec::new();
        }
        let mut obstacles: Vec<CertificationObstacle> = signatures()
            .filter(|signature| signature.kind.is_certification())
            .map(|signature| match signature.flags.exportable {
                _ if signature.has_expired(now) => CertificationObstacle::ReplacesExpired,
                false if !self.local => CertificationObstacle::ReplacesLocal,
                exportable => CertificationObstacle::Signed { local: !exportable && self.local },
            })
            .collect();
        obstacles.dedup();
        obstacles
    }

    pub(super) fn builder(&self, hash: HashAlgorithm, now: Timestamp) -> Builder {
        let kind = SignatureType(SignatureType::GENERIC_CERTIFICATION.0 + self.level.min(3));
        let mut builder = Builder::new(kind, hash, now);
        if let Some(seconds) = self.expires {
            builder = builder.expiring_after(seconds);
        }
        for CertificationSubpacket { subpacket, critical } in self.subpackets.iter().cloned() {
            builder = if critical { builder.with_critical(subpacket) } else { builder.with(subpacket) };
        }
        if self.local {
            builder = builder.with(Subpacket::Exportable(false));
        }
        if !self.revocable {
            builder = builder.with(Subpacket::Revocable(false));
        }
        if let Some(trust) = self.trust {
            builder = builder.with(Subpacket::Trust(trust));
            if let Some(regexp) = &self.regexp {
                builder = builder.with(Subpacket::RegularExpression(regexp.clone()));
            }
        }
        builder
    }
}

impl Editor<'_> {
    /// Certifies user IDs and attributes of another certificate, except those that cannot be certified.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::Revoked`] and [`EditRefusal::Expired`] for either key, [`EditRefusal::NoUserId`]; those of signing and of the
    /// database.
    pub fn certify(
        &mut self,
        primary: &Fingerprint,
        certification: &Certification,
    ) -> Result<PlannedCertification> {
        let target = self.own(primary)?;
        refuse_if_expired(&target)?;
        let mut plan = certification.plan(&target, self.now)?;
        if plan.identities.is_empty() {
            return Ok(plan);
        }
        let mut signer = self.certifier(&certification.by)?;
        let hash = self.certification_hash(signer.as_ref());
        let mut change = Change::new(&target);
        for found in target.identities().filter(|found| plan.identities.contains(&found.identity)) {
            let builder = certification.builder(hash, self.now);
            let unsigned = builder.over(target.primary()?, target.subject(&found)?);
            change.known(found.index);
            change.signed(&unsigned.by(signer.as_mut())?);
        }
        plan.edited = self.write(change)?;
        Ok(plan)
    }

    /// Unlocks the primary key of a certificate that may certify now.
    pub(super) fn certifier(&mut self, by: &Fingerprint) -> Result<Box<dyn Signer>> {
        let own = self.own(by)?;
        refuse_if_expired(&own)?;
        let issuer = IssuerKey::primary(&own.certificate.facts, &own.effective);
        let kind = SignatureType::GENERIC_CERTIFICATION;
        if objections(&issuer, kind, self.now, self.now).contains(Objection::WrongUse) {
            return Err(EditRefusal::CannotCertify { key: *by }.into());
        }
        Ok(self.open(by)?)
    }

    /// Returns the hash algorithm of signatures on others' certificates. SHA-1 is not accepted there any more, so old
    /// DSA keys sign the leftmost bits of a longer digest.
    pub(super) fn certification_hash(&self, signer: &dyn Signer) -> HashAlgorithm {
        match self.hash(&signer.key()) {
            HashAlgorithm::SHA1 => HashAlgorithm::SHA256,
            hash => hash,
        }
    }
}

fn refuse_if_expired(target: &Target) -> Result<()> {
    if target.effective.primary().expired {
        return Err(EditRefusal::Expired { key: target.fingerprint() }.into());
    }
    Ok(())
}
