//! `--check-trustdb`, `--update-trustdb`, `--list-trustdb` and `--fix-trustdb`, although there is no trust database.

use std::collections::HashSet;
use std::ops::ControlFlow;

use engine::cert::Fingerprint;
use engine::configuration::Compat;
use engine::owner_trust::{self, Assignment};
use engine::store::{Detail, Selection};
use engine::trust::OwnerTrust;
use engine::trust::pgp::Level;
use engine::validity::{
    self, BindingsBegin, Model, Sources, TrustSettings, ValidityResult, WebOfTrustSummary,
};

use super::trustdb_records;
use crate::clock;
use crate::keyrings::Keyrings;
use crate::prompt::{self, Question};
use crate::settings::Settings;
use crate::settings::trust::model_name;
use crate::streams::Streams;
use crate::trust;

/// Reports a summary of the web of trust.
pub(super) fn check(settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    if has_web(settings, streams, "check") {
        sum_up(settings, streams)?;
    }
    Ok(())
}

/// Asks for the owner trust of valid keys that have none, and reports a summary.
pub(super) fn update(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    if !arguments.is_empty() {
        streams.usage("--update-trustdb");
        return Ok(());
    }
    if !has_web(settings, streams, "update") {
        return Ok(());
    }
    let mut asked = HashSet::new();
    while let Some(keys) = next_unknown(settings, streams, &asked)? {
        for key in keys {
            asked.insert(key);
            if !decide(settings, streams, &key)? {
                return sum_up(settings, streams);
            }
        }
    }
    sum_up(settings, streams)
}

/// Reports that nothing needs to be repaired.
pub(super) fn fix(streams: &mut Streams) {
    streams.info("there is no trustdb: validity is computed whenever it is asked for");
}

/// Lists the records that gpg's trust database would contain.
pub(super) fn list(settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let Settings { trust: numbers, trust_model, .. } = settings;
    let options = (*trust_model, *numbers);
    let records = with_sources(settings, streams, |sources, settings| {
        let check = validity::check(sources, settings)?;
        trustdb_records::listing(sources, settings, options, &check)
    })?;
    let title = format!("TrustDB: {}", settings.home.database()?.display());
    let line = "-".repeat(title.len());
    Ok(streams.out().write_all(format!("{title}\n{line}\n{records}").as_bytes())?)
}

/// Says whether the trust model has a web of trust; reports if it has none.
fn has_web(settings: &Settings, streams: &mut Streams, doing: &str) -> bool {
    if !matches!(settings.trust_model, Model::Always | Model::Direct) {
        return true;
    }
    let name = model_name(settings.trust_model);
    streams.info(format_args!("no need for a trustdb {doing} with '{name}' trust model"));
    false
}

fn sum_up(settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let check = with_sources(settings, streams, validity::check)?;
    report(&check, settings, streams);
    Ok(())
}

/// Computes with the keyrings what is in gpg's trust database, which knows nothing of first use: no key is used by that.
fn with_sources<T>(
    settings: &Settings,
    streams: &mut Streams,
    compute: impl FnOnce(&Sources<'_>, &TrustSettings) -> engine::Result<T>,
) -> anyhow::Result<T> {
    let keyrings = Keyrings::open(settings, streams)?;
    let snapshots = keyrings.snapshots()?;
    let mut trust_settings = trust::settings(settings);
    trust_settings.tofu.begin = BindingsBegin::AtImport;
    Ok(compute(&snapshots.sources()?, &trust_settings)?)
}

/// Reports a summary in gpg's words.
fn report(check: &WebOfTrustSummary, settings: &Settings, streams: &mut Streams) {
    let absent = report_absent(check, settings, streams);
    if settings.quiet {
        return;
    }
    if check.levels.first().is_none_or(|first| first.valid == absent) {
        return streams.info("no ultimately trusted keys found");
    }
    let numbers = &settings.trust;
    streams.info(format_args!(
        "marginals needed: {}  completes needed: {}  trust model: {}",
        numbers.marginals_needed,
        numbers.completes_needed,
        model_name(settings.trust_model)
    ));
    for (depth, Level { valid, certified, trusts }) in check.levels.iter().enumerate() {
        let [unknown, undefined, never, marginal, full, ultimate] = trusts;
        let absent = if depth == 0 { absent } else { 0 };
        let (valid, ultimate) = (valid - absent, ultimate - absent);
        streams.info(format_args!(
            "depth: {depth}  valid: {valid:3}  signed: {certified:3}  trust: {unknown}-, {undefined}q, {never}n, \
             {marginal}m, {full}f, {ultimate}u"
        ));
    }
    if let Some(next) = check.next {
        streams.info(format_args!("next trustdb check due at {}", clock::day_string(next)));
    }
}

/// Reports the ultimately trusted keys that are missing or have expired, and returns how many of them do not count: in
/// gpg 2.2 they do.
fn report_absent(check: &WebOfTrustSummary, settings: &Settings, streams: &mut Streams) -> usize {
    let WebOfTrustSummary { missing, expired, .. } = check;
    if settings.compat < Compat::V2_4 {
        for key_id in missing {
            streams.error(format_args!("public key of ultimately trusted key {key_id} not found"));
        }
        return 0;
    }
    for (keys, what) in [(missing, "not found"), (expired, "expired")] {
        for key_id in keys {
            streams.info(format_args!("Note: ultimately trusted key {key_id} {what}"));
        }
    }
    missing.len() + expired.len()
}

/// Returns the valid keys without owner trust at the first level that has any that were not asked about yet.
fn next_unknown(
    settings: &Settings,
    streams: &mut Streams,
    asked: &HashSet<Fingerprint>,
) -> anyhow::Result<Option<Vec<Fingerprint>>> {
    with_sources(settings, streams, |sources, settings| {
        let validity_result = ValidityResult::all(sources, settings)?;
        let introducers = validity_result.outcome().introducers.iter();
        let open = |key: &Fingerprint| {
            validity_result.anchors().owner_trust(key) == OwnerTrust::Unknown && !asked.contains(key)
        };
        let mut unknown: Vec<(u8, Fingerprint)> =
            introducers.filter(|(key, _)| open(key)).map(|(key, it)| (it.level, *key)).collect();
        unknown.sort_unstable();
        let first = unknown.first().map(|(level, _)| *level);
        Ok(first
            .map(|first| unknown.iter().take_while(|(level, _)| *level == first).map(|it| it.1).collect()))
    })
}

/// Asks for the owner trust of a key, and stores it; returns `false` if the user quits.
fn decide(settings: &Settings, streams: &mut Streams, key: &Fingerprint) -> anyhow::Result<bool> {
    let mut context = introduction(settings, streams, key)?;
    loop {
        let question = Question {
            keyword: "edit_ownertrust.value",
            context: context.as_bytes(),
            text: "Your decision? ",
        };
        let answer = prompt::line(&question, settings, streams)?;
        let trust = match answer.trim_ascii() {
            b"1" => OwnerTrust::Undefined,
            b"2" => OwnerTrust::Never,
            b"3" => OwnerTrust::Marginal,
            b"4" => OwnerTrust::Full,
            b"s" | b"S" => return Ok(true),
            b"q" | b"Q" => return Ok(false),
            // A program is not asked again after an empty answer.
            b"" if settings.command_input.is_some() => return Ok(true),
            b"" => continue,
            _ => {
                context.clear();
                continue;
            }
        };
        let store = trust::database_to_write(settings, streams)?;
        let given = Assignment::new(*key, trust, store.snapshot()?.owner_trust(key)?);
        owner_trust::assign(store.as_ref(), &[given], "gpg-keyhoard --update-trustdb", settings.now)?;
        return Ok(true);
    }
}

/// Returns the text before the question.
fn introduction(settings: &Settings, streams: &mut Streams, key: &Fingerprint) -> anyhow::Result<String> {
    let names = with_sources(settings, streams, |sources, _| names(sources, key))?;
    Ok(format!(
        "No trust value assigned to:\n{key}\n{names}\n\
         Please decide how far you trust this user to correctly verify other users' keys\n\
         (by looking at passports, checking fingerprints from different sources, etc.)\n\n  \
         1 = I don't know or won't say\n  2 = I do NOT trust\n  3 = I trust marginally\n  4 = I trust fully\n  \
         s = skip this key\n  q = quit\n\n"
    ))
}

fn names(sources: &Sources<'_>, key: &Fingerprint) -> engine::Result<String> {
    let mut names = String::new();
    for snapshot in &sources.certificates {
        let Some(id) = snapshot.by_fingerprint(&[*key])?[0] else { continue };
        snapshot.visit(Selection::Ids(&[id]), Detail::Own, &mut |record| {
            for user_id in record.facts.iter().flat_map(|facts| facts.user_ids()) {
                names.push_str(&format!("      \"{}\"\n", String::from_utf8_lossy(user_id).escape_debug()));
            }
            ControlFlow::Break(())
        })?;
        break;
    }
    Ok(names)
}
