//! `--change-passphrase`.

use std::cell::RefCell;
use std::ops::ControlFlow;

use agent::AllKeys;
use engine::foreign_text::shown;
use engine::store::{Detail, Fingerprint, Selection};
use secret::{Ask, Error, Name, Passphrase, Question, SecretKeys};

use crate::code::Code;
use crate::failure::{CodedFailure, Failure};
use crate::keyrings::Keyrings;
use crate::names::Names;
use crate::passphrases::Passphrases;
use crate::secrets::{Secrets, secret_keys};
use crate::settings::Settings;
use crate::streams::Streams;

/// Changes the passphrase of the secret keys of one certificate.
pub(super) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let [name] = arguments else {
        streams.usage("--change-passphrase <user-id>");
        return Ok(());
    };
    let name = shown(name).to_string();
    let outcome = match find(arguments, settings, streams)? {
        None => Err(Failure::bare(Code::NO_SECRET_KEY)),
        Some(certificate) => {
            streams.considered(&certificate.primary);
            change(settings, streams, &certificate)
        }
    };
    match outcome {
        Ok(()) => streams.status("SUCCESS keyedit.passwd"),
        Err(failure) => {
            let CodedFailure { code, value } = failure.coded()?;
            streams.error(format_args!("error changing the passphrase for '{name}': {code}"));
            streams.status_error("keyedit.passwd", value);
        }
    }
    Ok(())
}

/// A certificate with the keys whose passphrase can be changed.
struct Locked {
    primary: Fingerprint,
    keys: Vec<Fingerprint>,
}

/// Finds the first certificate with the name that has a secret key.
fn find(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<Option<Locked>> {
    let names = Names::parse(arguments, settings.compat);
    let secrets = Secrets::kept(settings)?;
    let keyrings = Keyrings::open(settings, streams)?;
    for (_, snapshot) in keyrings.snapshots()?.iter() {
        let with_secret = secrets.certificates(snapshot.as_ref())?;
        let hits = names.find(snapshot.as_ref())?;
        let Some(hit) = hits.iter().find(|hit| with_secret.binary_search(&hit.id).is_ok()) else { continue };
        let mut found = None;
        snapshot.visit(Selection::Ids(&[hit.id]), Detail::Own, &mut |record| {
            found = record.facts.as_ref().map(|facts| {
                let parts = secrets.parts(facts);
                let keys = parts.iter().filter(|part| part.card.is_none()).map(|part| part.key).collect();
                Locked { primary: record.fingerprint, keys }
            });
            ControlFlow::Break(())
        })?;
        return Ok(found);
    }
    Ok(None)
}

/// Changes the passphrase of these secret keys of a certificate.
pub(super) fn change_all(
    settings: &Settings,
    streams: &mut Streams,
    primary: Fingerprint,
    keys: Vec<Fingerprint>,
) -> Result<(), Failure> {
    change(settings, streams, &Locked { primary, keys })
}

/// Changes the passphrase of each key; a passphrase that several keys have is asked for once.
fn change(settings: &Settings, streams: &mut Streams, certificate: &Locked) -> Result<(), Failure> {
    let keys = secret_keys(settings)?;
    if certificate.keys.is_empty() {
        streams.info("Key has only stub or on-card key items - no passphrase to change.");
        return Ok(());
    }
    let passphrases = RefCell::new(Passphrases::new(settings, streams));
    let mut change = Change { asked: &passphrases, new: None };
    let mut outcome = Ok(());
    for key in &certificate.keys {
        let changed = if settings.dry_run { change.verify(&keys, key) } else { change.apply(&keys, key) };
        let Err(error) = changed else { continue };
        let mut passphrases = passphrases.borrow_mut();
        let failure = passphrases.failure(&error).coded()?;
        let code = failure.code;
        let (primary, key) = (certificate.primary.key_id(), key.key_id());
        passphrases.streams().info(format_args!("key {primary}/{key}: error changing passphrase: {code}"));
        outcome = Err(failure.into());
    }
    outcome
}

/// One change of a passphrase, for several keys.
struct Change<'a, 'b> {
    asked: &'a RefCell<Passphrases<'b>>,
    /// The new passphrase.
    new: Option<Passphrase>,
}

impl Change<'_, '_> {
    fn apply(&mut self, keys: &AllKeys, key: &Fingerprint) -> secret::Result<()> {
        let Self { asked, new } = self;
        keys.relock(&Name::from(*key), &mut Shared(asked), &mut |question| {
            if new.is_none() {
                *new = asked.borrow_mut().passphrase(question)?;
            }
            new.clone().ok_or(Error::NoPassphrase { key: *key })
        })
    }

    fn verify(&mut self, keys: &AllKeys, key: &Fingerprint) -> secret::Result<()> {
        keys.open(&Name::from(*key), &mut Shared(self.asked)).map(drop)
    }
}

/// Asks for the old passphrase, while the new one may be asked for too.
struct Shared<'a, 'b>(&'a RefCell<Passphrases<'b>>);

impl Ask for Shared<'_, '_> {
    fn passphrase(&mut self, question: &Question<'_>) -> secret::Result<Option<Passphrase>> {
        self.0.borrow_mut().passphrase(question)
    }

    fn known(&mut self) -> Option<Passphrase> {
        self.0.borrow_mut().known()
    }
}
