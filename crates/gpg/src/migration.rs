//! GnuPG's own keyrings in a home directory, whose keys are not in the database.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use engine::configuration::{Configuration, ImportHome};
use engine::database;
use engine::migrate::{self, MigrateEvent, MigrateOptions, MigrationSource};
use engine::store::Store;

use crate::prompt::{self, Question};
use crate::pubring;
use crate::settings::Settings;
use crate::streams::Streams;

/// What became of keys that GnuPG has in the home directory and that are not in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FirstUse {
    /// There are none, or the configuration says that they are no concern.
    Nothing,
    TakenOver,
    /// They stay in this file, which is read as long as there is no database.
    LeftIn(PathBuf),
}

/// Takes over what GnuPG has in the home directory when keyrings are found there that were never migrated, or names them,
/// as `import-home` and `write-pubring` in the configuration say.
///
/// They are named once there is a database, in which that is recorded if it can be written to.
pub(crate) fn first_use(
    database: &Path,
    store: Option<&dyn Store>,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<FirstUse> {
    let home = settings.home.directory();
    let has_copy = pubring::is_copied(database, settings);
    if let Some(store) = store.filter(|_| has_copy) {
        pubring::take_over(store, settings, streams)?;
    }
    let sources = match store {
        Some(store) => migrate::never_mentioned(store.snapshot()?.as_ref(), home)?,
        None => migrate::keyrings_in_home(home),
    };
    if sources.is_empty() {
        return Ok(FirstUse::Nothing);
    }
    let is_wanted = match Configuration::read()?.import_home {
        _ if has_copy && sources.iter().any(|source| source.path.ends_with("pubring.kbx")) => true,
        ImportHome::Yes => true,
        ImportHome::No => return Ok(FirstUse::Nothing),
        ImportHome::Ask => {
            let context = format!(
                "GnuPG has keys in '{}' that are not in this program's database yet.\n",
                home.display()
            );
            let text = "Take them over, with owner trust, and use the secret keys where they are? (y/N) ";
            agrees(&context, text, settings, streams)?
        }
    };
    if is_wanted {
        match store {
            Some(store) => take_over(store, settings, streams)?,
            None => match database::create(database) {
                Ok(store) => take_over(store.as_ref(), settings, streams)?,
                Err(error) => {
                    streams.info(format_args!("Note: GnuPG's keys are read where they are: {error}"));
                    return Ok(used_by_gnupg(&sources).map_or(FirstUse::Nothing, FirstUse::LeftIn));
                }
            },
        }
        return Ok(FirstUse::TakenOver);
    }
    let Some(store) = store else {
        return Ok(used_by_gnupg(&sources).map_or(FirstUse::Nothing, FirstUse::LeftIn));
    };
    if !settings.quiet {
        point_out(&sources, database, settings, streams);
        // If that fails, they are named again next time.
        let command = "gpg-keyhoard (keyrings pointed out)";
        let _ = migrate::mention(store, &sources, command, settings.now);
    }
    Ok(FirstUse::Nothing)
}

/// Returns the file of GnuPG whose keys are used as long as there is no database.
pub(crate) fn left_in(settings: &Settings) -> anyhow::Result<Option<PathBuf>> {
    if !lacks_database(settings)? || Configuration::read()?.import_home == ImportHome::No {
        return Ok(None);
    }
    Ok(used_by_gnupg(&migrate::keyrings_in_home(settings.home.directory())))
}

/// Returns the `pubring.gpg` in which gpg would keep keys, if that is to be left to it: programs that make one in a directory of
/// their own, as OSTree does, take it back after an import.
pub(crate) fn older_keyring(settings: &Settings) -> anyhow::Result<Option<PathBuf>> {
    let home = settings.home.directory();
    let (path, newer) = (home.join("pubring.gpg"), home.join("pubring.kbx"));
    let is_used = path.is_file() && !newer.exists() && lacks_database(settings)?;
    Ok((is_used && Configuration::read()?.import_home == ImportHome::Ask).then_some(path))
}

/// Says whether the home directory has no database yet; one on a server is taken to be there.
fn lacks_database(settings: &Settings) -> anyhow::Result<bool> {
    let database = settings.home.database()?;
    Ok(!database::is_server(&database) && !database.exists())
}

/// Returns the file in which GnuPG keeps keys: it reads the first that there is.
fn used_by_gnupg(sources: &[MigrationSource]) -> Option<PathBuf> {
    let named = |name: &&str| sources.iter().find(|source| source.path.ends_with(name));
    ["pubring.kbx", "pubring.gpg"].iter().find_map(named).map(|source| source.path.clone())
}

/// Names the keyrings of GnuPG in the home directory that were read until a database was made.
pub(crate) fn point_out_left(
    database: &Path,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    let sources = migrate::keyrings_in_home(settings.home.directory());
    if !settings.quiet && !sources.is_empty() && Configuration::read()?.import_home != ImportHome::No {
        point_out(&sources, database, settings, streams);
    }
    Ok(())
}

/// Asks whether to take something over, if a user sits at a terminal; a program that gives answers knows nothing of the
/// question.
pub(crate) fn agrees(
    context: &str,
    text: &str,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<bool> {
    let is_silent = settings.batch || settings.no_tty || settings.quiet || settings.command_input.is_some();
    if is_silent || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    let question = Question { keyword: "import_home.okay", context: context.as_bytes(), text };
    prompt::ask(&question, settings, streams)
}

/// Takes over the certificates, the owner trust and the TOFU data of the home directory.
fn take_over(store: &dyn Store, settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let sources = migrate::in_home(settings.home.directory());
    let options = MigrateOptions { command: "gpg-keyhoard (import-home)".to_owned(), dry_run: false };
    let mut unreadable = Vec::new();
    let summary = migrate::migrate(store, &sources, &options, settings.now, &mut |event| {
        if let MigrateEvent::Unreadable { source, reason } = event {
            unreadable.push(format!("{}: not readable: {reason}", source.path.display()));
        }
    })?;
    unreadable.iter().for_each(|text| streams.info(text));
    if !settings.quiet {
        let (read, home) = (summary.read, settings.home.directory().display());
        streams.info(format_args!("Note: {read} keys of GnuPG in '{home}' were taken over"));
    }
    Ok(())
}

/// Names the keyrings of GnuPG, with the command that migrates them.
fn point_out(sources: &[MigrationSource], database: &Path, settings: &Settings, streams: &mut Streams) {
    for MigrationSource { path, .. } in sources {
        streams.info(format_args!("Note: the keys in '{}' are not in this database", path.display()));
    }
    let (database, home) = (database::shown(database), settings.home.directory().display());
    streams.info(format_args!("Note: this takes them over: keyhoard --db '{database}' migrate '{home}'"));
}
