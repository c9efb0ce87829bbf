//! `keyhoard key delete`: deletes secret keys for good.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;

use agent::AllKeys;
use anyhow::{Context, bail};
use engine::delete::delete;
use engine::find::resolve;
use engine::foreign_text::shown;
use engine::secret::{Name, SecretKeys, StoredKey};
use engine::secret_keys::owners_of;
use engine::secret_transfer::{secret_keys_of, with_secret_key};
use engine::store::query::Name as CertificateName;
use engine::store::{CertId, Detail, Fingerprint, JournalId, Query, ReadCertificates, Selection, Store};
use serde::Serialize;

use crate::commands::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::hint::Hint;
use crate::printable::{counted, printable};
use crate::question::Confirmation;
use crate::session::{Session, command_line};

/// The arguments of `keyhoard key delete`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key delete old@example.org
  keyhoard key delete --secret-only me@example.org
  keyhoard key delete --yes --secret-only 0123456789ABCDEF0123456789ABCDEF01234567

A name has to mean one certificate. The secret keys go first, in files and in gpg-agent, then the certificates. \
`keyhoard undo` brings the certificates back; only a back-up brings back the secret keys. With --secret-only the fingerprint \
of a secret key whose certificate is not here names it, too.")]
pub(crate) struct Arguments {
    /// The keys to delete, by the names of their certificates.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<OsString>,

    /// Keep the certificates.
    #[arg(long)]
    secret_only: bool,

    #[command(flatten)]
    confirmation: Confirmation,
}

/// Asks for confirmation and deletes the secret keys, then the certificates, which gpg-agent's keys are found by.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    // The user is asked here.
    let keys = session.secret_keys()?.without_question_before_deletion();
    let store = session.open_or_empty()?;
    let Some(deletion) = Deletion::find(session, store.as_ref(), &keys, arguments)? else {
        session.note("nothing was deleted");
        return Ok(Outcome::Nothing);
    };
    if !deletion.is_confirmed(arguments)? {
        session.note("nothing was deleted");
        return Ok(Outcome::Nothing);
    }
    deletion.delete_keys(&keys)?;
    let entry = match deletion.certificates[..] {
        [] => None,
        _ => Some(delete(store.as_ref(), &deletion.certificates, &command_line(), session.now)?),
    };
    deletion.print(session, entry)?;
    Ok(Outcome::Done)
}

/// The certificates and secret keys to delete.
#[derive(Default)]
struct Deletion {
    certificates: Vec<CertId>,
    keys: Vec<Fingerprint>,
    /// What is deleted, a line for each certificate and key.
    listed: String,
}

impl Deletion {
    /// Finds the secret keys by the names of their certificates, each of which means one. Returns `None`, after a
    /// warning, if a name stands for no secret key.
    fn find(
        session: &Session,
        store: &dyn Store,
        keys: &AllKeys,
        arguments: &Arguments,
    ) -> anyhow::Result<Option<Self>> {
        let snapshot = store.snapshot()?;
        let snapshot = snapshot.as_ref();
        let mut named = Vec::new();
        for name in &arguments.names {
            named.push(match resolve(snapshot, name.as_bytes())?[..] {
                [] => None,
                _ => Some(NamedCertificates::find_one(snapshot, name)?),
            });
        }
        let ids: Vec<CertId> = named.iter().copied().flatten().collect();
        let mut deletion = Self::default();
        let mut complete = true;
        for (name, id) in arguments.names.iter().zip(named) {
            complete &= match id {
                None => deletion.add_without_certificate(session, keys, name.as_bytes(), arguments)?,
                Some(id) => deletion.add_certificate(session, snapshot, keys, (id, &ids), arguments)?,
            };
        }
        Ok(complete.then_some(deletion))
    }

    /// Adds a certificate, one of all that are named, and its secret keys; returns whether it has any. Those that others of
    /// the user's need stay.
    fn add_certificate(
        &mut self,
        session: &Session,
        snapshot: &dyn ReadCertificates,
        keys: &AllKeys,
        (id, named): (CertId, &[CertId]),
        arguments: &Arguments,
    ) -> anyhow::Result<bool> {
        let ids = [id];
        let selection = Selection::Ids(&ids);
        let stored = secret_keys_of(snapshot, selection, keys)?;
        let all = keys.list()?;
        let mut name = String::new();
        snapshot.visit(selection, Detail::Own, &mut |record| {
            let user_id = record.facts.as_ref().and_then(|facts| facts.user_ids().next());
            name = format!("{}  {}", record.fingerprint, user_id.map(printable).unwrap_or_default());
            ControlFlow::Continue(())
        })?;
        if with_secret_key(snapshot, selection, &all)?.is_empty() {
            session.warn(format_args!("{name}: it has no secret key here"));
            return Ok(false);
        }
        self.listed += &format!("{name}\n");
        for key in stored {
            match other_owner(snapshot, &key, named, &all)? {
                Some(other) => {
                    let key = key.fingerprint;
                    session.warn(format_args!("the secret key {key} stays: {other} needs it, too"));
                }
                None => self.add_key(key.fingerprint),
            }
        }
        if !arguments.secret_only && !self.certificates.contains(&id) {
            self.certificates.push(id);
        }
        Ok(true)
    }

    /// Adds a secret key whose certificate is not here; returns whether it may be deleted.
    fn add_without_certificate(
        &mut self,
        session: &Session,
        keys: &AllKeys,
        name: &[u8],
        arguments: &Arguments,
    ) -> anyhow::Result<bool> {
        match without_certificate(keys, name)? {
            Some(key) if arguments.secret_only => self.add_key(key.fingerprint),
            Some(StoredKey { fingerprint, .. }) => {
                let alone = Hint::DeleteSecretKey(fingerprint.to_string());
                session.warn(format_args!(
                    "{fingerprint}: its certificate is not in the database; {alone} deletes the secret key"
                ));
                return Ok(false);
            }
            None => {
                session.warn(format_args!("{}: not found", shown(name)));
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn add_key(&mut self, key: Fingerprint) {
        if !self.keys.contains(&key) {
            self.listed += &format!("  secret key {key}\n");
            self.keys.push(key);
        }
    }

    /// Deletes the secret keys wherever they are.
    ///
    /// # Errors
    ///
    /// If one cannot be deleted or is still there afterwards; says which are gone.
    fn delete_keys(&self, keys: &AllKeys) -> anyhow::Result<()> {
        for (index, key) in self.keys.iter().enumerate() {
            let deleted = delete_key(keys, key);
            deleted.with_context(|| match index {
                0 => "nothing was deleted".to_owned(),
                _ => format!("the certificates were not deleted, but {}", counted(index, "secret key")),
            })?;
        }
        Ok(())
    }

    /// Asks for confirmation.
    fn is_confirmed(&self, arguments: &Arguments) -> anyhow::Result<bool> {
        let secrets = counted(self.keys.len(), "secret key");
        let with = if arguments.secret_only { "" } else { " with their certificates" };
        let listed = &self.listed;
        arguments.confirmation.is_given(
            format_args!("deleting {secrets}"),
            format_args!("{listed}Delete {secrets}{with}? Only a back-up brings a secret key back."),
        )
    }

    fn print(&self, session: &mut Session, entry: Option<JournalId>) -> anyhow::Result<()> {
        let entry = entry.map(|JournalId(entry)| entry);
        if session.output.is_json() {
            let deleted = self.keys.iter().map(Fingerprint::to_string).collect();
            session.output.json(&DeletedJson { deleted, certificates: self.certificates.len(), entry })?;
            return Ok(());
        }
        let secrets = counted(self.keys.len(), "secret key");
        match entry {
            None => session.note(format_args!("{secrets} deleted")),
            Some(entry) => session.note(format_args!(
                "{secrets} deleted, and {}, which {} brings back without the secret keys",
                counted(self.certificates.len(), "certificate"),
                Hint::Undo(entry)
            )),
        }
        Ok(())
    }
}

/// Deletes a secret key wherever it is, and makes sure that it is gone.
fn delete_key(keys: &AllKeys, key: &Fingerprint) -> anyhow::Result<()> {
    let name = Name::from(*key);
    keys.delete(&name)?;
    if keys.find(&name)?.is_some() {
        bail!("the secret key {key} is still there");
    }
    Ok(())
}

/// Returns a certificate of the user's, other than those that are named, that loses its secret key with this one: it has
/// the same key, or one with the same secret, which gpg-agent keeps once.
fn other_owner(
    snapshot: &dyn ReadCertificates,
    key: &StoredKey,
    named: &[CertId],
    all: &[StoredKey],
) -> engine::Result<Option<Fingerprint>> {
    let is_same = |other: &&StoredKey| {
        other.fingerprint == key.fingerprint || key.keygrip.is_some() && other.keygrip == key.keygrip
    };
    for same in all.iter().filter(is_same) {
        let owners = owners_of(snapshot, &same.fingerprint, all)?;
        if let Some((_, other)) = owners.into_iter().find(|(owner, _)| !named.contains(owner)) {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// Finds a secret key without a certificate by its fingerprint, even in a damaged file.
fn without_certificate(keys: &AllKeys, name: &[u8]) -> anyhow::Result<Option<StoredKey>> {
    let Ok(Query::Fingerprint(fingerprint)) = CertificateName::parse(name).map(|name| name.query) else {
        return Ok(None);
    };
    Ok(keys.find(&fingerprint.into())?)
}

/// The result of a deletion, as `docs/json.md` describes it.
#[derive(Serialize)]
struct DeletedJson {
    deleted: Vec<String>,
    certificates: usize,
    entry: Option<i64>,
}
