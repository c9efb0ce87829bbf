//! The memory of trust on first use.
//!
//! As in the SQLite engine, a binding has a row only where there is something that its certificate does not say.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use cert::{BoundAddress, Fingerprint, Timestamp};
use tokio_postgres::Row;

use super::connect::Parameters;
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
            SELECT NULL, fingerprint, email, value, first_seen, 1::smallint FROM (
                SELECT DISTINCT ON (cert, email) cert, email, value FROM user_id WHERE ",
            $derived,
            " ORDER BY cert, email, component) AS bound JOIN cert ON cert.id = bound.cert
            WHERE NOT EXISTS (SELECT 1 FROM tofu_binding kept
                WHERE kept.digest = sha256(bound.email) AND kept.fingerprint = cert.fingerprint)
            ORDER BY 3, 2"
        )
    };
}

impl ReadTrust for View<'_> {
    fn owner_trust(&self, primary: &Fingerprint) -> Result<Option<AssignedTrust>> {
        const SQL: &str = "SELECT value FROM owner_trust WHERE fingerprint = $1";
        let rows = self.rows(SQL, &[&stored_fingerprint(primary)], "reading owner trust")?;
        let number = rows.first().map(|row| self.column::<i16>(row, 0)).transpose()?;
        Ok(number.and_then(|number| AssignedTrust::from_number(number as u8)))
    }

    fn owner_trusts(&self) -> Result<Vec<(Fingerprint, AssignedTrust)>> {
        const SQL: &str = "SELECT fingerprint, value FROM owner_trust ORDER BY fingerprint";
        let mut trusts = Vec::new();
        for row in self.rows(SQL, &[], "reading owner trust")? {
            let trust = AssignedTrust::from_number(self.column::<i16>(&row, 1)? as u8);
            trusts.extend(parse_fingerprint(self.column(&row, 0)?).zip(trust));
        }
        Ok(trusts)
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
                SELECT *, count(*) OVER same AS keys, bool_or(policy <> 1) OVER same AS decided FROM (",
            select_bindings!(
                "true",
                "cert IN (SELECT cert FROM mail WHERE hash IN
                    (SELECT hash FROM mail GROUP BY hash HAVING count(*) > 1
                    UNION SELECT hash FROM tofu_binding))"
            ),
            ") AS every WINDOW same AS (PARTITION BY email)) AS binding
            WHERE keys > 1 OR decided ORDER BY email, fingerprint"
        );
        const OF_ADDRESS: &str = select_bindings!(
            "digest = sha256($1)",
            "cert = ANY (ARRAY(SELECT cert FROM mail WHERE hash = $2)) AND email = $1"
        );
        let mut each = |row: &Row| Ok(visit(binding(self, row)?));
        match selection {
            BindingSelection::All => self.each_row(ALL, READING, each),
            BindingSelection::Used => self.each_row(USED, READING, each),
            BindingSelection::Contested => self.each_row(CONTESTED, READING, each),
            BindingSelection::Addresses(addresses) => {
                let addresses: BTreeSet<&BoundAddress> = addresses.iter().collect();
                for address in addresses {
                    let hash = mail_hash(address.as_bytes());
                    for row in self.rows(OF_ADDRESS, &[&address.as_bytes(), &hash], READING)? {
                        if each(&row)?.is_break() {
                            return Ok(());
                        }
                    }
                }
                Ok(())
            }
        }
    }

    fn messages(&self, BindingId(id): BindingId) -> Result<Messages> {
        const VERIFIED: &str = "SELECT count(*), min(time), max(time), count(DISTINCT time / 86400)
            FROM tofu_signature WHERE binding = $1";
        const ENCRYPTED: &str = "SELECT count(*), min(time), max(time), count(DISTINCT time / 86400)
            FROM tofu_encryption WHERE binding = $1";
        let seen = |sql| {
            let Some(row) = self.connection().row(sql, &[&id], READING)? else {
                return Ok(MessageStatistics::default());
            };
            let time = |index| {
                let there = self.column::<Option<i64>>(&row, index)?;
                there.map(|_| self.time(&row, index)).transpose()
            };
            Ok(MessageStatistics {
                count: self.column::<i64>(&row, 0)?.unsigned_abs(),
                first: time(1)?,
                last: time(2)?,
                days: self.column::<i64>(&row, 3)?.unsigned_abs(),
            })
        };
        Ok(Messages { verified: seen(VERIFIED)?, encrypted: seen(ENCRYPTED)? })
    }

    fn verified_messages(&self, BindingId(id): BindingId) -> Result<Vec<VerifiedMessage>> {
        const SQL: &str = "SELECT sig_digest, origin, sig_time, time FROM tofu_signature WHERE binding = $1";
        let message = |row: &Row| {
            Ok(VerifiedMessage {
                digest: self.column(row, 0)?,
                origin: String::from_utf8_lossy(self.column(row, 1)?).into_owned(),
                signed: self.time(row, 2)?,
                verified: self.time(row, 3)?,
            })
        };
        self.rows(SQL, &[&id], READING)?.iter().map(message).collect()
    }

    fn encrypted_messages(&self, BindingId(id): BindingId) -> Result<Vec<Timestamp>> {
        const SQL: &str = "SELECT time FROM tofu_encryption WHERE binding = $1 ORDER BY time";
        self.rows(SQL, &[&id], READING)?.iter().map(|row| self.time(row, 0)).collect()
    }
}

impl BindingRows for View<'_> {
    fn has_certificate(&self, key: &Fingerprint) -> Result<bool> {
        self.primary(key).map(|found| found.is_some())
    }

    fn write(&self, binding: &Binding) -> Result<BindingId> {
        const SQL: &str = "INSERT INTO tofu_binding (digest, email, hash, fingerprint, user_id, time, policy)
            VALUES (sha256($1), $1, $2, $3, $4, $5, $6) ON CONFLICT (digest, fingerprint)
            DO UPDATE SET user_id = excluded.user_id, time = excluded.time, policy = excluded.policy RETURNING id";
        let Binding { fingerprint, address, user_id, since, policy, .. } = binding;
        let (hash, since, policy) = (mail_hash(address.as_bytes()), i64::from(since.0), i16::from(*policy));
        let stored = stored_fingerprint(fingerprint);
        let parameters: Parameters<'_> = &[&address.as_bytes(), &hash, &stored, user_id, &since, &policy];
        let row = self.connection().row(SQL, parameters, WRITING)?;
        Ok(BindingId(self.column(&row.expect("an insertion returns its row"), 0)?))
    }

    fn remove(&self, id: BindingId) -> Result<()> {
        self.execute("DELETE FROM tofu_binding WHERE id = $1", &[&id.0], WRITING).map(drop)
    }

    fn add_verified(&self, id: BindingId, message: &VerifiedMessage) -> Result<bool> {
        const SQL: &str = "INSERT INTO tofu_signature (binding, sig_digest, origin, sig_time, time)
            SELECT $1::bigint, $2::bytea, $3::bytea, $4::bigint, $5::bigint WHERE NOT EXISTS
            (SELECT 1 FROM tofu_signature WHERE binding = $1 AND sig_digest = $2 AND sig_time = $4)
            ON CONFLICT DO NOTHING";
        let VerifiedMessage { digest, origin, signed, verified } = message;
        let (signed, verified) = (i64::from(signed.0), i64::from(verified.0));
        let parameters: Parameters<'_> = &[&id.0, digest, &origin.as_bytes(), &signed, &verified];
        Ok(self.execute(SQL, parameters, WRITING)? > 0)
    }

    fn remove_verified(&self, id: BindingId, message: &VerifiedMessage) -> Result<bool> {
        const SQL: &str = "DELETE FROM tofu_signature
            WHERE binding = $1 AND sig_digest = $2 AND origin = $3 AND sig_time = $4";
        let VerifiedMessage { digest, origin, signed, .. } = message;
        let asked: Parameters<'_> = &[&id.0, digest, &origin.as_bytes(), &i64::from(signed.0)];
        Ok(self.execute(SQL, asked, WRITING)? > 0)
    }

    fn add_encrypted(&self, id: BindingId, time: Timestamp) -> Result<()> {
        const SQL: &str = "INSERT INTO tofu_encryption (binding, time) VALUES ($1, $2)";
        self.execute(SQL, &[&id.0, &i64::from(time.0)], WRITING).map(drop)
    }

    fn remove_encrypted(&self, id: BindingId, time: Timestamp) -> Result<bool> {
        const SQL: &str = "DELETE FROM tofu_encryption WHERE ctid =
            (SELECT ctid FROM tofu_encryption WHERE binding = $1 AND time = $2 LIMIT 1)";
        Ok(self.execute(SQL, &[&id.0, &i64::from(time.0)], WRITING)? > 0)
    }

    fn remove_messages(&self, id: BindingId) -> Result<()> {
        self.execute("DELETE FROM tofu_signature WHERE binding = $1", &[&id.0], WRITING)?;
        self.execute("DELETE FROM tofu_encryption WHERE binding = $1", &[&id.0], WRITING).map(drop)
    }
}

fn binding(view: &View<'_>, row: &Row) -> Result<Binding> {
    let id: Option<i64> = view.column(row, 0)?;
    let broken = || Error::CorruptBinding { path: view.path(), binding: id.unwrap_or_default() };
    Ok(Binding {
        id: id.map(BindingId),
        fingerprint: parse_fingerprint(view.column(row, 1)?).ok_or_else(broken)?,
        address: BoundAddress::from_normalised(view.column(row, 2)?),
        user_id: view.column(row, 3)?,
        since: view.time(row, 4)?,
        policy: view.column::<i16>(row, 5)? as u8,
    })
}

/// Notes that user IDs came to a certificate later than it did; of several with the same address the first one stays.
pub(super) fn add_later(
    view: &View<'_>,
    primary: &Fingerprint,
    user_ids: &[&[u8]],
    now: Timestamp,
) -> Result<()> {
    const SQL: &str = "INSERT INTO tofu_binding (digest, email, hash, fingerprint, user_id, time, policy)
        VALUES (sha256($1), $1, $2, $3, $4, $5, 1) ON CONFLICT (digest, fingerprint) DO NOTHING";
    user_ids.iter().try_for_each(|user_id| {
        let address = BoundAddress::of_user_id(user_id);
        let hash = mail_hash(address.as_bytes());
        let now = i64::from(now.0);
        let primary = stored_fingerprint(primary);
        view.execute(SQL, &[&address.as_bytes(), &hash, &primary, user_id, &now], WRITING).map(drop)
    })
}

/// Takes away the bindings of user IDs that are gone, as far as nobody decided about them and no message was seen.
pub(super) fn remove_idle(view: &View<'_>, primary: &Fingerprint, user_ids: &[&[u8]]) -> Result<()> {
    const SQL: &str = "DELETE FROM tofu_binding WHERE digest = ANY ($1) AND fingerprint = $2 AND policy = 1
        AND NOT EXISTS (SELECT 1 FROM tofu_signature WHERE binding = tofu_binding.id)
        AND NOT EXISTS (SELECT 1 FROM tofu_encryption WHERE binding = tofu_binding.id)";
    if user_ids.is_empty() {
        return Ok(());
    }
    let digests: Vec<[u8; 32]> = user_ids
        .iter()
        .map(|user_id| verify::naming::sha256(&[BoundAddress::of_user_id(user_id).as_bytes()]))
        .collect();
    let digests: Vec<&[u8]> = digests.iter().map(<[u8; 32]>::as_slice).collect();
    view.execute(SQL, &[&digests, &stored_fingerprint(primary)], WRITING).map(drop)
}

/// Takes away everything that is remembered of these keys. Returns how many bindings it were.
pub(super) fn purge(view: &View<'_>, primaries: &[Fingerprint]) -> Result<u64> {
    const OF: &str = "(SELECT id FROM tofu_binding WHERE fingerprint = ANY ($1))";
    let stored: Vec<Vec<u8>> = primaries.iter().map(stored_fingerprint).collect();
    if stored.is_empty() {
        return Ok(0);
    }
    for table in ["tofu_signature", "tofu_encryption"] {
        view.execute(&format!("DELETE FROM {table} WHERE binding IN {OF}"), &[&stored], WRITING)?;
    }
    view.execute("DELETE FROM tofu_binding WHERE fingerprint = ANY ($1)", &[&stored], WRITING)
}
