//! `keyhoard trust set`, `disable`, `list`, `show`, `exchange`: owner trust.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Context;
use engine::cert::Fingerprint;
use engine::owner_trust::{self, Assignment, OptionNames, TrustHolder, effective};
use engine::store::{AssignedTrust, Detail, ReadCertificates, Selection};
use engine::trust::OwnerTrust;
use serde::Serialize;

use crate::commands::named_certificates::{NamedCertificates, fingerprints};
use crate::exit::Outcome;
use crate::input;
use crate::naming;
use crate::printable::{counted, printable};
use crate::session::{Session, command_line};
use crate::style::Style;
use crate::table::{Cell, Table};

/// The keys whose owner trust is changed.
#[derive(Debug, clap::Args)]
struct NamedKeys {
    /// The certificates; each name must match exactly one.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<OsString>,

    /// Decide for everybody who uses the server's database, not only for yourself; needs a privilege of its own.
    #[arg(long)]
    for_everybody: bool,
}

/// The arguments of `keyhoard trust set`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard trust set ultimate me@example.org
  keyhoard trust set marginal 0123456789ABCDEF 89ABCDEF01234567
  keyhoard trust set unknown someone@example.org      forgets it")]
pub(super) struct SetArguments {
    /// How far.
    #[arg(value_name = "TRUST")]
    trust: TrustWord,
    #[command(flatten)]
    keys: NamedKeys,
}

/// Owner trust by GnuPG's words, in the order of [`OwnerTrust::ALL`].
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum TrustWord {
    /// Nothing is known: removes what was set.
    Unknown,
    /// No opinion.
    Undefined,
    /// Not at all.
    Never,
    /// Marginally: several such keys are needed.
    Marginal,
    /// Fully: one of them is enough.
    Full,
    /// It is your own key.
    Ultimate,
}

impl From<TrustWord> for OwnerTrust {
    fn from(word: TrustWord) -> Self {
        Self::ALL[word as usize]
    }
}

/// The arguments of `keyhoard trust disable`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard trust disable someone@example.org
  keyhoard trust disable --off someone@example.org    switches the key on again")]
pub(super) struct DisableArguments {
    /// Enable them again.
    #[arg(long)]
    off: bool,
    #[command(flatten)]
    keys: NamedKeys,
}

/// The directions of `keyhoard trust exchange`.
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "Examples:
  gpg --export-ownertrust | keyhoard trust exchange import
  keyhoard trust exchange export | gpg --import-ownertrust")]
pub(super) enum Exchange {
    /// Read what `gpg --export-ownertrust` has written.
    Import {
        /// The file; `-` or none is standard input.
        file: Option<PathBuf>,
    },
    /// Write what `gpg --import-ownertrust` reads.
    Export,
}

/// Sets owner trust.
pub(super) fn set(session: &mut Session, arguments: &SetArguments) -> anyhow::Result<Outcome> {
    let trust = OwnerTrust::from(arguments.trust);
    let given = arguments.keys.change(session, |key, before| Assignment::new(key, trust, before))?;
    print_given(session, &given, |count| {
        format!("{}: {}", counted(count, "certificate"), naming::owner_trust_phrase(trust))
    })
}

/// Disables or enables keys.
pub(super) fn disable(session: &mut Session, arguments: &DisableArguments) -> anyhow::Result<Outcome> {
    let disabling = |key, before| Assignment::disabling(key, !arguments.off, before);
    let given = arguments.keys.change(session, disabling)?;
    let word = if arguments.off { "enabled" } else { "disabled" };
    print_given(session, &given, |count| format!("{} {word}", counted(count, "certificate")))
}

impl NamedKeys {
    /// Changes the owner trust of the keys.
    fn change(
        &self,
        session: &Session,
        new: impl Fn(Fingerprint, Option<AssignedTrust>) -> Assignment,
    ) -> anyhow::Result<Vec<Assignment>> {
        let store = session.open()?;
        let snapshot = store.snapshot()?;
        let mut given = Vec::new();
        for name in &self.names {
            let id = NamedCertificates::find_one(snapshot.as_ref(), name)?;
            for key in fingerprints(snapshot.as_ref(), Selection::Ids(&[id]))? {
                given.push(new(key, snapshot.owner_trust(&key)?));
            }
        }
        drop(snapshot);
        let holder = match self.for_everybody {
            true => TrustHolder::Everybody,
            false => TrustHolder::User,
        };
        owner_trust::assign_as(store.as_ref(), &given, holder, &command_line(), session.now)?;
        Ok(given)
    }
}

/// Prints the new owner trust.
fn print_given(
    session: &mut Session,
    given: &[Assignment],
    in_words: impl FnOnce(usize) -> String,
) -> anyhow::Result<Outcome> {
    if session.output.is_json() {
        let keys: Vec<_> = given.iter().map(|given| (given.key, given.trust.unwrap_or_default())).collect();
        let listed = listed(session.open()?.snapshot()?.as_ref(), &keys)?;
        listed.iter().try_for_each(|given| session.output.json(given))?;
    } else {
        session.note(in_words(given.len()));
    }
    Ok(Outcome::done_if(!given.is_empty()))
}

/// Lists the keys with owner trust, the most trusted first.
pub(super) fn list(session: &mut Session) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let mut given = snapshot.owner_trusts()?;
    given
        .sort_by_key(|(key, trust)| (std::cmp::Reverse(effective(Some(*trust), OptionNames::Nothing)), *key));
    let mut table = Table::default();
    for listed in listed(snapshot.as_ref(), &given)? {
        if session.output.is_json() {
            session.output.json(&listed)?;
            continue;
        }
        let name = listed.name.unwrap_or_else(|| "not here".to_owned());
        let mut cells = vec![
            Cell::new(listed.owner_trust),
            Cell::new(listed.fingerprint).styled(Style::Name),
            Cell::new(name),
        ];
        cells.extend(listed.by_option.then(|| Cell::new("[by gpg's --trusted-key]").styled(Style::Faint)));
        cells.extend(listed.disabled.then(|| Cell::new("[disabled]").styled(Style::Warning)));
        table.push(cells);
    }
    session.output.table(&table)?;
    Ok(Outcome::done_if(!given.is_empty()))
}

/// Returns the entries of keys with owner trust.
fn listed(
    snapshot: &dyn ReadCertificates,
    given: &[(Fingerprint, AssignedTrust)],
) -> anyhow::Result<Vec<GivenJson>> {
    let keys: Vec<Fingerprint> = given.iter().map(|(key, _)| *key).collect();
    let names = names(snapshot, &keys)?;
    let listed = |(key, trust): &(Fingerprint, AssignedTrust)| GivenJson {
        fingerprint: key.to_string(),
        owner_trust: effective(Some(*trust), OptionNames::Nothing).word(),
        disabled: trust.disabled,
        by_option: trust.is_by_option(),
        name: names.get(key).cloned(),
    };
    Ok(given.iter().map(listed).collect())
}

/// Returns the first user ID of each certificate that is in the database.
fn names(
    snapshot: &dyn ReadCertificates,
    keys: &[Fingerprint],
) -> anyhow::Result<HashMap<Fingerprint, String>> {
    let ids: Vec<_> = snapshot.by_fingerprint(keys)?.into_iter().flatten().collect();
    let mut names = HashMap::new();
    snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
        let name = record.facts.as_ref().and_then(|facts| facts.user_ids().next()).map(printable);
        names.insert(record.fingerprint, name.unwrap_or_default());
        ControlFlow::Continue(())
    })?;
    Ok(names)
}

/// Imports or exports owner trust in the form of gpg.
pub(super) fn exchange(session: &mut Session, exchange: &Exchange) -> anyhow::Result<Outcome> {
    match exchange {
        Exchange::Export => {
            let given = session.open()?.snapshot()?.decided_owner_trusts()?;
            session.output.write_all(owner_trust::lines(&given).as_bytes())?;
            Ok(Outcome::done_if(!given.is_empty()))
        }
        Exchange::Import { file } => import(session, file.as_ref()),
    }
}

fn import(session: &mut Session, file: Option<&PathBuf>) -> anyhow::Result<Outcome> {
    let path = file.map(PathBuf::as_path);
    let mut text = Vec::new();
    input::open(path)?.read_to_end(&mut text).with_context(|| input::name(path))?;
    let mut given = Vec::new();
    let lines = text.split(|&byte| byte == b'\n').enumerate();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let line_name = || format!("{}: line {}", input::name(path), number + 1);
        given.extend(Assignment::read_exactly(line).with_context(line_name)?);
    }
    let store = session.open_or_create()?;
    owner_trust::assign(store.as_ref(), &given, &command_line(), session.now)?;
    print_given(session, &given, |count| format!("owner trust of {} imported", counted(count, "key")))
}

/// A key with owner trust, as `docs/json.md` describes it.
#[derive(Serialize)]
struct GivenJson {
    fingerprint: String,
    owner_trust: &'static str,
    disabled: bool,
    by_option: bool,
    name: Option<String>,
}
