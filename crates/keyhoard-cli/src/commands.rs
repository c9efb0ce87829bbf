//! One file for each subcommand: its arguments, and from the library's answer to text or JSON.

pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod copy;
pub(crate) mod db;
pub(crate) mod decrypt;
pub(crate) mod delete;
pub(crate) mod doctor;
pub(crate) mod encrypt;
pub(crate) mod export;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod key;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod migrate;
pub(crate) mod policy;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod sign;
pub(crate) mod signed_by;
pub(crate) mod sop;
pub(crate) mod sql;
pub(crate) mod tofu;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod verify;
pub(crate) mod who_signed;

mod checked;
mod content_options;
mod listed;
mod signatures;
mod signer_options;
mod verify_batch;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;

use anyhow::bail;
use keyhoard::find::{find, meant};
use keyhoard::foreign_text::shown;
use keyhoard::store::{CertId, Detail, Fingerprint, ReadCertificates, Selection, Store};
use keyhoard::validity::Sources;

use crate::arguments::{Arguments, Command};
use crate::exit::{NotHere, Outcome};
use crate::printable::counted;
use crate::session::Session;

/// Runs the command that was asked for.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let mut session = Session::new(arguments.global);
    let session = &mut session;
    let outcome = match arguments.command {
        Command::Import(arguments) => import::run(session, &arguments),
        Command::Export(arguments) => export::run(session, &arguments),
        Command::Generate(arguments) => generate::run(session, &arguments),
        Command::List(arguments) => list::run(session, &arguments),
        Command::Show(arguments) => show::run(session, &arguments),
        Command::Search(arguments) => search::run(session, &arguments),
        Command::Check(arguments) => check::run(session, &arguments),
        Command::WhoSigned(arguments) => who_signed::run(session, &arguments),
        Command::SignedBy(arguments) => signed_by::run(session, &arguments),
        Command::Encrypt(arguments) => encrypt::run(session, &arguments),
        Command::Decrypt(arguments) => decrypt::run(session, &arguments),
        Command::Sign(arguments) => sign::run(session, &arguments),
        Command::Verify(arguments) => verify::run(session, &arguments),
        Command::Policy(arguments) => policy::run(session, &arguments),
        Command::Delete(arguments) => delete::run(session, &arguments),
        Command::Key(arguments) => key::run(session, &arguments),
        Command::Log(arguments) => log::run(session, &arguments),
        Command::Undo(arguments) => undo::run(session, &arguments),
        Command::Db(arguments) => db::run(session, &arguments),
        Command::Copy(arguments) => copy::run(session, &arguments),
        Command::Doctor(arguments) => doctor::run(session, &arguments),
        Command::Sql(arguments) => sql::run(session, &arguments),
        Command::Tofu(arguments) => tofu::run(session, &arguments),
        Command::Trust(arguments) => trust::run(session, &arguments),
        Command::Migrate(arguments) => migrate::run(session, &arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Sop(arguments) => sop::run(session, &arguments),
        Command::Completions(arguments) => completions::run(session, &arguments),
        Command::Man(arguments) => man::run(session, &arguments),
    }?;
    session.output.flush()?;
    Ok(outcome)
}

/// Returns where validity comes from: a database, which keeps what is found out.
fn sources<'a>(store: &'a dyn Store, snapshot: &'a dyn ReadCertificates) -> Sources<'a> {
    Sources { certificates: vec![snapshot], owner_trust: snapshot.trust(), keeper: Some(store) }
}

/// Returns the primary keys of certificates, in database order.
fn fingerprints(
    snapshot: &dyn ReadCertificates,
    selection: Selection<'_>,
) -> keyhoard::Result<Vec<Fingerprint>> {
    let mut keys = Vec::new();
    snapshot.visit(selection, Detail::Name, &mut |record| {
        keys.push(record.fingerprint);
        ControlFlow::Continue(())
    })?;
    Ok(keys)
}

/// The certificates that a command is about.
struct Named {
    /// `None` means all of them.
    ids: Option<Vec<CertId>>,
    /// Something was found for every name.
    complete: bool,
}

impl Named {
    /// Finds what the names stand for, and warns about names that stand for nothing.
    fn find(session: &Session, snapshot: &dyn ReadCertificates, names: &[OsString]) -> anyhow::Result<Self> {
        if names.is_empty() {
            return Ok(Self { ids: None, complete: true });
        }
        let bytes: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let found = find(snapshot, &bytes)?;
        for &missing in &found.missing {
            session.warn(format_args!("{}: not found", shown(bytes[missing])));
        }
        Ok(Self { ids: Some(found.ids), complete: found.missing.is_empty() })
    }

    /// Finds the one certificate that a name stands for.
    ///
    /// # Errors
    ///
    /// [`NotHere`] if there is none, and if there are several.
    fn one(snapshot: &dyn ReadCertificates, name: &OsStr) -> anyhow::Result<CertId> {
        let name = name.as_bytes();
        match meant(snapshot, name)?[..] {
            [id] => Ok(id),
            [] => Err(NotHere::named(name).into()),
            ref several => {
                let certificates = counted(several.len(), "certificate");
                bail!("{}: stands for {certificates}; say the fingerprint of one", shown(name))
            }
        }
    }

    fn selection(&self) -> Selection<'_> {
        self.ids.as_deref().map_or(Selection::All, Selection::Ids)
    }
}
