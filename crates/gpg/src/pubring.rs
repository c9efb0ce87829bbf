//! `write-pubring` in the configuration: `pubring.kbx` of the home directory is a copy of its database.

use std::path::Path;

use engine::database;
use engine::pubring_copy::PubringCopy;
use engine::store::Store;

use crate::settings::Settings;
use crate::streams::Streams;

/// Says whether this database has a copy in the home directory. One on a server has none: other machines would change it.
pub(crate) fn is_copied(database: &Path, settings: &Settings) -> bool {
    settings.writes_pubring && !settings.dry_run && !database::is_server(database)
}

/// Takes over what another program put into `pubring.kbx`.
pub(crate) fn take_over(store: &dyn Store, settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let home = settings.home.directory();
    if let Some(read) = PubringCopy::new(store, home, settings.now).take_over()?
        && !settings.quiet
    {
        let file = home.join("pubring.kbx");
        streams.info(format_args!("Note: {read} keys in '{}' were taken over", file.display()));
    }
    Ok(())
}

/// Writes `pubring.kbx` anew after a command that may have changed the database.
pub(crate) fn write(settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let path = settings.home.database()?;
    let home = settings.home.directory();
    if !is_copied(&path, settings) || !streams.has_opened_database() || !home.is_dir() {
        return Ok(());
    }
    let store = database::open(&path)?;
    let written = PubringCopy::new(store.as_ref(), home, settings.now).write()?;
    if written.left_out > 0 && settings.verbose > 0 {
        let count = written.left_out;
        streams.info(format_args!("{count} keys are not in pubring.kbx, which can have none of their kind"));
    }
    Ok(())
}
