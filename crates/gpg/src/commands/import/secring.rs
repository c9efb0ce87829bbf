//! The secret keys of GnuPG before 2.1 (`secring.gpg`), which are taken over once, before the first command that may need
//! them, as by gpg.

use std::fs::File;
use std::path::Path;

use anyhow::Context as _;
use engine::causes;
use engine::cert::clean::CleanOptions;
use engine::cert::{Error, Fingerprint, Flaw};
use engine::configuration::{Configuration, ImportHome};
use engine::database;
use engine::import::{ImportEvent, ImportOptions, ImportRefusal, SecretOutcome, import_all};
use engine::keyring_copy::{KeyringCopy, KeyringFormat};
use engine::migrate::{self, MigrationSource};
use engine::permissions::{Exposed, exposed_database, exposed_with_directory};
use engine::secret::SecretKeys as _;
use engine::store::Store;

use super::report::Report;
use crate::migration;
use crate::secrets;
use crate::settings::Settings;
use crate::streams::Streams;
use crate::trust;

/// What the journal calls it.
const COMMAND: &str = "gpg-keyhoard (import-home)";

/// Imports the secret keys of GnuPG before 2.1 in the home directory, if `import-home` in the configuration says so and
/// that was not done before.
pub(crate) fn take_over(settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let found = migrate::secring(settings.home.directory());
    let Some(source) = found.filter(|_| !settings.dry_run) else { return Ok(()) };
    let import_home = Configuration::read()?.import_home;
    if import_home == ImportHome::No {
        return Ok(());
    }
    let store = trust::database(&settings.home)?;
    let known = match &store {
        Some(store) => migrate::remembered(store.snapshot()?.as_ref(), &source)?,
        None => None,
    };
    let is_done = known.as_ref().is_some_and(|known| known.done.is_some() || import_home == ImportHome::Ask);
    if is_done {
        return Ok(());
    }
    let left = migration::left_in(settings)?.filter(|_| import_home == ImportHome::Ask && store.is_none());
    if let Some(keyring) = left {
        return import_into_agent(&source, &keyring, settings, streams);
    }
    match import_home {
        ImportHome::Ask if !are_certificates_taken_over(store.as_deref(), settings)? => return Ok(()),
        ImportHome::Yes if settings.uses_default_keyring() => {
            migration::first_use(&settings.home.database()?, store.as_deref(), settings, streams)?;
        }
        _ => {}
    }
    if is_exposed(&source.path, exposed_database(&settings.home.database()?), streams) {
        return Ok(());
    }
    if import_home == ImportHome::Yes || agrees(&source, settings, streams)? {
        return import(&source, settings, streams);
    }
    if !settings.quiet {
        point_out(&source, settings, streams)?;
        if let Some(store) = &store {
            // If that fails, they are named again next time.
            let _ = migrate::mention(store.as_ref(), &[source], COMMAND, settings.now);
        }
    }
    Ok(())
}

/// Says whether others can change the certificates, with which secret keys are not used then; reports it.
fn is_exposed(file: &Path, exposed: Vec<Exposed>, streams: &mut Streams) -> bool {
    if let Some(exposed) = exposed.first() {
        let file = file.display();
        streams.info(format_args!("Note: the secret keys in '{file}' are not taken over: {exposed}"));
    }
    !exposed.is_empty()
}

/// Says whether the user has had all keyrings of the home directory taken over.
fn are_certificates_taken_over(store: Option<&dyn Store>, settings: &Settings) -> anyhow::Result<bool> {
    let Some(store) = store else { return Ok(false) };
    let snapshot = store.snapshot()?;
    for keyring in migrate::keyrings_in_home(settings.home.directory()) {
        let known = migrate::remembered(snapshot.as_ref(), &keyring)?;
        if known.is_none_or(|known| known.done.is_none()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn agrees(source: &MigrationSource, settings: &Settings, streams: &mut Streams) -> anyhow::Result<bool> {
    let context = format!("GnuPG before 2.1 left secret keys in '{}'.\n", source.path.display());
    migration::agrees(&context, "Take them over? (y/N) ", settings, streams)
}

fn point_out(source: &MigrationSource, settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let database = settings.home.database()?;
    let (database, home) = (database::shown(&database), settings.home.directory().display());
    streams.info(format_args!("Note: the secret keys in '{}' are not used", source.path.display()));
    streams.info(format_args!(
        "Note: this takes them over: keyhoard --db '{database}' migrate --secret-keys copy '{home}'"
    ));
    Ok(())
}

/// Imports the secret keys with their certificates into the database.
fn import(source: &MigrationSource, settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let store = trust::database_to_write(settings, streams)?;
    streams.note_opened_database();
    import_with(store.as_ref(), source, settings, streams)
}

/// Imports the secret keys into the agent, as gpg does, where certificates are read from GnuPG's keyring and there is no
/// database.
fn import_into_agent(
    source: &MigrationSource,
    keyring: &Path,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    if is_exposed(&source.path, exposed_with_directory(keyring), streams)
        || !secrets::secret_keys(settings)?.stores_in_agent()
    {
        return Ok(());
    }
    let copy = KeyringCopy::open(keyring, KeyringFormat::Packets, settings.now)?;
    import_with(copy.store(), source, settings, streams)
}

/// Imports them with a database. If a part cannot be read, that is tried again with the next command.
fn import_with(
    store: &dyn Store,
    source: &MigrationSource,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    let file = source.path.display();
    streams.info("starting migration from earlier GnuPG versions");
    let input = File::open(&source.path).with_context(|| format!("can't open '{file}'"))?;
    let keys = secrets::secret_keys(settings)?;
    let place = if keys.stores_in_agent() { " to gpg-agent" } else { "" };
    streams.info(format_args!("porting secret keys from '{file}'{place}"));
    let options = ImportOptions {
        command: format!("{COMMAND} {file}"),
        clean: CleanOptions {
            accept_unsigned_user_ids: settings.allow_non_selfsigned_uid,
            ..CleanOptions::default()
        },
        from_files: true,
        secret_keys: Some(&keys),
        ..ImportOptions::default()
    };
    let mut report = Report::of_secret_keys(settings, file.to_string());
    let (mut taken, mut failure): (Vec<Fingerprint>, Option<String>) = (Vec::new(), None);
    let summary =
        import_all(store, std::iter::once(input), &options, settings.now, &mut |event| match event {
            ImportEvent::Certificate(imported) => {
                report.imported(imported, streams);
                for secret in &imported.secrets {
                    match &secret.outcome {
                        SecretOutcome::New | SecretOutcome::Unchanged => taken.push(secret.fingerprint),
                        SecretOutcome::Refused(reason) => failure = Some(reason.clone()),
                        SecretOutcome::Stub | SecretOutcome::NotInCertificate => {}
                    }
                }
            }
            ImportEvent::Refused { reason, .. } if !is_obsolete(reason) => failure = Some(causes(reason)),
            _ => {}
        })?;
    if summary.processed == 0 && failure.is_none() {
        failure = Some("no valid OpenPGP data found".to_owned());
    }
    if let Some(reason) = failure {
        streams.error(format_args!("import from '{file}' failed: {reason}"));
        return Ok(());
    }
    let in_agent = keys.agent().filter(|_| keys.stores_in_agent()).map(|agent| agent.list()).transpose()?;
    let are_in_agent =
        in_agent.is_some_and(|list| taken.iter().all(|key| list.iter().any(|it| it.fingerprint == *key)));
    migrate::mark_secring(store, settings.home.directory(), are_in_agent, COMMAND, settings.now)?;
    streams.info("migration succeeded");
    Ok(())
}

/// Says whether a key is of a version that gpg passes over, too.
fn is_obsolete(refusal: &ImportRefusal) -> bool {
    matches!(refusal, ImportRefusal::Unreadable(Error::Malformed { flaw: Flaw::ObsoleteKey(_), .. }))
}
