//! The commands that edit keys without a dialogue (`--quick-add-uid` and the like), and `--generate-revocation`.

pub(super) mod add_key;
pub(super) mod certify;
pub(super) mod decryption_subkey;
pub(super) mod designated_revocation;
pub(super) mod expiry;
pub(super) mod owner_trust;
pub(super) mod preferences;
pub(super) mod revocation;
pub(super) mod revocation_reason;
pub(super) mod revoke_certification;
mod shown_key;
pub(super) mod user_ids;

use std::ops::ControlFlow;

use agent::AllKeys;
use engine::cert::Facts;
use engine::cert::effective::objections::{IssuerKey, objections};
use engine::cert::effective::{EvaluationContext, PacketView, evaluate};
use engine::cert::facts::{KeyFacts, SignatureType};
use engine::configuration::Compat;
use engine::edit::{Draft, EditRefusal, Editor};
use engine::foreign_text::shown;
use engine::store::query::Name as KeyName;
use engine::store::{CertId, Detail, Fingerprint, Query, Record, Selection, Store};
use secret::{Name, SecretKeys};

use crate::code::Code;
use crate::compat;
use crate::failure::{CodedFailure, Failure, reported};
use crate::keyrings::Keyrings;
use crate::names;
use crate::passphrases::{Hint, Passphrases};
use crate::secrets::secret_keys;
use crate::settings::Settings;
use crate::streams::Streams;

/// The keys of an edit: the keyrings, of which one is changed, and the secret keys of the home directory.
pub(super) struct EditKeys<'a> {
    pub(super) settings: &'a Settings,
    pub(super) streams: &'a mut Streams,
    pub(super) keyrings: Keyrings,
    pub(super) secrets: AllKeys,
}

impl<'a> EditKeys<'a> {
    pub(super) fn open(settings: &'a Settings, streams: &'a mut Streams) -> anyhow::Result<Self> {
        let (keyrings, secrets) = (Keyrings::open_to_change(settings, streams)?, secret_keys(settings)?);
        if keyrings.working_database().is_none() {
            keyrings.report_unchangeable(settings, streams)?;
        }
        Ok(Self { settings, streams, keyrings, secrets })
    }

    /// Writes the `ERROR` line that gpg 2.4 writes where a command fails.
    pub(super) fn report_code(&mut self, location: &str, code: Code) {
        if self.settings.compat >= Compat::V2_4 {
            self.streams.status_error(location, code.with_gpg());
        }
    }

    /// Returns the working database, which is made if it does not exist.
    pub(super) fn writable(&mut self) -> anyhow::Result<&dyn Store> {
        let Self { settings, streams, keyrings, .. } = self;
        keyrings.writable(settings, streams)
    }

    /// Finds the only key that a name matches; reports if there is none, or more than one.
    fn find(&mut self, name: &[u8], with_secret: bool) -> Result<Fingerprint, Failure> {
        let found = self.candidates(name).and_then(|found| match found.as_slice() {
            [] => Err(Code::NO_PUBLIC_KEY.into()),
            [(key, _)] if with_secret && !self.has_secret(key)? => Err(Failure::bare(Code::NO_SECRET_KEY)),
            [(key, _)] => Ok(*key),
            _ => Err(Code::AMBIGUOUS_NAME.into()),
        });
        if let Err(Failure::Coded(CodedFailure { code, .. })) = found {
            self.streams.error(format_args!("key \"{}\" not found: {code}", shown(name)));
        }
        found
    }

    /// Finds all keys that a name matches.
    pub(super) fn candidates(&self, name: &[u8]) -> Result<Vec<(Fingerprint, CertId)>, Failure> {
        let query = names::parsed(name, Code::NO_PUBLIC_KEY, self.settings.compat)?.query;
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

    /// Finds the primary key of the first certificate with a name.
    pub(super) fn primary_key(&mut self, name: &[u8]) -> anyhow::Result<Option<KeyFacts>> {
        let found = reported(self.candidates(name))?.unwrap_or_default();
        let Some((fingerprint, id)) = found.first().copied() else { return Ok(None) };
        self.streams.considered(&fingerprint);
        let Some(store) = self.keyrings.working_database() else { return Ok(None) };
        let mut key = None;
        store.snapshot()?.visit(Selection::Ids(&[id]), Detail::Own, &mut |record| {
            key = record.facts.map(|facts| facts.primary().clone());
            ControlFlow::Break(())
        })?;
        Ok(key)
    }

    /// Finds a key by the fingerprint of its primary key; reports any other name.
    fn find_by_primary(&mut self, name: &[u8]) -> Result<Fingerprint, Failure> {
        let text = shown(name);
        let Some(wanted) = fingerprint(name) else {
            self.streams.error(format_args!("\"{text}\" is not a fingerprint"));
            return Err(Code::INVALID_NAME.into());
        };
        let found = reported(self.candidates(name))?.unwrap_or_default();
        let Some((key, _)) = found.first() else {
            self.streams.error(format_args!("key \"{text}\" not found: {}", Code::NO_PUBLIC_KEY));
            return Err(Failure::bare(Code::NO_PUBLIC_KEY));
        };
        self.streams.considered(key);
        // Of 64 digits nobody sees the version.
        if key.as_bytes() != wanted.as_bytes() {
            self.streams.error(format_args!("\"{text}\" is not the primary fingerprint"));
            return Err(Code::INVALID_NAME.into());
        }
        Ok(*key)
    }

    pub(super) fn has_secret(&self, key: &Fingerprint) -> anyhow::Result<bool> {
        let stored = self.secrets.find(&Name::Fingerprint(*key))?;
        Ok(stored.is_some_and(|stored| stored.protection.has_secret()))
    }

    /// Finds the certifying secret keys: those of `--local-user`, else of `--default-key`, else the first one. Unusable
    /// ones are reported and left out.
    pub(super) fn certifiers(&mut self) -> anyhow::Result<Vec<Fingerprint>> {
        let settings = self.settings;
        let named = &settings.local_users;
        if named.is_empty() {
            let found = settings.default_keys.iter().find_map(|name| self.certifier(name).transpose());
            let found = found.transpose()?;
            let found = match found {
                Some(found) => Some(found),
                None => self.first_certifier()?,
            };
            if found.is_none() {
                self.streams.error(format_args!("no default secret key: {}", Code::NO_SECRET_KEY));
            }
            return Ok(found.into_iter().inspect(|key| self.streams.considered(key)).collect());
        }
        let mut found = Vec::new();
        for name in named {
            match self.certifier(name)? {
                Some(key) if found.contains(&key) => {}
                Some(key) => {
                    self.streams.considered(&key);
                    found.push(key);
                }
                None => {
                    self.streams.error(format_args!("skipped \"{}\": {}", shown(name), Code::NO_SECRET_KEY));
                    self.streams.invalid_signer(name);
                }
            }
        }
        Ok(found)
    }

    /// Finds the first key with a name that may certify now and whose secret key is here.
    fn certifier(&self, name: &[u8]) -> anyhow::Result<Option<Fingerprint>> {
        let found = reported(self.candidates(name))?.unwrap_or_default();
        self.first_that_certifies(found.iter().map(|(_, id)| *id).collect())
    }

    fn first_certifier(&self) -> anyhow::Result<Option<Fingerprint>> {
        let Some(store) = self.keyrings.working_database() else { return Ok(None) };
        let snapshot = store.snapshot()?;
        let stored: Vec<Fingerprint> = self.secrets.list()?.iter().map(|stored| stored.fingerprint).collect();
        let mut ids: Vec<CertId> = snapshot.by_fingerprint(&stored)?.into_iter().flatten().collect();
        ids.sort_unstable();
        self.first_that_certifies(ids)
    }

    fn first_that_certifies(&self, ids: Vec<CertId>) -> anyhow::Result<Option<Fingerprint>> {
        let now = self.settings.now;
        let Some(store) = self.keyrings.working_database() else { return Ok(None) };
        let snapshot = store.snapshot()?;
        let mut candidates = Vec::new();
        let moment = EvaluationContext::new(now, PacketView::Gnupg);
        let certifies = |facts: &Facts| {
            let effective = evaluate(facts, moment);
            let issuer = IssuerKey::primary(facts, &effective);
            let kind = SignatureType::GENERIC_CERTIFICATION;
            objections(&issuer, kind, now, now).is_empty()
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
    fn hint(&self, primary: &Fingerprint) -> anyhow::Result<Option<Hint>> {
        let Some(store) = self.keyrings.working_database() else { return Ok(None) };
        let snapshot = store.snapshot()?;
        let ids: Vec<CertId> = snapshot.by_fingerprint(&[*primary])?.into_iter().flatten().collect();
        let mut found = None;
        snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |Record { facts, .. }| {
            let user_id = facts.as_ref().and_then(|facts| {
                let moment = EvaluationContext::new(self.settings.now, PacketView::Gnupg);
                evaluate(facts, moment).primary_name(facts).map(<[u8]>::to_vec)
            });
            found = user_id.map(|user_id| Hint { primary: *primary, user_id });
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    /// Runs an edit that the primary key `by` signs. A missing key or passphrase is reported as
    /// gpg does, up to what it says of the command itself.
    pub(super) fn edit<T>(
        &mut self,
        command: &str,
        by: &Fingerprint,
        edit: impl FnOnce(&mut Editor<'_>) -> engine::Result<T>,
    ) -> Result<T, Failure> {
        self.edit_with(None, command, by, edit)
    }

    /// Runs an edit of a draft, as [`EditKeys::edit`] does.
    pub(super) fn edit_draft<T>(
        &mut self,
        draft: &mut Draft,
        by: &Fingerprint,
        edit: impl FnOnce(&mut Editor<'_>) -> engine::Result<T>,
    ) -> Result<T, Failure> {
        self.edit_with(Some(draft), "--edit-key", by, edit)
    }

    fn edit_with<T>(
        &mut self,
        draft: Option<&mut Draft>,
        command: &str,
        by: &Fingerprint,
        edit: impl FnOnce(&mut Editor<'_>) -> engine::Result<T>,
    ) -> Result<T, Failure> {
        self.keyrings.check_writable()?;
        let hint = self.hint(by)?;
        let Self { settings, streams, keyrings, secrets } = self;
        let store = keyrings.writable(settings, streams)?;
        let mut ask = Passphrases::new(settings, streams);
        if let Some(hint) = hint {
            ask = ask.with_hint(hint);
        }
        let command = format!("gpg-keyhoard {command}");
        let mut editor = Editor::new(store, secrets, &mut ask, command, settings.now)
            .with_digest(settings.cert_digest)
            .with_default_digest(compat::default_digest(settings.compat));
        let is_draft = draft.is_some();
        if let Some(draft) = draft {
            editor = editor.with_draft(draft);
        }
        match edit(&mut editor) {
            Ok(done) if is_draft => Ok(done),
            Ok(done) => {
                keyrings.commit()?;
                Ok(done)
            }
            Err(engine::Error::Secret(error) | engine::Error::Sign(sign::Error::Signer(error))) => {
                let failure = ask.failure(&error).coded()?;
                streams.error(format_args!("signing failed: {}", failure.code));
                Err(failure.into())
            }
            Err(engine::Error::Edit(refusal)) => {
                let code = code_of(&refusal);
                if code == Code::GENERAL {
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
        EditRefusal::NoCertificate { .. } => Code::NO_PUBLIC_KEY,
        EditRefusal::NoSecretKey { .. } => Code::NO_SECRET_KEY,
        EditRefusal::NoUserId { .. } => Code::NO_USER_ID,
        EditRefusal::InvalidUserId { .. } | EditRefusal::LastUserId { .. } => Code::INVALID_USER_ID,
        EditRefusal::DuplicateUserId { .. } => Code::USER_ID_EXISTS,
        EditRefusal::NoSubkey { .. } => Code::NOT_FOUND,
        EditRefusal::Clock { .. } => Code::TIME_CONFLICT,
        EditRefusal::Revoked { .. } => Code::CERTIFICATE_REVOKED,
        _ => Code::GENERAL,
    }
}

/// Reads a fingerprint; `None` for any other name.
pub(super) fn fingerprint(name: &[u8]) -> Option<Fingerprint> {
    match KeyName::parse(name).ok()?.query {
        Query::Fingerprint(fingerprint) => Some(fingerprint),
        _ => None,
    }
}
