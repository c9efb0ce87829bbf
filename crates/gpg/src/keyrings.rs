//! The keyrings of a run: databases, and keyring files, which are copied into a database while a command changes them.

mod changed_file;

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use engine::database::{self, SQLITE_HEADER};
use engine::foreign_text::shown;
use engine::keyring_copy::{KeyringCopy, KeyringFormat};
use engine::keyring_file::KeyringFile;
use engine::permissions::{exposed_database, exposed_with_directory};
use engine::store::{Error, ReadCertificates, ReadTrust, Snapshot, Store};
use engine::validity::Sources;

use crate::code::Code;
use crate::home::Home;
use crate::migration::{self, FirstUse};
use crate::program::Program;
use crate::pubring;
use crate::settings::{DefaultKeyring, Settings};
use crate::streams::Streams;
use crate::system_error::system_words;
use crate::trust;
use crate::trust_database_file;
use crate::trusted_keys;

/// What a name of a keyring begins with that is a file of packets.
const RING_PREFIX: &[u8] = b"gnupg-ring:";

/// The keyrings of a run, in the order in which they are searched.
pub(crate) struct Keyrings {
    rings: Vec<Ring>,
    /// The home directory, whose database holds the owner trust; `None` for gpgv, which has no owner trust.
    home: Option<Home>,
    /// The home directory's database where it is not one of the keyrings, once it is needed; `None` if it does not exist.
    home_database: OnceCell<Option<Box<dyn Store>>>,
}

/// A snapshot of every existing keyring, and of the home directory's database once it is needed.
pub(crate) struct Snapshots<'k> {
    rings: Vec<(&'k Ring, Box<dyn ReadCertificates + 'k>)>,
    keyrings: &'k Keyrings,
    home_database: OnceCell<Option<Box<dyn Snapshot + 'k>>>,
}

impl<'k> Deref for Snapshots<'k> {
    type Target = [(&'k Ring, Box<dyn ReadCertificates + 'k>)];

    fn deref(&self) -> &Self::Target {
        &self.rings
    }
}

impl Snapshots<'_> {
    /// Returns the sources of validity: all keyrings, and the owner trust.
    pub(crate) fn sources(&self) -> anyhow::Result<Sources<'_>> {
        Ok(Sources {
            certificates: self.iter().map(|(_, snapshot)| snapshot.as_ref()).collect(),
            owner_trust: self.owner_trust()?,
            verdict_store: self.first().and_then(|(ring, _)| ring.store()),
        })
    }

    /// Returns the owner trust, which is that of the home directory's database, whatever the keyrings are.
    pub(crate) fn owner_trust(&self) -> anyhow::Result<Option<&dyn ReadTrust>> {
        let Some(home) = &self.keyrings.home else { return Ok(None) };
        let path = home.database()?;
        if self.keyrings.rings.iter().any(|ring| ring.path == path) {
            let found = self.iter().find(|(ring, _)| ring.path == path);
            return Ok(found.and_then(|(_, snapshot)| snapshot.trust()));
        }
        if self.home_database.get().is_none() {
            let snapshot = self.keyrings.home_database(home)?.map(Store::snapshot).transpose()?;
            let _ = self.home_database.set(snapshot);
        }
        Ok(self.home_database.get().and_then(Option::as_ref).and_then(|snapshot| snapshot.trust()))
    }
}

/// One keyring.
pub(crate) struct Ring {
    path: PathBuf,
    /// The path that listings show.
    shown: PathBuf,
    primary: bool,
    /// What becomes of a file that does not exist.
    made_as: KeyringFormat,
    content: Content,
}

enum Content {
    /// A database that does not exist: empty, and created before the first write.
    Missing,
    Database(Box<dyn Store>),
    File(KeyringFile),
    /// A file that is being changed.
    Copy(KeyringCopy),
}

impl Keyrings {
    /// Opens the keyrings that the options name. One that cannot be opened is reported and left out.
    pub(crate) fn open(settings: &Settings, streams: &mut Streams) -> anyhow::Result<Self> {
        let home = &settings.home;
        let home_of_gpg = (settings.program == Program::Gpg).then(|| home.clone());
        let mut keyrings = Self { rings: Vec::new(), home: home_of_gpg, home_database: OnceCell::new() };
        if settings.program == Program::Gpgv {
            keyrings.add_trusted(settings, streams)?;
            return Ok(keyrings);
        }
        if settings.default_keyring == DefaultKeyring::NoKeyring {
            return Ok(keyrings);
        }
        if settings.uses_default_keyring() {
            let path = home.database()?;
            if !home.is_usable() {
                no_such_keyring(&path, &io::Error::from_raw_os_error(libc::ENOENT), streams);
            } else {
                report_exposed(&path, settings, streams);
                keyrings.add(path.clone(), false, KeyringFormat::Keybox, streams)?;
                match migration::first_use(&path, keyrings.working_database(), settings, streams)? {
                    FirstUse::TakenOver => {
                        keyrings.rings.clear();
                        keyrings.add(path.clone(), false, KeyringFormat::Keybox, streams)?;
                    }
                    FirstUse::LeftIn(file) => {
                        report_exposed(&file, settings, streams);
                        keyrings.add(file, false, KeyringFormat::Keybox, streams)?;
                    }
                    FirstUse::Nothing => {}
                }
            }
        }
        for ring in &settings.keyrings {
            match resolve(&ring.name, home).map(|path| standard(path, settings)).transpose()? {
                Some(path) if lacks_directory(&path, home) => {
                    no_such_keyring(&path, &io::Error::from_raw_os_error(libc::ENOENT), streams);
                }
                Some(path) => {
                    report_exposed(&path, settings, streams);
                    let made_as = match ring.name.starts_with(RING_PREFIX) {
                        true => KeyringFormat::Packets,
                        false => KeyringFormat::Keybox,
                    };
                    keyrings.add(path, ring.primary, made_as, streams)?;
                }
                None => {
                    let name = shown(&ring.name);
                    streams.error(format_args!("invalid key resource URL '{name}'"));
                    streams.status_error("add_keyblock_resource", Code::GENERAL.with_gpg());
                }
            }
        }
        Ok(keyrings)
    }

    /// Opens the keyrings that gpgv is given, or the one in its home directory.
    fn add_trusted(&mut self, settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
        let home = &settings.home;
        const STANDARD: [&str; 2] = ["trustedkeys.kbx", "trustedkeys.gpg"];
        let mut paths = Vec::new();
        for path in settings.keyrings.iter().filter_map(|ring| resolve(&ring.name, home)) {
            let database = standard(path.clone(), settings)?;
            paths.push(if kind(&database).is_ok() { database } else { path });
        }
        if settings.keyrings.is_empty() {
            let standard = STANDARD.map(|name| home.directory().join(name));
            match standard.iter().find(|path| path.exists()) {
                Some(path) => paths.push(path.clone()),
                None => {
                    let [name, path] = [STANDARD[0].into(), standard[0].display().to_string()];
                    streams.error(format_args!("unknown type of key resource '{name}'"));
                    streams.error(format_args!("keyblock resource '{path}': {}", Code::GENERAL));
                    streams.status_error("add_keyblock_resource", Code::GENERAL.with_gpg());
                }
            }
        }
        for path in paths {
            report_exposed(&path, settings, streams);
            match kind(&path) {
                Ok(Kind::Database | Kind::Server) => {
                    let content = Content::Database(database::open(&path)?);
                    let made_as = KeyringFormat::Keybox;
                    self.rings.push(Ring { shown: path.clone(), path, primary: false, made_as, content });
                }
                Ok(Kind::File | Kind::Empty) => {
                    let content = Content::File(read(&path, streams)?);
                    let made_as = KeyringFormat::Keybox;
                    self.rings.push(Ring { shown: path.clone(), path, primary: false, made_as, content });
                }
                Err(error) => no_such_keyring(&path, &error, streams),
            }
        }
        Ok(())
    }

    /// Opens a snapshot of every existing keyring.
    pub(crate) fn snapshots(&self) -> engine::Result<Snapshots<'_>> {
        self.snapshots_by(Ring::snapshot)
    }

    /// Opens a snapshot of every existing keyring, to be read as a whole on all cores.
    pub(crate) fn snapshots_on_all_cores(&self) -> engine::Result<Snapshots<'_>> {
        self.snapshots_by(Ring::snapshot_on_all_cores)
    }

    fn snapshots_by<'k>(
        &'k self,
        open: impl Fn(&'k Ring) -> engine::Result<Option<Box<dyn ReadCertificates + 'k>>>,
    ) -> engine::Result<Snapshots<'k>> {
        let opened =
            self.rings.iter().filter_map(|ring| Some(open(ring).transpose()?.map(|view| (ring, view))));
        Ok(Snapshots {
            rings: opened.collect::<Result<_, _>>()?,
            keyrings: self,
            home_database: OnceCell::new(),
        })
    }

    fn home_database(&self, home: &Home) -> anyhow::Result<Option<&dyn Store>> {
        if self.home_database.get().is_none() {
            let _ = self.home_database.set(trust::database(home)?);
        }
        Ok(self.home_database.get().and_then(Option::as_deref))
    }

    /// Returns the database that commands work on; if it does not exist, the first one that does.
    pub(crate) fn working_database(&self) -> Option<&dyn Store> {
        let working = self.working_index().and_then(|index| self.rings[index].store());
        working.or_else(|| self.rings.iter().find_map(Ring::store))
    }

    /// Says of keys that are in GnuPG's own file how they are taken over, since commands do not change them there.
    pub(crate) fn report_unchangeable(
        &self,
        settings: &Settings,
        streams: &mut Streams,
    ) -> anyhow::Result<()> {
        if settings.uses_default_keyring() && migration::left_in(settings)?.is_some() {
            migration::point_out_left(&settings.home.database()?, settings, streams)?;
        }
        Ok(())
    }

    /// Says whether there is a database that commands change, or may be made.
    pub(crate) fn has_writable(&self) -> bool {
        self.working_index().is_some()
    }

    /// Returns the index of the keyring that commands work on: the file that is being changed, else the primary database,
    /// else the first.
    fn working_index(&self) -> Option<usize> {
        let is_database = |ring: &Ring| !matches!(ring.content, Content::File(_));
        let copied = self.rings.iter().position(|ring| matches!(ring.content, Content::Copy(_)));
        let primary = || self.rings.iter().position(|ring| ring.primary && is_database(ring));
        copied.or_else(primary).or_else(|| self.rings.iter().position(is_database))
    }

    /// Returns the database that commands work on; creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// If there is no keyring that the command changes.
    pub(crate) fn writable(
        &mut self,
        settings: &Settings,
        streams: &mut Streams,
    ) -> anyhow::Result<&dyn Store> {
        self.importable(settings, streams)?;
        self.remember_trusted_keys(settings, streams)?;
        Ok(self.working_database().expect("it was made"))
    }

    /// Remembers the keys that `--trusted-key` names, if commands work on the home directory's database.
    pub(crate) fn remember_trusted_keys(
        &self,
        settings: &Settings,
        streams: &mut Streams,
    ) -> anyhow::Result<()> {
        let Some(ring) = self.working_index().map(|index| &self.rings[index]) else { return Ok(()) };
        match ring.store() {
            Some(store) if ring.path == settings.home.database()? => {
                trusted_keys::remember(settings, streams, store)
            }
            _ => Ok(()),
        }
    }

    /// Returns the same database as [`Keyrings::writable`], for an import: what `--trusted-key` names is to be
    /// [remembered](Keyrings::remember_trusted_keys) after it, since the import may bring it.
    ///
    /// # Errors
    ///
    /// The same.
    pub(crate) fn importable(
        &mut self,
        settings: &Settings,
        streams: &mut Streams,
    ) -> anyhow::Result<&dyn Store> {
        let home = &settings.home;
        let Some(ring) = self.working_index().map(|index| &mut self.rings[index]) else {
            anyhow::bail!("no writable keyring found: this command changes databases only");
        };
        if let Content::Missing = ring.content {
            anyhow::ensure!(
                ring.may_be_made(home)?,
                "'{0}' was not made: this command changes databases only (--keyring '{0}.db')",
                ring.path.display()
            );
            if ring.path.parent() == Some(home.directory()) && home.create_if_missing()? && !settings.quiet {
                streams.info(format_args!("directory '{}' created", home.directory().display()));
            }
            ring.content = Content::Database(database::create(&ring.path)?);
            if !settings.quiet {
                streams.info(format_args!("database '{}' created", database::shown(&ring.path)));
            }
            if ring.path == home.database()? {
                migration::point_out_left(&ring.path, settings, streams)?;
            }
        }
        trust_database_file::place(settings);
        if ring.path == home.database()? {
            streams.note_opened_database();
        }
        match &ring.content {
            Content::Database(store) => Ok(store.as_ref()),
            Content::Copy(copy) => Ok(copy.store()),
            Content::Missing | Content::File(_) => {
                unreachable!("the chosen keyring is a database, and there")
            }
        }
    }

    fn add(
        &mut self,
        path: PathBuf,
        primary: bool,
        made_as: KeyringFormat,
        streams: &mut Streams,
    ) -> anyhow::Result<()> {
        let content = match kind(&path) {
            Ok(Kind::Server) => match database::open(&path) {
                Err(engine::Error::Store(Error::Missing { .. })) if self.rings.is_empty() => Content::Missing,
                opened => Content::Database(opened?),
            },
            Ok(Kind::Database) => Content::Database(database::open(&path)?),
            // Another process is about to create it.
            Ok(Kind::Empty) if self.rings.is_empty() => Content::Missing,
            Ok(Kind::File | Kind::Empty) => Content::File(read(&path, streams)?),
            // Only the first one is created.
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.rings.is_empty() => {
                Content::Missing
            }
            Err(error) => {
                no_such_keyring(&path, &error, streams);
                return Ok(());
            }
        };
        if let Some(known) = self.rings.iter_mut().find(|ring| ring.path == path) {
            known.primary |= primary;
        } else {
            let shown = if database::is_server(&path) { database::shown(&path).into() } else { path.clone() };
            self.rings.push(Ring { path, shown, primary, made_as, content });
        }
        Ok(())
    }
}

impl Ring {
    /// Says whether a database may be created here: at its default path, or with the file extension of a database. Under
    /// any other name other programs would take it for a keyring file.
    fn may_be_made(&self, home: &Home) -> engine::Result<bool> {
        const SUFFIXES: [&str; 3] = ["db", "sqlite", "sqlite3"];
        let suffix = self.path.extension().and_then(OsStr::to_str);
        Ok(database::is_server(&self.path)
            || suffix.is_some_and(|suffix| SUFFIXES.contains(&suffix))
            || home.database()? == self.path)
    }

    /// Returns the name shown in listings.
    pub(crate) fn shown(&self) -> &Path {
        &self.shown
    }

    /// Returns the database, if it is one and exists, or the copy of a file that is being changed.
    pub(crate) fn store(&self) -> Option<&dyn Store> {
        match &self.content {
            Content::Database(store) => Some(store.as_ref()),
            Content::Copy(copy) => Some(copy.store()),
            Content::Missing | Content::File(_) => None,
        }
    }

    /// Opens a snapshot to be read as a whole on all cores; `None` for a database that does not exist yet.
    fn snapshot_on_all_cores(&self) -> engine::Result<Option<Box<dyn ReadCertificates + '_>>> {
        match &self.content {
            Content::Database(store) => Ok(Some(store.snapshot_on_all_cores()?)),
            Content::Missing | Content::File(_) | Content::Copy(_) => self.snapshot(),
        }
    }

    /// Opens a snapshot; `None` for a database that does not exist yet.
    fn snapshot(&self) -> engine::Result<Option<Box<dyn ReadCertificates + '_>>> {
        Ok(match &self.content {
            Content::Missing => None,
            Content::Database(store) => Some(store.snapshot()?),
            Content::Copy(copy) => Some(copy.store().snapshot()?),
            Content::File(file) => Some(file.snapshot()),
        })
    }
}

fn read(path: &Path, streams: &mut Streams) -> engine::Result<KeyringFile> {
    let file = KeyringFile::read(path)?;
    if file.is_foreign() {
        streams.error(format_args!("keyring '{}': no valid OpenPGP data found.", path.display()));
    } else if file.unreadable() > 0 {
        let count = file.unreadable();
        streams.info(format_args!("keyring '{}': {count} of its keys cannot be read", path.display()));
    }
    Ok(file)
}

/// Says whether the directory of a keyring is missing; only the home directory is created.
fn lacks_directory(path: &Path, home: &Home) -> bool {
    !database::is_server(path)
        && path.parent().is_some_and(|parent| {
            !parent.as_os_str().is_empty() && parent != home.directory() && !parent.is_dir()
        })
}

/// Warns if other users can change or replace a keyring.
fn report_exposed(path: &Path, settings: &Settings, streams: &mut Streams) {
    if settings.no_permission_warning || database::is_server(path) {
        return;
    }
    let exposed = match kind(path) {
        Ok(Kind::File) => exposed_with_directory(path),
        _ => exposed_database(path),
    };
    for exposed in exposed {
        streams.info(format_args!("WARNING: {exposed}"));
    }
}

fn no_such_keyring(path: &Path, error: &io::Error, streams: &mut Streams) {
    streams.error(format_args!("keyblock resource '{}': {}", path.display(), system_words(error)));
    streams.status_error("add_keyblock_resource", Code::NO_SUCH_FILE.with_gpg());
}

/// Expands a keyring's name, which may begin with `gnupg-ring:` or `gnupg-kbx:`; `None` for any other scheme.
fn resolve(name: &[u8], home: &Home) -> Option<PathBuf> {
    let bare = [RING_PREFIX, b"gnupg-kbx:"].iter().find_map(|kind| name.strip_prefix(*kind));
    match bare {
        Some(bare) => Some(home.resolve(bare)),
        None => (!name.contains(&b':')).then(|| home.resolve(name)),
    }
}

/// Returns the home directory's database for its `pubring.kbx`, for gpgv also `pubring.gpg`, where there is no such file,
/// or it is a copy: programs name it so.
fn standard(path: PathBuf, settings: &Settings) -> engine::Result<PathBuf> {
    let home = &settings.home;
    let names = match settings.program {
        Program::Gpg => &["pubring.kbx"][..],
        Program::Gpgv => &["pubring.kbx", "pubring.gpg"],
    };
    if !names.iter().any(|name| path == home.directory().join(name)) {
        return Ok(path);
    }
    let database = home.database()?;
    let is_other = path.exists() && !pubring::is_copied(&database, settings);
    Ok(if is_other { path } else { database })
}

/// Returns the keyring files whose certificates the agent's keys can belong to.
pub(crate) fn certificate_files(settings: &Settings) -> anyhow::Result<Vec<PathBuf>> {
    let home = &settings.home;
    let mut files = if settings.uses_default_keyring() { migration::left_in(settings)? } else { None }
        .into_iter()
        .collect::<Vec<_>>();
    for path in settings.keyrings.iter().filter_map(|ring| resolve(&ring.name, home)) {
        let path = standard(path, settings)?;
        if matches!(kind(&path), Ok(Kind::File)) {
            files.push(path);
        }
    }
    Ok(files)
}

enum Kind {
    Database,
    /// A database on a server.
    Server,
    File,
    /// Nothing yet.
    Empty,
}

/// Looks at a file's first bytes.
fn kind(path: &Path) -> io::Result<Kind> {
    if database::is_server(path) {
        return Ok(Kind::Server);
    }
    let mut beginning = Vec::new();
    File::open(path)?.take(SQLITE_HEADER.len() as u64).read_to_end(&mut beginning)?;
    Ok(match beginning.as_slice() {
        [] => Kind::Empty,
        beginning if beginning == SQLITE_HEADER => Kind::Database,
        _ => Kind::File,
    })
}
