//! `--delete-keys`, `--delete-secret-keys` and `--delete-secret-and-public-keys`.

use std::ops::ControlFlow;

use engine::cert::Facts;
use engine::cert::effective::Effective;
use engine::delete::{candidates, delete, delete_subkey};
use engine::foreign_text::shown;
use engine::listing::{self, ListOptions, ListedItem, UserTrust};
use engine::store::query::Name;
use engine::store::{CertId, Fingerprint, Query, ReadCertificates, Selection, Store};
use secret::{Protection, SecretKeys as _};

use crate::code::Code;
use crate::failure::Failure;
use crate::keyrings::Keyrings;
use crate::names;
use crate::passphrases::Passphrases;
use crate::prompt::{self, Question};
use crate::render;
use crate::secrets::secret_keys;
use crate::settings::{ListSettings, Settings};
use crate::streams::Streams;

/// What is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeleteTarget {
    Public,
    Secret,
    Both,
}

/// Deletes the keys that the arguments name, up to the first that cannot be deleted.
pub(super) fn run(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    what: DeleteTarget,
) -> anyhow::Result<()> {
    if arguments.is_empty() && !settings.quiet {
        streams.info("Note: No key");
        return Ok(());
    }
    let mut keyrings = Keyrings::open_to_change(settings, streams)?;
    for name in arguments {
        if !delete_one(settings, streams, &mut keyrings, name, what)? {
            break;
        }
    }
    Ok(())
}

/// A key that is to be deleted.
struct Target {
    id: CertId,
    /// The subkey to delete, if only that was named.
    subkey: Option<Fingerprint>,
    /// It was named by its fingerprint.
    by_fingerprint: bool,
    /// The selected keys whose secret keys can be deleted.
    kept: Vec<Fingerprint>,
    /// The agent has one of these.
    kept_by_agent: bool,
    /// There are only keys in files of an agent that cannot be asked.
    with_agent: bool,
    /// The text before the question.
    shown: Vec<u8>,
}

/// Deletes one key; returns `false` if that was not possible, which was reported.
fn delete_one(
    settings: &Settings,
    streams: &mut Streams,
    keyrings: &mut Keyrings,
    name: &[u8],
    what: DeleteTarget,
) -> anyhow::Result<bool> {
    let text = shown(name);
    if what != DeleteTarget::Secret {
        keyrings.check_writable()?;
    }
    let store = keyrings.writable(settings, streams)?;
    let target = match find(settings, store, name) {
        Ok(target) => target,
        Err(failure) => {
            let code = failure.coded()?.code;
            streams.error(format_args!("key \"{text}\" not found: {code}"));
            return Ok(no_such_key(streams, &text, code));
        }
    };
    match what {
        DeleteTarget::Secret if target.kept.is_empty() => {
            streams.error(format_args!("key \"{text}\" not found"));
            return Ok(no_such_key(streams, &text, Code::NOT_FOUND));
        }
        DeleteTarget::Secret => {
            return Ok(delete_secret(settings, streams, &target, &text)? != SecretDeletion::Refused);
        }
        DeleteTarget::Both if !target.kept.is_empty() => {
            match delete_secret(settings, streams, &target, &text)? {
                SecretDeletion::Done => {}
                SecretDeletion::Declined => {
                    streams.error(format_args!("{text}: delete key failed: {}", Code::END_OF_FILE));
                    return Ok(false);
                }
                SecretDeletion::Refused => return Ok(false),
            }
        }
        DeleteTarget::Public if (target.kept.is_empty() && !target.with_agent) || settings.expert => {}
        DeleteTarget::Both if !target.with_agent => {}
        DeleteTarget::Public | DeleteTarget::Both => {
            streams.error(format_args!("there is a secret key for public key \"{text}\"!"));
            streams.info("use option \"--delete-secret-keys\" to delete it first.");
            streams.status("DELETE_PROBLEM 2");
            return Ok(false);
        }
    }
    if is_wanted(settings, streams, &target)? && !settings.dry_run {
        let command = format!("gpg-keyhoard --delete-keys {text}");
        let now = settings.now;
        match target.subkey {
            Some(subkey) => drop(delete_subkey(store, target.id, &subkey, &command, now)?),
            None => drop(delete(store, &[target.id], &command, now)?),
        }
        keyrings.commit()?;
    }
    Ok(true)
}

/// Reports that the key was not found; returns `false`.
fn no_such_key(streams: &mut Streams, name: &str, code: Code) -> bool {
    streams.status("DELETE_PROBLEM 1");
    streams.error(format_args!("{name}: delete key failed: {code}"));
    false
}

/// The result of a deletion of secret keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecretDeletion {
    Done,
    /// The user declined.
    Declined,
    /// It was not possible, which was reported.
    Refused,
}

/// Deletes the selected secret keys.
fn delete_secret(
    settings: &Settings,
    streams: &mut Streams,
    target: &Target,
    name: &str,
) -> anyhow::Result<SecretDeletion> {
    if !is_secret_wanted(settings, streams, target)? {
        return Ok(SecretDeletion::Declined);
    }
    let keys = secret_keys(settings)?;
    // In batch mode only --yes confirms it, and for the agent's keys its pinentry.
    let refused = if settings.batch && !settings.answer_yes && !target.kept_by_agent {
        Some(Code::NO_PINENTRY)
    } else if settings.dry_run {
        None
    } else {
        let mut deleted = target.kept.iter().map(|key| keys.delete(&secret::Name::from(*key)));
        let deleted = deleted.try_for_each(|deleted| deleted.map(drop));
        deleted.err().map(|error| Passphrases::new(settings, streams).code(&error))
    };
    if let Some(code) = refused {
        streams.error(format_args!("deleting secret key failed: {code}"));
        streams.error(format_args!("{name}: delete key failed: {code}"));
        streams.info("(try option \"--yes\" to delete anyway)");
        return Ok(SecretDeletion::Refused);
    }
    Ok(SecretDeletion::Done)
}

/// Finds the first key that a name matches.
fn find(settings: &Settings, store: &dyn Store, name: &[u8]) -> Result<Target, Failure> {
    let Name { query, exact_key } = names::parsed(name, Code::NOT_FOUND, settings.compat)?;
    let snapshot = store.snapshot()?;
    let Some(&id) = snapshot.find(&query)?.first() else { return Err(Code::NOT_FOUND.into()) };
    let candidates = candidates(snapshot.as_ref(), &[id], &settings.home.agent_keys())?;
    let Shown { text, primary, subkeys } = show(settings, &settings.list, snapshot.as_ref(), id)?;
    let is_deleted = |key: &Fingerprint| !exact_key || query.names_key(key);
    let subkey = subkeys.iter().copied().find(|subkey| exact_key && query.names_key(subkey));
    let keys = secret_keys(settings)?;
    let (mut kept, mut kept_by_agent) = (Vec::new(), false);
    for key in primary.into_iter().chain(subkeys).filter(is_deleted) {
        let Some(held) = keys.find(&secret::Name::from(key))? else { continue };
        kept_by_agent |= matches!(held.protection, Protection::Agent { .. });
        kept.push(held.fingerprint);
    }
    // Of a single subkey only its own secret key counts.
    let with_agent = kept.is_empty()
        && subkey.is_none()
        && candidates.iter().any(|candidate| candidate.secret_key.is_some());
    Ok(Target {
        id,
        subkey,
        by_fingerprint: matches!(query, Query::Fingerprint(_)),
        kept,
        kept_by_agent,
        with_agent,
        shown: text,
    })
}

/// A key's listing, and its fingerprints.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) text: Vec<u8>,
    primary: Option<Fingerprint>,
    subkeys: Vec<Fingerprint>,
}

/// Renders one key with the settings `list`.
pub(super) fn show(
    settings: &Settings,
    list: &ListSettings,
    snapshot: &dyn ReadCertificates,
    id: CertId,
) -> engine::Result<Shown> {
    let options = ListOptions::as_gnupg(settings.now, settings.self_signature_digests());
    let mut issuers = listing::Names::new(Vec::new(), options.now, options.view);
    let mut trust = |_: CertId, _: &Facts, _: &Effective| Ok(UserTrust::default());
    let mut shown = Shown::default();
    listing::list(
        snapshot,
        Selection::Ids(&[id]),
        options,
        &mut issuers,
        None,
        &mut trust,
        &mut |listing| {
            render::listing(&listing, list, &mut shown.text);
            shown.primary = Some(*listing.fingerprint());
            shown.subkeys.extend(listing.components.iter().filter_map(|listed| match listed.item {
                ListedItem::Subkey(key, _) => Some(key.fingerprint),
                _ => None,
            }));
            ControlFlow::Break(())
        },
    )?;
    Ok(shown)
}

/// Says whether the secret keys are to be deleted: in batch mode they have to be named by fingerprint.
fn is_secret_wanted(settings: &Settings, streams: &mut Streams, target: &Target) -> anyhow::Result<bool> {
    if settings.batch {
        if !target.by_fingerprint {
            streams.error("can't do this in batch mode");
            streams.info("(unless you specify the key by fingerprint)");
        }
        return Ok(target.by_fingerprint);
    }
    let keyword = "delete_key.secret.okay";
    let first =
        Question { keyword, context: &target.shown, text: "Delete this key from the keyring? (y/N) " };
    let second = Question { keyword, context: b"", text: "This is a secret key! - really delete? (y/N) " };
    // A program is asked only once.
    Ok(prompt::ask(&first, settings, streams)?
        && (settings.command_input.is_some() || prompt::ask(&second, settings, streams)?))
}

/// Says whether the key is to be deleted: in batch mode it has to be named by its fingerprint, or with `--yes`.
fn is_wanted(settings: &Settings, streams: &mut Streams, target: &Target) -> anyhow::Result<bool> {
    if settings.batch {
        let certain = target.by_fingerprint || settings.answer_yes;
        if !certain {
            streams.error("can't do this in batch mode without \"--yes\"");
            streams.info("(unless you specify the key by fingerprint)");
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
    prompt::ask(&question, settings, streams)
}
