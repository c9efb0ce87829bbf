//! `--delete-keys`.

use std::ops::ControlFlow;

use keyhoard::cert::Facts;
use keyhoard::cert::effective::{Effective, View};
use keyhoard::delete::{candidates, delete, delete_subkey};
use keyhoard::find::shown;
use keyhoard::listing::{self, Item, ListOptions, Signatures, Trust};
use keyhoard::store::query::{Name, NameError};
use keyhoard::store::{CertId, Fingerprint, Query, Selection, Snapshot, Store};

use super::Session;
use crate::code::Code;
use crate::keyrings::Keyrings;
use crate::names::names_key;
use crate::prompt::{self, Question};
use crate::render;
use crate::status::Status;

/// The reasons of a `DELETE_PROBLEM` line (GnuPG's `doc/DETAILS`).
mod problem {
    pub(super) const NO_SUCH_KEY: u32 = 1;
    pub(super) const SECRET_KEY_FIRST: u32 = 2;
}

/// Deletes the keys that the arguments name, one after the other, up to the first that cannot be deleted.
pub(super) fn run(session: &mut Session<'_>) -> anyhow::Result<()> {
    if session.arguments.is_empty() && !session.settings.quiet {
        session.streams.info("Note: No key");
        return Ok(());
    }
    let mut keyrings = Keyrings::open(session)?;
    for name in session.arguments.clone() {
        if !delete_one(session, &mut keyrings, &name)? {
            break;
        }
    }
    Ok(())
}

/// A key that is to be deleted.
struct Target {
    id: CertId,
    /// Only this subkey is meant.
    subkey: Option<Fingerprint>,
    /// It was named by its fingerprint.
    by_fingerprint: bool,
    has_secret: bool,
    /// What is shown before the question.
    shown: Vec<u8>,
}

/// Deletes one key; `false` if that was not possible, which has been told.
fn delete_one(session: &mut Session<'_>, keyrings: &mut Keyrings, name: &[u8]) -> anyhow::Result<bool> {
    let text = shown(name);
    let store = keyrings.writable(&session.home, &session.settings, session.streams)?;
    let target = match find(session, store, name)? {
        Ok(target) => target,
        Err(code) => {
            session.streams.error(format_args!("key \"{text}\" not found: {code}"));
            session.streams.status(&Status::DeleteProblem { reason: problem::NO_SUCH_KEY });
            session.streams.error(format_args!("{text}: delete key failed: {code}"));
            return Ok(false);
        }
    };
    if target.has_secret && !session.settings.expert {
        session.streams.error(format_args!("there is a secret key for public key \"{text}\"!"));
        session.streams.info("use option \"--delete-secret-keys\" to delete it first.");
        session.streams.status(&Status::DeleteProblem { reason: problem::SECRET_KEY_FIRST });
        return Ok(false);
    }
    if is_wanted(session, &target)? && !session.settings.dry_run {
        let command = format!("gpg-keyhoard --delete-keys {text}");
        let now = session.now;
        match target.subkey {
            Some(subkey) => drop(delete_subkey(store, target.id, &subkey, &command, now)?),
            None => drop(delete(store, &[target.id], &command, now)?),
        }
    }
    Ok(true)
}

/// Finds the first key that goes by a name.
fn find(
    session: &Session<'_>,
    store: &dyn Store,
    name: &[u8],
) -> anyhow::Result<std::result::Result<Target, Code>> {
    let Name { query, exact_key } = match Name::parse(name) {
        Ok(name) => name,
        Err(NameError::Invalid) => return Ok(Err(Code::InvalidUserId)),
        Err(NameError::Version3) => return Ok(Err(Code::InvalidValue)),
        Err(NameError::Unsearchable(_)) => return Ok(Err(Code::NotFound)),
    };
    let snapshot = store.snapshot()?;
    let Some(&id) = snapshot.find(&query)?.first() else { return Ok(Err(Code::NotFound)) };
    let candidates = candidates(snapshot.as_ref(), &[id], &session.secret_keys())?;
    let (shown, subkeys) = show(session, snapshot.as_ref(), id)?;
    Ok(Ok(Target {
        id,
        subkey: subkeys.into_iter().find(|subkey| exact_key && names_key(&query, subkey)),
        by_fingerprint: matches!(query, Query::Fingerprint(_)),
        has_secret: candidates.iter().any(|candidate| candidate.secret_key.is_some()),
        shown,
    }))
}

/// Returns a key's listing and its subkeys.
fn show(
    session: &Session<'_>,
    snapshot: &dyn Snapshot,
    id: CertId,
) -> keyhoard::Result<(Vec<u8>, Vec<Fingerprint>)> {
    let options =
        ListOptions { now: session.now, view: View::Gnupg, signatures: Signatures::Without, bodies: false };
    let mut issuers = listing::Names::new(Vec::new(), options.now, options.view);
    let mut trust = |_: &Facts, _: &Effective| Ok(Trust::default());
    let (mut text, mut subkeys) = (Vec::new(), Vec::new());
    listing::list(snapshot, Selection::Ids(&[id]), options, &mut issuers, &mut trust, &mut |listing| {
        render::listing(&listing, &session.settings.list, &mut text);
        subkeys.extend(listing.components.iter().filter_map(|listed| match listed.item {
            Item::Subkey(key, _) => Some(key.fingerprint),
            _ => None,
        }));
        ControlFlow::Break(())
    })?;
    Ok((text, subkeys))
}

/// Says whether the key is to be deleted: in batch mode it has to be named by its fingerprint, or with `--yes`.
fn is_wanted(session: &mut Session<'_>, target: &Target) -> anyhow::Result<bool> {
    let settings = &session.settings;
    if settings.batch {
        let certain = target.by_fingerprint || settings.answer_yes;
        if !certain {
            session.streams.error("can't do this in batch mode without \"--yes\"");
            session.streams.info("(unless you specify the key by fingerprint)");
        }
        return Ok(certain);
    }
    let mut context = target.shown.clone();
    if target.subkey.is_some() {
        context.extend(b"Note: Only the shown public subkey will be deleted.\n\n");
    }
    let question = Question {
        keyword: "delete_key.okay",
        context: &context,
        text: "Delete this key from the keyring? (y/N) ",
    };
    prompt::ask(&question, settings, session.streams)
}
