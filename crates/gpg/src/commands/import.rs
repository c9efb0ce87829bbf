//! `--import`, `--fast-import` and `--show-keys`.

mod report;
mod show;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use keyhoard::cert::Timestamp;
use keyhoard::cert::certificate::{Certificate, Retained};
use keyhoard::cert::clean::CleanOptions;
use keyhoard::cert::effective::{Moment, View, evaluate};
use keyhoard::import::{Filter, ImportEvent, ImportOptions, Importer, Preview, preview};
use keyhoard::store::Origin;

use super::Session;
use crate::keyrings::Keyrings;
use crate::options::load::system_words;
use crate::properties;
use crate::settings::{ImportFilter, ImportSettings, Settings};
use report::Report;
use show::Show;

/// Imports the files that the arguments name, or standard input; or only shows or writes out what they hold.
pub(super) fn run(session: &mut Session<'_>) -> anyhow::Result<()> {
    let settings = &session.settings;
    anyhow::ensure!(!settings.interactive, "--interactive: not supported yet");
    anyhow::ensure!(!settings.import.clean, "import-clean and import-minimal: not supported yet");
    match settings.dry_run || settings.import.dry_run || settings.import.export {
        true => preview_inputs(session),
        false => import_inputs(session),
    }
}

/// An input that was opened.
struct Input {
    name: String,
    reader: Box<dyn Read + Send>,
}

/// Opens the files; what cannot be opened is told.
fn open_inputs(session: &mut Session<'_>) -> Vec<Input> {
    let standard = || Input { name: "[stdin]".to_owned(), reader: Box::new(io::stdin()) };
    if session.arguments.is_empty() {
        return vec![standard()];
    }
    let mut inputs = Vec::new();
    for argument in &session.arguments {
        if argument == b"-" {
            inputs.push(standard());
            continue;
        }
        let path = Path::new(OsStr::from_bytes(argument));
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => inputs.push(Input { name, reader: Box::new(file) }),
            Err(error) => {
                let error = system_words(&error);
                session.streams.error(format_args!("can't open '{name}': {error}"));
            }
        }
    }
    inputs
}

fn import_inputs(session: &mut Session<'_>) -> anyhow::Result<()> {
    let inputs = open_inputs(session);
    let names: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
    let mut keyrings = Keyrings::open(session)?;
    let options = ImportOptions {
        command: format!("gpg-keyhoard --import {}", names.join(" ")),
        clean: clean_options(&session.settings),
        merge_only: session.settings.import.merge_only,
        keep_owner_trust: session.settings.import.keep_ownertrust,
        dry_run: false,
        show: session.settings.import.show,
        names: true,
        filter: filter(&session.settings.import_filter, Timestamp(session.now)),
        origin: origin(&session.settings, session.now),
    };
    let store = keyrings.writable(&session.home, &session.settings, session.streams)?;
    let mut show = Show::new(session, None);
    let mut report = Report::new(&session.settings, names);
    let streams = &mut *session.streams;
    let mut failed = None;
    let mut on_event = |event: ImportEvent<'_>| match event {
        ImportEvent::Cleaned(certificate) => {
            if let Err(error) = show.certificate(certificate, streams) {
                failed.get_or_insert(error);
            }
        }
        ImportEvent::Certificate(imported) => report.imported(imported, streams),
        ImportEvent::Refused { input, position, reason } => report.refused(input, position, reason, streams),
        ImportEvent::Progress { .. } => {}
    };
    let mut importer = Importer::new(store, &options, Timestamp(session.now));
    for input in inputs {
        importer.add(input.reader, &mut on_event)?;
    }
    importer.finish(&mut on_event)?;
    report.finish(streams);
    failed.map_or(Ok(()), |error| Err(error.into()))
}

fn preview_inputs(session: &mut Session<'_>) -> anyhow::Result<()> {
    let settings = &session.settings;
    let clean = clean_options(settings);
    let filter = filter(&settings.import_filter, Timestamp(session.now));
    let keyrings = if settings.list.signatures { Some(Keyrings::open(session)?) } else { None };
    let snapshot = match keyrings.as_ref().and_then(|keyrings| keyrings.iter().next()) {
        Some(ring) => ring.snapshot()?,
        None => None,
    };
    let inputs = open_inputs(session);
    let names = inputs.iter().map(|input| input.name.clone()).collect();
    let mut show = Show::new(session, snapshot.as_deref());
    let mut report = Report::new(&session.settings, names);
    let mut written = match session.settings.import.export {
        true => Some(show::Written::open(&session.settings, session.streams)?),
        false => None,
    };
    let mut failed = None;
    for (number, input) in inputs.into_iter().enumerate() {
        let streams = &mut *session.streams;
        preview(input.reader, &clean, filter.as_ref(), Timestamp(session.now), &mut |piece| match piece {
            Preview::Certificate { cleaned, secret } => {
                let shown = show.certificate(&cleaned.certificate, streams);
                let exported =
                    written.as_mut().map_or(Ok(()), |written| written.add(&cleaned.certificate, streams));
                if let Err(error) = shown.and(exported) {
                    failed.get_or_insert(error);
                }
                report.previewed(number, secret, streams);
            }
            Preview::Revocation(_) => report.previewed(number, false, streams),
            Preview::Refused { position, reason } => report.refused(number, position, &reason, streams),
        });
    }
    if let Some(written) = written {
        written.finish()?;
    }
    report.finish(session.streams);
    failed.map_or(Ok(()), |error| Err(error.into()))
}

fn clean_options(settings: &Settings) -> CleanOptions {
    let ImportSettings { local_sigs, repair_keys, self_sigs_only, repair_pks_subkey_bug, .. } =
        settings.import;
    CleanOptions {
        keep_local: local_sigs,
        no_repair: !repair_keys,
        self_signatures_only: self_sigs_only,
        repair_pks_subkey_bug,
        accept_unsigned_user_ids: settings.allow_non_selfsigned_uid,
    }
}

fn origin(settings: &Settings, now: u32) -> Option<Origin> {
    let origin = &settings.key_origin;
    (origin.kind != 0 && !settings.import.restore).then(|| Origin {
        kind: origin.kind,
        updated: Some(Timestamp(now)),
        url: origin.url.clone(),
    })
}

/// Returns what the import filters leave of a certificate.
fn filter(filters: &ImportFilter, now: Timestamp) -> Option<Filter> {
    let ImportFilter { keep_uid, drop_sig } = filters.clone();
    if keep_uid.is_none() && drop_sig.is_none() {
        return None;
    }
    Some(Box::new(move |certificate: Certificate| {
        let facts = &certificate.facts;
        let kept = keep_uid.as_ref().map(|filter| {
            let effective = evaluate(facts, Moment::new(now, View::Gnupg));
            properties::kept_user_ids(filter, facts, &effective)
        });
        let mut number = 0;
        certificate.retain(|asked| match asked {
            Retained::Component(_) => {
                // The primary key is not asked about.
                number += 1;
                kept.as_ref().is_none_or(|kept| kept[number])
            }
            Retained::Signature(component, signature) => drop_sig
                .as_ref()
                .is_none_or(|filter| properties::keeps_signature(filter, facts, component, signature, now)),
            _ => true,
        })
    }))
}
