//! What an import reports.

use cert::KeyId;
use cert::certificate::Certificate;
use cert::clean::CleaningNote;
use cert::merge::Merged;
use cert::split::{RawCertificate, RawRevocation};
use store::Fingerprint;
use verify::limits;

/// Something that happened during an import, in the order of the input.
#[derive(Debug)]
pub enum ImportEvent<'a> {
    /// A certificate was processed; the outcome is durable.
    Certificate(&'a Imported),
    /// A certificate that will be merged or inserted, unless `taken` is set to false.
    Cleaned {
        /// The certificate, after cleaning and filtering.
        certificate: &'a Certificate,
        /// The input held a secret key.
        secret: bool,
        /// Whether it is taken.
        taken: &'a mut bool,
    },
    /// A standalone revocation is about to be merged into its certificate.
    Revocation(&'a RawRevocation),
    /// A certificate could not be used.
    Refused {
        /// The index of its input.
        input: usize,
        /// Offset in its input.
        position: u64,
        /// Why.
        reason: &'a ImportRefusal,
    },
    /// More of the input was read.
    Progress {
        /// Bytes of certificates read so far, over all inputs.
        bytes: u64,
    },
}

/// Why a certificate was not taken.
#[derive(Debug, thiserror::Error)]
pub enum ImportRefusal {
    /// The bytes are no certificate.
    #[error(transparent)]
    Unreadable(#[from] cert::Error),
    /// A standalone revocation, of a certificate that is not here.
    #[error("a revocation of the key {0}, which is not here")]
    UnknownKey(KeyId),
    /// A standalone revocation, and that the key it names did not make.
    #[error("a revocation of the key {0}, which did not sign it")]
    BadRevocation(KeyId),
}

/// One certificate of the input.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The index of its input.
    pub input: usize,
    /// Offset in its input.
    pub position: u64,
    /// The primary key.
    pub fingerprint: Fingerprint,
    /// The primary user ID, if names were asked for and there is one.
    pub name: Option<Vec<u8>>,
    /// What became of it.
    pub outcome: ImportOutcome,
    /// The input held a secret key.
    pub secret: bool,
    /// What became of its secret keys, if any were to be taken.
    pub secrets: Vec<ImportedSecret>,
    /// The input held nothing but a revocation of the key.
    pub revocation: bool,
    /// Revokers that the key names, who may have made revocations of it, and whose certificates are not here: without
    /// them nobody can tell whether it is revoked.
    pub missing_revokers: Vec<Fingerprint>,
    /// What cleaning dropped.
    pub notes: Vec<CleaningNote>,
}

/// A secret key that came with a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSecret {
    /// The key.
    pub fingerprint: Fingerprint,
    /// What became of it.
    pub outcome: SecretOutcome,
}

/// What became of a secret key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretOutcome {
    /// It was not here before, or a placeholder only.
    New,
    /// It was here already, and stays as it was, its passphrase too.
    Unchanged,
    /// A placeholder without a secret, which says nothing.
    Stub,
    /// The certificate does not have it: nothing valid binds it.
    NotInCertificate,
    /// It is damaged, or of a kind that cannot be kept; says why.
    Refused(String),
}

impl SecretOutcome {
    fn is_refusal(&self) -> bool {
        matches!(self, Self::NotInCertificate | Self::Refused(_))
    }
}

impl Imported {
    /// Begins a report of what came from this input.
    pub(super) fn new(
        raw: &RawCertificate,
        revocation: bool,
        fingerprint: Fingerprint,
        name: Option<Vec<u8>>,
    ) -> Self {
        Self {
            input: 0,
            position: raw.position,
            fingerprint,
            name,
            outcome: ImportOutcome::Unchanged,
            secret: !raw.secrets.is_empty(),
            secrets: Vec::new(),
            revocation,
            missing_revokers: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Says whether too much of it is unchecked: a possible revocation, so that it is not valid until somebody goes on,
    /// or all that could vouch for one of its user IDs or subkeys, so that it was not taken.
    pub fn is_not_fully_checked(&self) -> bool {
        let is_without = self.outcome == ImportOutcome::SkippedWithoutUserId;
        self.notes.iter().any(|note| match note {
            CleaningNote::RevocationsUnchecked(_) | CleaningNote::ComponentsUndecided(_) => true,
            CleaningNote::Unchecked(_) | CleaningNote::TooLarge(_) => is_without,
            _ => false,
        })
    }

    /// Returns how many forged self-signatures a certificate has that was not taken since none is good, where these are
    /// more than damage explains.
    pub fn forged_self_signatures(&self) -> Option<usize> {
        let is_without = self.outcome == ImportOutcome::SkippedWithoutUserId;
        self.notes.iter().filter(|_| is_without).find_map(|note| match note {
            CleaningNote::BadSignatures(count) if *count > limits::MAX_CHECKS_PER_COMPONENT => Some(*count),
            _ => None,
        })
    }

    /// Says whether any of its secret keys has this outcome.
    pub fn has_secret(&self, outcome: &SecretOutcome) -> bool {
        self.secrets.iter().any(|secret| secret.outcome == *outcome)
    }
}

/// What became of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportOutcome {
    /// It was not here before.
    New,
    /// It brought something.
    Changed(Additions),
    /// It brought nothing.
    Unchanged,
    /// It was not here before and only merging was asked for.
    SkippedNew,
    /// It was not here before and has no user ID to be known by.
    SkippedWithoutUserId,
    /// Who was asked did not want it.
    Declined,
}

/// What a merge added, as GnuPG counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// New user IDs and attributes.
    pub user_ids: u32,
    /// New signatures on what was there.
    pub signatures: u32,
    /// New subkeys.
    pub subkeys: u32,
    /// New revocations of the primary key, which are among the signatures.
    pub revocations: u32,
}

impl Additions {
    pub(super) fn of(merged: &Merged) -> Self {
        Self {
            user_ids: merged.new_user_ids,
            signatures: merged.new_signatures,
            subkeys: merged.new_subkeys,
            revocations: merged.new_revocations,
        }
    }
}

impl std::ops::Add for Additions {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            user_ids: self.user_ids + other.user_ids,
            signatures: self.signatures + other.signatures,
            subkeys: self.subkeys + other.subkeys,
            revocations: self.revocations + other.revocations,
        }
    }
}

/// The sums over an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportSummary {
    /// Certificates met, refused ones included.
    pub processed: u64,
    /// Not here before.
    pub imported: u64,
    /// Brought something.
    pub changed: u64,
    /// Brought nothing.
    pub unchanged: u64,
    /// Refused.
    pub refused: u64,
    /// Skipped since only merging was asked for.
    pub skipped_new: u64,
    /// Skipped for want of a user ID.
    pub without_user_id: u64,
    /// [Not fully checked](Imported::is_not_fully_checked), whatever else became of them.
    pub not_fully_checked: u64,
    /// Skipped for [forged self-signatures](Imported::forged_self_signatures).
    pub only_forged: u64,
    /// Came with a secret key (GnuPG's `sec_read`).
    pub secret: u64,
    /// Brought a secret key that was not here (GnuPG's `sec_imported`).
    pub secret_imported: u64,
    /// Came with secret keys that are all here already (GnuPG's `sec_dups`).
    pub secret_unchanged: u64,
    /// Secret keys, not certificates, that could not be kept.
    pub secret_refused: u64,
    /// Standalone revocations and were not here before; they are neither changed nor unchanged certificates.
    pub revocations: u64,
    /// What merges added.
    pub added: Additions,
    /// The journal entry, if anything was written.
    pub journal: Option<store::JournalId>,
}

impl ImportSummary {
    pub(super) fn count(&mut self, imported: &Imported) {
        self.processed += 1;
        self.not_fully_checked += u64::from(imported.is_not_fully_checked());
        self.only_forged += u64::from(imported.forged_self_signatures().is_some());
        self.secret += u64::from(imported.secret);
        let is_new = imported.has_secret(&SecretOutcome::New);
        self.secret_imported += u64::from(is_new);
        self.secret_unchanged += u64::from(!is_new && imported.has_secret(&SecretOutcome::Unchanged));
        let refused = imported.secrets.iter().filter(|secret| secret.outcome.is_refusal()).count();
        self.secret_refused += refused as u64;
        match imported.outcome {
            ImportOutcome::New => self.imported += 1,
            ImportOutcome::Changed(_) if imported.revocation => self.revocations += 1,
            ImportOutcome::Unchanged if imported.revocation => {}
            ImportOutcome::Changed(added) => {
                self.changed += 1;
                self.added.user_ids += added.user_ids;
                self.added.signatures += added.signatures;
                self.added.subkeys += added.subkeys;
                self.added.revocations += added.revocations;
            }
            ImportOutcome::Unchanged => self.unchanged += 1,
            ImportOutcome::SkippedNew => self.skipped_new += 1,
            ImportOutcome::SkippedWithoutUserId => self.without_user_id += 1,
            ImportOutcome::Declined => {}
        }
    }

    pub(super) fn count_refused(&mut self) {
        self.processed += 1;
        self.refused += 1;
    }
}
