//! Approving others' certifications of one's own user IDs and attributes (draft-dkg-openpgp-1pa3pc).

use std::collections::BTreeSet;

use cert::approvals::{Approvals, digest};
use cert::effective::PacketView;
use cert::facts::{Component, SignatureFacts, SignatureType};
use cert::{Fingerprint, KeyId, Timestamp};
use sign::{Builder, Subpacket};
use verify::HashAlgorithm;
use verify::policy::DigestPolicy;

use super::change::Change;
use super::self_signature::moment_after_edits;
use super::target::Found;
use super::{CertifiedIdentity, Edited, Editor, Target};
use crate::Result;
use crate::certifications::{
    CertificationRules, CertificationStatus, CertificationStatuses, Checker, IssuerRule,
};

/// Whose certifications are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certifiers {
    /// Everybody's.
    All,
    /// Those of these primary keys.
    These(Vec<Fingerprint>),
}

/// What is changed in the approvals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalUpdate {
    /// Whose certifications are approved of; of them those that can be verified, are exportable and have not expired.
    pub add: Option<Certifiers>,
    /// Whose certifications are not approved of any more. What is added, too, is approved of.
    pub remove: Option<Certifiers>,
}

/// The certifications by others of a user ID or attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityApprovals {
    /// The user ID or attribute.
    pub identity: CertifiedIdentity,
    /// When its owner last approved of certifications, or withdrew that.
    pub updated: Option<Timestamp>,
    /// The certifications.
    pub certifications: Vec<ApprovableCertification>,
    /// How many other certifications are approved of, which are not here.
    pub elsewhere: usize,
}

/// A certification by another key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovableCertification {
    /// The key that it names as its issuer.
    pub issuer: KeyId,
    /// The primary key that made it; `None` if it cannot be verified.
    pub by: Option<Fingerprint>,
    /// When it was made.
    pub created: Timestamp,
    /// The owner approves of it.
    pub is_approved: bool,
}

/// The most bytes of digests in one signature: its hashed subpackets have at most 65,535 bytes before version 6.
const MAX_DIGESTS: usize = 60_000;

impl Editor<'_> {
    /// Returns the certifications by others of the user IDs and attributes of a certificate, and which of them its owner
    /// approves of.
    ///
    /// # Errors
    ///
    /// [`NoCertificate`](super::EditRefusal::NoCertificate), and the database's errors.
    pub fn approvals(&self, primary: &Fingerprint) -> Result<Vec<IdentityApprovals>> {
        let target = self.target(primary)?;
        let statuses = self.statuses(&target)?;
        Ok(target.identities().map(|found| self.listed(&target, found, &statuses)).collect())
    }

    /// Changes which certifications of those of one's own user IDs and attributes that `chosen` wants are approved of.
    /// Where nothing changes, nothing is signed.
    ///
    /// # Errors
    ///
    /// [`Revoked`](super::EditRefusal::Revoked), [`Clock`](super::EditRefusal::Clock), those of signing and of the database.
    pub fn update_approvals(
        &mut self,
        primary: &Fingerprint,
        chosen: &dyn Fn(&CertifiedIdentity) -> bool,
        update: &ApprovalUpdate,
    ) -> Result<Edited> {
        let target = self.own(primary)?;
        let statuses = self.statuses(&target)?;
        let hash = self.certification_hash_of(&target)?;
        let mut changed = Vec::new();
        for found in target.identities().filter(|found| chosen(&found.identity)) {
            let before = Approvals::of(
                &target.certificate,
                target.component(found.index),
                moment_after_edits(&target.certificate.facts, self.now),
            );
            let hash = usable_hash(&before).unwrap_or(hash);
            let after = self.updated(&target, &found, &statuses, &before, update, hash);
            if after != before.digests {
                changed.push((found, before.created, hash, after));
            }
        }
        if changed.is_empty() {
            return Ok(Edited::default());
        }
        let mut signer = self.open(primary)?;
        let mut change = Change::new(&target);
        for (found, before, hash, digests) in changed {
            let created = match before {
                Some(before) => self.later_than(&target, before)?,
                None => self.now,
            };
            change.known(found.index);
            for (hash, digests) in in_parts(digests, hash) {
                let builder = Builder::new(SignatureType::CERTIFICATION_APPROVAL, hash, created)
                    .with(Subpacket::ApprovedCertifications(digests));
                change.signed(&self.sign_own(builder, &target, target.subject(&found)?, signer.as_mut())?);
            }
        }
        self.write(change)
    }

    fn listed(
        &self,
        target: &Target,
        found: Found<'_>,
        statuses: &CertificationStatuses,
    ) -> IdentityApprovals {
        let component = target.component(found.index);
        let approvals = Approvals::of(
            &target.certificate,
            component,
            moment_after_edits(&target.certificate.facts, self.now),
        );
        let certifications: Vec<ApprovableCertification> = certifications(component)
            .map(|(index, facts)| ApprovableCertification {
                issuer: facts.issuer.key_id,
                by: maker(statuses, found.index, index),
                created: facts.created,
                is_approved: target.certificate.body(facts.span).is_some_and(|body| approvals.contain(body)),
            })
            .collect();
        let here = certifications.iter().filter(|certification| certification.is_approved).count();
        IdentityApprovals {
            identity: found.identity,
            updated: approvals.created,
            elsewhere: approvals.digests.len().saturating_sub(here),
            certifications,
        }
    }

    /// Returns what is approved of after an update. Certifications that are not here stay approved of, unless all are
    /// withdrawn.
    fn updated(
        &self,
        target: &Target,
        found: &Found<'_>,
        statuses: &CertificationStatuses,
        before: &Approvals,
        update: &ApprovalUpdate,
        hash: HashAlgorithm,
    ) -> BTreeSet<(HashAlgorithm, Vec<u8>)> {
        let mut after = match update.remove {
            Some(Certifiers::All) => BTreeSet::new(),
            _ => before.digests.clone(),
        };
        let algorithms: BTreeSet<HashAlgorithm> = after.iter().map(|(algorithm, _)| *algorithm).collect();
        for (index, facts) in certifications(target.component(found.index)) {
            let Some(body) = target.certificate.body(facts.span) else { continue };
            let digest_by = |algorithm| digest(body, algorithm).map(|digest| (algorithm, digest));
            let by = maker(statuses, found.index, index);
            let is_named =
                |whose: &Option<Certifiers>| whose.as_ref().is_some_and(|whose| whose.name(by, facts));
            let stays = before.contain(body) && !is_named(&update.remove);
            let is_added = by.is_some() && can_be_approved(facts, self.now) && is_named(&update.add);
            if !stays {
                for withdrawn in algorithms.iter().filter_map(|&algorithm| digest_by(algorithm)) {
                    after.remove(&withdrawn);
                }
                after.extend(digest_by(hash).filter(|_| is_added));
            }
        }
        after
    }

    /// Verifies the certifications by others.
    fn statuses(&self, target: &Target) -> Result<CertificationStatuses> {
        let snapshot = self.store.snapshot()?;
        let rules = CertificationRules {
            now: self.now,
            view: PacketView::Full,
            digests: DigestPolicy::GNUPG,
            issuers: IssuerRule::Any,
        };
        Checker::new(snapshot.as_ref(), vec![snapshot.as_ref()], rules).certificate(&target.certificate)
    }

    fn certification_hash_of(&self, target: &Target) -> Result<HashAlgorithm> {
        Ok(match self.hash(&target.primary()?) {
            HashAlgorithm::SHA1 => HashAlgorithm::SHA256,
            hash => hash,
        })
    }
}

impl Certifiers {
    /// Returns whether a certification is meant; one that cannot be verified, by the issuer that it names.
    fn name(&self, by: Option<Fingerprint>, certification: &SignatureFacts) -> bool {
        match self {
            Self::All => true,
            Self::These(keys) => keys.iter().any(|key| match &by {
                Some(by) => by == key,
                None => certification.issuer.may_be(key),
            }),
        }
    }
}

/// Iterates over the certifications by others, with their places among the signatures of a component.
fn certifications(component: &Component) -> impl Iterator<Item = (usize, &SignatureFacts)> {
    let signatures = component.signatures.iter().enumerate();
    signatures.filter(|(_, facts)| facts.own.is_none() && facts.kind.is_certification())
}

fn can_be_approved(certification: &SignatureFacts, now: Timestamp) -> bool {
    certification.flags.exportable && !certification.has_expired(now)
}

/// Returns the key that made a certification; `None` if that cannot be verified.
fn maker(statuses: &CertificationStatuses, component: usize, index: usize) -> Option<Fingerprint> {
    match statuses.on(component, index) {
        CertificationStatus::Good(by) => Some(by),
        _ => None,
    }
}

/// Returns a hash algorithm of the approvals that are there.
fn usable_hash(approvals: &Approvals) -> Option<HashAlgorithm> {
    approvals.digests.first().map(|(algorithm, _)| *algorithm)
}

/// Joins digests, in as many parts as signatures have to be made: each signature lists digests of its own hash algorithm.
/// If there are none, it is one empty part with `hash`.
fn in_parts(
    digests: BTreeSet<(HashAlgorithm, Vec<u8>)>,
    hash: HashAlgorithm,
) -> Vec<(HashAlgorithm, Vec<u8>)> {
    let digests: Vec<_> = digests.into_iter().collect();
    let of_one = digests.chunk_by(|(one, _), (other, _)| one == other);
    let parts = of_one.flat_map(|of_one| {
        let (algorithm, first) = &of_one[0];
        let joined = of_one.chunks(MAX_DIGESTS / first.len());
        joined.map(|part| (*algorithm, part.iter().flat_map(|(_, digest)| digest.clone()).collect()))
    });
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() { vec![(hash, Vec::new())] } else { parts }
}
