//! What every command needs: the clock, the output, the database.

use std::cell::{Cell, OnceCell};
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use agent::{Agent, AllKeys};
use engine::agent_keys::{agent_near, all_keys};
use engine::cert::Timestamp;
use engine::migrate::changed_places;
use engine::network::without_user;
use engine::output_file::FileId;
use engine::permissions::exposed_database;
use engine::store::{ReadJournal, Store};
use engine::{Result, database};

use crate::error_code::ErrorCode;
use crate::global_options::GlobalOptions;
use crate::hint::{self, Hint, quoted, quoted_bytes};
use crate::output::Output;
use crate::progress::{Progress, Unit};
use crate::stderr::{self, MessageJson};
use crate::style::Style;
use crate::timestamp;

/// One run of the program.
#[derive(Debug)]
pub(crate) struct Session {
    /// The current time, or that of `--faked-system-time`.
    pub(crate) now: Timestamp,
    /// Standard output.
    pub(crate) output: Output,
    /// Whether only results, warnings and errors are written.
    pub(crate) quiet: bool,
    database: Option<PathBuf>,
    /// Whether the warning that others can change the database was given.
    is_exposure_reported: Cell<bool>,
    /// The agent of the database's home directory, once it was needed.
    agent: OnceCell<Option<Agent>>,
}

impl Session {
    /// Starts a run with the global options.
    pub(crate) fn new(global: GlobalOptions) -> Self {
        if let Some(database) = &global.db {
            hint::set_database(database);
        }
        Self {
            now: global.faked_system_time.unwrap_or_else(timestamp::now),
            output: Output::new(global.json, global.color),
            quiet: global.quiet,
            database: global.db,
            is_exposure_reported: Cell::new(false),
            agent: OnceCell::new(),
        }
    }

    /// Returns the database's path or URL. Warns, once, if other users can change the files.
    pub(crate) fn path(&self) -> Result<PathBuf> {
        let path = database::path(self.database.as_deref())?;
        if !self.is_exposure_reported.replace(true) {
            for exposed in exposed_database(&path) {
                self.warn(exposed);
            }
        }
        Ok(path)
    }

    /// Returns the files of the database, which no output may replace.
    pub(crate) fn database_files(&self) -> Vec<FileId> {
        let Ok(path) = database::path(self.database.as_deref()) else { return Vec::new() };
        FileId::at(&database::local(&path)).into_iter().collect()
    }

    /// Opens the database.
    pub(crate) fn open(&self) -> anyhow::Result<Box<dyn Store>> {
        Ok(database::open(&self.path()?)?)
    }

    /// Opens the database, or an empty one if it does not exist.
    pub(crate) fn open_or_empty(&self) -> Result<Box<dyn Store>> {
        match database::open(&self.path()?) {
            Err(engine::Error::Store(engine::store::Error::Missing { path })) => Ok(database::empty(&path)),
            opened => opened,
        }
    }

    /// Opens the database, and creates it if it does not exist.
    pub(crate) fn open_or_create(&self) -> Result<Box<dyn Store>> {
        database::create(&self.path()?)
    }

    /// Returns the secret keys: those in files beside the database, and those in the agent of its GnuPG home directory.
    ///
    /// # Errors
    ///
    /// If other users can change the files.
    pub(crate) fn secret_keys(&self) -> Result<AllKeys> {
        let path = self.path()?;
        let agent = self.agent.get_or_init(|| agent_near(&path));
        all_keys(&path, agent.clone())
    }

    /// Warns if something was done without the agent's keys.
    pub(crate) fn warn_of_agent(&self) {
        let agent = self.agent.get().and_then(Option::as_ref);
        if let Some(fault) = agent.and_then(Agent::fault) {
            self.warn(format_args!("this was done without gpg-agent's secret keys: {fault}"));
        }
    }

    /// Writes a note to standard error, unless `--quiet` was given; with `--json` the results say it all.
    pub(crate) fn note(&self, text: impl fmt::Display) {
        if !self.quiet && !self.output.is_json() {
            stderr::print(Style::Faint, "keyhoard:", text);
        }
    }

    /// Writes a warning to standard error.
    pub(crate) fn warn(&self, text: impl fmt::Display) {
        match self.output.is_json() {
            true => stderr::json(&MessageJson::Warning { warning: &text.to_string() }),
            false => stderr::print(Style::Warning, "keyhoard:", text),
        }
    }

    /// Writes to standard error why something that was asked for is not done, with the kind of error for scripts.
    pub(crate) fn refuse(&self, error: ErrorCode, text: impl fmt::Display) {
        match self.output.is_json() {
            true => stderr::json(&MessageJson::Error { error, message: &text.to_string() }),
            false => stderr::print(Style::Warning, "keyhoard:", text),
        }
    }

    /// Warns of migrated places in which something has changed since.
    pub(crate) fn warn_of_outdated(&self, snapshot: &dyn ReadJournal) -> Result<()> {
        if !self.quiet {
            for place in changed_places(snapshot)? {
                let (path, again) = (place.path.display(), Hint::migrate_again(&place));
                self.warn(format_args!(
                    "{path} has changed since it was migrated; {again} copies the changes"
                ));
            }
        }
        Ok(())
    }

    /// Starts a progress bar.
    pub(crate) fn progress(&self, unit: Unit, total: Option<u64>) -> Progress {
        Progress::new(unit, total, self.quiet)
    }
}

/// Returns a variable of the environment.
pub(crate) fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Returns the command line for the journal: the program's name and the arguments, as a shell reads them.
pub(crate) fn command_line() -> String {
    let mut line = String::from("keyhoard");
    for argument in std::env::args_os().skip(1) {
        line.push(' ');
        // Everybody who may read the database may read the journal: passwords of URLs are left out.
        let shown = shown_argument(&database::shown(Path::new(&argument)));
        let is_whole = shown == argument.to_string_lossy();
        line.push_str(&if is_whole { quoted_bytes(argument.as_bytes()) } else { quoted(&shown) });
    }
    line
}

/// Returns an argument without the user of a URL, which may be a secret, unless it is a database's.
fn shown_argument(argument: &str) -> String {
    match argument.split_once("://") {
        Some((scheme, _)) if !scheme.ends_with("postgres") && !scheme.ends_with("postgresql") => {
            without_user(argument)
        }
        _ => argument.to_owned(),
    }
}
