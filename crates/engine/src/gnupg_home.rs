//! Writing a home directory for GnuPG 2.2 and later: the certificates as a keybox, the owner trust, the secret keys as files of
//! its agent, the revocation certificates.
//!
//! No program of GnuPG runs. Secret keys stay locked as they are, in the form that the agent calls `openpgp-native`; it writes
//! them in its own form when it first uses them.

mod trust_database;

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use agent::{AllKeys, key_form};
use cert::certificate::Certificate;
use cert::{Timestamp, keybox};
use rustix::process::geteuid;
use secret::ask::unlock_asking;
use secret::{Ask, Lock, Name, Protection, SecretKeys as _, StoredKey};
use store::{Detail as Columns, Selection, Snapshot};
use zeroize::Zeroizing;

use crate::generate::revocations_beside;
use crate::migrate::{Detail, DetailKind, DetailOutcome, copy_revocations};
use crate::output_file::{Content, Existing, OutputFile};
use crate::{Error, Result, causes, database};

/// The keybox in a home directory.
pub(crate) const KEYBOX: &str = "pubring.kbx";
const TRUST_DATABASE: &str = "trustdb.gpg";
const KEYS_OF_AGENT: &str = "private-keys-v1.d";
const REVOCATIONS: &str = "openpgp-revocs.d";

/// Added to the name of a file as it was before it was first replaced. GnuPG itself writes files with `~`.
const BEFORE: &str = ".before-keyhoard";

/// What GnuPG reads instead of a keybox, where it is there.
const READ_INSTEAD: [&str; 3] = ["pubring.gpg", "public-keys.d/pubring.db", "common.conf"];

/// The most bytes of a keyblock that GnuPG reads from a keybox (its `kbx/keybox-file.c`).
const MAX_BLOB: usize = 5 << 20;

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenHome {
    /// How many certificates.
    pub certificates: u64,
    /// The keys with owner trust.
    pub owner_trusts: u64,
    /// The secret keys and revocation certificates, and the certificates that GnuPG cannot read.
    pub details: Vec<Detail>,
}

/// Writes everything of a database into a home directory, which is made if it is not there. With `replaces`, one that is not
/// empty is written to: its keybox and trust database are replaced, and as they were before the first time kept under the same
/// names with `.before-keyhoard`; its secret keys and revocation certificates stay. The directory becomes one for its owner
/// alone.
///
/// `location` is the database, `keys` its secret keys. The passphrase of a key is asked for only if it is locked in a way
/// that GnuPG does not know.
///
/// # Errors
///
/// [`Error::File`] for a directory that is not empty, that belongs to another user, or in which GnuPG would read other files
/// than a keybox; those of the database and of writing. A secret key that cannot be written is no error; the result says why.
pub fn write_home(
    snapshot: &dyn Snapshot,
    location: &Path,
    keys: &AllKeys,
    home: &Path,
    replaces: bool,
    ask: &mut dyn Ask,
    now: Timestamp,
) -> Result<WrittenHome> {
    let failed = |source| Error::File { path: home.to_owned(), source };
    prepare(home, replaces).map_err(failed)?;
    let mut written = WrittenHome::default();
    write_keybox(snapshot, &home.join(KEYBOX), now, &mut written)?;
    let trusts = snapshot.decided_owner_trusts()?;
    let (content, count) = trust_database::content(&trusts, now);
    replace(&home.join(TRUST_DATABASE), |file| file.write_all(&content))?;
    written.owner_trusts = count;
    written.details.extend(write_secret_keys(keys, &home.join(KEYS_OF_AGENT), ask)?);
    let revocations = revocations_beside(&database::local(location));
    written.details.extend(copy_revocations(&revocations, &home.join(REVOCATIONS), false));
    Ok(written)
}

/// Makes the directory, or refuses one that is in use.
fn prepare(home: &Path, replaces: bool) -> io::Result<()> {
    own_directory(home)?;
    let is_empty = fs::read_dir(home)?.next().is_none();
    if !is_empty && !replaces {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "the directory is not empty; --force replaces the keybox and the trust database in it",
        ));
    }
    let instead = READ_INSTEAD.iter().find(|name| fs::metadata(home.join(name)).is_ok_and(|it| it.len() > 0));
    if let Some(name) = instead {
        let reason = format!("GnuPG would read {name} there instead of a keybox; name another directory");
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
    }
    close(home)
}

/// Makes a directory, or finds that one belongs to this user.
fn own_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    if fs::metadata(path)?.uid() != geteuid().as_raw() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the directory belongs to another user, who could change what is in it",
        ));
    }
    Ok(())
}

/// Takes the permissions of others on a directory away.
fn close(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Writes a private file; what is there is kept with [`BEFORE`], unless something was kept so before.
fn replace(path: &Path, write: impl FnOnce(&mut OutputFile) -> io::Result<()>) -> Result<()> {
    let replace = || {
        let mut file = OutputFile::create(path, Content::Secret, Existing::Replaced, &[])?;
        write(&mut file)?;
        keep(path)?;
        file.commit()
    };
    replace().map_err(|source| Error::File { path: path.to_owned(), source })
}

/// Gives a file a second name, if it is there and has none yet. Of a symbolic link that is the file which will be replaced.
fn keep(path: &Path) -> io::Result<()> {
    let file = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let mut name = file.as_os_str().to_owned();
    name.push(BEFORE);
    match fs::hard_link(&file, name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        kept => kept,
    }
}

fn write_keybox(
    snapshot: &dyn Snapshot,
    path: &Path,
    now: Timestamp,
    written: &mut WrittenHome,
) -> Result<()> {
    let mut read = Ok(());
    let replaced = replace(path, |file| {
        let mut outcome = file.write_all(&keybox::header(now));
        let mut each = |certificate: &Certificate| match blob(&certificate.without_superseded(), now) {
            Ok(blob) => {
                outcome = file.write_all(&blob);
                written.certificates += 1;
                outcome.is_ok()
            }
            Err(reason) => {
                let name = certificate.facts.primary().fingerprint.to_string();
                let outcome = DetailOutcome::Left(reason.to_owned());
                written.details.push(Detail {
                    kind: DetailKind::Certificate,
                    name,
                    path: path.to_owned(),
                    outcome,
                });
                true
            }
        };
        read = snapshot.visit(Selection::All, Columns::Bytes, &mut |record| {
            let (Some(facts), Some(bytes)) = (record.facts, record.bytes) else {
                return ControlFlow::Continue(());
            };
            if each(&Certificate { facts, bytes }) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        // Without all certificates the file is not to be there.
        if read.is_err() { Err(io::Error::other("the database cannot be read")) } else { outcome }
    });
    read?;
    replaced
}

/// Returns a certificate without superseded signatures as GnuPG has it in a keybox, or why GnuPG cannot read it.
pub(crate) fn blob(certificate: &Certificate, now: Timestamp) -> std::result::Result<Vec<u8>, &'static str> {
    let blob = keybox::blob(certificate, now).ok_or("GnuPG reads keys of version 4 only")?;
    if blob.len() > MAX_BLOB { Err("it is larger than GnuPG reads") } else { Ok(blob) }
}

fn write_secret_keys(keys: &AllKeys, directory: &Path, ask: &mut dyn Ask) -> Result<Vec<Detail>> {
    own_directory(directory)
        .and_then(|()| close(directory))
        .map_err(|source| Error::File { path: directory.to_owned(), source })?;
    let detail = |stored: &StoredKey, outcome| Detail {
        kind: DetailKind::SecretKey,
        name: stored.fingerprint.to_string(),
        path: directory.to_owned(),
        outcome,
    };
    Ok(keys.list()?.iter().map(|stored| detail(stored, written(keys, stored, directory, ask))).collect())
}

/// Writes a secret key, and says what became of it.
fn written(keys: &AllKeys, stored: &StoredKey, directory: &Path, ask: &mut dyn Ask) -> DetailOutcome {
    let left = |reason: &str| DetailOutcome::Left(reason.to_owned());
    let Some(keygrip) = stored.keygrip.filter(|_| matches!(stored.fingerprint.version(), 4 | 5)) else {
        return left("gpg-agent holds no keys of its version or algorithm");
    };
    let path = directory.join(format!("{keygrip}.key"));
    if path.exists() {
        return DetailOutcome::Here;
    }
    let content = match &stored.protection {
        Protection::Dummy => return left("only a stub is here"),
        Protection::Card { .. } => {
            return left("it is on a card; `gpg --card-status` in the new home makes its stub");
        }
        Protection::Agent { .. } => {
            let file = keys.agent().map(|agent| agent.agent().key_directory().join(format!("{keygrip}.key")));
            file.map_or_else(|| Err(io::Error::from(io::ErrorKind::NotFound)), fs::read)
                .map(Into::into)
                .map_err(|error| error.to_string())
        }
        _ => file_of_agent(keys, stored, ask).map_err(|error| causes(&error)),
    };
    let content: Zeroizing<Vec<u8>> = match content {
        Ok(content) => content,
        Err(reason) => return DetailOutcome::Failed(reason),
    };
    match write_private(&path, &content) {
        Ok(()) => DetailOutcome::Taken,
        Err(error) => DetailOutcome::Failed(error.to_string()),
    }
}

fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OutputFile::create(path, Content::Secret, Existing::Kept, &[])?;
    file.write_all(content)?;
    file.commit()?;
    // The content is on the disk; its name has to be too.
    File::open(path.parent().unwrap_or(path))?.sync_all()
}

/// Returns a key in the form of the agent's files, locked anew if it is locked in a way that the agent does not know.
fn file_of_agent(
    keys: &AllKeys,
    stored: &StoredKey,
    ask: &mut dyn Ask,
) -> secret::Result<Zeroizing<Vec<u8>>> {
    let key = keys.files().export(&Name::Fingerprint(stored.fingerprint), ask)?;
    let written = match key_form::write(&key) {
        Err(secret::Error::Unsupported { .. }) if key.protection().is_locked() => {
            let locked = unlock_asking(&key.name(), ask, |passphrase| {
                key.unlock(passphrase)?.lock(passphrase, Lock::for_version(stored.fingerprint.version()))
            })?;
            key_form::write(&locked)
        }
        written => written,
    };
    Ok(written?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_kept_as_it_was_before_the_first_time() {
        let directory = tempfile::tempdir().expect("a directory");
        let (path, before) =
            (directory.path().join("pubring.kbx"), directory.path().join("pubring.kbx.before-keyhoard"));
        fs::write(&path, "theirs").expect("room");
        let failed = replace(&path, |file| {
            file.write_all(b"a part")?;
            Err(io::Error::other("no more"))
        });
        assert!(failed.is_err() && !before.exists());
        assert_eq!(fs::read(&path).expect("a file"), b"theirs");
        for content in ["first", "second"] {
            replace(&path, |file| file.write_all(content.as_bytes())).expect("room");
            assert_eq!(fs::read_to_string(&path).expect("a file"), content);
            assert_eq!(fs::read(&before).expect("a file"), b"theirs");
        }
    }

    #[test]
    fn a_home_directory_becomes_private_once_it_is_taken() {
        let directory = tempfile::tempdir().expect("a directory");
        let mode = || fs::metadata(directory.path()).expect("a directory").mode() & 0o777;
        fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).expect("it is the test's own");
        fs::write(directory.path().join("file"), "").expect("room");
        assert!(prepare(directory.path(), false).is_err());
        assert_eq!(mode(), 0o755, "it is in use");
        prepare(directory.path(), true).expect("a directory");
        assert_eq!(mode(), 0o700);
    }
}
