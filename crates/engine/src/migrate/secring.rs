//! `secring.gpg`, in which GnuPG before 2.1 kept secret keys. They are taken over once, so that keys that are deleted later
//! do not come back.

use std::fs::{self, File};
use std::path::Path;

use store::{Store, Timestamp};

use super::detail::{Detail, DetailOutcome};
use super::source::{MigrationSource, homes};
use crate::Result;
use crate::retry::transact;

pub(super) const SECRING: &str = "secring.gpg";
/// The file with which a later GnuPG notes that its agent has these keys.
const IN_AGENT: &str = ".gpg-v21-migrated";

/// Returns the secret keys of GnuPG before 2.1 in a home directory, unless there are none or gpg-agent has them.
pub fn secring(home: &Path) -> Option<MigrationSource> {
    let file = home.join(SECRING);
    let has_keys = fs::metadata(&file).is_ok_and(|metadata| metadata.len() > 0);
    let is_left = has_keys && !home.join(IN_AGENT).exists();
    is_left.then(|| MigrationSource::recognise(&file).ok()).flatten()
}

/// Notes that the secret keys of GnuPG before 2.1 in a home directory were taken over: as GnuPG does it if gpg-agent has
/// them, else in the database.
///
/// # Errors
///
/// The database's errors.
pub fn mark_secring(
    store: &dyn Store,
    home: &Path,
    are_in_agent: bool,
    command: &str,
    now: Timestamp,
) -> Result<()> {
    if are_in_agent && File::create_new(home.join(IN_AGENT)).is_ok() {
        return Ok(());
    }
    let Some(source) = secring(home) else { return Ok(()) };
    let migration = source.as_it_is(Some(now))?;
    transact(store, command, now, |transaction| Ok(transaction.remember_migration(&migration)?))
}

/// Notes the same for the home directories that sources are in, if all of these keys were copied.
///
/// # Errors
///
/// The database's errors.
pub fn mark_copied_secrings(
    store: &dyn Store,
    sources: &[MigrationSource],
    details: &[Detail],
    command: &str,
    now: Timestamp,
) -> Result<()> {
    for home in homes(sources) {
        let Some(source) = secring(&home) else { continue };
        let mut of_file = details.iter().filter(|detail| detail.path == source.path);
        if of_file.all(|detail| matches!(detail.outcome, DetailOutcome::Taken | DetailOutcome::Here)) {
            mark_secring(store, &home, false, command, now)?;
        }
    }
    Ok(())
}
