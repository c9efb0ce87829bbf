//! The settings of `gpg.conf`: those that have a counterpart in `keyhoard/config.toml` or in the database are taken over.

use std::io;
use std::ops::ControlFlow;

use network::Keyserver;
use secret::StoredKey;
use store::{AssignedTrust, Fingerprint, Query, Selection, Snapshot, Store, Timestamp};

use super::added_setting::{Addition, Setting, add};
use super::detail::{Detail, DetailKind, DetailOutcome};
use super::revocations::read_small;
use super::source::{Kind, MigrationSource};
use crate::find::{query, resolve};
use crate::owner_trust::{Assignment, assign};
use crate::secret_transfer::with_secret_key;
use crate::{Result, causes};

/// Where settings are taken over to.
pub struct SettingsDestination<'a> {
    /// The database, for the keys that they name.
    pub store: &'a dyn Store,
    /// The user's secret keys.
    pub stored: &'a [StoredKey],
    /// The command line, for the journal.
    pub command: &'a str,
    /// The clock.
    pub now: Timestamp,
    /// Nothing is written.
    pub is_dry_run: bool,
}

/// Takes over the settings of the sources. One that cannot be taken over is reported.
///
/// # Errors
///
/// The database's errors.
pub fn settings(sources: &[MigrationSource], destination: &SettingsDestination<'_>) -> Result<Vec<Detail>> {
    let mut details = Vec::new();
    for source in sources.iter().filter(|source| source.kind == Kind::Settings) {
        let bytes = match read_small(&source.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                let (name, path) = (String::new(), source.path.clone());
                let outcome = DetailOutcome::Failed(error.to_string());
                details.push(Detail { kind: DetailKind::Setting, name, path, outcome });
                continue;
            }
        };
        for (name, value) in String::from_utf8_lossy(&bytes).lines().filter_map(option) {
            let outcome = destination.take(name, value)?;
            let name = [name, value].join(" ").trim_end().to_owned();
            details.push(Detail { kind: DetailKind::Setting, name, path: source.path.clone(), outcome });
        }
    }
    Ok(details)
}

/// Reads a line: an option, with or without its dashes, and its value.
fn option(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (name, value) = line.split_once(|byte: char| byte.is_ascii_whitespace()).unwrap_or((line, ""));
    Some((name.strip_prefix("--").unwrap_or(name), value.trim().trim_matches('"')))
}

impl SettingsDestination<'_> {
    fn take(&self, name: &str, value: &str) -> Result<DetailOutcome> {
        match name {
            "keyserver" => Ok(self.configure(match Self::keyserver(value) {
                Ok(server) => Setting::Keyserver(server),
                Err(reason) => return Ok(DetailOutcome::Left(reason)),
            })),
            "auto-key-locate" if value.split([',', ' ']).any(|mechanism| mechanism == "wkd") => {
                Ok(self.configure(Setting::UnknownRecipients("wkd")))
            }
            "no-auto-key-locate" => Ok(self.configure(Setting::UnknownRecipients("never"))),
            "default-key" => self.default_key(value),
            "encrypt-to" | "hidden-encrypt-to" => self.encrypt_to(value),
            "trusted-key" => self.trusted_key(value),
            _ => Ok(DetailOutcome::NoCounterpart(reason(name))),
        }
    }

    fn configure(&self, setting: Setting) -> DetailOutcome {
        match add(&setting, self.is_dry_run) {
            Ok(Addition::Added) => DetailOutcome::Taken,
            Ok(Addition::Same) => DetailOutcome::Here,
            Ok(Addition::Other) => DetailOutcome::Left("config.toml says otherwise".to_owned()),
            Err(error) => DetailOutcome::Failed(causes(&error)),
        }
    }

    /// Returns the address of a keyserver, the first word of the value, which options may follow.
    fn keyserver(value: &str) -> std::result::Result<String, String> {
        let server = value.split_whitespace().next().unwrap_or_default();
        match server.parse::<Keyserver>() {
            Ok(_) => Ok(server.to_owned()),
            Err(error) => Err(causes(&error)),
        }
    }

    /// The named key of the user's own signs and certifies.
    fn default_key(&self, value: &str) -> Result<DetailOutcome> {
        Ok(match self.own_keys(value)?[..] {
            [key] => self.configure(Setting::DefaultKey(key)),
            [] => DetailOutcome::Left("it is not your own key".to_owned()),
            _ => DetailOutcome::Left("several of your own keys have this name".to_owned()),
        })
    }

    /// Messages are encrypted to the user's own keys if one of these is named.
    fn encrypt_to(&self, value: &str) -> Result<DetailOutcome> {
        Ok(match self.own_keys(value)?.is_empty() {
            false => self.configure(Setting::EncryptToSelf),
            true => DetailOutcome::Left(
                "it is not your own key: only these can be recipients of all messages".to_owned(),
            ),
        })
    }

    /// Returns the primary keys of the user's own certificates with a name.
    fn own_keys(&self, name: &str) -> Result<Vec<Fingerprint>> {
        let snapshot = self.store.snapshot()?;
        let named = resolve(snapshot.as_ref(), name.trim_end_matches('!').as_bytes()).unwrap_or_default();
        let own = with_secret_key(snapshot.as_ref(), Selection::Ids(&named), self.stored)?;
        let mut keys = Vec::new();
        snapshot.visit(Selection::Ids(&own), store::Detail::Name, &mut |record| {
            keys.push(record.fingerprint);
            ControlFlow::Continue(())
        })?;
        Ok(keys)
    }

    /// The named primary key gets ultimate owner trust, unless something else was decided. Certificates that only list it as
    /// a subkey, as anybody's can, do not count.
    fn trusted_key(&self, value: &str) -> Result<DetailOutcome> {
        let name = value.split('#').next().unwrap_or_default().trim();
        let query = query(name.as_bytes()).ok();
        let (query, key_id) = match &query {
            Some(query @ Query::KeyId(key_id)) => (query, *key_id),
            Some(query @ Query::Fingerprint(fingerprint)) => (query, fingerprint.key_id()),
            _ => return Ok(DetailOutcome::Left("it is neither a fingerprint nor a long key ID".to_owned())),
        };
        let snapshot = self.store.snapshot()?;
        let mut primaries = snapshot.primaries_by_id(key_id)?;
        primaries.retain(|(_, primary)| query.names_key(primary));
        let &[(_, key)] = primaries.as_slice() else {
            return Ok(DetailOutcome::Left("no single certificate here has this primary key".to_owned()));
        };
        Ok(match decided(snapshot.as_ref(), &key)? {
            Some(trust) if trust.value() == AssignedTrust::ULTIMATE => DetailOutcome::Here,
            Some(_) => DetailOutcome::Left("another owner trust was decided here".to_owned()),
            None if self.is_dry_run => DetailOutcome::Taken,
            None => {
                drop(snapshot);
                let trust = Some(AssignedTrust::new(AssignedTrust::ULTIMATE, false));
                assign(self.store, &[Assignment { key, trust }], self.command, self.now)?;
                DetailOutcome::Taken
            }
        })
    }
}

fn decided(snapshot: &dyn Snapshot, key: &Fingerprint) -> Result<Option<AssignedTrust>> {
    Ok(snapshot.owner_trust(key)?.filter(|trust| !trust.is_by_option()))
}

/// Says why an option has no counterpart.
fn reason(name: &str) -> &'static str {
    match name {
        "local-user" => "commands that sign take the key as an option",
        "auto-key-locate" => "only Web Key Directories are asked for recipients",
        "trust-model" | "marginals-needed" | "completes-needed" | "max-cert-depth" => {
            "commands that ask for validity take it as an option"
        }
        _ => "there is no such setting",
    }
}
