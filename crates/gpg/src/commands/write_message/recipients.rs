//! The recipients of a message: names, files, and the keys of `--encrypt-to`.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use engine::cert::{ArmorRules, Fingerprint};
use engine::configuration::Compat;
use engine::foreign_text::shown;
use engine::recipients::{self, EncryptionKey, RecipientCandidate, RecipientSelection};
use engine::store::Query;
use engine::store::query::Name;
use engine::trust::Validity;
use engine::validity::{Model, Sources};
use engine::verification::remember_encrypted;

use crate::code::Code;
use crate::commands::first_use;
use crate::commands::network::locate;
use crate::commands::sign::choice::{self, DefaultChoice, DefaultKeys};
use crate::failure::{CodedFailure, Failure, reported};
use crate::keyrings::Keyrings;
use crate::prompt::{self, Question};
use crate::settings::{DefaultRecipient, Group, RecipientKind, RecipientName, Settings};
use crate::status;
use crate::streams::Streams;
use crate::{input, names, trust};

/// A recipient.
pub(super) struct Chosen {
    /// The fingerprint of its certificate.
    primary: Fingerprint,
    pub(super) key: EncryptionKey,
    pub(super) is_hidden: bool,
    /// It is an additional decryption subkey.
    pub(super) is_additional: bool,
    pub(super) user_id: Vec<u8>,
}

/// Finds all recipients, in the order in which the message names them.
pub(super) fn collect(
    settings: &Settings,
    streams: &mut Streams,
    default_keys: &mut DefaultKeys,
) -> Result<Vec<Chosen>, Failure> {
    let names = expanded(&settings.message.recipients, &settings.groups);
    let keys = names.iter().filter(|name| name.kind != RecipientKind::File);
    let not_located = locate::recipients(keys.map(|name| name.name.as_slice()), settings, streams)?;
    let keyrings = Keyrings::open(settings, streams)?;
    let snapshots = keyrings.snapshots()?;
    let sources = snapshots.sources()?;
    let mut search = Search {
        settings,
        streams,
        keyrings: &keyrings,
        sources,
        default_keys,
        not_located,
        chosen: Vec::new(),
    };
    let outcome = search.all(&names);
    let mut chosen = search.chosen;
    chosen.reverse();
    if outcome.is_ok() {
        remember(settings, streams, &keyrings, &chosen);
    }
    outcome.map(|()| chosen)
}

/// Counts the message for trust on first use, as in gpg even if it is not written then. A failure is only reported.
fn remember(settings: &Settings, streams: &mut Streams, keyrings: &Keyrings, chosen: &[Chosen]) {
    let remembers = trust::settings(settings).model.remembers();
    let Some(store) = keyrings.working_database().filter(|_| remembers) else { return };
    let chosen = chosen.iter().filter(|chosen| !chosen.is_additional);
    let recipients: Vec<Fingerprint> = chosen.map(|chosen| chosen.primary).collect();
    recipients.iter().for_each(|recipient| streams.considered(recipient));
    if let Err(error) = remember_encrypted(store, &recipients, "gpg-keyhoard --encrypt", settings.now) {
        let error = engine::causes(&error);
        streams.info(format_args!("WARNING: the message is not counted by trust on first use: {error}"));
    }
}

/// Whether a user ID can stand for a disabled key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disabled {
    Taken,
    PassedOver,
}

/// Says whether a name is a key ID, fingerprint or keygrip, not a user ID.
fn names_key(name: &[u8]) -> bool {
    Name::parse(name).is_ok_and(|name| name.is_of_key())
}

/// Replaces the names of groups by their members. As in gpg, the names are in reverse order if there are no groups.
fn expanded(names: &[RecipientName], groups: &[Group]) -> Vec<RecipientName> {
    if groups.is_empty() {
        return names.iter().rev().cloned().collect();
    }
    let mut expanded = Vec::new();
    for name in names {
        match groups.iter().find(|group| group.name.eq_ignore_ascii_case(&name.name)) {
            Some(group) => {
                let member = |value: &Vec<u8>| RecipientName { name: value.clone(), ..name.clone() };
                expanded.extend(group.values.iter().rev().map(member));
            }
            None => expanded.push(name.clone()),
        }
    }
    expanded
}

struct Search<'a> {
    settings: &'a Settings,
    streams: &'a mut Streams,
    keyrings: &'a Keyrings,
    sources: Sources<'a>,
    default_keys: &'a mut DefaultKeys,
    /// Names that were looked for in the network, and what went wrong.
    not_located: Vec<(Vec<u8>, CodedFailure)>,
    chosen: Vec<Chosen>,
}

impl Search<'_> {
    fn all(&mut self, names: &[RecipientName]) -> Result<(), Failure> {
        let (always, named): (Vec<_>, Vec<_>) =
            names.iter().partition(|name| name.kind == RecipientKind::Always);
        if !self.settings.message.no_encrypt_to {
            for name in always {
                self.add_always(name)?;
            }
        }
        if self.settings.message.encrypt_to_default_key {
            self.add_default_key()?;
        }
        for name in &named {
            self.add_named(name)?;
        }
        if named.is_empty() && !self.add_default()? {
            self.streams.error("no valid addressees");
            self.streams.status("NO_RECP 0");
            return Err(Failure::bare(Code::NO_USER_ID));
        }
        Ok(())
    }

    /// Adds the key that `--default-key` names, if there is one that can be encrypted to.
    fn add_default_key(&mut self) -> anyhow::Result<()> {
        let Self { settings, streams, keyrings, default_keys, .. } = self;
        let Some((name, found)) = choice::named_default(settings, streams, keyrings, default_keys)? else {
            const NONE: &str = "option '--encrypt-to-default-key' given, but no valid default keys given";
            self.streams.info(NONE);
            return Ok(());
        };
        self.streams.considered(found.primary());
        if !names_key(&name) {
            self.streams.considered(found.primary());
        }
        let name = RecipientName { name, kind: RecipientKind::Always, is_hidden: false };
        match reported(self.find(&name.name, Disabled::Taken))? {
            Some(candidate) => self.add(candidate, &name),
            None => {
                self.streams.error(format_args!("can't encrypt to '{}'", shown(&name.name)));
                self.streams.info("(check argument of option '--default-key')");
            }
        }
        Ok(())
    }

    /// Adds a key of `--encrypt-to`, whatever its validity.
    fn add_always(&mut self, name: &RecipientName) -> Result<(), Failure> {
        match self.find(&name.name, Disabled::Taken) {
            Ok(candidate) => {
                self.streams.considered(&candidate.fingerprint);
                self.add(candidate, name);
                Ok(())
            }
            Err(failure) => {
                let code = failure.coded()?.code;
                Err(self.skipped(&name.name, code, 0))
            }
        }
    }

    fn add_named(&mut self, name: &RecipientName) -> Result<(), Failure> {
        let candidate = match name.kind {
            RecipientKind::File => self.of_file(&name.name),
            _ => self.find(&name.name, Disabled::PassedOver),
        };
        let candidate = match candidate {
            Ok(candidate) => candidate,
            Err(failure) => {
                let here = failure.coded()?.code;
                let searched = self.failure_of_search(&name.name).filter(|_| here == Code::NO_PUBLIC_KEY);
                let code = searched.map_or(here, |searched| searched.code);
                let reason = match code {
                    Code::NO_PUBLIC_KEY => 1,
                    Code::INVALID_USER_ID => 14,
                    _ => 0,
                };
                let failure = self.skipped(&name.name, code, reason);
                return Err(match name.kind {
                    RecipientKind::File => Failure::from(code),
                    _ => searched.map_or(failure, Failure::from),
                });
            }
        };
        self.streams.considered(&candidate.fingerprint);
        if name.kind == RecipientKind::Key {
            if !names_key(&name.name) {
                self.streams.considered(&candidate.fingerprint);
            }
            self.check(&name.name, &candidate)?;
        }
        self.add(candidate, name);
        Ok(())
    }

    /// Returns why a name was not found in the network, if it was looked for there.
    fn failure_of_search(&self, name: &[u8]) -> Option<CodedFailure> {
        let looked_for = self.not_located.iter().find(|(not_located, _)| not_located == name);
        looked_for.map(|(_, failure)| *failure)
    }

    /// Adds the default recipient; returns whether there is one.
    fn add_default(&mut self) -> Result<bool, Failure> {
        let name = match self.settings.message.default_recipient.clone() {
            DefaultRecipient::Nobody => return Ok(false),
            DefaultRecipient::Name(name) => name,
            DefaultRecipient::Oneself => match self.own()? {
                Some(own) => own.to_string().into_bytes(),
                None => return Ok(false),
            },
        };
        let candidate = match self.find(&name, Disabled::Taken) {
            Ok(candidate) => candidate,
            Err(failure) => {
                let code = failure.coded()?.code;
                let name = shown(&name);
                self.streams.error(format_args!("unknown default recipient \"{name}\""));
                return Err(Failure::bare(code));
            }
        };
        self.streams.considered(&candidate.fingerprint);
        if self.is_chosen(&candidate) {
            self.streams.info("skipped: public key already set as default recipient");
        } else {
            self.take(candidate, false);
        }
        Ok(true)
    }

    /// Finds the default signing key.
    fn own(&mut self) -> anyhow::Result<Option<Fingerprint>> {
        let Self { settings, streams, keyrings, default_keys, .. } = self;
        let DefaultChoice::Key(own) = choice::default(settings, streams, keyrings, default_keys)? else {
            return Ok(None);
        };
        self.streams.considered(&own.key.primary);
        if own.name.is_none() {
            self.streams.considered(&own.key.primary);
        }
        Ok(Some(own.key.primary))
    }

    /// Finds the key that a name stands for: for a mail address the most valid key, else the first one;
    /// `disabled` says whether a name that is not a key's may stand for a disabled key.
    fn find(&mut self, text: &[u8], disabled: Disabled) -> Result<RecipientCandidate, Failure> {
        let name = names::parsed(text, Code::NO_PUBLIC_KEY, self.settings.compat)?;
        let mut settings = trust::settings(self.settings);
        settings.tofu.with_info = settings.model.remembers();
        let sources = &self.sources;
        let mut candidates = Vec::new();
        for source in 0..sources.certificates.len() {
            candidates.extend(recipients::named(sources, source, &name, &settings)?);
        }
        let is_address =
            matches!(name.query, Query::Mail(_)) || text.contains(&b'@') && !text.contains(&b'<');
        match recipients::select(&name, is_address, disabled == Disabled::Taken, candidates) {
            RecipientSelection::Recipient(recipient) => Ok(*recipient),
            RecipientSelection::Ambiguous => Err(Code::AMBIGUOUS_NAME.into()),
            RecipientSelection::NotNamed(certificate) => {
                self.streams.considered(&certificate);
                Err(Code::NO_PUBLIC_KEY.into())
            }
            RecipientSelection::Unusable(certificate) => {
                if !name.is_of_key() {
                    self.streams.considered(&certificate);
                }
                self.streams.status(format!("KEY_CONSIDERED {certificate} 3"));
                Err(Code::UNUSABLE_PUBLIC_KEY.into())
            }
            RecipientSelection::Missing => Err(Code::NO_PUBLIC_KEY.into()),
        }
    }

    fn of_file(&mut self, name: &[u8]) -> Result<RecipientCandidate, Failure> {
        let file: File = input::open(Some(name), self.streams).map_err(|_| Code::NO_PUBLIC_KEY)?;
        let path = Path::new(OsStr::from_bytes(name));
        let (armor, revokers) = (ArmorRules::Gnupg, &self.sources.certificates);
        let candidates = match recipients::of_file(file, armor, path, revokers, self.settings.now) {
            Ok(candidates) => candidates,
            Err(error) => {
                self.streams.info(format_args!("error reading '{}': {error}", shown(name)));
                return Err(Code::NO_PUBLIC_KEY.into());
            }
        };
        match candidates.into_iter().next() {
            None => Err(Code::NO_PUBLIC_KEY.into()),
            Some(first) if first.key.is_none() => Err(Code::UNUSABLE_PUBLIC_KEY.into()),
            Some(first) => Ok(first),
        }
    }

    /// Checks that the key is valid enough to be used; if not, asks the user.
    fn check(&mut self, name: &[u8], candidate: &RecipientCandidate) -> Result<(), Failure> {
        let unusable = Failure::bare(Code::UNUSABLE_PUBLIC_KEY);
        let name_shown = shown(name);
        let key = candidate.key.as_ref().expect("only a key that can be used is found").fingerprint.key_id();
        let Self { settings, streams, .. } = self;
        first_use::report(settings, streams, &candidate.fingerprint, &candidate.first_uses);
        if candidate.is_disabled && settings.trust_model != Model::Always {
            streams.status(status::with_escaped_text("INV_RECP 13", name));
            streams.info(format_args!("{name_shown}: skipped: public key is disabled"));
            return Err(unusable);
        }
        let is_verbose = settings.verbose > 0;
        let is_certain = match candidate.validity {
            _ if settings.trust_model == Model::Always => {
                if is_verbose {
                    streams.info("No trust check due to '--trust-model always' option");
                }
                true
            }
            Validity::Unknown | Validity::Undefined => {
                streams.info(format_args!("{key}: There is no assurance this key belongs to the named user"));
                false
            }
            Validity::Never => {
                streams.info(format_args!("{key}: This key is bad!  It has been marked as untrusted!"));
                false
            }
            Validity::Marginal => {
                streams.info(format_args!(
                    "{key}: There is limited assurance this key belongs to the named user"
                ));
                true
            }
            Validity::Full | Validity::Ultimate => {
                if is_verbose {
                    streams.info(match candidate.validity {
                        Validity::Full => "This key probably belongs to the named user",
                        _ => "This key belongs to us",
                    });
                }
                true
            }
        };
        if is_certain || (!settings.batch && self.is_used_anyway(candidate)?) {
            return Ok(());
        }
        self.streams.status(status::with_escaped_text("INV_RECP 10", name));
        Err(unusable)
    }

    fn is_used_anyway(&mut self, candidate: &RecipientCandidate) -> anyhow::Result<bool> {
        let mut context = format!("key {}\n      \"", candidate.fingerprint).into_bytes();
        crate::render::text::for_people(&candidate.user_id, &mut context);
        context.extend(
            b"\"\n\nIt is NOT certain that the key belongs to the person named in the user ID.  If you know better, \
              you may answer the next question with yes.\n\n",
        );
        let Self { settings, streams, .. } = self;
        let key_id = candidate.fingerprint.key_id();
        streams.status(status::with_text(format_args!("USERID_HINT {key_id}"), &candidate.user_id));
        let question = Question {
            keyword: "untrusted_key.override",
            context: &context,
            text: "Use this key anyway? (y/N) ",
        };
        prompt::ask(&question, settings, streams)
    }

    fn add(&mut self, candidate: RecipientCandidate, name: &RecipientName) {
        if self.is_chosen(&candidate) {
            if !self.settings.quiet {
                let name = shown(&name.name);
                self.streams.info(format_args!("{name}: skipped: public key already present"));
            }
            return;
        }
        self.take(candidate, name.is_hidden);
    }

    fn is_chosen(&self, candidate: &RecipientCandidate) -> bool {
        let key = candidate.key.as_ref().map(|key| key.fingerprint);
        self.chosen.iter().any(|chosen| Some(chosen.key.fingerprint) == key)
    }

    fn take(&mut self, candidate: RecipientCandidate, is_hidden: bool) {
        let RecipientCandidate { fingerprint: primary, key, also, user_id, .. } = candidate;
        // 2.2 does not know additional decryption subkeys.
        let also = also.into_iter().filter(|_| self.settings.compat >= Compat::V2_4);
        for (key, is_additional) in key.into_iter().map(|key| (key, false)).chain(also.map(|key| (key, true)))
        {
            if !is_additional || self.chosen.iter().all(|chosen| chosen.key.fingerprint != key.fingerprint) {
                let user_id = user_id.clone();
                self.chosen.push(Chosen { primary, key, is_hidden, is_additional, user_id });
            }
        }
    }

    /// Reports a recipient that cannot be used, which ends the command.
    fn skipped(&mut self, name: &[u8], code: Code, reason: u8) -> Failure {
        self.streams.error(format_args!("{}: skipped: {code}", shown(name)));
        self.streams.status(status::with_escaped_text(format_args!("INV_RECP {reason}"), name));
        Failure::bare(code)
    }
}
