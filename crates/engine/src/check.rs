//! Checking signatures, and who certified whom.

use std::ops::ControlFlow;

use cert::effective::PacketView;
use cert::facts::SignatureFacts;
use cert::{Facts, Fingerprint, Timestamp};
use serde::Serialize;
use store::{CertId, ReadCertificates, Record, Selection, Store};
use verify::policy::DigestPolicy;

use crate::certifications::{
    CertificationRules, CertificationStatus, CertificationStatuses, Checker, IssuerRule,
};
use crate::{Result, pending};

/// How signatures are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// The command line, for the journal.
    pub command: String,
    /// The clock.
    pub now: Timestamp,
    /// The hash algorithms that are accepted.
    pub digests: DigestPolicy,
    /// Ignores the stored verdicts and verifies everything.
    pub anew: bool,
}

/// How many signatures have which status; as JSON it is described in `docs/json.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Certificates that were checked.
    pub certificates: u64,
    /// Signatures that verify and are accepted.
    pub good: u64,
    /// Signatures that no key here made.
    pub bad: u64,
    /// Signatures by keys that are not here.
    pub no_issuer: u64,
    /// Signatures that are not accepted, whoever made them.
    pub refused: u64,
    /// Certificates with possible revocations that were not verified yet, see [`pending`]. Verifying them was
    /// continued.
    pub not_fully_checked: u64,
}

impl Count {
    /// Counts one certificate's signatures.
    pub fn of(statuses: &CertificationStatuses) -> Self {
        let mut count = Self { certificates: 1, ..Self::default() };
        for status in statuses.iter() {
            match status {
                CertificationStatus::Good(_) => count.good += 1,
                CertificationStatus::Bad => count.bad += 1,
                CertificationStatus::NoIssuer => count.no_issuer += 1,
                CertificationStatus::UnusableIssuer(_) | CertificationStatus::Refused(_) => {
                    count.refused += 1
                }
            }
        }
        count
    }

    fn add(&mut self, other: Self) {
        self.certificates += other.certificates;
        self.good += other.good;
        self.bad += other.bad;
        self.no_issuer += other.no_issuer;
        self.refused += other.refused;
        self.not_fully_checked += other.not_fully_checked;
    }
}

/// Checks every signature of the selected certificates, and calls `each` with each certificate and the status of its
/// signatures.
///
/// New verdicts are stored in the database, unless somebody else is writing; those on possible revocations under an entry
/// of the journal. Whether an issuer's key has expired or was revoked since makes no difference.
///
/// # Errors
///
/// The database's errors.
pub fn check(
    store: &dyn Store,
    snapshot: &dyn ReadCertificates,
    selection: Selection<'_>,
    options: &CheckOptions,
    each: &mut dyn FnMut(&Record, &CertificationStatuses) -> ControlFlow<()>,
) -> Result<Count> {
    let mut count = Count::default();
    let mut checker = checker(store, snapshot, options);
    let mut pending: Vec<CertId> = Vec::new();
    checker.visit(selection, &|_| true, &mut |record, statuses| {
        count.add(Count::of(statuses));
        let is_fully_checked = record.facts.as_ref().is_none_or(Facts::is_fully_checked);
        pending.extend((!is_fully_checked).then_some(record.id));
        Ok(each(&record, statuses))
    })?;
    checker.keep()?;
    count.not_fully_checked = pending.len() as u64;
    pending::continue_verification(store, snapshot, &pending, &options.command, options.now)?;
    Ok(count)
}

/// Calls `each` with each certificate on which a key made signatures, in database order, and with their status. The
/// certificates are found by an index.
///
/// # Errors
///
/// The database's errors.
pub fn signed_by(
    store: &dyn Store,
    snapshot: &dyn ReadCertificates,
    signer: &Fingerprint,
    options: &CheckOptions,
    each: &mut dyn FnMut(&Record, &CertificationStatuses) -> ControlFlow<()>,
) -> Result<()> {
    let ids: Vec<CertId> = snapshot.certified_by(signer.key_id())?;
    let mut checker = checker(store, snapshot, options);
    let wanted = |signature: &SignatureFacts| is_said_to_be_by(signature, signer);
    checker.visit(Selection::Ids(&ids), &wanted, &mut |record, statuses| Ok(each(&record, statuses)))?;
    checker.keep()
}

/// Says whether a signature on another certificate names this key as its issuer.
pub fn is_said_to_be_by(signature: &SignatureFacts, signer: &Fingerprint) -> bool {
    signature.own.is_none() && signature.issuer.may_be(signer)
}

fn checker<'s>(
    store: &'s dyn Store,
    snapshot: &'s dyn ReadCertificates,
    options: &CheckOptions,
) -> Checker<'s> {
    let CheckOptions { now, digests, anew, .. } = *options;
    let rules = CertificationRules { now, view: PacketView::Full, digests, issuers: IssuerRule::Any };
    let checker = Checker::new(snapshot, vec![snapshot], rules).keeping(store);
    if anew { checker.anew() } else { checker }
}
