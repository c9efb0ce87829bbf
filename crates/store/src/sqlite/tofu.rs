//! The memory of trust on first use.
//!
//! Its rows are found by address, then fingerprint: rows of a batch are gathered and written in this order.

use std::collections::HashSet;
use std::ops::ControlFlow;

use cert::{BoundAddress, Fingerprint, Timestamp};
use rusqlite::{Params, Row, params};

use super::read::{View, parse_fingerprint, stored_fingerprint};
use crate::error::Context;
use crate::tofu::{
    AUTO, Binding, BindingId, BindingSelection, Messages, ReadBindings, Seen, VerifiedMessage,
};
use crate::{Error, Result};

const READING: &str = "reading bindings";
const WRITING: &str = "writing bindings";

/// Bindings that are gathered while missing ones are made.
const GATHERED: usize = 20_000;

/// The columns of a binding, in the order in which [`binding`] reads them.
macro_rules! select_bindings {
    ($where:literal) => {
        concat!(
            "SELECT id, fingerprint, email, user_id, time, policy FROM tofu_binding ",
            $where,
            " ORDER BY email, fingerprint"
        )
    };
}

impl ReadBindings for View<'_> {
    fn bindings(
        &self,
        selection: BindingSelection<'_>,
        visit: &mut dyn FnMut(Binding) -> ControlFlow<()>,
    ) -> Result<()> {
        bindings(self, selection, visit)
    }

    fn messages(&self, binding: BindingId) -> Result<Messages> {
        messages(self, binding)
    }
}

fn bindings(
    view: &View<'_>,
    selection: BindingSelection<'_>,
    visit: &mut dyn FnMut(Binding) -> ControlFlow<()>,
) -> Result<()> {
    const CONTESTED: &str = select_bindings!(
        "WHERE email IN (SELECT email FROM tofu_binding GROUP BY email HAVING count(*) > 1
         UNION SELECT email FROM tofu_binding WHERE policy <> 1)"
    );
    const USED: &str = select_bindings!(
        "WHERE id IN (SELECT binding FROM tofu_signature UNION SELECT binding FROM tofu_encryption)"
    );
    match selection {
        BindingSelection::Used => view.rows(USED, [], READING, |row| Ok(visit(binding(view, row)?))),
        BindingSelection::All => {
            view.rows(select_bindings!(""), [], READING, |row| Ok(visit(binding(view, row)?)))
        }
        BindingSelection::Contested => {
            view.rows(CONTESTED, [], READING, |row| Ok(visit(binding(view, row)?)))
        }
        BindingSelection::Addresses(addresses) => {
            let mut addresses: Vec<&BoundAddress> = addresses.iter().collect();
            addresses.sort_unstable();
            addresses.dedup();
            let mut flow = ControlFlow::Continue(());
            for address in addresses {
                view.rows(select_bindings!("WHERE email = ?1"), [address.as_bytes()], READING, |row| {
                    flow = visit(binding(view, row)?);
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

fn binding(view: &View<'_>, row: &Row<'_>) -> Result<Binding> {
    let id: i64 = view.column(row, 0)?;
    let broken = || Error::CorruptBinding { path: view.path().to_owned(), binding: id };
    Ok(Binding {
        id: BindingId(id),
        fingerprint: parse_fingerprint(view.blob(row, 1)?).ok_or_else(broken)?,
        address: BoundAddress::from_normalised(view.column(row, 2)?),
        user_id: view.column(row, 3)?,
        since: Timestamp(view.column(row, 4)?),
        policy: view.column(row, 5)?,
    })
}

fn messages(view: &View<'_>, BindingId(id): BindingId) -> Result<Messages> {
    const VERIFIED: &str = "SELECT count(*), min(time), max(time), count(DISTINCT time / 86400)
        FROM tofu_signature WHERE binding = ?1";
    const ENCRYPTED: &str = "SELECT count(*), min(time), max(time), count(DISTINCT time / 86400)
        FROM tofu_encryption WHERE binding = ?1";
    let seen = |sql| {
        let mut seen = Seen::default();
        view.rows(sql, [id], READING, |row| {
            seen = Seen {
                count: view.column::<i64>(row, 0)?.unsigned_abs(),
                first: view.column::<Option<u32>>(row, 1)?.map(Timestamp),
                last: view.column::<Option<u32>>(row, 2)?.map(Timestamp),
                days: view.column::<i64>(row, 3)?.unsigned_abs(),
            };
            Ok(ControlFlow::Break(()))
        })?;
        Ok(seen)
    };
    Ok(Messages { verified: seen(VERIFIED)?, encrypted: seen(ENCRYPTED)? })
}

/// Bindings of certificates that come in, until the batch is complete.
#[derive(Default)]
pub(super) struct NewBindings {
    rows: Vec<(BoundAddress, Vec<u8>, Vec<u8>, Timestamp)>,
}

impl NewBindings {
    /// Adds the bindings of a certificate with these user IDs, which came at `since`.
    pub(super) fn add(&mut self, primary: &Fingerprint, user_ids: &[(i64, Vec<u8>)], since: Timestamp) {
        let primary = stored_fingerprint(primary);
        self.rows.extend(
            user_ids
                .iter()
                .map(|(_, value)| (BoundAddress::of_user_id(value), primary.clone(), value.clone(), since)),
        );
    }

    /// Writes those that are not there yet; of several user IDs with the same address the first one stays.
    pub(super) fn flush(mut self, view: &View<'_>) -> Result<()> {
        const SQL: &str = "INSERT OR IGNORE INTO tofu_binding (email, fingerprint, user_id, time, policy)
            VALUES (?1, ?2, ?3, ?4, 1)";
        self.rows.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
        self.rows.dedup_by(|later, first| (&later.0, &later.1) == (&first.0, &first.1));
        let mut statement = view.connection().prepare_cached(SQL).context(view.path(), WRITING)?;
        for (address, primary, user_id, since) in self.rows {
            let row = params![address.as_bytes(), primary, user_id, since.0];
            statement.execute(row).context(view.path(), WRITING)?;
        }
        Ok(())
    }
}

/// Takes away the bindings of user IDs that are gone, as far as nobody decided about them and no message was seen.
pub(super) fn remove_idle(
    view: &View<'_>,
    primary: &Fingerprint,
    gone: impl IntoIterator<Item = BoundAddress>,
) -> Result<()> {
    const SQL: &str = "DELETE FROM tofu_binding WHERE email = ?1 AND fingerprint = ?2 AND policy = 1
        AND NOT EXISTS (SELECT 1 FROM tofu_signature WHERE binding = tofu_binding.id)
        AND NOT EXISTS (SELECT 1 FROM tofu_encryption WHERE binding = tofu_binding.id)";
    let primary = stored_fingerprint(primary);
    gone.into_iter()
        .try_for_each(|address| execute(view, SQL, params![address.as_bytes(), primary]).map(drop))
}

/// Takes away everything that is remembered of these keys, in one pass over all bindings: there is no index by
/// fingerprint, since purging is rare and imports are not.
pub(super) fn purge(view: &View<'_>, primaries: &[Fingerprint]) -> Result<()> {
    if primaries.is_empty() {
        return Ok(());
    }
    let primaries: HashSet<&Fingerprint> = primaries.iter().collect();
    let mut ids = Vec::new();
    view.bindings(BindingSelection::All, &mut |binding| {
        ids.extend(primaries.contains(&binding.fingerprint).then_some(binding.id));
        ControlFlow::Continue(())
    })?;
    ids.into_iter().try_for_each(|id| {
        forget_messages(view, id)?;
        execute(view, "DELETE FROM tofu_binding WHERE id = ?1", [id.0]).map(drop)
    })
}

/// Says whether all user IDs of a certificate have their bindings.
pub(super) fn is_bound(view: &View<'_>, primary: &Fingerprint, user_ids: &[(i64, Vec<u8>)]) -> Result<bool> {
    const SQL: &str = "SELECT 1 FROM tofu_binding WHERE email = ?1 AND fingerprint = ?2";
    let primary = stored_fingerprint(primary);
    user_ids.iter().try_fold(true, |all, (_, value)| {
        Ok(all && view.exists(SQL, params![BoundAddress::of_user_id(value).as_bytes(), primary])?)
    })
}

/// Makes the bindings that are missing, as of when their certificates were first seen.
pub(super) fn complete(view: &View<'_>) -> Result<()> {
    const SQL: &str = "SELECT fingerprint, value, first_seen FROM user_id JOIN cert ON cert = id
        ORDER BY cert, component";
    let mut bindings = NewBindings::default();
    view.rows(SQL, [], READING, |row| {
        if let Some(primary) = parse_fingerprint(view.blob(row, 0)?) {
            bindings.add(&primary, &[(0, view.column(row, 1)?)], Timestamp(view.column(row, 2)?));
        }
        if bindings.rows.len() >= GATHERED {
            std::mem::take(&mut bindings).flush(view)?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    bindings.flush(view)
}

/// Notes what the user decided; the binding is made if it is not there.
pub(super) fn decide(
    view: &View<'_>,
    fingerprint: &Fingerprint,
    address: &BoundAddress,
    user_id: &[u8],
    policy: u8,
    now: Timestamp,
) -> Result<BindingId> {
    const SQL: &str = "INSERT INTO tofu_binding (email, fingerprint, user_id, time, policy)
        VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (email, fingerprint) DO UPDATE SET policy = ?5 RETURNING id";
    let row = params![address.as_bytes(), stored_fingerprint(fingerprint), user_id, now.0, policy];
    returned_id(view, SQL, row)
}

/// Takes over a binding that another program kept.
pub(super) fn take_over(view: &View<'_>, binding: &Binding) -> Result<BindingId> {
    const SQL: &str = "INSERT INTO tofu_binding (email, fingerprint, user_id, time, policy)
        VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (email, fingerprint)
        DO UPDATE SET time = min(time, ?4), policy = CASE policy WHEN 1 THEN ?5 ELSE policy END RETURNING id";
    let Binding { fingerprint, address, user_id, since, policy, .. } = binding;
    let row = params![address.as_bytes(), stored_fingerprint(fingerprint), user_id, since.0, policy];
    returned_id(view, SQL, row)
}

/// Forgets the decision and the messages, and the binding itself where its certificate is not there.
pub(super) fn forget(view: &View<'_>, id: BindingId) -> Result<()> {
    let mut fingerprint = None;
    view.rows("SELECT fingerprint FROM tofu_binding WHERE id = ?1", [id.0], READING, |row| {
        fingerprint = parse_fingerprint(view.blob(row, 0)?);
        Ok(ControlFlow::Break(()))
    })?;
    forget_messages(view, id)?;
    let here = fingerprint.map(|fingerprint| view.primary(&fingerprint)).transpose()?.flatten().is_some();
    let sql = match here {
        true => "UPDATE tofu_binding SET policy = ?2 WHERE id = ?1",
        false => "DELETE FROM tofu_binding WHERE id = ?1 AND ?2 = ?2",
    };
    execute(view, sql, params![id.0, AUTO]).map(drop)
}

fn forget_messages(view: &View<'_>, BindingId(id): BindingId) -> Result<()> {
    execute(view, "DELETE FROM tofu_signature WHERE binding = ?1", [id])?;
    execute(view, "DELETE FROM tofu_encryption WHERE binding = ?1", [id]).map(drop)
}

/// Notes a signed message, unless the same signature was noted before, whoever handed it in.
pub(super) fn add_verified(view: &View<'_>, id: BindingId, message: &VerifiedMessage) -> Result<bool> {
    const SQL: &str = "INSERT INTO tofu_signature (binding, sig_digest, origin, sig_time, time)
        SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS
        (SELECT 1 FROM tofu_signature WHERE binding = ?1 AND sig_digest = ?2 AND sig_time = ?4)
        ON CONFLICT DO NOTHING";
    let VerifiedMessage { digest, origin, signed, verified } = message;
    Ok(execute(view, SQL, params![id.0, digest, origin, signed.0, verified.0])? > 0)
}

/// Notes messages that were encrypted, so that there are as many of each second as there.
pub(super) fn take_over_encrypted(view: &View<'_>, id: BindingId, times: &[Timestamp]) -> Result<()> {
    const SQL: &str = "INSERT INTO tofu_encryption (binding, time) SELECT ?1, ?2
        WHERE (SELECT count(*) FROM tofu_encryption WHERE binding = ?1 AND time = ?2) < ?3";
    let mut times = times.to_vec();
    times.sort_unstable();
    for of_second in times.chunk_by(|one, other| one == other) {
        for (time, number) in of_second.iter().zip(1_u32..) {
            execute(view, SQL, params![id.0, time.0, number])?;
        }
    }
    Ok(())
}

/// Notes a message that was encrypted.
pub(super) fn add_encrypted(view: &View<'_>, id: BindingId, time: Timestamp) -> Result<()> {
    const SQL: &str = "INSERT INTO tofu_encryption (binding, time) VALUES (?1, ?2)";
    execute(view, SQL, params![id.0, time.0]).map(drop)
}

fn execute(view: &View<'_>, sql: &str, parameters: impl Params) -> Result<usize> {
    let mut statement = view.connection().prepare_cached(sql).context(view.path(), WRITING)?;
    statement.execute(parameters).context(view.path(), WRITING)
}

fn returned_id(view: &View<'_>, sql: &str, parameters: impl Params) -> Result<BindingId> {
    let mut statement = view.connection().prepare_cached(sql).context(view.path(), WRITING)?;
    statement.query_row(parameters, |row| row.get(0)).map(BindingId).context(view.path(), WRITING)
}
