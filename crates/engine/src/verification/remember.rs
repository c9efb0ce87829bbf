//! What trust on first use counts: the messages that were seen with a key's addresses.

use cert::effective::{ComponentState, EvaluationContext, PacketView, evaluate};
use cert::facts::ComponentKind;
use cert::{BoundAddress, Facts, Fingerprint, Timestamp};
use store::Store;
use store::tofu::{AUTO, Binding, VerifiedMessage};

use super::{SignatureStatus, SignatureVerdict};
use crate::retry::{retry_transient, transact};
use crate::{Result, stored};

/// Stores that signatures were seen, with all addresses of their issuers' certificates and each message once: those
/// that are [good](super::SignatureStatus::Good).
///
/// # Errors
///
/// The database's errors; then nothing was kept.
pub fn remember<'v>(
    store: &dyn Store,
    verdicts: impl IntoIterator<Item = &'v SignatureVerdict>,
    origin: &str,
    command: &str,
    now: Timestamp,
) -> Result<()> {
    let good = verdicts.into_iter().filter(|verdict| verdict.status == SignatureStatus::Good);
    let seen = good.map(|verdict| &verdict.examined).filter_map(|signature| {
        let (signer, statement, digest) =
            (signature.signer.good()?, signature.statement.as_ref()?, signature.signature.digest.ok()?);
        let digest = digest.as_bytes().to_vec();
        let message =
            VerifiedMessage { digest, origin: origin.to_owned(), signed: statement.created, verified: now };
        Some((&signer.certificate.facts, Some(message)))
    });
    keep(store, &seen.collect::<Vec<_>>(), command, now)
}

/// Stores that a message was encrypted to certificates, by their primary keys, with all their addresses.
///
/// # Errors
///
/// The database's errors; then nothing was kept.
pub fn remember_encrypted(
    store: &dyn Store,
    recipients: &[Fingerprint],
    command: &str,
    now: Timestamp,
) -> Result<()> {
    let found = retry_transient(|| stored::read(store.snapshot()?.as_ref(), recipients))?;
    let seen: Vec<_> = found.values().map(|stored| (&stored.certificate.facts, None)).collect();
    keep(store, &seen, command, now)
}

/// Stores messages: those that were verified, or `None` for one that was encrypted.
fn keep(
    store: &dyn Store,
    seen: &[(&Facts, Option<VerifiedMessage>)],
    command: &str,
    now: Timestamp,
) -> Result<()> {
    if seen.is_empty() {
        return Ok(());
    }
    transact(store, command, now, |transaction| {
        for (facts, message) in seen {
            for binding in bindings(facts, now) {
                let id = transaction.note_binding(&binding)?;
                match message {
                    Some(message) => transaction.add_verified(id, message).map(drop)?,
                    None => transaction.add_encrypted(id, now)?,
                }
            }
        }
        Ok(())
    })
}

/// Returns a certificate's bindings of user IDs that were not revoked, each address once.
fn bindings(facts: &Facts, now: Timestamp) -> Vec<Binding> {
    let effective = evaluate(facts, EvaluationContext::new(now, PacketView::Full));
    let mut bindings: Vec<Binding> = Vec::new();
    for (component, state) in facts.components.iter().zip(&effective.components) {
        let (ComponentKind::UserId(user_id), ComponentState::User(user)) = (&component.kind, state) else {
            continue;
        };
        let address = BoundAddress::of_user_id(user_id);
        if user.revoked || bindings.iter().any(|binding| binding.address == address) {
            continue;
        }
        bindings.push(Binding {
            id: None,
            fingerprint: facts.primary().fingerprint,
            address,
            user_id: user_id.clone(),
            since: now,
            policy: AUTO,
        });
    }
    bindings
}
