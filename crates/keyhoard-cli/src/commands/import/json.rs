//! The results of an import as JSON. `docs/json.md` describes every key.

use engine::causes;
use engine::import::{ImportRefusal, ImportSummary, Imported, ImportedSecret, SecretOutcome};
use serde::Serialize;

use super::notes::describe;
use crate::commands::import_outcome::word_and_additions;

/// One certificate, as `docs/json.md` describes it.
#[derive(Serialize)]
pub(super) struct CertificateJson<'a> {
    event: &'static str,
    file: &'a str,
    position: u64,
    fingerprint: String,
    outcome: &'static str,
    new_user_ids: u32,
    new_subkeys: u32,
    new_signatures: u32,
    secret: bool,
    secret_keys: Vec<SecretJson<'a>>,
    fully_checked: bool,
    missing_revokers: Vec<String>,
    notes: Vec<String>,
}

/// One secret key that came with a certificate, as `docs/json.md` describes it.
#[derive(Serialize)]
struct SecretJson<'a> {
    fingerprint: String,
    outcome: &'static str,
    reason: Option<&'a str>,
}

impl<'a> SecretJson<'a> {
    fn new(secret: &'a ImportedSecret) -> Self {
        let (outcome, reason) = match &secret.outcome {
            SecretOutcome::New => ("new", None),
            SecretOutcome::Unchanged => ("unchanged", None),
            SecretOutcome::Stub => ("stub", None),
            SecretOutcome::NotInCertificate => ("not_in_certificate", None),
            SecretOutcome::Refused(reason) => ("refused", Some(reason.as_str())),
        };
        Self { fingerprint: secret.fingerprint.to_string(), outcome, reason }
    }
}

impl<'a> CertificateJson<'a> {
    pub(super) fn new(file: &'a str, imported: &'a Imported) -> Self {
        let (outcome, added) = word_and_additions(imported.outcome);
        Self {
            event: "certificate",
            file,
            position: imported.position,
            fingerprint: imported.fingerprint.to_string(),
            outcome,
            new_user_ids: added.user_ids,
            new_subkeys: added.subkeys,
            new_signatures: added.signatures,
            secret: imported.secret,
            secret_keys: imported.secrets.iter().map(SecretJson::new).collect(),
            fully_checked: !imported.is_not_fully_checked(),
            missing_revokers: imported.missing_revokers.iter().map(ToString::to_string).collect(),
            notes: imported.notes.iter().map(describe).collect(),
        }
    }
}

/// What could not be taken, as `docs/json.md` describes it.
#[derive(Serialize)]
pub(super) struct RefusedJson<'a> {
    event: &'static str,
    file: &'a str,
    position: u64,
    reason: String,
}

impl<'a> RefusedJson<'a> {
    pub(super) fn new(file: &'a str, position: u64, reason: &ImportRefusal) -> Self {
        Self { event: "refused", file, position, reason: causes(reason) }
    }
}

/// The sums, as `docs/json.md` describes them.
#[derive(Serialize)]
pub(super) struct SummaryJson {
    event: &'static str,
    read: u64,
    new: u64,
    changed: u64,
    unchanged: u64,
    refused: u64,
    not_here: u64,
    no_user_id: u64,
    secret: u64,
    secret_new: u64,
    secret_unchanged: u64,
    secret_refused: u64,
    not_fully_checked: u64,
    new_user_ids: u32,
    new_subkeys: u32,
    new_signatures: u32,
    entry: Option<i64>,
}

impl SummaryJson {
    pub(super) fn new(summary: &ImportSummary) -> Self {
        Self {
            event: "summary",
            read: summary.processed,
            new: summary.imported,
            changed: summary.changed,
            unchanged: summary.unchanged,
            refused: summary.refused,
            not_here: summary.skipped_new,
            no_user_id: summary.without_user_id,
            secret: summary.secret,
            secret_new: summary.secret_imported,
            secret_unchanged: summary.secret_unchanged,
            secret_refused: summary.secret_refused,
            not_fully_checked: summary.not_fully_checked,
            new_user_ids: summary.added.user_ids,
            new_subkeys: summary.added.subkeys,
            new_signatures: summary.added.signatures,
            entry: summary.journal.map(|journal| journal.0),
        }
    }
}
