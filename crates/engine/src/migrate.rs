//! Migrate: imports the certificates of GnuPG and of other certificate stores, GnuPG's owner trust, and its data of
//! trust on first use; then its secret keys, revocation certificates and settings.
//!
//! The sources do not change. Every packet is taken, including local signatures, user IDs without self-signature and
//! unreadable signatures, in the order of the store, with the time at which the store got it and its origin. A
//! migration can be run again at any time.

mod added_setting;
mod cert_d;
mod detail;
mod differing;
mod event;
pub(crate) mod keyboxd;
mod read;
mod revocations;
mod secret_keys;
mod secring;
mod settings;
mod source;
mod stamp;
mod take_over;
mod tofu_db;
mod trust_db;

use std::fs;
use std::path::{Path, PathBuf};

use store::{Migration, ReadJournal, Store, Timestamp};

use crate::Result;
use crate::generate::revocations_beside;
use crate::retry::transact;
use take_over::TakeOver;

pub use detail::{Detail, DetailKind, DetailOutcome};
pub use differing::Differing;
pub use event::{MigrateEvent, MigrateSummary};
pub(crate) use revocations::copy_revocations;
pub use revocations::revocations;
pub use secret_keys::{Handling, secret_keys};
pub use secring::{mark_copied_secrings, mark_secring, secring};
pub use settings::{SettingsDestination, settings};
pub use source::{Kind, MigrationSource, in_home, keyrings_in_home, usual, within};
pub use take_over::MigrateOptions;

/// Takes over the certificates and the trust that the sources hold, as one entry of the journal.
///
/// # Errors
///
/// [`crate::Error::File`] and [`crate::Error::ForeignFile`] for a source that cannot be read at all;
/// [`crate::Error::ChangedMeanwhile`] if another program changed the same certificates, then it can be run again; the
/// database's errors.
pub fn migrate(
    store: &dyn Store,
    sources: &[MigrationSource],
    options: &MigrateOptions,
    now: Timestamp,
    on_event: &mut dyn FnMut(MigrateEvent<'_>),
) -> Result<MigrateSummary> {
    let mut take_over = TakeOver::new(store, options, now);
    let mut migrations = Vec::with_capacity(sources.len());
    for source in sources {
        on_event(MigrateEvent::Source(source));
        // Taken before reading: what changes meanwhile makes the source newer.
        migrations.push(source.as_it_is(Some(now))?);
        read::read(source, &mut |item| take_over.add(source, item, on_event))?;
        take_over.plan_chunk(source, on_event)?;
    }
    take_over.finish(&migrations, on_event)
}

/// Says whether it is remembered of a source how it was when it was taken over, so that changes are noticed: not of the
/// secret keys that are used where they are, nor of the directory with the database's own revocation certificates.
pub fn is_remembered(source: &MigrationSource, database: &Path, copies_secret_keys: bool) -> bool {
    match source.kind {
        Kind::SecretKeys => copies_secret_keys,
        Kind::Revocations => {
            let own = fs::canonicalize(revocations_beside(database));
            own.ok().as_ref() != Some(&source.path)
        }
        _ => true,
    }
}

/// Returns the migrated stores that have changed since.
///
/// # Errors
///
/// The database's errors. A store that is not there any more has not changed.
pub fn outdated(snapshot: &dyn ReadJournal) -> Result<Vec<Migration>> {
    let migrations = snapshot.migrations()?.into_iter().filter(|migration| migration.done.is_some());
    Ok(migrations.filter(has_changed).collect())
}

/// A place that was taken over, in which something has changed since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPlace {
    /// The GnuPG home directory, if several of its files were taken over, else the file or directory.
    pub path: PathBuf,
    /// GnuPG's secret keys, which were copied from there, have changed.
    pub has_secret_keys: bool,
}

/// Returns the places that have to be taken over again for everything that has [changed](outdated), each once.
///
/// # Errors
///
/// The database's errors.
pub fn changed_places(snapshot: &dyn ReadJournal) -> Result<Vec<ChangedPlace>> {
    Ok(places_of(&snapshot.migrations()?, &outdated(snapshot)?))
}

/// Returns the places of these files, which have changed, as [`changed_places`] does.
pub(crate) fn places_of(known: &[Migration], outdated: &[Migration]) -> Vec<ChangedPlace> {
    let taken = known.iter().filter(|migration| migration.done.is_some());
    let homes: Vec<PathBuf> = taken.filter_map(|taken| home_of(&taken.path)).collect();
    let mut places: Vec<ChangedPlace> = Vec::new();
    for Migration { path, .. } in outdated {
        let has_secret_keys = path.ends_with(source::KEYS_OF_AGENT) || path.ends_with(secring::SECRING);
        let home = home_of(path).filter(|home| homes.iter().filter(|other| *other == home).count() > 1);
        let path = home.unwrap_or_else(|| path.clone());
        match places.iter_mut().find(|place| place.path == path) {
            Some(place) => place.has_secret_keys |= has_secret_keys,
            None => places.push(ChangedPlace { path, has_secret_keys }),
        }
    }
    places
}

fn home_of(path: &Path) -> Option<PathBuf> {
    MigrationSource::recognise(path).ok()?.home().map(Path::to_owned)
}

/// Returns the stores at the [usual] places that were not taken over. Secret keys, revocation certificates and settings
/// are none: they come with the certificates beside them.
///
/// # Errors
///
/// The database's errors.
pub fn not_taken_over(snapshot: &dyn ReadJournal) -> Result<Vec<MigrationSource>> {
    let known = snapshot.migrations()?;
    let is_taken = |source: &MigrationSource| {
        known.iter().any(|known| known.done.is_some() && known.path == source.path)
    };
    Ok(usual().into_iter().filter(|source| !source.kind.is_beside() && !is_taken(source)).collect())
}

/// Says whether anything was ever taken over.
///
/// # Errors
///
/// The database's errors.
pub fn was_done(snapshot: &dyn ReadJournal) -> Result<bool> {
    Ok(snapshot.migrations()?.iter().any(|migration| migration.done.is_some()))
}

/// Returns the keyrings in a GnuPG home directory that were neither taken over nor mentioned to the user before.
///
/// # Errors
///
/// The database's errors.
pub fn never_mentioned(snapshot: &dyn ReadJournal, home: &Path) -> Result<Vec<MigrationSource>> {
    let sources = keyrings_in_home(home);
    if sources.is_empty() {
        return Ok(sources);
    }
    let known = snapshot.migrations()?;
    Ok(sources.into_iter().filter(|source| known.iter().all(|known| known.path != source.path)).collect())
}

/// Remembers that the user was told about these sources.
///
/// # Errors
///
/// The database's errors.
pub fn mention(store: &dyn Store, sources: &[MigrationSource], command: &str, now: Timestamp) -> Result<()> {
    transact(store, command, now, |transaction| {
        sources.iter().try_for_each(|source| Ok(transaction.remember_migration(&source.as_it_is(None)?)?))
    })
}

/// Returns what is remembered of a source that was taken over, or mentioned to the user.
///
/// # Errors
///
/// The database's errors.
pub fn remembered(snapshot: &dyn ReadJournal, source: &MigrationSource) -> Result<Option<Migration>> {
    Ok(snapshot.migrations()?.into_iter().find(|known| known.path == source.path))
}

/// Says whether a source was taken over as it is now.
pub(crate) fn is_taken_over(snapshot: &dyn ReadJournal, source: &MigrationSource) -> Result<bool> {
    match remembered(snapshot, source)?.filter(|known| known.done.is_some()) {
        Some(known) => Ok(source.as_it_is(known.done)? == known),
        None => Ok(false),
    }
}

/// Remembers a source as it is now, of which everything is in the database.
pub(crate) fn remember(
    store: &dyn Store,
    source: &MigrationSource,
    command: &str,
    now: Timestamp,
) -> Result<()> {
    let migration = source.as_it_is(Some(now))?;
    transact(store, command, now, |transaction| Ok(transaction.remember_migration(&migration)?))
}

fn has_changed(migration: &Migration) -> bool {
    let now = MigrationSource::recognise(&migration.path).and_then(|source| source.as_it_is(migration.done));
    now.is_ok_and(|now| now != *migration)
}
