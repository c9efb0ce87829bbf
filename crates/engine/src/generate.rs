//! Generating certificates: new keys, or stored ones, become a certificate in the database.
//!
//! The secret keys are stored first, then the revocation certificate is written, then the certificate goes through an
//! [`import`] like one that somebody sent, with the owner trust that it is given. If a step fails, new secret keys and the
//! revocation certificate are removed again.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cert::armor_writer::Headers;
use cert::clean::CleanOptions;
use cert::{Fingerprint, Keygrip, Timestamp};
use keygen::{Certified, ExistingKeys, Generated, KeySource, Profile, profile, profile_file};
use secret::ask::KeyName;
use secret::{Ask, Name, Passphrase, Question, SecretKey, SecretKeys, Signer, Stored, Unlocked};
use store::{JournalId, Store};

use crate::configuration;
use crate::edit::{EditRefusal, armored, can_be_user_id};
use crate::import::{ImportOptions, NewOwnerTrust, import};
use crate::output_file::{Content, Existing, OutputFile};
use crate::{Error, Result};

pub use keygen::{Algorithm, Preferences, Progress, Silent, Step, Version};

/// Where new keys go.
pub struct KeyDestination<'a> {
    /// The owner trust of the new key.
    pub owner_trust: NewOwnerTrust,
    /// The database.
    pub store: &'a dyn Store,
    /// The store of secret keys.
    pub secrets: &'a dyn SecretKeys,
    /// The directory for revocation certificates, see [`revocations_beside`]; `None` if none is to be written.
    pub revocations: Option<PathBuf>,
    /// A file to which the certificate is appended, instead of entering it into the database.
    pub certificate: Option<PathBuf>,
}

/// A new certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedKey {
    /// The primary key.
    pub primary: Fingerprint,
    /// The subkeys, in the profile's order.
    pub subkeys: Vec<Fingerprint>,
    /// The file with the revocation certificate, if one was written.
    pub revocation: Option<PathBuf>,
    /// The journal's entry.
    pub journal: Option<JournalId>,
}

/// Returns the directory for revocation certificates that belongs to a database: GnuPG's, in its home directory.
pub fn revocations_beside(database: &Path) -> PathBuf {
    database.with_file_name("openpgp-revocs.d")
}

/// Generates keys, stores them and enters their certificate.
///
/// `ask` gives the passphrase, an empty one for none; `None` means that the secret keys are not locked. A key that is
/// stored already is stored once more for the new certificate, with the passphrase that it has. `command` is the
/// command line, for the journal.
///
/// # Errors
///
/// [`EditRefusal::InvalidUserId`], the errors of generating and storing keys; then nothing is left.
pub fn generate(
    destination: &KeyDestination<'_>,
    profile: &Profile,
    ask: Option<&mut dyn Ask>,
    command: &str,
    now: Timestamp,
    progress: &mut dyn Progress,
) -> Result<GeneratedKey> {
    refuse_invalid_user_ids(profile)?;
    let mut keys = Keys { secrets: destination.secrets, ask, passphrases: HashMap::new() };
    let generated = keygen::generate(profile, &mut keys, now, progress)?;
    let locked = keys.lock(profile, &generated)?;
    let keys: Vec<&SecretKey> = locked.iter().collect();
    let stored = destination.secrets.store_all(&keys)?;
    let fingerprints = generated.subkeys.iter().map(Unlocked::fingerprint).collect();
    let certified = Certified { certificate: generated.certificate, revocation: generated.revocation };
    let primary = generated.primary.fingerprint();
    let entered = enter(destination, profile, (primary, fingerprints), &certified, command, now);
    if entered.is_err() {
        for (key, _) in keys.iter().zip(stored).filter(|(_, stored)| *stored == Stored::New) {
            // The first error is the one to report.
            let _ = destination.secrets.take_back(key);
        }
    }
    entered
}

/// Enters the certificate of keys that stay where they are, on a card; they are in the order of the profile.
///
/// # Errors
///
/// [`EditRefusal::InvalidUserId`], those of signing and of writing.
pub fn certify(
    destination: &KeyDestination<'_>,
    profile: &Profile,
    primary: &mut dyn Signer,
    subkeys: &mut [&mut dyn Signer],
    command: &str,
    now: Timestamp,
) -> Result<GeneratedKey> {
    refuse_invalid_user_ids(profile)?;
    let certified = keygen::certify(profile, primary, subkeys, now)?;
    let fingerprints = subkeys.iter().map(|subkey| subkey.key().fingerprint()).collect();
    enter(destination, profile, (primary.key().fingerprint(), fingerprints), &certified, command, now)
}

fn refuse_invalid_user_ids(profile: &Profile) -> Result<()> {
    match profile.user_ids.iter().find(|user_id| !can_be_user_id(user_id)) {
        Some(user_id) => Err(EditRefusal::InvalidUserId { user_id: user_id.clone() }.into()),
        None => Ok(()),
    }
}

/// The keys that become part of a certificate, and how they are locked.
struct Keys<'a, 'b> {
    secrets: &'a dyn SecretKeys,
    ask: Option<&'a mut (dyn Ask + 'b)>,
    /// The passphrases of the keys that were stored already; `None` for those that are not locked.
    passphrases: HashMap<Keygrip, Option<Passphrase>>,
}

impl Keys<'_, '_> {
    /// Locks the keys that were stored already as they were, and all new ones with one passphrase, or with none.
    fn lock(&mut self, profile: &Profile, generated: &Generated) -> Result<Vec<SecretKey>> {
        let plans = std::iter::once(&profile.primary).chain(&profile.subkeys);
        let keys = std::iter::once(&generated.primary).chain(&generated.subkeys);
        let mut for_new = None;
        let mut locked = Vec::new();
        for (plan, key) in plans.zip(keys) {
            let passphrase = match plan.source() {
                KeySource::Existing(keygrip, _) => self.passphrases.get(&keygrip).cloned().flatten(),
                KeySource::New(_) => {
                    if for_new.is_none() {
                        for_new = Some(self.new_passphrase(key)?);
                    }
                    for_new.clone()
                }
            };
            locked.push(match passphrase {
                Some(passphrase) => key.locked_anew(&passphrase)?,
                None => key.plain(),
            });
        }
        Ok(locked)
    }

    /// Asks for the passphrase of new keys, an empty one for none.
    fn new_passphrase(&mut self, key: &Unlocked) -> Result<Passphrase> {
        let Some(ask) = &mut self.ask else { return Ok(Passphrase::new(b"")) };
        let name = KeyName::from(&Signer::key(key));
        let passphrase = ask.passphrase(&Question::New { key: &name })?;
        Ok(passphrase.ok_or(secret::Error::NoPassphrase { key: name.fingerprint })?)
    }
}

impl ExistingKeys for Keys<'_, '_> {
    fn unlock(&mut self, keygrip: Keygrip) -> secret::Result<Unlocked> {
        let mut heard = RememberingAsk { ask: self.ask.as_deref_mut(), last: None };
        let kept = self.secrets.export(&Name::Keygrip(keygrip), &mut heard)?;
        let unlocked = kept.unlock_asking(&mut heard)?;
        self.passphrases.insert(keygrip, heard.last);
        Ok(unlocked)
    }
}

/// Asks, and keeps the last answer, which was the right one.
struct RememberingAsk<'a, 'b> {
    ask: Option<&'a mut (dyn Ask + 'b)>,
    last: Option<Passphrase>,
}

impl Ask for RememberingAsk<'_, '_> {
    fn passphrase(&mut self, question: &Question<'_>) -> secret::Result<Option<Passphrase>> {
        let Some(ask) = &mut self.ask else { return Ok(None) };
        self.last = ask.passphrase(question)?;
        Ok(self.last.clone())
    }

    fn known(&mut self) -> Option<Passphrase> {
        self.last = self.ask.as_mut()?.known();
        self.last.clone()
    }
}

fn enter(
    destination: &KeyDestination<'_>,
    profile: &Profile,
    (primary, subkeys): (Fingerprint, Vec<Fingerprint>),
    certified: &Certified,
    command: &str,
    now: Timestamp,
) -> Result<GeneratedKey> {
    let write = |directory: &PathBuf| write_revocation(directory, &primary, profile, &certified.revocation);
    let revocation = destination.revocations.as_ref().map(write).transpose()?;
    let entered = match &destination.certificate {
        Some(path) => append(path, &certified.certificate)
            .map(|()| None)
            .map_err(|source| Error::File { path: path.clone(), source }),
        None => import_certificate(destination, &certified.certificate, command, now),
    };
    // The first error is the one to report.
    let journal = entered.inspect_err(|_| drop(revocation.as_ref().map(fs::remove_file)))?;
    Ok(GeneratedKey { primary, subkeys, revocation, journal })
}

fn append(path: &Path, packets: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(packets)?;
    file.sync_all()
}

fn import_certificate(
    destination: &KeyDestination<'_>,
    packets: &[u8],
    command: &str,
    now: Timestamp,
) -> Result<Option<JournalId>> {
    let options = ImportOptions {
        command: command.to_owned(),
        clean: CleanOptions { keep_local: true, ..CleanOptions::default() },
        owner_trust: destination.owner_trust,
        ..ImportOptions::default()
    };
    Ok(import(destination.store, packets, &options, now, &mut |_| {})?.journal)
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
        match private_directory().create(directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let mut file = OutputFile::create(&path, Content::Secret, Existing::Replaced, &[])?;
        file.write_all(&revocation_text(primary, profile, packet))?;
        file.commit()
    };
    write().map_err(|source| Error::File { path: path.clone(), source })?;
    Ok(path)
}

fn private_directory() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
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
    text.extend(armored(packet, Headers::default()));
    text
}

/// Finds a profile by its name: one of the user's file `keyhoard/profiles.toml` in the XDG configuration directory, or else
/// a built-in one.
///
/// # Errors
///
/// [`Error::UnknownProfile`], and what is wrong with the file.
pub fn named_profile(name: &str) -> Result<Profile> {
    let mut own: BTreeMap<String, Profile> =
        configuration::read("profiles.toml", |text| Ok(profile_file::read(text)?))?;
    if let Some(profile) = own.remove(name).or_else(|| Profile::named(name)) {
        return Ok(profile);
    }
    let known = profile::NAMED.iter().map(|(name, _)| (*name).to_owned()).chain(own.into_keys()).collect();
    Err(Error::UnknownProfile { name: name.to_owned(), known })
}
