//! The memory of trust on first use.
//!
//! A binding has a row only where there is something that its certificate does not say: a decision, messages, or that
//! it is younger than the certificate. All others are read from the user IDs, so that an import of a million
//! certificates has no rows in random order to write for them.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

use cert::{BoundAddress, Fingerprint, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use super::error::Context;
use super::view::View;
use crate::rows::{mail_hash, parse_fingerprint, stored_fingerprint};
use crate::tofu::{Binding, BindingId, BindingSelection, MessageStatistics, Messages, VerifiedMessage};
use crate::write_bindings::BindingRows;
use crate::{AssignedTrust, Error, ReadTrust, Result};

const READING: &str = "reading bindings";
const WRITING: &str = "writing bindings";

/// Selects bindings: of kept rows those with `$kept`, of user IDs those with `$derived`, in the order of
/// [`ReadTrust::bindings`].
macro_rules! select_bindings {
    ($kept:literal, $derived:literal) => {
        concat!(
            "SELECT id, fingerprint, email, user_id, time, policy FROM tofu_binding WHERE ",
            $kept,
            " UNION ALL
            SELECT NULL, fingerprint, email, value, first_seen, 1 FROM (
                SELECT cert, bound_address(value) AS email, value, min(component) FROM user_id WHERE ",
            $derived,
            " GROUP BY 1, 2) JOIN cert ON id = cert
            WHERE (email, fingerprint) NOT IN (SELECT email, fingerprint FROM tofu_binding)
            ORDER BY 3, 2"
        )
    };
}

impl ReadTrust for View<'_> {
    fn owner_trust(&self, primary: &Fingerprint) -> Result<Option<AssignedTrust>> {
        const DOING: &str = "reading owner trust";
        let sql = "SELECT value FROM owner_trust WHERE fingerprint = ?1";
        let mut statement = self.connection().prepare_cached(sql).context(self.path(), DOING)?;
        let number = statement.query_row([stored_fingerprint(primary)], |row| row.get(0)).optional();
        Ok(number.context(self.path(), DOING)?.and_then(AssignedTrust::from_number))
    }

    fn owner_trusts(&self) -> Result<Vec<(Fingerprint, AssignedTrust)>> {
        let sql = "SELECT fingerprint, value FROM owner_trust ORDER BY fingerprint";
        let trusts = self.list(sql, [], "reading owner trust", |row| {
            let trust = AssignedTrust::from_number(self.column(row, 1)?);
            Ok(parse_fingerprint(self.blob(row, 0)?).zip(trust))
        })?;
        Ok(trusts.into_iter().flatten().collect())
    }

    fn bindings(
        &self,
        selection: BindingSelection<'_>,
        visit: &mut dyn FnMut(Binding) -> ControlFlow<()>,
    ) -> Result<()> {
        const ALL: &str = select_bindings!("true", "true");
        const USED: &str = select_bindings!(
            "id IN (SELECT binding FROM tofu_signature UNION SELECT binding FROM tofu_encryption)",
            "false"
        );
        // The hashes of addresses tell which user IDs may be contested.
        const CONTESTED: &str = concat!(
            "SELECT id, fingerprint, email, user_id, time, policy FROM (
                SELECT *, count(*) OVER same AS keys, max(policy <> 1) OVER same AS decided FROM (",
            select_bindings!(
                "true",
                "cert IN (SELECT cert FROM mail WHERE hash IN
                    (SELECT hash FROM mail GROUP BY hash HAVING count(*) > 1
                    UNION SELECT mail_hash(email) FROM tofu_binding))"
            ),
            ") AS every WINDOW same AS (PARTITION BY email)) AS binding
            WHERE keys > 1 OR decided ORDER BY email, fingerprint"
        );
        const OF_ADDRESS: &str = select_bindings!(
            "email = ?1",
            "cert IN (SELECT cert FROM mail WHERE hash = ?2) AND bound_address(value) = ?1"
        );
        let mut each = |row: &Row<'_>| Ok(visit(binding(self, row)?));
        match selection {
            BindingSelection::All => self.rows(ALL, [], READING, each),
            BindingSelection::Used => self.rows(USED, [], READING, each),
            BindingSelection::Contested => self.rows(CONTESTED, [], READING, each),
            BindingSelection::Addresses(addresses) => {
                let addresses: BTreeSet<&BoundAddress> = addresses.iter().collect();
                let mut flow = ControlFlow::Continue(());
                for address in addresses {
                    let asked = params![address.as_bytes(), mail_hash(address.as_bytes())];
                    self.rows(OF_ADDRESS, asked, READING, |row| {
                        flow = each(row)?;
                        Ok(flow)
                    })?;
                    if flow.is_break() {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    fn messages(&self, BindingId(id): BindingId) -> Result<Messages> {
        const VERIFIED: &str = "SELECT count(*), min(time), max(time), count(DISTINCT time / 86400)
            FROM tofu_signature WHERE binding = ?1";
        const ENCRYPTED: &str = "SELECT count(*), min(time), max(time), count(DISTINCT time / 86400)
            FROM tofu_encryption WHERE binding = ?1";
        let seen = |sql| {
            let mut seen = MessageStatistics::default();
            self.rows(sql, [id], READING, |row| {
                seen = MessageStatistics {
                    count: self.column::<i64>(row, 0)?.unsigned_abs(),
                    first: self.column::<Option<u32>>(row, 1)?.map(Timestamp),
                    last: self.column::<Option<u32>>(row, 2)?.map(Timestamp),
                    days: self.column::<i64>(row, 3)?.unsigned_abs(),
                };
                Ok(ControlFlow::Break(()))
            })?;
            Ok(seen)
        };
        Ok(Messages { verified: seen(VERIFIED)?, encrypted: seen(ENCRYPTED)? })
    }

    fn verified_messages(&self, BindingId(id): BindingId) -> Result<Vec<VerifiedMessage>> {
        const SQL: &str = "SELECT sig_digest, origin, sig_time, time FROM tofu_signature WHERE binding = ?1";
        self.list(SQL, [id], READING, |row| {
            Ok(VerifiedMessage {
                digest: self.column(row, 0)?,
                origin: self.column(row, 1)?,
                signed: Timestamp(self.column(row, 2)?),
                verified: Timestamp(self.column(row, 3)?),
            })
        })
    }

    fn encrypted_messages(&self, BindingId(id): BindingId) -> Result<Vec<Timestamp>> {
        const SQL: &str = "SELECT time FROM tofu_encryption WHERE binding = ?1 ORDER BY time";
        self.list(SQL, [id], READING, |row| self.column(row, 0).map(Timestamp))
    }
}

impl BindingRows for View<'_> {
    fn has_certificate(&self, key: &Fingerprint) -> Result<bool> {
        self.primary(key).map(|found| found.is_some())
    }

    fn write(&self, binding: &Binding) -> Result<BindingId> {
        const SQL: &str = "INSERT INTO tofu_binding (email, fingerprint, user_id, time, policy)
            VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (email, fingerprint)
            DO UPDATE SET user_id = ?3, time = ?4, policy = ?5 RETURNING id";
        let Binding { fingerprint, address, user_id, since, policy, .. } = binding;
        let row = params![address.as_bytes(), stored_fingerprint(fingerprint), user_id, since.0, policy];
        let mut statement = self.connection().prepare_cached(SQL).context(self.path(), WRITING)?;
        statement.query_row(row, |row| row.get(0)).map(BindingId).context(self.path(), WRITING)
    }

    fn remove(&self, id: BindingId) -> Result<()> {
        self.execute("DELETE FROM tofu_binding WHERE id = ?1", [id.0], WRITING).map(drop)
    }

    fn add_verified(&self, id: BindingId, message: &VerifiedMessage) -> Result<bool> {
        const SQL: &str = "INSERT INTO tofu_signature (binding, sig_digest, origin, sig_time, time)
            SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS
            (SELECT 1 FROM tofu_signature WHERE binding = ?1 AND sig_digest = ?2 AND sig_time = ?4)
            ON CONFLICT DO NOTHING";
        let VerifiedMessage { digest, origin, signed, verified } = message;
        Ok(self.execute(SQL, params![id.0, digest, origin, signed.0, verified.0], WRITING)? > 0)
    }

    fn remove_verified(&self, id: BindingId, message: &VerifiedMessage) -> Result<bool> {
        const SQL: &str = "DELETE FROM tofu_signature
            WHERE binding = ?1 AND sig_digest = ?2 AND origin = ?3 AND sig_time = ?4";
        let VerifiedMessage { digest, origin, signed, .. } = message;
        Ok(self.execute(SQL, params![id.0, digest, origin, signed.0], WRITING)? > 0)
    }

    fn add_encrypted(&self, id: BindingId, time: Timestamp) -> Result<()> {
        const SQL: &str = "INSERT INTO tofu_encryption (binding, time) VALUES (?1, ?2)";
        self.execute(SQL, params![id.0, time.0], WRITING).map(drop)
    }

    fn remove_encrypted(&self, id: BindingId, time: Timestamp) -> Result<bool> {
        const SQL: &str = "DELETE FROM tofu_encryption WHERE rowid =
            (SELECT rowid FROM tofu_encryption WHERE binding = ?1 AND time = ?2 LIMIT 1)";
        Ok(self.execute(SQL, params![id.0, time.0], WRITING)? > 0)
    }

    fn remove_messages(&self, id: BindingId) -> Result<()> {
        self.execute("DELETE FROM tofu_signature WHERE binding = ?1", [id.0], WRITING)?;
        self.execute("DELETE FROM tofu_encryption WHERE binding = ?1", [id.0], WRITING).map(drop)
    }
}

fn binding(view: &View<'_>, row: &Row<'_>) -> Result<Binding> {
    let id: Option<i64> = view.column(row, 0)?;
    let broken = || Error::CorruptBinding { path: view.path().to_owned(), binding: id.unwrap_or_default() };
    Ok(Binding {
        id: id.map(BindingId),
        fingerprint: parse_fingerprint(view.blob(row, 1)?).ok_or_else(broken)?,
        address: BoundAddress::from_normalised(view.column(row, 2)?),
        user_id: view.column(row, 3)?,
        since: Timestamp(view.column(row, 4)?),
        policy: view.column(row, 5)?,
    })
}

/// Notes that user IDs came to a certificate later than it did; of several with the same address the first one stays.
pub(super) fn add_later(
    view: &View<'_>,
    primary: &Fingerprint,
    user_ids: &[&[u8]],
    now: Timestamp,
) -> Result<()> {
    const SQL: &str = "INSERT OR IGNORE INTO tofu_binding (email, fingerprint, user_id, time, policy)
        VALUES (?1, ?2, ?3, ?4, 1)";
    user_ids.iter().try_for_each(|user_id| {
        let address = BoundAddress::of_user_id(user_id);
        let row = params![address.as_bytes(), stored_fingerprint(primary), user_id, now.0];
        view.execute(SQL, row, WRITING).map(drop)
    })
}

/// Takes away the bindings of user IDs that are gone, as far as nobody decided about them and no message was seen.
pub(super) fn remove_idle(view: &View<'_>, primary: &Fingerprint, user_ids: &[&[u8]]) -> Result<()> {
    const SQL: &str = "DELETE FROM tofu_binding WHERE email = ?1 AND fingerprint = ?2 AND policy = 1
        AND NOT EXISTS (SELECT 1 FROM tofu_signature WHERE binding = tofu_binding.id)
        AND NOT EXISTS (SELECT 1 FROM tofu_encryption WHERE binding = tofu_binding.id)";
    user_ids.iter().try_for_each(|user_id| {
        let address = BoundAddress::of_user_id(user_id);
        view.execute(SQL, params![address.as_bytes(), stored_fingerprint(primary)], WRITING).map(drop)
    })
}

/// Takes away everything that is remembered of these keys, in one pass over all rows: there is no index by
/// fingerprint, since purging is rare and imports are not. Returns how many bindings it were.
pub(super) fn purge(view: &View<'_>, primaries: &[Fingerprint]) -> Result<usize> {
    if primaries.is_empty() {
        return Ok(0);
    }
    let primaries: HashSet<&Fingerprint> = primaries.iter().collect();
    let mut ids = Vec::new();
    view.rows(select_bindings!("true", "false"), [], READING, |row| {
        let binding = binding(view, row)?;
        ids.extend(binding.id.filter(|_| primaries.contains(&binding.fingerprint)));
        Ok(ControlFlow::Continue(()))
    })?;
    ids.iter().try_for_each(|id| {
        view.remove_messages(*id)?;
        view.remove(*id)
    })?;
    Ok(ids.len())
}
