//! New keys: made, kept, and entered into the database.
//!
//! The secret keys are kept first, then the revocation certificate is written beside, then the certificate goes
//! through an [`import`] like one that somebody sent, with ultimate trust in its owner. What fails on the way takes the
//! secret keys away again; a process that is killed before them leaves nothing.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use cert::clean::CleanOptions;
use cert::{Fingerprint, Timestamp};
use keygen::{Generated, Profile, profile, profile_file};
use secret::{Ask, Name, Question, SecretKey, SecretKeys, Stored, Unlocked};
use store::{JournalId, Store};

use crate::configuration;
use crate::edit::{Refusal, armored, can_be_user_id};
use crate::import::{ImportOptions, NewOwnerTrust, import};
use crate::output_file::OutputFile;
use crate::{Error, Result};

pub use keygen::{Algorithm, Preferences, Progress, Silent, Step, Version};

/// Where new keys go.
pub struct Place<'a> {
    /// The database.
    pub store: &'a dyn Store,
    /// Where secret keys live.
    pub secrets: &'a dyn SecretKeys,
    /// The directory for revocation certificates, see [`revocations_beside`].
    pub revocations: PathBuf,
    /// A file for the certificate, which is added to its end; the certificate is not entered into the database then.
    pub certificate: Option<PathBuf>,
}

/// A new key, kept and entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The primary key.
    pub primary: Fingerprint,
    /// The subkeys, in the profile's order.
    pub subkeys: Vec<Fingerprint>,
    /// The file with the revocation certificate.
    pub revocation: PathBuf,
    /// The journal's entry.
    pub journal: Option<JournalId>,
}

/// Returns the directory for revocation certificates that belongs to a database: GnuPG's, in its home directory.
pub fn revocations_beside(database: &Path) -> PathBuf {
    database.with_file_name("openpgp-revocs.d")
}

/// Makes a key, keeps it and enters it.
///
/// `ask` gives the passphrase, an empty one for none; `None` means that the secret keys are not locked. `command` is the
/// command line, for the journal.
///
/// # Errors
///
/// [`Refusal::InvalidUserId`], the errors of making keys and of the places where they go; then nothing is left.
pub fn generate(
    place: &Place<'_>,
    profile: &Profile,
    ask: Option<&mut dyn Ask>,
    command: &str,
    now: Timestamp,
    progress: &mut dyn Progress,
) -> Result<Made> {
    if let Some(user_id) = profile.user_ids.iter().find(|user_id| !can_be_user_id(user_id)) {
        return Err(Refusal::InvalidUserId { user_id: user_id.clone() }.into());
    }
    let generated = keygen::generate(profile, now, progress)?;
    let locked = lock(&generated, ask)?;
    let keys: Vec<&SecretKey> = locked.iter().collect();
    let stored = place.secrets.store_all(&keys)?;
    let entered = enter(place, profile, &generated, command, now);
    if entered.is_err() {
        for (key, _) in keys.iter().zip(stored).filter(|(_, stored)| *stored == Stored::New) {
            // The first error is the one to be told.
            let _ = place.secrets.delete(&Name::Fingerprint(key.fingerprint()));
        }
    }
    entered
}

/// Locks all keys with one passphrase, or with none.
fn lock(generated: &Generated, ask: Option<&mut dyn Ask>) -> Result<Vec<SecretKey>> {
    let keys = std::iter::once(&generated.primary).chain(&generated.subkeys);
    let Some(ask) = ask else { return Ok(keys.map(Unlocked::plain).collect()) };
    let name = generated.primary.plain().name();
    let passphrase = ask
        .passphrase(&Question::New { key: &name })?
        .ok_or(secret::Error::NoPassphrase { key: name.fingerprint })?;
    Ok(keys.map(|key| key.locked_anew(&passphrase)).collect::<secret::Result<_>>()?)
}

fn enter(
    place: &Place<'_>,
    profile: &Profile,
    generated: &Generated,
    command: &str,
    now: Timestamp,
) -> Result<Made> {
    let primary = generated.primary.fingerprint();
    let revocation = write_revocation(&place.revocations, &primary, profile, &generated.revocation)?;
    let journal = match &place.certificate {
        Some(path) => {
            append(path, &generated.certificate)
                .map_err(|source| Error::File { path: path.clone(), source })?;
            None
        }
        None => import_certificate(place.store, &generated.certificate, command, now)?,
    };
    let subkeys = generated.subkeys.iter().map(Unlocked::fingerprint).collect();
    Ok(Made { primary, subkeys, revocation, journal })
}

fn append(path: &Path, packets: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(packets)?;
    file.sync_all()
}

fn import_certificate(
    store: &dyn Store,
    packets: &[u8],
    command: &str,
    now: Timestamp,
) -> Result<Option<JournalId>> {
    let options = ImportOptions {
        command: command.to_owned(),
        clean: CleanOptions { keep_local: true, ..CleanOptions::default() },
        owner_trust: NewOwnerTrust::Ultimate,
        ..ImportOptions::default()
    };
    Ok(import(store, packets, &options, now, &mut |_| {})?.journal)
}

/// Writes the revocation certificate, which only its owner may read.
fn write_revocation(
    directory: &Path,
    primary: &Fingerprint,
    profile: &Profile,
    packet: &[u8],
) -> Result<PathBuf> {
    let path = directory.join(format!("{primary}.rev"));
    let write = || -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let mut file = OutputFile::create_private(&path)?;
        file.write_all(&revocation_text(primary, profile, packet))?;
        file.commit()
    };
    write().map_err(|source| Error::File { path: path.clone(), source })?;
    Ok(path)
}

/// The colon before the first line keeps it from being imported by mistake, as in GnuPG.
fn revocation_text(primary: &Fingerprint, profile: &Profile, packet: &[u8]) -> Vec<u8> {
    let names: Vec<String> =
        profile.user_ids.iter().map(|user_id| format!("  {}\n", user_id.escape_ascii())).collect();
    let mut text = format!(
        "Revocation certificate of the OpenPGP key\n\n  {primary}\n{}\n\
         Importing it revokes the key for good. It is for the day on which the secret key or its passphrase is\n\
         lost. Keep it where nobody else finds it: whoever has it can make the key useless.\n\n\
         A colon stands before the first dashes below, so that it is not used by mistake. Remove the colon, then\n\
         import this file and publish the key.\n\n:",
        names.concat()
    )
    .into_bytes();
    text.extend(armored(packet));
    text
}

/// Finds a profile by its name: one of the user's own file, else one that is always there.
///
/// # Errors
///
/// [`Error::UnknownProfile`], and what is wrong with the file.
pub fn named_profile(name: &str) -> Result<Profile> {
    let mut own = own_profiles()?;
    if let Some(profile) = own.remove(name).or_else(|| Profile::named(name)) {
        return Ok(profile);
    }
    let known = profile::NAMED.iter().map(|(name, _)| (*name).to_owned()).chain(own.into_keys()).collect();
    Err(Error::UnknownProfile { name: name.to_owned(), known })
}

/// Reads the user's own profiles; none if there is no file.
///
/// # Errors
///
/// What is wrong with the file.
pub fn own_profiles() -> Result<BTreeMap<String, Profile>> {
    let Some(path) = profiles_path() else { return Ok(BTreeMap::new()) };
    match fs::read_to_string(&path) {
        Ok(text) => profile_file::read(&text).map_err(|source| Error::Profile { path, source }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(source) => Err(Error::File { path, source }),
    }
}

/// Returns the place of the user's own profiles: `keyhoard/profiles.toml` in the XDG configuration directory.
pub fn profiles_path() -> Option<PathBuf> {
    configuration::file("profiles.toml")
}
