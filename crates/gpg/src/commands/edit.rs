//! The commands that edit keys without a dialogue (`--quick-add-uid` and the like), and `--generate-revocation`.

pub(super) mod add_key;
pub(super) mod certify;
pub(super) mod expiry;
pub(super) mod revocation;
pub(super) mod revoke_certification;
mod shown_key;
pub(super) mod user_ids;

use std::ops::ControlFlow;

use keyhoard::cert::Facts;
use keyhoard::cert::effective::objections::{IssuerKey, objections};
use keyhoard::cert::effective::{EvaluationContext, PacketView, evaluate};
use keyhoard::cert::facts::SignatureType;
use keyhoard::edit::{EditRefusal, Editor};
use keyhoard::foreign_text::shown;
use keyhoard::store::query::Name as KeyName;
use keyhoard::store::{CertId, Detail, Fingerprint, Query, Record, Selection};
use secret::file::FileKeys;
use secret::{Name, SecretKeys};

use crate::code::Code;
use crate::failure::{CodedFailure, Failure, reported};
use crate::keyrings::Keyrings;
use crate::names;
use crate::passphrases::{Hint, Passphrases};
use crate::settings::Settings;
use crate::status::Status;
use crate::streams::Streams;

/// The keys of an edit: the keyrings, of which the working database is changed, and the secret keys of the home directory.
struct EditKeys {
    keyrings: Keyrings,
    secrets: FileKeys,
}

impl EditKeys {
    fn open(settings: &Settings, streams: &mut Streams) -> anyhow::Result<Self> {
        Ok(Self { keyrings: Keyrings::open(settings, streams)?, secrets: settings.home.file_keys()? })
    }

    /// Finds the only key that a name matches; reports if there is none, or more than one.
    fn find(&self, streams: &mut Streams, name: &[u8], with_secret: bool) -> Result<Fingerprint, Failure> {
        let found = self.candidates(name).and_then(|found| match found.as_slice() {
            [] => Err(Code::NoPublicKey.into()),
            [(key, _)] if with_secret && !self.has_secret(key)? => Err(Failure::bare(Code::NoSecretKey)),
            [(key, _)] => Ok(*key),
            _ => Err(Code::AmbiguousName.into()),
        });
        if let Err(Failure::Coded(CodedFailure { code, .. })) = found {
            streams.error(format_args!("key \"{}\" not found: {code}", shown(name)));
        }
        found
    }

    /// Finds all keys that a name matches.
    fn candidates(&self, name: &[u8]) -> Result<Vec<(Fingerprint, CertId)>, Failure> {
        let query = names::parsed(name, Code::NoPublicKey)?.query;
        let Some(store) = self.keyrings.working_database() else { return Ok(Vec::new()) };
        let snapshot = store.snapshot()?;
        let ids = snapshot.find(&query)?;
        let mut found = Vec::new();
        snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
            found.push((record.fingerprint, record.id));
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// Finds a key by the fingerprint of its primary key; reports any other name.
    fn find_by_primary(&self, streams: &mut Streams, name: &[u8]) -> Result<Fingerprint, Failure> {
        let text = shown(name);
        let Some(wanted) = fingerprint(name) else {
            streams.error(format_args!("\"{text}\" is not a fingerprint"));
            return Err(Code::InvalidName.into());
        };
        let found = reported(self.candidates(name))?.unwrap_or_default();
        let Some((key, _)) = found.first() else {
            streams.error(format_args!("key \"{text}\" not found: {}", Code::NoPublicKey));
            return Err(Failure::bare(Code::NoPublicKey));
        };
        streams.considered(key);
        if *key != wanted {
            streams.error(format_args!("\"{text}\" is not the primary fingerprint"));
            return Err(Code::InvalidName.into());
        }
        Ok(*key)
    }

    fn has_secret(&self, key: &Fingerprint) -> anyhow::Result<bool> {
        let stored = self.secrets.find(&Name::Fingerprint(*key))?;
        Ok(stored.is_some_and(|stored| stored.protection.has_secret()))
    }

    /// Finds the certifying secret keys: those of `--local-user`, else of `--default-key`, else the first one. Unusable
    /// ones are reported and left out.
    fn certifiers(&self, settings: &Settings, streams: &mut Streams) -> anyhow::Result<Vec<Fingerprint>> {
        let named = &settings.local_users;
        if named.is_empty() {
            let found =
                settings.default_keys.iter().find_map(|name| self.certifier(settings, name).transpose());
            let found = found.transpose()?;
            let found = match found {
                Some(found) => Some(found),
                None => self.first_certifier(settings)?,
            };
            if found.is_none() {
                streams.error(format_args!("no default secret key: {}", Code::NoSecretKey));
            }
            return Ok(found.into_iter().inspect(|key| streams.considered(key)).collect());
        }
        let mut found = Vec::new();
        for name in named {
            match self.certifier(settings, name)? {
                Some(key) if found.contains(&key) => {}
                Some(key) => {
                    streams.considered(&key);
                    found.push(key);
                }
                None => {
                    streams.error(format_args!("skipped \"{}\": {}", shown(name), Code::NoSecretKey));
                    streams.status(Status::InvalidSigner { reason: 9, name });
                }
            }
        }
        Ok(found)
    }

    /// Finds the first key with a name that may certify now and whose secret key is here.
    fn certifier(&self, settings: &Settings, name: &[u8]) -> anyhow::Result<Option<Fingerprint>> {
        let found = reported(self.candidates(name))?.unwrap_or_default();
        self.first_that_certifies(settings, found.iter().map(|(_, id)| *id).collect())
    }

    fn first_certifier(&self, settings: &Settings) -> anyhow::Result<Option<Fingerprint>> {
        let Some(store) = self.keyrings.working_database() else { return Ok(None) };
        let snapshot = store.snapshot()?;
        let stored: Vec<Fingerprint> = self.secrets.list()?.iter().map(|stored| stored.fingerprint).collect();
        let mut ids: Vec<CertId> = snapshot.by_fingerprint(&stored)?.into_iter().flatten().collect();
        ids.sort_unstable();
        self.first_that_certifies(settings, ids)
    }

    fn first_that_certifies(
        &self,
        settings: &Settings,
        ids: Vec<CertId>,
    ) -> anyhow::Result<Option<Fingerprint>> {
        let Some(store) = self.keyrings.working_database() else { return Ok(None) };
        let snapshot = store.snapshot()?;
        let mut candidates = Vec::new();
        let moment = EvaluationContext::new(settings.now, PacketView::Gnupg);
        let certifies = |facts: &Facts| {
            let effective = evaluate(facts, moment);
            let issuer = IssuerKey::primary(facts, &effective);
            let kind = SignatureType::GENERIC_CERTIFICATION;
            objections(&issuer, kind, settings.now, settings.now).is_empty()
        };
        snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |Record { fingerprint, facts, .. }| {
            candidates.extend(facts.filter(certifies).map(|_| fingerprint));
            ControlFlow::Continue(())
        })?;
        for key in candidates {
            if self.has_secret(&key)? {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// Returns the user ID with which the passphrase of a primary key is asked for.
    fn hint(&self, settings: &Settings, primary: &Fingerprint) -> anyhow::Result<Option<Hint>> {
        let Some(store) = self.keyrings.working_database() else { return Ok(None) };
        let snapshot = store.snapshot()?;
        let ids: Vec<CertId> = snapshot.by_fingerprint(&[*primary])?.into_iter().flatten().collect();
        let mut found = None;
        snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |Record { facts, .. }| {
            let user_id = facts.as_ref().and_then(|facts| {
                let moment = EvaluationContext::new(settings.now, PacketView::Gnupg);
                evaluate(facts, moment).primary_name(facts).map(<[u8]>::to_vec)
            });
            found = user_id.map(|user_id| Hint { primary: *primary, user_id });
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    /// Runs an edit that the primary key `by` signs. A missing key or passphrase is reported as
    /// gpg does, up to what it says of the command itself.
    fn edit<T>(
        &mut self,
        settings: &Settings,
        streams: &mut Streams,
        command: &str,
        by: &Fingerprint,
        edit: impl FnOnce(&mut Editor<'_>) -> keyhoard::Result<T>,
    ) -> Result<T, Failure> {
        let now = settings.now;
        let hint = self.hint(settings, by)?;
        let store = self.keyrings.writable(settings, streams)?;
        let mut ask = Passphrases::new(settings, streams);
        if let Some(hint) = hint {
            ask = ask.with_hint(hint);
        }
        let command = format!("gpg-keyhoard {command}");
        let mut editor =
            Editor::new(store, &self.secrets, &mut ask, command, now).with_digest(settings.cert_digest());
        match edit(&mut editor) {
            Ok(done) => Ok(done),
            Err(keyhoard::Error::Secret(error) | keyhoard::Error::Sign(sign::Error::Signer(error))) => {
                let code = ask.code(&error);
                streams.error(format_args!("signing failed: {code}"));
                Err(Failure::of_agent(code))
            }
            Err(keyhoard::Error::Edit(refusal)) => {
                let code = code_of(&refusal);
                if code == Code::General {
                    streams.info(&refusal);
                }
                Err(code.into())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns gpg's code for what was not done.
fn code_of(refusal: &EditRefusal) -> Code {
    match refusal {
        EditRefusal::NoCertificate { .. } => Code::NoPublicKey,
        EditRefusal::NoSecretKey { .. } => Code::NoSecretKey,
        EditRefusal::NoUserId { .. } => Code::NoUserId,
        EditRefusal::InvalidUserId { .. } | EditRefusal::LastUserId { .. } => Code::InvalidUserId,
        EditRefusal::DuplicateUserId { .. } => Code::UserIdExists,
        EditRefusal::NoSubkey { .. } => Code::NotFound,
        EditRefusal::Clock { .. } => Code::TimeConflict,
        EditRefusal::Revoked { .. } => Code::CertificateRevoked,
        _ => Code::General,
    }
}

/// Reads a fingerprint; `None` for any other name.
fn fingerprint(name: &[u8]) -> Option<Fingerprint> {
    match KeyName::parse(name).ok()?.query {
        Query::Fingerprint(fingerprint) => Some(fingerprint),
        _ => None,
    }
}
