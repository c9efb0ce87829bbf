//! `keyhoard key delete`: deletes secret keys for good.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use agent::AllKeys;
use engine::delete::delete;
use engine::find::find;
use engine::foreign_text::shown;
use engine::secret::{Name, SecretKeys, StoredKey};
use engine::secret_transfer::{secret_keys_of, with_secret_key};
use engine::store::query::Name as CertificateName;
use engine::store::{CertId, Fingerprint, JournalId, Query, Selection, Store};
use serde::Serialize;

use crate::exit::Outcome;
use crate::printable::counted;
use crate::question::Confirmation;
use crate::session::{Session, command_line};

/// The arguments of `keyhoard key delete`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key delete old@example.org
  keyhoard key delete --secret-only me@example.org
  keyhoard key delete --yes --secret-only 0123456789ABCDEF0123456789ABCDEF01234567

The certificates go first, then the secret keys. `keyhoard undo` brings the certificates back; nothing brings back the \
secret keys. With --secret-only the fingerprint of a secret key whose certificate is not here names it, too.")]
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

/// Asks for confirmation and deletes.
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
    let entry = match deletion.certificates[..] {
        [] => None,
        _ => Some(delete(store.as_ref(), &deletion.certificates, &command_line(), session.now)?),
    };
    for key in &deletion.keys {
        keys.delete(&Name::from(*key))?;
    }
    deletion.print(session, entry)?;
    Ok(Outcome::Done)
}

/// The certificates and secret keys to delete.
struct Deletion {
    certificates: Vec<CertId>,
    keys: Vec<Fingerprint>,
}

impl Deletion {
    /// Finds the secret keys by the names of their certificates. Returns `None`, after a warning, if a name stands for
    /// no secret key.
    fn find(
        session: &Session,
        store: &dyn Store,
        keys: &AllKeys,
        arguments: &Arguments,
    ) -> anyhow::Result<Option<Self>> {
        let snapshot = store.snapshot()?;
        let names: Vec<&[u8]> = arguments.names.iter().map(|name| name.as_bytes()).collect();
        let found = find(snapshot.as_ref(), &names)?;
        let of_certificates = secret_keys_of(snapshot.as_ref(), Selection::Ids(&found.ids), keys)?;
        let certificates = with_secret_key(snapshot.as_ref(), Selection::Ids(&found.ids), &of_certificates)?;
        let mut secret_keys: Vec<Fingerprint> = of_certificates.iter().map(|key| key.fingerprint).collect();
        let mut complete = certificates.len() == found.ids.len();
        if !complete {
            session.warn("a certificate that was named has no secret key here");
        }
        for name in found.missing.iter().map(|&missing| names[missing]) {
            match without_certificate(keys, name)? {
                Some(key) if arguments.secret_only => secret_keys.push(key.fingerprint),
                Some(StoredKey { fingerprint: key, .. }) => {
                    session.warn(format_args!(
                        "{key}: its certificate is not in the database; use --secret-only"
                    ));
                    complete = false;
                }
                None => {
                    session.warn(format_args!("{}: not found", shown(name)));
                    complete = false;
                }
            }
        }
        let certificates = if arguments.secret_only { Vec::new() } else { certificates };
        Ok((complete && !secret_keys.is_empty()).then_some(Self { certificates, keys: secret_keys }))
    }

    /// Asks for confirmation.
    fn is_confirmed(&self, arguments: &Arguments) -> anyhow::Result<bool> {
        let secrets = counted(self.keys.len(), "secret key");
        let named: String = self.keys.iter().map(|key| format!("{key}\n")).collect();
        let with = if arguments.secret_only { "" } else { " with their certificates" };
        arguments.confirmation.is_given(
            format_args!("deleting {secrets}"),
            format_args!("{named}Delete {secrets}{with}? Nothing brings a secret key back."),
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
                "{secrets} deleted, and {}, which `keyhoard undo {entry}` brings back",
                counted(self.certificates.len(), "certificate")
            )),
        }
        Ok(())
    }
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
