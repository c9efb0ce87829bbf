//! The rows of owner trust.

use std::collections::HashMap;

use cert::Fingerprint;

use crate::engine::{ByteStrings, Engine, Row};
use crate::engine_writer::EngineWriter;
use crate::journal::change_row::NewChange;
use crate::rows::stored_fingerprint;
use crate::{AssignedTrust, Result};

const READING: &str = "reading owner trust";
const WRITING: &str = "writing owner trust";

/// Reads the owner trust of a key.
pub(crate) fn read<E: Engine>(engine: &E, primary: &Fingerprint) -> Result<Option<AssignedTrust>> {
    let sql = format!("SELECT value FROM {} WHERE fingerprint = ?1", E::OWNER_TRUSTS);
    let number = engine.first(&sql, &[&stored_fingerprint(primary)], READING, |row| row.small(0))?;
    Ok(number.and_then(AssignedTrust::from_number))
}

/// Reads the owner trust of all keys, in the order of their fingerprints.
pub(crate) fn read_all<E: Engine>(engine: &E) -> Result<Vec<(Fingerprint, AssignedTrust)>> {
    let sql = format!("SELECT fingerprint, value FROM {} ORDER BY fingerprint", E::OWNER_TRUSTS);
    Ok(engine.list(&sql, &[], READING, from_row)?.into_iter().flatten().collect())
}

/// Gives a key an owner trust, or takes it away.
pub(crate) fn set<W: EngineWriter>(
    writer: &mut W,
    primary: &Fingerprint,
    trust: Option<AssignedTrust>,
) -> Result<()> {
    let before = read(writer.engine(), primary)?;
    if before == trust {
        return Ok(());
    }
    writer.record(primary, NewChange::owner_trust(before, trust))?;
    let stored = stored_fingerprint(primary);
    let done = match trust {
        Some(trust) => {
            let number = i16::from(trust.number());
            writer.engine().execute(W::Engine::SET_OWNER_TRUST, &[&stored, &number], WRITING)
        }
        None => writer.engine().execute(W::Engine::UNSET_OWNER_TRUST, &[&stored], WRITING),
    };
    done.map(drop)
}

/// Takes away the owner trust of keys.
pub(crate) fn forget<W: EngineWriter>(writer: &mut W, primaries: &[Fingerprint]) -> Result<()> {
    if primaries.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "DELETE FROM owner_trust WHERE fingerprint {}{} RETURNING fingerprint, value",
        W::Engine::IN_BYTE_STRINGS,
        W::Engine::AND_OWN
    );
    let stored: Vec<Vec<u8>> = primaries.iter().map(stored_fingerprint).collect();
    let stored = ByteStrings(stored.iter().map(Vec::as_slice).collect());
    let forgotten = writer.engine().list(&sql, &[&stored], WRITING, from_row)?;
    let mut forgotten: HashMap<Fingerprint, AssignedTrust> = forgotten.into_iter().flatten().collect();
    let known = primaries.iter().filter_map(|primary| forgotten.remove_entry(primary));
    let changes: Vec<_> =
        known.map(|(primary, trust)| (primary, NewChange::owner_trust(Some(trust), None))).collect();
    writer.record_all(changes)
}

/// Takes away the owner trust of a key without writing so into the journal; returns how many rows it were.
pub(crate) fn purge(engine: &impl Engine, fingerprint: &[u8]) -> Result<u64> {
    engine.execute("DELETE FROM owner_trust WHERE fingerprint = ?1", &[&fingerprint], WRITING)
}

fn from_row(row: Row<'_>) -> Result<Option<(Fingerprint, AssignedTrust)>> {
    Ok(row.fingerprint(0)?.zip(AssignedTrust::from_number(row.small(1)?)))
}
