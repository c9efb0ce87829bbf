//! The rows of trust on first use.
//!
//! A binding has a row only where there is something that its certificate does not say: a decision, messages, that the key
//! is used, or that it is younger than the certificate. All others are read from the user IDs, so that an import of a
//! million certificates has no rows in random order to write for them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use cert::{BoundAddress, Fingerprint, Timestamp};

use crate::engine::{ByteStrings, Engine, Row, Text, stored_time};
use crate::rows::{mail_hash, stored_fingerprint};
use crate::tofu::{AUTO, Binding, BindingId, BindingSelection, MessageStatistics, Messages, VerifiedMessage};
use crate::{AssignedTrust, Error, ReadTrust, Result, owner_trust_rows};

/// The role of rows that are everybody's, such as what an import notes.
const EVERYBODY: &str = "''";

/// What is to be done with a row that is there: nothing.
const UNLESS_THERE: &str = "DO NOTHING RETURNING id";

const READING: &str = "reading bindings";
const WRITING: &str = "writing bindings";

/// Selects bindings: of kept rows those with `kept`, of user IDs those with `derived`, in the order of
/// [`ReadTrust::bindings`].
fn select<E: Engine>(kept: &str, derived: &str) -> String {
    let derived = E::DERIVED_BINDINGS.replace("{which}", derived);
    format!(
        "SELECT id, fingerprint, email, user_id, time, policy FROM {} WHERE {kept}
        UNION ALL {derived} ORDER BY 3, 2",
        E::BINDINGS
    )
}

impl<E: Engine> ReadTrust for E {
    fn owner_trust(&self, primary: &Fingerprint) -> Result<Option<AssignedTrust>> {
        owner_trust_rows::read(self, primary)
    }

    fn owner_trusts(&self) -> Result<Vec<(Fingerprint, AssignedTrust)>> {
        owner_trust_rows::read_all(self)
    }

    fn bindings(
        &self,
        selection: BindingSelection<'_>,
        visit: &mut dyn FnMut(Binding) -> ControlFlow<()>,
    ) -> Result<()> {
        const USED: &str =
            "id IN (SELECT binding FROM tofu_signature UNION SELECT binding FROM tofu_encryption)";
        let mut each = |row: Row<'_>| Ok(visit(binding(self, row)?));
        let sql = match selection {
            BindingSelection::All => select::<E>("true", "true"),
            BindingSelection::Used => select::<E>(USED, "false"),
            BindingSelection::Unnumbered => select::<E>("false", "true"),
            BindingSelection::Contested => {
                // The hashes of addresses tell which user IDs may be contested.
                let contested = format!(
                    "cert IN (SELECT cert FROM mail WHERE hash IN
                        (SELECT hash FROM mail GROUP BY hash HAVING count(*) > 1
                        UNION SELECT {} FROM {}))",
                    E::ADDRESS_HASH,
                    E::BINDINGS
                );
                format!(
                    "SELECT id, fingerprint, email, user_id, time, policy FROM (
                        SELECT *, count(*) OVER same AS keys, max(policy) OVER same AS highest FROM ({})
                        AS every WINDOW same AS (PARTITION BY email)) AS binding
                    WHERE keys > 1 OR highest > {AUTO} ORDER BY email, fingerprint",
                    select::<E>("true", &contested)
                )
            }
            BindingSelection::Addresses(addresses) => {
                let [kept, derived] = E::OF_ADDRESS;
                let sql = select::<E>(kept, derived);
                let addresses: BTreeSet<&BoundAddress> = addresses.iter().collect();
                let mut flow = ControlFlow::Continue(());
                for address in addresses {
                    let address = address.as_bytes();
                    self.each_row(&sql, &[&address, &mail_hash(address)], READING, |row| {
                        flow = each(row)?;
                        Ok(flow)
                    })?;
                    if flow.is_break() {
                        break;
                    }
                }
                return Ok(());
            }
        };
        self.each_of_many_rows(&sql, READING, each)
    }

    fn messages(&self, BindingId(id): BindingId) -> Result<Messages> {
        let seen = |table| {
            let sql = format!(
                "SELECT count(*), min(time), max(time), count(DISTINCT time / 86400) FROM {table}
                WHERE {}",
                E::OF_BINDING
            );
            let seen = self.first(&sql, &[&id], READING, |row| {
                Ok(MessageStatistics {
                    count: row.count(0)?,
                    first: row.optional_time(1)?,
                    last: row.optional_time(2)?,
                    days: row.count(3)?,
                })
            })?;
            Ok(seen.unwrap_or_default())
        };
        Ok(Messages { verified: seen("tofu_signature")?, encrypted: seen("tofu_encryption")? })
    }

    fn verified_messages(&self, BindingId(id): BindingId) -> Result<Vec<VerifiedMessage>> {
        const SQL: &str = "SELECT sig_digest, origin, sig_time, time FROM tofu_signature WHERE binding = ?1";
        self.list(SQL, &[&id], READING, |row| {
            Ok(VerifiedMessage {
                digest: row.get(0)?,
                origin: row.optional_text(1)?.unwrap_or_default(),
                signed: row.time(2)?,
                verified: row.time(3)?,
            })
        })
    }

    fn encrypted_messages(&self, BindingId(id): BindingId) -> Result<Vec<Timestamp>> {
        const SQL: &str = "SELECT time FROM tofu_encryption WHERE binding = ?1 ORDER BY time";
        self.list(SQL, &[&id], READING, |row| row.time(0))
    }
}

fn binding(engine: &impl Engine, row: Row<'_>) -> Result<Binding> {
    let id: Option<i64> = row.get(0)?;
    let broken = || Error::CorruptBinding { path: engine.path().to_owned(), binding: id.unwrap_or_default() };
    Ok(Binding {
        id: id.map(BindingId),
        fingerprint: row.fingerprint(1)?.ok_or_else(broken)?,
        address: BoundAddress::from_normalised(row.get(2)?),
        user_id: row.get(3)?,
        since: row.time(4)?,
        policy: row.small(5)?,
    })
}

/// Writes a binding's row, over the one that is there.
pub(crate) fn write<E: Engine>(engine: &E, binding: &Binding) -> Result<BindingId> {
    const UPDATE: &str = "DO UPDATE SET user_id = excluded.user_id, time = excluded.time, policy = excluded.policy RETURNING id";
    let id = insert(engine, E::OWN_ROLE, UPDATE, binding)?;
    Ok(BindingId(id.expect("an insertion returns its row")))
}

/// Writes a binding's row unless there is one.
pub(crate) fn add<E: Engine>(engine: &E, binding: &Binding) -> Result<()> {
    insert(engine, E::OWN_ROLE, UNLESS_THERE, binding).map(drop)
}

/// Inserts the row of a role.
fn insert<E: Engine>(engine: &E, role: &str, if_there: &str, binding: &Binding) -> Result<Option<i64>> {
    let Binding { fingerprint, address, user_id, since, policy, .. } = binding;
    let address = address.as_bytes();
    engine.first(
        &[&E::INSERT_BINDING.replace("{role}", role), if_there].join(" "),
        &[
            &address,
            &mail_hash(address),
            &stored_fingerprint(fingerprint),
            user_id,
            &stored_time(*since),
            &i16::from(*policy),
        ],
        WRITING,
        |row| row.get(0),
    )
}

/// Takes a binding's row away.
pub(crate) fn remove(engine: &impl Engine, id: BindingId) -> Result<()> {
    engine.execute("DELETE FROM tofu_binding WHERE id = ?1", &[&id.0], WRITING).map(drop)
}

/// Notes a signed message, unless the same signature was noted before, whoever handed it in; says whether it is new.
pub(crate) fn add_verified(engine: &impl Engine, id: BindingId, message: &VerifiedMessage) -> Result<bool> {
    const SQL: &str = "INSERT INTO tofu_signature (binding, sig_digest, origin, sig_time, time)
        SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS
        (SELECT 1 FROM tofu_signature WHERE binding = ?1 AND sig_digest = ?2 AND sig_time = ?4)
        ON CONFLICT DO NOTHING";
    let VerifiedMessage { digest, origin, signed, verified } = message;
    let (signed, verified) = (stored_time(*signed), stored_time(*verified));
    Ok(engine.execute(SQL, &[&id.0, digest, &Text(origin), &signed, &verified], WRITING)? > 0)
}

/// Takes a signed message away; says whether it was there.
pub(crate) fn remove_verified(
    engine: &impl Engine,
    id: BindingId,
    message: &VerifiedMessage,
) -> Result<bool> {
    const SQL: &str = "DELETE FROM tofu_signature
        WHERE binding = ?1 AND sig_digest = ?2 AND origin = ?3 AND sig_time = ?4";
    let VerifiedMessage { digest, origin, signed, .. } = message;
    Ok(engine.execute(SQL, &[&id.0, digest, &Text(origin), &stored_time(*signed)], WRITING)? > 0)
}

/// Notes a message that was encrypted.
pub(crate) fn add_encrypted(engine: &impl Engine, id: BindingId, time: Timestamp) -> Result<()> {
    const SQL: &str = "INSERT INTO tofu_encryption (binding, time) VALUES (?1, ?2)";
    engine.execute(SQL, &[&id.0, &stored_time(time)], WRITING).map(drop)
}

/// Takes one message away that was encrypted at that time; says whether there was one.
pub(crate) fn remove_encrypted<E: Engine>(engine: &E, id: BindingId, time: Timestamp) -> Result<bool> {
    let row = E::ENCRYPTION_ROW;
    let sql = format!(
        "DELETE FROM tofu_encryption WHERE {row} =
        (SELECT {row} FROM tofu_encryption WHERE binding = ?1 AND time = ?2 LIMIT 1)"
    );
    Ok(engine.execute(&sql, &[&id.0, &stored_time(time)], WRITING)? > 0)
}

/// Takes every message away.
pub(crate) fn remove_messages(engine: &impl Engine, id: BindingId) -> Result<()> {
    engine.execute("DELETE FROM tofu_signature WHERE binding = ?1", &[&id.0], WRITING)?;
    engine.execute("DELETE FROM tofu_encryption WHERE binding = ?1", &[&id.0], WRITING).map(drop)
}

/// Updates the bindings of a certificate whose user IDs changed.
pub(crate) fn rebind(
    engine: &impl Engine,
    primary: &Fingerprint,
    before: &[(i64, Vec<u8>)],
    after: &[(i64, Vec<u8>)],
    now: Timestamp,
) -> Result<()> {
    remove_idle(engine, primary, without(before, after))?;
    // Of several new ones with the same address the first one stays.
    without(after, before).try_for_each(|user_id| {
        let binding = Binding {
            id: None,
            fingerprint: *primary,
            address: BoundAddress::of_user_id(user_id),
            user_id: user_id.to_vec(),
            since: now,
            policy: AUTO,
        };
        insert(engine, EVERYBODY, UNLESS_THERE, &binding).map(drop)
    })
}

/// Takes away the bindings of user IDs that are gone, as far as nobody decided about them and no message was seen.
pub(crate) fn remove_idle<'u, E: Engine>(
    engine: &E,
    primary: &Fingerprint,
    user_ids: impl Iterator<Item = &'u [u8]>,
) -> Result<()> {
    let addresses: Vec<BoundAddress> = user_ids.map(BoundAddress::of_user_id).collect();
    if addresses.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "DELETE FROM tofu_binding WHERE {} AND fingerprint = ?2 AND policy = {AUTO}
        AND NOT EXISTS (SELECT 1 FROM tofu_signature WHERE binding = tofu_binding.id)
        AND NOT EXISTS (SELECT 1 FROM tofu_encryption WHERE binding = tofu_binding.id)",
        E::OF_ADDRESSES
    );
    let addresses = ByteStrings(addresses.iter().map(BoundAddress::as_bytes).collect());
    engine.execute(&sql, &[&addresses, &stored_fingerprint(primary)], WRITING).map(drop)
}

/// Returns the user IDs of a list that are not in the other.
fn without<'a>(list: &'a [(i64, Vec<u8>)], other: &[(i64, Vec<u8>)]) -> impl Iterator<Item = &'a [u8]> {
    let in_other = move |value: &[u8]| other.iter().any(|(_, there)| there == value);
    list.iter().map(|(_, value)| value.as_slice()).filter(move |value| !in_other(value))
}

/// Takes away everything that is remembered of these keys, in one pass over all rows: there is no index by
/// fingerprint, since purging is rare and imports are not. Returns how many bindings it were.
pub(crate) fn purge<E: Engine>(engine: &E, primaries: &[Fingerprint]) -> Result<u64> {
    if primaries.is_empty() {
        return Ok(0);
    }
    let stored: Vec<Vec<u8>> = primaries.iter().map(stored_fingerprint).collect();
    let stored = ByteStrings(stored.iter().map(Vec::as_slice).collect());
    let purged = format!("FROM tofu_binding WHERE fingerprint {}", E::IN_BYTE_STRINGS);
    for messages in ["tofu_signature", "tofu_encryption"] {
        let sql = format!("DELETE FROM {messages} WHERE binding IN (SELECT id {purged})");
        engine.execute(&sql, &[&stored], WRITING)?;
    }
    engine.execute(&format!("DELETE {purged}"), &[&stored], WRITING)
}
