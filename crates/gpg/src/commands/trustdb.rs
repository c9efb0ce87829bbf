//! `--check-trustdb`, `--update-trustdb`, `--list-trustdb` and `--fix-trustdb`, although there is no trust database.

use std::collections::HashSet;
use std::ops::ControlFlow;

use keyhoard::cert::Fingerprint;
use keyhoard::owner_trust::{self, Given};
use keyhoard::store::{Detail, Selection, Store};
use keyhoard::trust::OwnerTrust;
use keyhoard::trust::pgp::Level;
use keyhoard::validity::{self, Check, Sources, TrustSettings, ValidityResult};

use super::{Session, trustdb_records};
use crate::clock;
use crate::keyrings::Keyrings;
use crate::prompt::{self, Question};
use crate::settings::{Settings, TrustModel};
use crate::streams::Streams;
use crate::trust;

/// Sums the web of trust up, as of now.
pub(super) fn check(session: &mut Session<'_>) -> anyhow::Result<()> {
    if has_web(session, "check") {
        sum_up(session)?;
    }
    Ok(())
}

/// Asks for the owner trust of valid keys that have none, then sums up.
pub(super) fn update(session: &mut Session<'_>) -> anyhow::Result<()> {
    if !session.arguments.is_empty() {
        session.usage("--update-trustdb");
        return Ok(());
    }
    if !has_web(session, "update") {
        return Ok(());
    }
    let mut asked = HashSet::new();
    while let Some(keys) = next_unknown(session, &asked)? {
        for key in keys {
            asked.insert(key);
            if !decide(session, &key)? {
                return sum_up(session);
            }
        }
    }
    sum_up(session)
}

/// Says that nothing needs to be repaired.
pub(super) fn fix(session: &mut Session<'_>) {
    session.streams.info("there is no trustdb: validity is computed whenever it is asked for");
}

/// Lists what gpg's trust database would hold.
pub(super) fn list(session: &mut Session<'_>) -> anyhow::Result<()> {
    let Settings { trust: numbers, trust_model, .. } = &session.settings;
    let options = (*trust_model, *numbers);
    let records = with_sources(session, |sources, settings| {
        let check = validity::check(sources, settings)?;
        trustdb_records::listing(sources, settings, options, &check)
    })?;
    let title = format!("TrustDB: {}", session.home.database()?.display());
    let line = "-".repeat(title.len());
    Ok(session.streams.out().write_all(format!("{title}\n{line}\n{records}").as_bytes())?)
}

/// Says whether the trust model has a web; tells if not.
fn has_web(session: &mut Session<'_>, doing: &str) -> bool {
    let name = match session.settings.trust_model {
        TrustModel::Always => "always",
        TrustModel::Direct => "direct",
        _ => return true,
    };
    session.streams.info(format_args!("no need for a trustdb {doing} with '{name}' trust model"));
    false
}

fn sum_up(session: &mut Session<'_>) -> anyhow::Result<()> {
    let check = with_sources(session, validity::check)?;
    tell(&check, &session.settings, session.streams);
    Ok(())
}

fn with_sources<T>(
    session: &mut Session<'_>,
    compute: impl FnOnce(&Sources<'_>, &TrustSettings) -> keyhoard::Result<T>,
) -> anyhow::Result<T> {
    let keyrings = Keyrings::open(session)?;
    let snapshots = keyrings.snapshots()?;
    let outside = trust::outside(&session.home, &keyrings)?;
    let outside = outside.as_deref().map(Store::snapshot).transpose()?;
    let sources = trust::sources(&session.home, &snapshots, outside.as_deref())?;
    let settings = trust::settings(&session.settings, session.now);
    Ok(compute(&sources, &settings)?)
}

/// Tells a summary in gpg's words.
fn tell(check: &Check, settings: &Settings, streams: &mut Streams) {
    for key_id in &check.missing {
        streams.error(format_args!("public key of ultimately trusted key {key_id} not found"));
    }
    if settings.quiet {
        return;
    }
    if check.levels.is_empty() {
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
        streams.info(format_args!(
            "depth: {depth}  valid: {valid:3}  signed: {certified:3}  trust: {unknown}-, {undefined}q, {never}n, \
             {marginal}m, {full}f, {ultimate}u"
        ));
    }
    if let Some(next) = check.next {
        streams.info(format_args!("next trustdb check due at {}", clock::day_string(next)));
    }
}

fn model_name(model: TrustModel) -> &'static str {
    match model {
        TrustModel::Auto | TrustModel::Pgp => "pgp",
        TrustModel::Classic => "classic",
        TrustModel::Always => "always",
        TrustModel::Direct => "direct",
        TrustModel::Tofu => "tofu",
        TrustModel::TofuPgp => "tofu+pgp",
    }
}

/// Returns the keys of the first level that has valid keys without owner trust nobody was asked about yet.
fn next_unknown(
    session: &mut Session<'_>,
    asked: &HashSet<Fingerprint>,
) -> anyhow::Result<Option<Vec<Fingerprint>>> {
    with_sources(session, |sources, settings| {
        let appraisal = ValidityResult::all(sources, settings)?;
        let introducers = appraisal.outcome().introducers.iter();
        let open = |key: &Fingerprint| {
            appraisal.roots().owner_trust(key) == OwnerTrust::Unknown && !asked.contains(key)
        };
        let mut unknown: Vec<(u8, Fingerprint)> =
            introducers.filter(|(key, _)| open(key)).map(|(key, it)| (it.level, *key)).collect();
        unknown.sort_unstable();
        let first = unknown.first().map(|(level, _)| *level);
        Ok(first
            .map(|first| unknown.iter().take_while(|(level, _)| *level == first).map(|it| it.1).collect()))
    })
}

/// Asks how far the owner of a key is trusted, and notes it; `false` if the user wants to be asked no more.
fn decide(session: &mut Session<'_>, key: &Fingerprint) -> anyhow::Result<bool> {
    let mut context = introduction(session, key)?;
    loop {
        let question = Question {
            keyword: "edit_ownertrust.value",
            context: context.as_bytes(),
            text: "Your decision? ",
        };
        let answer = prompt::line(&question, &session.settings, session.streams)?;
        let trust = match answer.trim_ascii() {
            b"1" => OwnerTrust::Undefined,
            b"2" => OwnerTrust::Never,
            b"3" => OwnerTrust::Marginal,
            b"4" => OwnerTrust::Full,
            b"s" | b"S" => return Ok(true),
            b"q" | b"Q" => return Ok(false),
            // A program that has nothing to say is not asked again.
            b"" if session.settings.command_input.is_some() => return Ok(true),
            b"" => continue,
            _ => {
                context.clear();
                continue;
            }
        };
        let store = trust::database_to_write(session)?;
        let given = Given::new(*key, trust, store.snapshot()?.owner_trust(key)?);
        owner_trust::give(store.as_ref(), &[given], "gpg-keyhoard --update-trustdb", session.now)?;
        return Ok(true);
    }
}

/// Returns what stands before the question.
fn introduction(session: &mut Session<'_>, key: &Fingerprint) -> anyhow::Result<String> {
    let names = with_sources(session, |sources, _| names(sources, key))?;
    Ok(format!(
        "No trust value assigned to:\n{key}\n{names}\n\
         Please decide how far you trust this user to correctly verify other users' keys\n\
         (by looking at passports, checking fingerprints from different sources, etc.)\n\n  \
         1 = I don't know or won't say\n  2 = I do NOT trust\n  3 = I trust marginally\n  4 = I trust fully\n  \
         s = skip this key\n  q = quit\n\n"
    ))
}

fn names(sources: &Sources<'_>, key: &Fingerprint) -> keyhoard::Result<String> {
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
