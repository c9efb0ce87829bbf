//! GnuPG's own keyrings in a home directory, which somebody may expect to see here.

use std::path::Path;

use keyhoard::cert::Timestamp;
use keyhoard::migrate::{self, Source};
use keyhoard::store::Store;

use crate::home::Home;
use crate::streams::Streams;

/// Points out the keyrings of GnuPG that were never taken over, with the command that does it; once for each.
///
/// That it was said is remembered in the database, unless there is none yet or it cannot be written to.
pub(crate) fn point_out(
    home: &Home,
    database: &Path,
    store: Option<&dyn Store>,
    now: Timestamp,
    streams: &mut Streams,
) -> keyhoard::Result<()> {
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
    let (database, home) = (keyhoard::database::shown(database), home.directory().display());
    streams.info(format_args!("Note: this takes them over: keyhoard --db '{database}' migrate '{home}'"));
    if let Some(store) = store {
        // Said again next time, which is no reason to fail now.
        let _ = migrate::mention(store, &sources, "gpg-keyhoard (keyrings pointed out)", now);
    }
    Ok(())
}
