//! An overview of a database for its user: the keys of their own, what expires soon, what could be taken over.

use std::ops::ControlFlow;
use std::path::PathBuf;

use cert::Timestamp;
use cert::effective::{EvaluationContext, PacketView, evaluate};
use cert::facts::ComponentKind;
use secret::StoredKey;
use store::{CertId, Detail, Fingerprint, JournalEntry, ReadCertificates, Selection, Snapshot};

use crate::Result;
use crate::migrate::{ChangedPlace, MigrationSource, not_taken_over, outdated, places_of};
use crate::secret_transfer::with_secret_key;

/// A certificate with the times that matter to its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The primary key.
    pub fingerprint: Fingerprint,
    /// The primary user ID.
    pub name: Option<Vec<u8>>,
    /// When the certificate expires; `None` if never.
    pub expires: Option<Timestamp>,
    /// Its owner revoked it.
    pub is_revoked: bool,
    /// The subkeys that expire before the certificate does, and are not revoked.
    pub subkeys: Vec<(Fingerprint, Timestamp)>,
}

impl Lifetime {
    /// Returns the first time from `begin` to `end` at which the certificate or one of its subkeys expires.
    pub fn expires_within(&self, begin: Timestamp, end: Timestamp) -> Option<Timestamp> {
        let ends = self.subkeys.iter().map(|(_, end)| *end).chain(self.expires);
        ends.filter(|time| !self.is_revoked && (begin..=end).contains(time)).min()
    }
}

/// An overview of a database.
#[derive(Clone, Debug)]
pub struct Overview {
    /// How many certificates there are.
    pub certificates: u64,
    /// The certificates with a secret key here.
    pub own: Vec<Lifetime>,
    /// Other certificates that the user decided how far to trust.
    pub trusted: Vec<Lifetime>,
    /// Files of GnuPG and other programs at their usual places that were not taken over.
    pub to_migrate: Vec<MigrationSource>,
    /// Files of GnuPG and other programs that have changed since they were taken over.
    pub changed: Vec<PathBuf>,
    /// The places of these files that have to be taken over again.
    pub changed_places: Vec<ChangedPlace>,
    /// The last command that changed something.
    pub last: Option<JournalEntry>,
}

impl Overview {
    /// Reads the overview, of a database whose secret keys are `stored`.
    ///
    /// # Errors
    ///
    /// The database's errors.
    pub fn read(snapshot: &dyn Snapshot, stored: &[StoredKey], now: Timestamp) -> Result<Self> {
        let own = with_secret_key(snapshot, Selection::All, stored)?;
        let trusted: Vec<Fingerprint> =
            snapshot.decided_owner_trusts()?.into_iter().map(|(key, _)| key).collect();
        let mut trusted: Vec<CertId> = snapshot.by_fingerprint(&trusted)?.into_iter().flatten().collect();
        trusted.sort_unstable();
        trusted.retain(|id| own.binary_search(id).is_err());
        let known = snapshot.migrations()?;
        let outdated = outdated(snapshot)?;
        Ok(Self {
            certificates: snapshot.count()?,
            own: lifetimes(snapshot, &own, now)?,
            trusted: lifetimes(snapshot, &trusted, now)?,
            to_migrate: not_taken_over(snapshot)?,
            changed_places: places_of(&known, &outdated),
            changed: outdated.into_iter().map(|changed| changed.path).collect(),
            last: snapshot.journal(1)?.into_iter().next(),
        })
    }
}

fn lifetimes(snapshot: &dyn ReadCertificates, ids: &[CertId], now: Timestamp) -> Result<Vec<Lifetime>> {
    let mut found = Vec::with_capacity(ids.len());
    snapshot.visit(Selection::Ids(ids), Detail::Own, &mut |record| {
        let Some(facts) = &record.facts else { return ControlFlow::Continue(()) };
        let effective = evaluate(facts, EvaluationContext::new(now, PacketView::Full));
        let primary = effective.primary();
        let keys = facts.components.iter().zip(&effective.components).skip(1);
        let subkeys = keys.filter_map(|(component, state)| match (&component.kind, state) {
            (ComponentKind::Key(key), cert::effective::ComponentState::Key(state))
                if state.revoked.is_none() && state.valid =>
            {
                let end = state.expires?;
                primary.expires.is_none_or(|expires| end < expires).then_some((key.fingerprint, end))
            }
            _ => None,
        });
        found.push(Lifetime {
            fingerprint: record.fingerprint,
            name: effective.primary_name(facts).map(<[u8]>::to_vec),
            expires: primary.expires,
            is_revoked: primary.revoked.is_some(),
            subkeys: subkeys.collect(),
        });
        ControlFlow::Continue(())
    })?;
    Ok(found)
}
