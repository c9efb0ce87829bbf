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
    let sql = format!("SELECT value, {} FROM {} WHERE fingerprint = ?1", engine.by_option(), E::OWNER_TRUSTS);
    let read = |row: Row<'_>| Ok(AssignedTrust::stored(row.small(0)?, row.get(1)?));
    Ok(engine.first(&sql, &[&stored_fingerprint(primary)], READING, read)?.flatten())
}

/// Reads the owner trust of all keys, in the order of their fingerprints.
pub(crate) fn read_all<E: Engine>(engine: &E) -> Result<Vec<(Fingerprint, AssignedTrust)>> {
    let sql = format!(
        "SELECT fingerprint, value, {} FROM {} ORDER BY fingerprint",
        engine.by_option(),
        E::OWNER_TRUSTS
    );
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
    let is_by_option = trust.is_some_and(AssignedTrust::is_by_option);
    if is_by_option {
        writer.engine().keep_options(writer.now())?;
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
    done?;
    if is_by_option {
        let sql =
            format!("UPDATE owner_trust SET by_option = true WHERE fingerprint = ?1{}", W::Engine::AND_OWN);
        writer.engine().execute(&sql, &[&stored], WRITING)?;
    }
    Ok(())
}

/// Takes away the owner trust of keys.
pub(crate) fn forget<W: EngineWriter>(writer: &mut W, primaries: &[Fingerprint]) -> Result<()> {
    if primaries.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "DELETE FROM owner_trust WHERE fingerprint {}{} RETURNING fingerprint, value, {}",
        W::Engine::IN_BYTE_STRINGS,
        W::Engine::AND_OWN,
        writer.engine().by_option()
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
    Ok(row.fingerprint(0)?.zip(AssignedTrust::stored(row.small(1)?, row.get(2)?)))
}
