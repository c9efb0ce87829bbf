//! `keyhoard delete`: deletes certificates.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use anyhow::bail;
use engine::delete::{DeletionCandidate, Purge, candidates, delete, purge};
use engine::find::find;
use engine::foreign_text::shown;
use engine::secret_keys::SecretKeys;
use engine::store::query::Name;
use engine::store::{CertId, Fingerprint, JournalId, Query, Store};
use serde::Serialize;

use crate::exit::Outcome;
use crate::hint::Hint;
use crate::printable::{counted, printable};
use crate::question::Confirmation;
use crate::session::{Session, command_line};

/// The most certificates that are listed before the question.
const MAX_LISTED: usize = 20;

/// The arguments of `keyhoard delete`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard delete 0123456789ABCDEF0123456789ABCDEF01234567
  keyhoard delete --yes @old-company.example
  keyhoard delete --purge --yes 0123456789ABCDEF0123456789ABCDEF01234567

`keyhoard undo` restores deleted certificates, but not purged ones. The owner trust of a deleted key is removed either \
way. With --purge a certificate that was deleted earlier can be named by its fingerprint: what the journal keeps of it is \
purged.")]
pub(crate) struct Arguments {
    /// The certificates to delete.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<OsString>,

    #[command(flatten)]
    confirmation: Confirmation,

    /// Remove the bytes from the journal too, so that nothing can bring them back.
    #[arg(long)]
    purge: bool,

    /// Delete even a certificate whose secret key is here, or with GnuPG; the secret key stays.
    #[arg(long)]
    despite_secret_key: bool,
}

/// Asks for confirmation and deletes.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let Some(deletion) = Deletion::find(session, store.as_ref(), arguments)? else {
        return Ok(nothing(session));
    };
    refuse_secret_keys(&deletion.present, arguments)?;
    if !is_confirmed(&deletion, arguments)? {
        return Ok(nothing(session));
    }
    let ids: Vec<CertId> = deletion.present.iter().map(|candidate| candidate.id).collect();
    let command = command_line();
    let entry = match arguments.purge {
        false => delete(store.as_ref(), &ids, &command, session.now)?,
        true => match purge(store.as_ref(), &ids, &deletion.removed, &command, session.now)? {
            Purge::Done(entry) => entry,
            Purge::Unknown(unknown) => {
                for primary in unknown {
                    session.warn(format_args!("{primary}: neither in the database nor in the journal"));
                }
                return Ok(nothing(session));
            }
        },
    };
    print_deletion(session, arguments, &deletion, entry)?;
    Ok(Outcome::Done)
}

fn nothing(session: &Session) -> Outcome {
    session.note("nothing was deleted");
    Outcome::Nothing
}

/// The certificates to delete.
struct Deletion {
    present: Vec<DeletionCandidate>,
    /// The primary keys of certificates that were deleted earlier, of which the journal may keep packets.
    removed: Vec<Fingerprint>,
}

impl Deletion {
    /// Finds the certificates by their names. Returns `None`, after a warning, if a name stands for nothing.
    fn find(session: &Session, store: &dyn Store, arguments: &Arguments) -> anyhow::Result<Option<Self>> {
        let snapshot = store.snapshot()?;
        let names: Vec<&[u8]> = arguments.names.iter().map(|name| name.as_bytes()).collect();
        let found = find(snapshot.as_ref(), &names)?;
        let mut removed = Vec::new();
        let mut complete = true;
        for name in found.missing.iter().map(|&missing| names[missing]) {
            match Name::parse(name).map(|name| name.query) {
                Ok(Query::Fingerprint(primary)) if arguments.purge => removed.push(primary),
                _ => {
                    session.warn(format_args!("{}: not found", shown(name)));
                    complete = false;
                }
            }
        }
        removed.sort_unstable();
        removed.dedup();
        let secret_keys = SecretKeys::near(&session.path()?);
        let present = candidates(snapshot.as_ref(), &found.ids, &secret_keys)?;
        let deletion = Self { present, removed };
        Ok((complete && deletion.count() > 0).then_some(deletion))
    }

    fn count(&self) -> usize {
        self.present.len() + self.removed.len()
    }
}

fn refuse_secret_keys(found: &[DeletionCandidate], arguments: &Arguments) -> anyhow::Result<()> {
    let with_secret = found.iter().find_map(|candidate| Some((candidate, candidate.secret_key.as_ref()?)));
    match with_secret {
        Some((candidate, file)) if !arguments.despite_secret_key => bail!(
            "{}: its secret key is in {}; --despite-secret-key deletes the certificate and keeps the secret key",
            candidate.fingerprint,
            file.display()
        ),
        _ => Ok(()),
    }
}

/// Lists the certificates and asks for confirmation.
fn is_confirmed(deletion: &Deletion, arguments: &Arguments) -> anyhow::Result<bool> {
    let certificates = counted(deletion.count(), "certificate");
    let present = deletion.present.iter().map(|candidate| {
        let name = candidate.name.as_deref().map(printable).unwrap_or_default();
        format!("{}  {name}\n", candidate.fingerprint)
    });
    let removed =
        deletion.removed.iter().map(|key| format!("{key}  (deleted earlier: its packets in the journal)\n"));
    let mut named: String = present.chain(removed).take(MAX_LISTED).collect();
    if deletion.count() > MAX_LISTED {
        named += &format!("and {} more\n", deletion.count() - MAX_LISTED);
    }
    let how = match arguments.purge {
        true => "for good".to_owned(),
        false => format!("({} brings {} back)", Hint::UndoLast, it_or_them(deletion.count())),
    };
    arguments.confirmation.is_given(
        format_args!("deleting {certificates}"),
        format_args!("{named}Delete {certificates} {how}?"),
    )
}

fn it_or_them(count: usize) -> &'static str {
    if count == 1 { "it" } else { "them" }
}

fn print_deletion(
    session: &mut Session,
    arguments: &Arguments,
    deletion: &Deletion,
    JournalId(entry): JournalId,
) -> anyhow::Result<()> {
    let certificates = counted(deletion.count(), "certificate");
    if session.output.is_json() {
        let present = deletion.present.iter().map(|candidate| &candidate.fingerprint);
        let deleted = present.chain(&deletion.removed).map(Fingerprint::to_string).collect();
        session.output.json(&DeletedJson { deleted, purged: arguments.purge, entry })?;
    } else if arguments.purge {
        session.note(format_args!("{certificates} deleted for good"));
    } else {
        let them = it_or_them(deletion.count());
        session.note(format_args!("{certificates} deleted; {} brings {them} back", Hint::Undo(entry)));
    }
    Ok(())
}

/// The result of a deletion, as `docs/json.md` describes it.
#[derive(Serialize)]
struct DeletedJson {
    deleted: Vec<String>,
    purged: bool,
    entry: i64,
}
