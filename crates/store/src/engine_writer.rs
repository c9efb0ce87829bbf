//! What the transactions of both engines write in the same way.

use std::collections::HashMap;

use cert::{Fingerprint, Timestamp};

use crate::engine::Engine;
use crate::journal::change_row::NewChange;
use crate::journal::entry::Entry;
use crate::rows::stored_fingerprint;
use crate::{AssignedTrust, ReadTrust, Result, binding_rows, provenance};

const DOING: &str = "writing";
const FORGET: &str = "DELETE FROM owner_trust WHERE fingerprint = ?1";

/// A write transaction of an engine.
pub(crate) trait EngineWriter {
    /// What it reads and writes with.
    type Engine: Engine;

    /// Returns what it reads and writes with.
    fn engine(&self) -> &Self::Engine;

    /// Returns the time of the transaction.
    fn now(&self) -> Timestamp;

    /// Writes into the journal what becomes of a key.
    fn record(&mut self, key: &Fingerprint, change: NewChange<'_>) -> Result<()>;
}

/// Gives a key an owner trust, or takes it away.
pub(crate) fn set_owner_trust(
    writer: &mut impl EngineWriter,
    primary: &Fingerprint,
    trust: Option<AssignedTrust>,
) -> Result<()> {
    const SET: &str = "INSERT INTO owner_trust (fingerprint, value) VALUES (?1, ?2)
        ON CONFLICT (fingerprint) DO UPDATE SET value = ?2";
    let before = writer.engine().owner_trust(primary)?;
    if before == trust {
        return Ok(());
    }
    writer.record(primary, NewChange::owner_trust(before, trust))?;
    let stored = stored_fingerprint(primary);
    let done = match trust {
        Some(trust) => writer.engine().execute(SET, &[&stored, &i16::from(trust.number())], DOING),
        None => writer.engine().execute(FORGET, &[&stored], DOING),
    };
    done.map(drop)
}

/// Takes away the owner trust of keys.
pub(crate) fn forget_owner_trust(writer: &mut impl EngineWriter, primaries: &[Fingerprint]) -> Result<()> {
    let assigned: HashMap<Fingerprint, AssignedTrust> = writer.engine().owner_trusts()?.into_iter().collect();
    let mut assigned = primaries.iter().filter(|primary| assigned.contains_key(primary));
    assigned.try_for_each(|primary| set_owner_trust(writer, primary, None))
}

/// Takes away everything that is left of a certificate that is not there; returns how much it was.
pub(crate) fn purge_remains(engine: &impl Engine, primary: &Fingerprint) -> Result<u64> {
    let stored = stored_fingerprint(primary);
    // The origins first: it is the journal that tells whose they are.
    Ok(provenance::forget(engine, None, &stored)?
        + Entry::purge(engine, &stored)?
        + binding_rows::purge(engine, &[*primary])?
        + engine.execute(FORGET, &[&stored], DOING)?)
}
