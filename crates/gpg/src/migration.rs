//! GnuPG's own keyrings in a home directory, whose keys are not in the database.

use std::path::Path;

use engine::cert::Timestamp;
use engine::migrate::{self, Source};
use engine::store::Store;

use crate::home::Home;
use crate::streams::Streams;

/// Names the keyrings of GnuPG that were never migrated, once each, with the command that migrates them.
///
/// The database records that they were named, unless there is none yet or it cannot be written to.
pub(crate) fn point_out(
    home: &Home,
    database: &Path,
    store: Option<&dyn Store>,
    now: Timestamp,
    streams: &mut Streams,
) -> engine::Result<()> {
    let sources = match store {
        Some(store) => migrate::never_mentioned(store.snapshot()?.as_ref(), home.directory())?,
        None => migrate::keyrings_in_home(home.directory()),
    };
    if sources.is_empty() {
        return Ok(());
    }
    for Source { path, .. } in &sources {
        streams.info(format_args!("Note: the keys in '{}' are not in this database", path.display()));
    }
    let (database, home) = (engine::database::shown(database), home.directory().display());
    streams.info(format_args!("Note: this takes them over: keyhoard --db '{database}' migrate '{home}'"));
    if let Some(store) = store {
        // If that fails, they are named again next time.
        let _ = migrate::mention(store, &sources, "gpg-keyhoard (keyrings pointed out)", now);
    }
    Ok(())
}
