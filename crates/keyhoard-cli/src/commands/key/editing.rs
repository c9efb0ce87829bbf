//! What all edits have in common: their arguments, the key that is named, its passphrase, and the note at the end.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use agent::AllKeys;
use anyhow::bail;
use engine::cert::Timestamp;
use engine::cert::facts::RevocationReason;
use engine::edit::{CertifiedIdentity, Edited, Editor, Revoked, Target};
use engine::passphrase::Passphrases;
use engine::signing_keys::can_certify;
use engine::store::{Fingerprint, JournalId, Store};
use engine::undo::{UndoOptions, undo};
use serde::Serialize;

use crate::commands::named_certificates::NamedCertificates;
use crate::commands::own_key::{Purpose, choose, primary};
use crate::exit::Outcome;
use crate::expiry::Expiry;
use crate::hint::Hint;
use crate::passphrase_options::{PassphraseOptions, owner};
use crate::session::{Session, command_line};

/// The key that is edited.
#[derive(Debug, clap::Args)]
pub(super) struct EditedKey {
    /// The key.
    #[arg(value_name = "KEY")]
    key: OsString,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

/// The key that is edited, and one of its user IDs.
#[derive(Debug, clap::Args)]
pub(super) struct EditedUserId {
    #[command(flatten)]
    pub(super) key: EditedKey,

    /// The user ID, all of it.
    #[arg(value_name = "USER-ID")]
    user_id: OsString,
}

/// A remark on a revocation.
#[derive(Debug, clap::Args)]
pub(super) struct Comment {
    /// A remark that everybody can read.
    #[arg(long, value_name = "TEXT", default_value = "")]
    comment: String,
}

impl EditedKey {
    /// Opens the database and finds the key.
    pub(super) fn editing(&self, session: &Session) -> anyhow::Result<Editing<'_>> {
        Editing::begin(session, &self.key, &self.passphrase)
    }
}

impl EditedUserId {
    /// Returns the user ID's bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        self.user_id.as_bytes()
    }
}

impl Comment {
    /// Returns the reason for a revocation with this code.
    pub(super) fn reason(&self, code: u8) -> RevocationReason {
        RevocationReason { code, comment: self.comment.clone().into_bytes() }
    }
}

/// One edit: the database, the secret keys, and the certificate that is edited.
pub(super) struct Editing<'a> {
    store: Box<dyn Store>,
    secret_keys: AllKeys,
    passphrase: &'a PassphraseOptions,
    now: Timestamp,
    /// The certificate's primary key.
    pub(super) key: Fingerprint,
}

impl<'a> Editing<'a> {
    /// Opens the database and finds the one certificate that `name` stands for.
    pub(super) fn begin(
        session: &Session,
        name: &OsStr,
        passphrase: &'a PassphraseOptions,
    ) -> anyhow::Result<Self> {
        let (store, secret_keys) = (session.open()?, session.secret_keys()?);
        let key = named_key(store.as_ref(), name)?;
        Ok(Self { store, secret_keys, passphrase, now: session.now, key })
    }

    /// Finds the one certificate that `name` stands for.
    pub(super) fn named(&self, name: &OsStr) -> anyhow::Result<Fingerprint> {
        named_key(self.store.as_ref(), name)
    }

    /// Finds the key that certifies: the one named, else the user's own one.
    pub(super) fn certifier(
        &self,
        session: &Session,
        name: Option<&OsString>,
    ) -> anyhow::Result<Fingerprint> {
        let snapshot = self.store.snapshot()?;
        let snapshot = snapshot.as_ref();
        let is_able = |id| can_certify(snapshot, id, &self.secret_keys, self.now);
        let purpose = Purpose { verb: "certify", is_able: &is_able };
        let name = name.map(OsString::as_os_str);
        primary(snapshot, choose(session, snapshot, &self.secret_keys, name, &purpose)?)
    }

    /// Returns what chooses user IDs of the certificate: those that are named, or all if none is.
    ///
    /// # Errors
    ///
    /// If the certificate has none that is named.
    pub(super) fn chosen<'n>(
        &self,
        user_ids: &'n [OsString],
    ) -> anyhow::Result<impl Fn(&CertifiedIdentity) -> bool + use<'n>> {
        let target = self.target()?;
        for wanted in user_ids {
            target.user_id(wanted.as_bytes())?;
        }
        Ok(move |identity: &CertifiedIdentity| {
            let is_it = |wanted: &OsString| identity.user_id() == Some(wanted.as_bytes());
            user_ids.is_empty() || user_ids.iter().any(is_it)
        })
    }

    /// Runs an edit, asking for passphrases as the options say.
    pub(super) fn edit<T>(
        &self,
        edit: impl FnOnce(&mut Editor<'_>, &Fingerprint) -> engine::Result<T>,
    ) -> anyhow::Result<T> {
        let owner = |key: &Fingerprint| owner(self.store.snapshot().ok()?.as_ref(), key);
        let mut ask = Passphrases::new(self.passphrase.source()?, owner);
        let mut editor =
            Editor::new(self.store.as_ref(), &self.secret_keys, &mut ask, command_line(), self.now);
        Ok(edit(&mut editor, &self.key)?)
    }

    /// Reads the certificate before it is changed.
    pub(super) fn target(&self) -> anyhow::Result<Target> {
        let mut nobody = secret::ask::Nobody;
        let editor =
            Editor::new(self.store.as_ref(), &self.secret_keys, &mut nobody, String::new(), self.now);
        Ok(editor.target(&self.key)?)
    }

    /// Returns the time at which something expires.
    ///
    /// # Errors
    ///
    /// A time that has passed already.
    pub(super) fn future(&self, expiry: Expiry) -> anyhow::Result<Option<Timestamp>> {
        let time = expiry.after(self.now);
        if time.is_some_and(|time| time <= self.now) {
            bail!("this expiry date has passed already");
        }
        Ok(time)
    }

    /// Says what was done to the key.
    pub(super) fn print(self, session: &mut Session, what: &str, edited: Edited) -> anyhow::Result<Outcome> {
        let key = self.key;
        let entry = edited.journal.map(|JournalId(entry)| entry);
        if session.output.is_json() {
            let signatures = edited.signatures;
            session.output.json(&EditedJson { fingerprint: key.to_string(), signatures, entry })?;
        } else {
            match entry {
                Some(entry) => {
                    let undo = self.undoing(entry)?;
                    session.note(format_args!("{key}: {what}; {undo} takes that back here"))
                }
                None => session.note(format_args!("{key}: nothing had to be changed")),
            }
        }
        Ok(Outcome::Done)
    }

    /// Returns the command that takes back an entry: what shortens the life of something stays unless that is asked for.
    fn undoing(&self, entry: i64) -> anyhow::Result<Hint> {
        let options = UndoOptions { dry_run: true, ..UndoOptions::default() };
        let summary = undo(self.store.as_ref(), Some(JournalId(entry)), &options, self.now, &mut |_| {})?;
        Ok(if summary.kept > 0 { Hint::UndoRevocation(entry) } else { Hint::Undo(entry) })
    }

    /// Says what a revocation did.
    pub(super) fn print_revoked(
        self,
        session: &mut Session,
        what: &str,
        revoked: Revoked,
    ) -> anyhow::Result<Outcome> {
        let edited = match revoked {
            Revoked::Now { edited, .. } => edited,
            Revoked::Already => Edited::default(),
        };
        self.print(session, what, edited)
    }
}

fn named_key(store: &dyn Store, name: &OsStr) -> anyhow::Result<Fingerprint> {
    let snapshot = store.snapshot()?;
    primary(snapshot.as_ref(), NamedCertificates::find_one(snapshot.as_ref(), name)?)
}

/// What an edit did, as `docs/json.md` describes it.
#[derive(Serialize)]
struct EditedJson {
    fingerprint: String,
    signatures: usize,
    entry: Option<i64>,
}
