//! The secret parts that come with certificates.
//!
//! They are stored before the certificates are written: a secret key without its certificate can still be found and
//! used, a lost one cannot.

use secret::{SecretKey, SecretKeys, Stored};
use store::Fingerprint;

use super::batch::{Batch, Report};
use super::event::{ImportOutcome, ImportedSecret, SecretOutcome};
use crate::Result;

/// The store of secret keys.
pub(super) type SecretKeyStore<'a> = &'a (dyn SecretKeys + Sync);

/// Stores the secret keys of all certificates of a batch that are taken, and notes the outcomes.
///
/// With `dry_run` it only notes what would happen.
pub(super) fn keep(batch: &mut Batch, store: SecretKeyStore<'_>, dry_run: bool) -> Result<()> {
    for report in &mut batch.reports {
        let Report::Imported { imported, secrets } = report else { continue };
        let secrets = std::mem::take(secrets);
        if !is_taken(imported.outcome) {
            continue;
        }
        for secret in secrets {
            let outcome = match readable(&secret) {
                Ok(key) if !key.protection().has_secret() && !is_on_card(&key) => SecretOutcome::Stub,
                Ok(key) if dry_run => would_be(store, &key)?,
                Ok(key) => kept(store.store(&key)?),
                Err(error) => SecretOutcome::Refused(error.to_string()),
            };
            imported.secrets.push(ImportedSecret { fingerprint: secret.fingerprint, outcome });
        }
    }
    Ok(())
}

/// Returns reports for the secret keys that are not among the keys of a certificate.
pub(super) fn left_out(secrets: &[cert::split::SecretKey], keys: &[Fingerprint]) -> Vec<ImportedSecret> {
    let left_out = secrets.iter().map(|secret| secret.fingerprint).filter(|key| !keys.contains(key));
    left_out
        .map(|fingerprint| ImportedSecret { fingerprint, outcome: SecretOutcome::NotInCertificate })
        .collect()
}

fn is_taken(outcome: ImportOutcome) -> bool {
    matches!(outcome, ImportOutcome::New | ImportOutcome::Changed(_) | ImportOutcome::Unchanged)
}

/// Reads a secret key; one without passphrase must be whole.
fn readable(raw: &cert::split::SecretKey) -> secret::Result<SecretKey> {
    let key = SecretKey::try_from(raw)?;
    if *key.protection() == secret::Protection::None {
        match key.unlock_plain() {
            // It can be stored for programs that know the algorithm.
            Ok(_) | Err(secret::Error::Unsupported { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(key)
}

fn is_on_card(key: &SecretKey) -> bool {
    matches!(key.protection(), secret::Protection::Card { .. })
}

fn would_be(store: SecretKeyStore<'_>, key: &SecretKey) -> Result<SecretOutcome> {
    let stored = store.find(&key.fingerprint().into())?;
    Ok(match stored {
        None => SecretOutcome::New,
        Some(stored) if !stored.protection.has_secret() && key.protection().has_secret() => {
            SecretOutcome::New
        }
        Some(_) => SecretOutcome::Unchanged,
    })
}

fn kept(stored: Stored) -> SecretOutcome {
    match stored {
        Stored::New | Stored::InsteadOfStub => SecretOutcome::New,
        Stored::Kept => SecretOutcome::Unchanged,
    }
}
