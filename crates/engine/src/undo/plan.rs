//! How one change is undone.

use std::collections::HashMap;

use cert::certificate::Certificate;
use cert::clean::rebuild;
use cert::facts::SignatureType;
use cert::merge::merge;
use rayon::prelude::*;
use store::tofu::{BindingChange, KeptBinding};
use store::{
    AssignedTrust, CertId, Change, ChangeKind, Fingerprint, FormerCertificate, JournalId, Origin, Prepared,
    Put, PutKind, Snapshot, Timestamp,
};
use verify::cores::on_all_cores;

use super::bindings::{self, TakenBack};
use super::joined::joined;
use super::shrink::{KeptReason, Shrunk, shrink};
use crate::Result;
use crate::stored::{self, Stored};

/// The options of an undo.
#[derive(Clone, Debug, Default)]
pub struct UndoOptions {
    /// The command line, for the journal.
    pub command: String,
    /// Undoes even what a later import brought as well, and owner trust and policies that were set again since.
    pub force: bool,
    /// Undoes verified revocations and shortened expiry dates as well.
    pub including_revocations: bool,
    /// Writes nothing.
    pub dry_run: bool,
}

/// Computes plans.
pub(super) struct Planner<'a> {
    /// What later imports brought again.
    pub(super) later: &'a HashMap<Fingerprint, JournalId>,
    pub(super) options: &'a UndoOptions,
    pub(super) now: Timestamp,
}

/// What is to be written.
pub(super) enum Plan {
    /// Nothing: there is nothing left to undo.
    Nothing,
    /// The certificate stays as it is.
    Keep { fingerprint: Fingerprint, what: KeptReason },
    /// The certificate is removed.
    Remove { id: CertId, generation: i64 },
    /// It is written: without some of its packets, of which others were `kept`; restored with the number that it had; or
    /// joined with what it was.
    Put { certificate: Box<Prepared>, kind: PutKind, origin: Option<Origin>, kept: Option<KeptReason> },
    /// It gets the owner trust that it had before, if it still has what the change gave it.
    OwnerTrust { fingerprint: Fingerprint, now: Option<AssignedTrust>, back: Option<AssignedTrust> },
    /// Its binding to an address gets its former state, if it still has the one that the change gave it.
    Binding { fingerprint: Fingerprint, now: Option<KeptBinding>, change: Box<BindingChange> },
    /// It was purged.
    Purged { fingerprint: Fingerprint },
    /// What the journal has of it is lost or damaged.
    Damaged { fingerprint: Fingerprint },
}

impl Planner<'_> {
    /// Computes how these changes are undone, on all cores.
    pub(super) fn plan(&self, snapshot: &dyn Snapshot, changes: Vec<Change>) -> Result<Vec<Plan>> {
        let changes = joined(changes);
        let fingerprints: Vec<Fingerprint> = changes.iter().map(|change| change.fingerprint).collect();
        let stored = stored::read(snapshot, &fingerprints)?;
        let trusts: HashMap<Fingerprint, AssignedTrust> = snapshot.owner_trusts()?.into_iter().collect();
        let remembered = bindings::read(snapshot, &changes)?;
        let plan_one = |change: Change| {
            let stored = stored.get(&change.fingerprint);
            let trust = trusts.get(&change.fingerprint).copied();
            self.plan_one(change, stored, trust, &remembered)
        };
        on_all_cores(|| changes.into_par_iter().map(plan_one).collect())
    }

    fn plan_one(
        &self,
        change: Change,
        stored: Option<&Stored>,
        trust: Option<AssignedTrust>,
        remembered: &bindings::KeptBindings,
    ) -> Result<Plan> {
        let fingerprint = change.fingerprint;
        match (change.kind, stored) {
            (ChangeKind::OwnerTrust { before, .. }, _) if trust == before => Ok(Plan::Nothing),
            (ChangeKind::OwnerTrust { before, after }, _) if trust == after || self.options.force => {
                Ok(Plan::OwnerTrust { fingerprint, now: trust, back: before })
            }
            (ChangeKind::OwnerTrust { .. }, _) => {
                Ok(Plan::Keep { fingerprint, what: KeptReason::OwnerTrust })
            }
            (ChangeKind::Binding(Some(change)), _) => {
                let now = remembered.get(&(fingerprint, change.address.clone())).cloned();
                Ok(match bindings::take_back(*change, now.as_ref(), self.options.force) {
                    TakenBack::Nothing => Plan::Nothing,
                    TakenBack::Decided => Plan::Keep { fingerprint, what: KeptReason::Policy },
                    TakenBack::By(change) => Plan::Binding { fingerprint, now, change: Box::new(change) },
                })
            }
            (ChangeKind::Removed(None) | ChangeKind::Shrunk(None) | ChangeKind::Binding(None), _) => {
                Ok(Plan::Purged { fingerprint })
            }
            (ChangeKind::Removed(Some(former)) | ChangeKind::Shrunk(Some(former)), stored) => {
                Ok(self.bring_back(fingerprint, former, stored))
            }
            (ChangeKind::Added | ChangeKind::Merged { .. }, None) => Ok(Plan::Nothing),
            (ChangeKind::Added, Some(stored)) => Ok(self.remove(fingerprint, stored)),
            (ChangeKind::Merged { added, former_origin }, Some(stored)) => {
                let origin = former_origin.and_then(|former| self.origin_back(fingerprint, former, stored));
                Ok(self.shrink(&added, origin, stored))
            }
        }
    }

    /// An added certificate is removed as a whole, its revocations included. If a later import brought it again, a
    /// revocation that came with that import must not be lost.
    fn remove(&self, fingerprint: Fingerprint, stored: &Stored) -> Plan {
        let brought_again = self.later.contains_key(&fingerprint);
        let keep = brought_again && !self.options.including_revocations && is_revoked(&stored.certificate);
        match keep {
            true => Plan::Keep { fingerprint, what: KeptReason::Revocation },
            false => Plan::Remove { id: stored.id, generation: stored.generation },
        }
    }

    fn shrink(&self, added: &[[u8; 32]], origin: Option<Origin>, stored: &Stored) -> Plan {
        let Stored { id, generation, certificate, .. } = stored;
        match shrink(certificate, added, self.options.including_revocations, self.now) {
            Shrunk { certificate: Some(less), kept } => {
                let kind = PutKind::Shrunk { id: *id, generation: *generation };
                Plan::Put { certificate: Box::new(Prepared::new(less)), kind, origin, kept }
            }
            Shrunk { certificate: None, kept: Some(what) } => {
                Plan::Keep { fingerprint: certificate.facts.primary().fingerprint, what }
            }
            Shrunk { certificate: None, kept: None } => Plan::Nothing,
        }
    }

    fn bring_back(
        &self,
        fingerprint: Fingerprint,
        former: FormerCertificate,
        stored: Option<&Stored>,
    ) -> Plan {
        let Ok(certificate) = rebuild(&former.bytes, &former.superseded) else {
            return Plan::Damaged { fingerprint };
        };
        let FormerCertificate { id, first_seen, origin, .. } = former;
        let (certificate, kind, origin) = match stored {
            None => (certificate, PutKind::Restored { id, first_seen }, Some(origin)),
            Some(stored) => match merge(&stored.certificate, &certificate) {
                None => return Plan::Nothing,
                Some(merged) => {
                    let kind = stored.merged_with(merged.added_packets);
                    (merged.certificate, kind, self.origin_back(fingerprint, origin, stored))
                }
            },
        };
        Plan::Put { certificate: Box::new(Prepared::new(certificate)), kind, origin, kept: None }
    }

    /// Returns the origin that a certificate gets back, if it has another one now that no later import may have given
    /// it. When it was last asked for stays.
    fn origin_back(&self, fingerprint: Fingerprint, former: Origin, stored: &Stored) -> Option<Origin> {
        let origin = Origin { updated: stored.origin.updated, ..former };
        (origin != stored.origin && !self.later.contains_key(&fingerprint)).then_some(origin)
    }
}

impl Plan {
    /// Returns the certificate to be removed, with the generation that was read.
    pub(super) fn removal(&self) -> Option<(CertId, i64)> {
        match self {
            Self::Remove { id, generation } => Some((*id, *generation)),
            _ => None,
        }
    }

    /// Returns what is to be written.
    pub(super) fn put(&self) -> Option<Put<'_>> {
        let Self::Put { certificate, kind, origin, .. } = self else { return None };
        Some(Put { certificate, kind: kind.clone(), inputs: &[], origin: origin.clone() })
    }

    /// Returns whose owner trust changes, what it is, and what it was.
    pub(super) fn owner_trust(&self) -> Option<(&Fingerprint, Option<AssignedTrust>, Option<AssignedTrust>)> {
        match self {
            Self::OwnerTrust { fingerprint, now, back } => Some((fingerprint, *now, *back)),
            _ => None,
        }
    }

    /// Returns the binding that changes, with what is stored of it.
    pub(super) fn binding(&self) -> Option<(&Fingerprint, Option<&KeptBinding>, &BindingChange)> {
        match self {
            Self::Binding { fingerprint, now, change } => Some((fingerprint, now.as_ref(), change)),
            _ => None,
        }
    }

    /// Says whether it changes anything.
    pub(super) fn takes_back(&self) -> bool {
        !matches!(self, Self::Nothing | Self::Keep { .. } | Self::Purged { .. } | Self::Damaged { .. })
    }

    /// Returns what is kept although it was to be undone.
    pub(super) fn kept(&self) -> Option<(Fingerprint, KeptReason)> {
        match self {
            Self::Keep { fingerprint, what } => Some((*fingerprint, *what)),
            Self::Put { certificate, kept: Some(what), .. } => Some((certificate.fingerprint(), *what)),
            _ => None,
        }
    }
}

/// Says whether the owner revoked the primary key.
fn is_revoked(certificate: &Certificate) -> bool {
    let primary = &certificate.facts.components[0];
    primary.signatures.iter().any(|one| one.kind == SignatureType::KEY_REVOCATION && one.verifies())
}
