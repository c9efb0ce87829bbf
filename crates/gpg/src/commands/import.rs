//! `--import`, `--fast-import` and `--show-keys`.

mod report;
pub(super) mod secring;
mod show;

use std::fs::File;
use std::path::Path;

use engine::cert::Fingerprint;
use engine::cert::certificate::{Certificate, Retained};
use engine::cert::clean::CleanOptions;
use engine::cert::effective::{EvaluationContext, PacketView, evaluate};
use engine::cert::split::RawRevocation;
use engine::compact::compact;
use engine::fetch::{RequestedCertificates, is_asked_for, taken_options};
use engine::import::{
    Filter, ImportEvent, ImportOptions, ImportOutcome, NewOwnerTrust, Preview, examine, import_all, preview,
};
use engine::keyring_file::KeyringFile;
use engine::store::{Origin, ReadCertificates, Store};
use engine::validity::Sources;
use engine::verification::IncludedKey;

use super::checks::checker_for_clean;
use crate::filter_properties;
use crate::input;
use crate::keyrings::Keyrings;
use crate::prompt::{self, Question};
use crate::secrets::{self, Secrets};
use crate::settings::{ImportFilter, ImportSettings, Settings};
use crate::status;
use crate::streams::Streams;
use report::Report;
use show::{Show, Written};

/// Imports the files that the arguments name, or standard input; or only shows or writes out what they hold.
pub(super) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    match settings.dry_run || settings.import.dry_run || settings.import.export {
        true => preview_inputs(arguments, settings, streams),
        false => import_inputs(arguments, settings, streams),
    }
}

/// An input that was opened.
struct Input {
    name: String,
    reader: File,
    is_file: bool,
}

/// Opens the files, or standard input; errors are reported.
fn open_inputs(arguments: &[Vec<u8>], streams: &mut Streams) -> Vec<Input> {
    let standard = [b"-".to_vec()];
    let names = if arguments.is_empty() { &standard } else { arguments };
    let opened = names.iter().filter_map(|name| {
        let name = Some(name.as_slice());
        let file = input::open(name, streams).ok()?;
        let is_file = !input::is_stream(name) && file.metadata().is_ok_and(|metadata| metadata.is_file());
        Some(Input { name: input::shown_name(name), reader: file, is_file })
    });
    opened.collect()
}

fn import_inputs(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let secret_keys = secrets::secret_keys(settings)?;
    let inputs = open_inputs(arguments, streams);
    let names: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
    let mut keyrings = Keyrings::open_to_import(settings, streams)?;
    let secrets = Secrets::kept(settings)?;
    let store = keyrings.importable(settings, streams)?;
    let options = ImportOptions {
        command: format!("gpg-keyhoard --import {}", names.join(" ")),
        clean: clean_options(&settings.import, settings),
        journal: None,
        merge_only: settings.import.merge_only,
        owner_trust: match settings.import.keep_ownertrust {
            true => NewOwnerTrust::Kept,
            false => NewOwnerTrust::None,
        },
        from_files: inputs.iter().all(|input| input.is_file),
        dry_run: false,
        show: settings.import.show || settings.interactive,
        names: !settings.quiet || streams.status_wanted(),
        filter: filter(&settings.import, settings, Some(store)),
        origin: origin(settings),
        secret_keys: Some(&secret_keys),
        ..ImportOptions::default()
    };
    let mut show = Show::new(settings, streams, Sources::default(), secrets);
    let mut report = Report::new(settings, names);
    let mut outcome = Ok(());
    let mut on_event = |event: ImportEvent<'_>| match event {
        ImportEvent::Cleaned { certificate, secret, taken } => {
            if outcome.is_ok() {
                match show
                    .certificate(certificate, secret, Some(store), streams)
                    .and_then(|()| wanted(certificate, settings, streams))
                {
                    Ok(wanted) => *taken = wanted,
                    Err(error) => outcome = Err(error),
                }
            }
            // Without an answer nothing is imported.
            *taken &= outcome.is_ok() || !settings.interactive;
        }
        ImportEvent::Revocation(revocation) => {
            if outcome.is_ok() {
                outcome = show_revocation(revocation, store, &show, settings, streams);
            }
        }
        ImportEvent::Certificate(imported) => {
            report.imported(imported, streams);
        }
        ImportEvent::Refused { input, position, reason } => report.refused(input, position, reason, streams),
        ImportEvent::Progress { .. } => {}
    };
    let readers = inputs.into_iter().map(|input| input.reader);
    import_all(store, readers, &options, settings.now, &mut on_event)?;
    drop(options);
    keyrings.commit()?;
    keyrings.remember_trusted_keys(settings, streams)?;
    report.finish(streams);
    outcome
}

/// Keys that came over the network.
pub(super) struct Downloads<'a> {
    pub(super) answers: Vec<Download>,
    /// How they are imported.
    pub(super) import: &'a ImportSettings,
    pub(super) origin: Origin,
    /// For the journal.
    pub(super) command: String,
}

/// Certificates of an answer that say to be what was asked for.
pub(super) struct Download {
    pub(super) bytes: Vec<u8>,
    pub(super) asked: RequestedCertificates,
}

/// Imports keys that came over the network, if they are what was asked for; returns their fingerprints.
pub(super) fn import_downloads(
    downloads: Downloads<'_>,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Vec<Fingerprint>> {
    let Downloads { answers, import, origin, command } = downloads;
    let mut keyrings = Keyrings::open_to_import(settings, streams)?;
    let store = keyrings.writable(settings, streams)?;
    let own = filter(import, settings, Some(store));
    let of_address = answers.first().and_then(|answer| taken_options(&answer.asked).filter);
    let both = move |certificate: Certificate| {
        let certificate = match &of_address {
            Some(of_address) => of_address(certificate),
            None => certificate,
        };
        own.as_ref().map_or_else(|| certificate.clone(), |own| own(certificate.clone()))
    };
    let options = ImportOptions {
        command,
        clean: clean_options(import, settings),
        merge_only: import.merge_only,
        owner_trust: NewOwnerTrust::None,
        show: true,
        names: true,
        filter: Some(Box::new(both)),
        origin: Some(origin),
        ..ImportOptions::default()
    };
    let mut report = Report::new(settings, answers.iter().map(|_| "[keyserver]".to_owned()).collect());
    let mut taken_keys = Vec::new();
    let mut on_event = |event: ImportEvent<'_>| match event {
        ImportEvent::Cleaned { certificate, taken, .. } => {
            *taken =
                answers.iter().any(|answer| is_asked_for(&answer.asked.query, certificate, settings.now));
        }
        ImportEvent::Certificate(imported) => {
            report.imported(imported, streams);
            if imported.outcome != ImportOutcome::Declined {
                taken_keys.push(imported.fingerprint);
            }
        }
        ImportEvent::Refused { input, position, reason } => report.refused(input, position, reason, streams),
        ImportEvent::Revocation(_) | ImportEvent::Progress { .. } => {}
    };
    let inputs = answers.iter().map(|answer| answer.bytes.as_slice());
    import_all(store, inputs, &options, settings.now, &mut on_event)?;
    drop(options);
    keyrings.commit()?;
    report.finish(streams);
    Ok(taken_keys)
}

/// Imports the key in a signature that was found to be good, as gpg does: as a key from an unknown place, whatever the
/// options of imports say, and without totals.
pub(super) fn import_included(
    key: &IncludedKey,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    if settings.dry_run {
        return Ok(());
    }
    let mut keyrings = Keyrings::open_to_import(settings, streams)?;
    let store = keyrings.writable(settings, streams)?;
    let options = ImportOptions {
        command: "gpg-keyhoard --auto-key-import".to_owned(),
        clean: clean_options(&ImportSettings::default(), settings),
        merge_only: settings.import.merge_only,
        show: true,
        names: true,
        ..ImportOptions::default()
    };
    let mut report = Report::new(settings, vec!["[signature]".to_owned()]);
    let mut on_event = |event: ImportEvent<'_>| match event {
        ImportEvent::Cleaned { certificate, taken, .. } => {
            *taken = certificate.facts.primary().fingerprint == key.primary();
        }
        ImportEvent::Certificate(imported) => report.imported(imported, streams),
        ImportEvent::Refused { input, position, reason } => report.refused(input, position, reason, streams),
        ImportEvent::Revocation(_) | ImportEvent::Progress { .. } => {}
    };
    import_all(store, std::iter::once(key.bytes()), &options, settings.now, &mut on_event)?;
    keyrings.commit()
}

fn show_revocation(
    revocation: &RawRevocation,
    store: &dyn Store,
    show: &Show<'_>,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    let snapshot = store.snapshot()?;
    match examine(revocation, Some(snapshot.as_ref()), settings.now)? {
        Some(examined) => show.revocation(&examined, Some(snapshot.as_ref()), streams),
        None => Ok(()),
    }
}

/// Asks whether to import a certificate, with `--interactive`, unless it is only listed.
fn wanted(certificate: &Certificate, settings: &Settings, streams: &mut Streams) -> anyhow::Result<bool> {
    if !settings.interactive || settings.import.show || settings.import.dry_run {
        return Ok(true);
    }
    let facts = &certificate.facts;
    let fingerprint = facts.primary().fingerprint;
    let check = format!("IMPORT_CHECK {} {fingerprint}", fingerprint.key_id());
    streams.status(status::with_text(check, facts.user_ids().next().unwrap_or_default()));
    let question = Question {
        keyword: "import.okay",
        context: &show::described(certificate, settings),
        text: "Do you want to import this key? (y/N) ",
    };
    prompt::ask(&question, settings, streams)
}

fn preview_inputs(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let keyrings = Keyrings::open(settings, streams)?;
    let store = keyrings.working_database();
    let snapshots = keyrings.snapshots()?;
    let sources = snapshots.sources()?;
    let secrets = Secrets::kept(settings)?;
    let now = settings.now;
    let clean = clean_options(&settings.import, settings);
    let filter = filter(&settings.import, settings, store);
    let inputs = open_inputs(arguments, streams);
    let keyring = sources.certificates.first().copied();
    let mut show = Show::new(settings, streams, sources, secrets);
    let mut report = Report::new(settings, inputs.iter().map(|input| input.name.clone()).collect());
    let mut written = match settings.import.export {
        true => {
            let read = input::ids(arguments.iter().map(Vec::as_slice));
            Some(Written::open(&read, settings, streams)?)
        }
        false => None,
    };
    let mut outcome = Ok(());
    for (number, input) in inputs.into_iter().enumerate() {
        preview(input.reader, &clean, filter.as_ref(), now, &mut |piece| match piece {
            Preview::Certificate { cleaned, secret } => {
                let certificate = &cleaned.certificate;
                if outcome.is_ok() {
                    outcome = show.certificate(certificate, secret, None, streams).and_then(|()| {
                        match (wanted(certificate, settings, streams)?, &mut written) {
                            (true, Some(written)) => Ok(written.add(certificate, streams)?),
                            _ => Ok(()),
                        }
                    });
                }
                report.previewed(number, secret, streams);
            }
            Preview::Revocation(revocation) => match examine(&revocation, keyring, now) {
                Ok(Some(examined)) => {
                    if outcome.is_ok() {
                        outcome = show.revocation(&examined, keyring, streams);
                    }
                    report.revocation_previewed(number, &examined, streams);
                }
                Ok(None) => report.previewed(number, false, streams),
                Err(error) => outcome = Err(error.into()),
            },
            Preview::Refused { position, reason } => report.refused(number, position, &reason, streams),
        });
    }
    outcome?;
    if let Some(written) = written {
        written.finish()?;
    }
    report.finish(streams);
    Ok(())
}

fn clean_options(import: &ImportSettings, settings: &Settings) -> CleanOptions {
    let ImportSettings { local_sigs, no_repair, self_sigs_only, repair_pks_subkey_bug, .. } = *import;
    CleanOptions {
        keep_local: local_sigs,
        no_repair,
        self_signatures_only: self_sigs_only,
        repair_pks_subkey_bug,
        accept_unsigned_user_ids: settings.allow_non_selfsigned_uid,
    }
}

fn origin(settings: &Settings) -> Option<Origin> {
    let origin = &settings.key_origin;
    (origin.kind != 0 && !settings.import.restore).then(|| Origin {
        kind: origin.kind,
        updated: Some(settings.now),
        url: origin.url.clone(),
    })
}

/// Returns the filter for each certificate before it is imported: it drops unusable parts (`import-clean`), and then
/// what the import filters say. Certifications are usable if a key in `store` verifies them; none is without a
/// database.
fn filter<'a>(
    import: &'a ImportSettings,
    settings: &'a Settings,
    store: Option<&'a dyn Store>,
) -> Option<Filter<'a>> {
    let Settings { import_filter: ImportFilter { keep_uid, drop_sig }, now, .. } = settings;
    if keep_uid.is_none() && drop_sig.is_none() && !import.clean {
        return None;
    }
    Some(Box::new(move |certificate: Certificate| {
        let mut certificate = match import.clean {
            true => cleaned(&certificate, import, settings, store),
            false => certificate,
        };
        if let Some(filter) = keep_uid {
            let effective = evaluate(&certificate.facts, EvaluationContext::new(*now, PacketView::Gnupg));
            let kept = filter_properties::kept_user_ids(filter, &certificate.facts, &effective);
            certificate = filter_properties::retain(&certificate, &kept);
        }
        if let Some(filter) = drop_sig {
            let facts = &certificate.facts;
            certificate = certificate.retain(|asked| match asked {
                Retained::Signature(component, signature) => {
                    filter_properties::keeps_signature(filter, facts, component, signature, *now)
                }
                _ => true,
            });
        }
        certificate
    }))
}

fn cleaned(
    certificate: &Certificate,
    import: &ImportSettings,
    settings: &Settings,
    store: Option<&dyn Store>,
) -> Certificate {
    let options = settings.compaction(import.minimal, false);
    let nobody = KeyringFile::empty(Path::new(""));
    let issuers = match store {
        Some(store) => store.snapshot().map(|snapshot| -> Box<dyn ReadCertificates> { snapshot }),
        None => Ok(nobody.snapshot()),
    };
    let compacted = issuers.map_err(engine::Error::from).and_then(|issuers| {
        compact(certificate, &mut checker_for_clean(issuers.as_ref(), settings), &options, settings.now)
    });
    // The import itself reports a database that cannot be read.
    compacted.unwrap_or_else(|_| certificate.clone())
}
