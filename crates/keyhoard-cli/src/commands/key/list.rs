//! `keyhoard key list`: lists the stored secret keys and their protection.

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;

use agent::AllKeys;
use engine::cert::Facts;
use engine::migrate::{Kind, not_taken_over, usual};
use engine::secret::{Protection, Role, SecretKeys as _, StoredKey};
use engine::secret_keys::owner_of;
use engine::secret_transfer::with_secret_key;
use engine::store::{Detail, Fingerprint, ReadCertificates, ReadJournal, Selection};
use serde::Serialize;

use crate::commands::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::hint::Hint;
use crate::listing::TextJson;
use crate::naming::algorithm;
use crate::output::Output;
use crate::printable::{hexadecimal, printable};
use crate::session::Session;
use crate::style::Style;
use crate::table::{Cell, Table};

/// The arguments of `keyhoard key list`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key list
  keyhoard key list --json me@example.org

Reads no secret and asks for no passphrase.")]
pub(crate) struct Arguments {
    /// The keys to list, by the names of their certificates [default: all].
    #[arg(value_name = "NAME")]
    names: Vec<OsString>,
}

/// Lists the secret keys.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let keys = session.secret_keys()?;
    let store = session.open_or_empty()?;
    let snapshot = store.snapshot()?;
    let snapshot = snapshot.as_ref();
    let named = NamedCertificates::find(session, snapshot, &arguments.names)?;
    let stored_keys = stored_keys(session, &keys)?;
    let ids = with_secret_key(snapshot, named.selection(), &stored_keys)?;
    let mut listing = Listing { output: &mut session.output, stored_keys: &stored_keys, any: false };
    let mut written = Ok(());
    snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
        if let Some(facts) = &record.facts {
            written = listing.certificate(facts);
        }
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written?;
    if named.ids.is_none() {
        listing.orphans(snapshot, &databases(&keys, &stored_keys))?;
    }
    let any = listing.any;
    if named.ids.is_none() && is_gnupg_left(snapshot)? {
        session.note(format_args!("GnuPG has keys that are not here; {} takes them over", Hint::Migrate));
    }
    if !any && named.complete {
        session.note(format_args!(
            "there is no secret key here; {} makes one, {} imports one",
            Hint::Generate,
            Hint::ImportFile
        ));
    }
    Ok(Outcome::done_if(named.complete && any))
}

/// Returns the places of other databases that the secret keys in files belong to; what cannot be read belongs to none.
fn databases(keys: &AllKeys, stored_keys: &[StoredKey]) -> Vec<(Fingerprint, Vec<String>)> {
    let files = keys.files();
    let others = |stored: &StoredKey| {
        let mut places = files.databases_of(&stored.fingerprint).unwrap_or_default();
        places.retain(|place| Some(place.as_str()) != files.database());
        (stored.fingerprint, places)
    };
    stored_keys.iter().map(others).filter(|(_, places)| !places.is_empty()).collect()
}

/// Says whether GnuPG has secret keys at its usual place that were not taken over.
fn is_gnupg_left(snapshot: &dyn ReadJournal) -> engine::Result<bool> {
    let has_secret_keys = usual().iter().any(|source| source.kind == Kind::SecretKeys);
    let is_keyring = |kind: Kind| matches!(kind, Kind::Keyring | Kind::Keybox | Kind::Keyboxd);
    Ok(has_secret_keys && not_taken_over(snapshot)?.iter().any(|source| is_keyring(source.kind)))
}

/// Returns the keys of the readable files and of the agent, and warns of the others.
fn stored_keys(session: &Session, keys: &AllKeys) -> anyhow::Result<Vec<StoredKey>> {
    let mut stored_keys = match keys.agent().map(|agent| agent.list()).transpose() {
        Ok(stored) => stored.unwrap_or_default(),
        Err(error) => {
            session.warn(error);
            Vec::new()
        }
    };
    for head in keys.files().heads()? {
        match head {
            Ok(head) => {
                // A placeholder does not hide the agent's key, and a file's key is used before that.
                let others = stored_keys.iter().position(|stored| stored.fingerprint == head.fingerprint);
                match others {
                    Some(other) if head.protection.has_secret() => stored_keys[other] = head,
                    Some(_) => {}
                    None => stored_keys.push(head),
                }
            }
            Err(error) => session.warn(error),
        }
    }
    Ok(stored_keys)
}

/// The state of writing a listing.
struct Listing<'a> {
    output: &'a mut Output,
    stored_keys: &'a [StoredKey],
    any: bool,
}

impl Listing<'_> {
    fn certificate(&mut self, facts: &Facts) -> io::Result<()> {
        let primary = facts.primary().fingerprint;
        let name = facts.user_ids().next();
        let mut table = Table::default();
        for key in facts.keys() {
            let is_primary = key.fingerprint == primary;
            let Some(stored) = self.stored_keys.iter().find(|stored| stored.fingerprint == key.fingerprint)
            else {
                if is_primary && !self.output.is_json() {
                    table.push(row("primary", &key.fingerprint, &algorithm(key), "not here", Style::Faint));
                }
                continue;
            };
            if self.output.is_json() {
                let algorithm = Some(algorithm(key));
                self.json(stored, algorithm, Some(primary), name)?;
            } else {
                let (_, style, how) = words(&stored.protection);
                let role = if is_primary { "primary" } else { "subkey" };
                table.push(row(role, &key.fingerprint, &algorithm(key), &how, style));
            }
        }
        if !self.output.is_json() {
            self.heading(&name.map_or_else(|| "(no user ID)".to_owned(), printable))?;
            self.output.table(&table)?;
        }
        self.any = true;
        Ok(())
    }

    /// Lists the secret keys that belong to no certificate here, those of other databases with their places.
    fn orphans(
        &mut self,
        snapshot: &dyn ReadCertificates,
        databases: &[(Fingerprint, Vec<String>)],
    ) -> anyhow::Result<()> {
        let mut tables: Vec<(String, Table)> = Vec::new();
        for stored in self.stored_keys {
            if owner_of(snapshot, &stored.fingerprint)?.is_some() {
                continue;
            }
            if self.output.is_json() {
                self.json(stored, None, None, None)?;
                self.any = true;
                continue;
            }
            let (_, style, how) = words(&stored.protection);
            let places = databases.iter().find(|(key, _)| *key == stored.fingerprint);
            let heading = match places {
                Some((_, places)) => format!("(of another database: {})", places.join(", ")),
                None => "(no certificate here)".to_owned(),
            };
            let index = tables.iter().position(|(known, _)| *known == heading).unwrap_or_else(|| {
                tables.push((heading, Table::default()));
                tables.len() - 1
            });
            tables[index].1.push(row(role(stored.role), &stored.fingerprint, "", &how, style));
        }
        for (heading, table) in tables {
            self.heading(&printable(heading.as_bytes()))?;
            self.output.table(&table)?;
            self.any = true;
        }
        Ok(())
    }

    fn heading(&mut self, name: &str) -> io::Result<()> {
        if self.any {
            self.output.line("")?;
        }
        let name = self.output.styled(Style::Name, name);
        self.output.line(name)
    }

    fn json(
        &mut self,
        stored: &StoredKey,
        algorithm: Option<String>,
        certificate: Option<Fingerprint>,
        user_id: Option<&[u8]>,
    ) -> io::Result<()> {
        self.output.json(&KeyJson {
            fingerprint: stored.fingerprint.to_string(),
            keygrip: stored.keygrip.map(|keygrip| keygrip.to_string()),
            role: role(stored.role),
            algorithm,
            protection: words(&stored.protection).0,
            card: match &stored.protection {
                Protection::Card { serial } => Some(hexadecimal(serial)),
                Protection::Agent { card, .. } => card.as_deref().map(hexadecimal),
                _ => None,
            },
            place: place(&stored.protection),
            certificate: certificate.map(|primary| primary.to_string()),
            user_id: user_id.map(TextJson::new),
        })
    }
}

fn row(role: &str, key: &Fingerprint, algorithm: &str, how: &str, style: Style) -> [Cell; 4] {
    [
        Cell::new(format!("  {role}")),
        Cell::new(key.to_string()),
        Cell::new(algorithm),
        Cell::new(how).styled(style),
    ]
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Primary => "primary",
        Role::Subkey => "subkey",
    }
}

/// Returns the word for where a key is in JSON.
fn place(protection: &Protection) -> &'static str {
    match protection {
        Protection::Agent { card: Some(_), .. } | Protection::Card { .. } => "card",
        Protection::Agent { .. } => "agent",
        _ => "file",
    }
}

/// Returns the word for a protection in JSON, and its style and description as text.
fn words(protection: &Protection) -> (&'static str, Style, String) {
    match protection {
        Protection::None => ("none", Style::Warning, "without passphrase".to_owned()),
        Protection::Locked(_) => ("passphrase", Style::Good, "locked with a passphrase".to_owned()),
        Protection::Dummy => ("stub", Style::Faint, "not here".to_owned()),
        Protection::Card { serial } => ("card", Style::Faint, format!("on card {}", hexadecimal(serial))),
        Protection::Agent { card: Some(serial), .. } => {
            ("card", Style::Good, format!("card {}, by the agent", hexadecimal(serial)))
        }
        Protection::Agent { locked: Some(false), .. } => {
            ("none", Style::Warning, "agent, without passphrase".to_owned())
        }
        Protection::Agent { .. } => {
            ("passphrase", Style::Good, "agent, which asks for the passphrase".to_owned())
        }
        Protection::Unknown(what) => {
            ("unknown", Style::Warning, format!("protected in an unknown way ({what})"))
        }
    }
}

/// One secret key, as `docs/json.md` describes it.
#[derive(Serialize)]
struct KeyJson<'a> {
    fingerprint: String,
    keygrip: Option<String>,
    role: &'static str,
    algorithm: Option<String>,
    protection: &'static str,
    place: &'static str,
    card: Option<String>,
    certificate: Option<String>,
    user_id: Option<TextJson<'a>>,
}
