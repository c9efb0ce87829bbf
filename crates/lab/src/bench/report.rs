//! The report as Markdown.

use std::fmt::Write;

use serde::Serialize;

use super::engines::Measured;
use super::engines_report;
use super::growth::Growth;
use super::markdown::{line, table};
use super::web::BigWeb;
use crate::machine::Machine;
use crate::series::{Series, ratio, seconds};

/// Everything that was measured.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    pub(super) machine: Machine,
    pub(super) versions: Vec<String>,
    /// The share of processor time that other machines on the same host took (steal time).
    pub(super) stolen: f64,
    pub(super) debian: Vec<Row>,
    /// About trust, on the same keyring.
    pub(super) trust: Vec<Row>,
    /// Encryption and decryption.
    pub(super) messages: Vec<Row>,
    /// Making and verifying signatures.
    pub(super) signatures: Vec<Row>,
    /// Key generation.
    pub(super) keys: Vec<Row>,
    pub(super) made: Vec<Growth>,
    pub(super) webs: Vec<BigWeb>,
    /// SQLite and PostgreSQL.
    pub(super) engines: Vec<Measured>,
}

/// One task with both programs.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    #[serde(rename = "work")]
    pub(super) task: &'static str,
    pub(super) gpg: Series,
    pub(super) keyhoard: Series,
}

impl Report {
    pub(super) fn markdown(&self) -> String {
        let sections = [
            machine(&self.machine, self.stolen, &self.versions),
            side_by_side("gpg-keyhoard", &self.debian),
            side_by_side("gpg-keyhoard", &self.trust),
            side_by_side("keyhoard", &self.messages),
            side_by_side("keyhoard", &self.signatures),
            keys(&self.keys),
            made(&self.made),
            webs(&self.webs),
            engines_report::markdown(&self.engines),
        ];
        sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

fn machine(machine: &Machine, stolen: f64, versions: &[String]) -> String {
    let Machine { processor, cores, memory_gib, system, .. } = machine;
    let mut text = format!("Measured on {cores} cores of {processor}, {memory_gib} GiB, {system}");
    if stolen >= 0.01 {
        let percent = stolen * 100.0;
        text.push_str(&format!("; other machines on the same host took {percent:.0} % of the time"));
    }
    text.push_str(":\n\n");
    for version in versions {
        text.push_str(&format!("- {version}\n"));
    }
    text
}

fn side_by_side(keyhoard: &str, rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = table(&["work", "gpg", keyhoard, "times as fast", "runs", "peak memory: gpg", keyhoard]);
    for Row { task, gpg, keyhoard } in rows {
        text.push_str(&line(&[
            (*task).to_owned(),
            times(gpg),
            times(keyhoard),
            ratio(gpg.median(), keyhoard.median()),
            runs(gpg, keyhoard),
            mebibytes(gpg),
            mebibytes(keyhoard),
        ]));
    }
    text
}

/// Returns the table of key generation, with quartiles: the search for primes takes random times.
fn keys(rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = table(&["work", "gpg", "keyhoard", "times as fast", "runs", "processor: gpg", "keyhoard"]);
    let spread = |series: &Series| {
        let [from, to] = series.middle_half().map(seconds);
        format!("{} ({from} to {to})", seconds(series.median()))
    };
    for Row { task, gpg, keyhoard } in rows {
        text.push_str(&line(&[
            (*task).to_owned(),
            spread(gpg),
            spread(keyhoard),
            ratio(gpg.median(), keyhoard.median()),
            runs(gpg, keyhoard),
            seconds(gpg.median_processor()),
            seconds(keyhoard.median_processor()),
        ]));
    }
    text
}

fn made(keyrings: &[Growth]) -> String {
    let Some(smallest) = keyrings.first() else { return String::new() };
    let mut heads = vec!["work".to_owned()];
    heads.extend(keyrings.iter().map(|keyring| format!("{} certificates", keyring.certificates)));
    let mut text = table(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    let mut row = |name: &str, value: &dyn Fn(&Growth) -> String| {
        let mut cells = vec![name.to_owned()];
        cells.extend(keyrings.iter().map(value));
        text.push_str(&line(&cells));
    };
    row("import", &|keyring| times_and_memory(&keyring.import));
    row("import, per certificate", &|keyring| seconds(per_certificate(keyring)));
    row("the same, as a multiple of the first", &|keyring| {
        format!("{:.2}", per_certificate(keyring) / per_certificate(smallest))
    });
    row("import again, unchanged", &|keyring| times_and_memory(&keyring.import_again));
    row("list keys", &|keyring| times_and_memory(&keyring.list_keys));
    row("list signatures with names", &|keyring| times_and_memory(&keyring.list_signatures));
    for (position, lookups) in smallest.lookups.iter().enumerate() {
        row(&format!("one key by {}", lookups.kind), &|keyring| {
            let lookups = &keyring.lookups[position];
            let mut cell = times_and_memory(&lookups.costs);
            if lookups.hits > 1 {
                let _ = write!(cell, ", up to {} found", lookups.hits);
            }
            cell
        });
    }
    text
}

fn webs(webs: &[BigWeb]) -> String {
    if webs.is_empty() {
        return String::new();
    }
    let mut heads = vec!["work".to_owned()];
    heads.extend(webs.iter().map(|web| {
        let BigWeb { keys, certifications, introducers, valid, .. } = web;
        format!("{keys} keys, {certifications} certifications, {introducers} with owner trust, {valid} valid")
    }));
    let mut text = table(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    let mut row = |name: &str, value: &dyn Fn(&BigWeb) -> String| {
        let mut cells = vec![name.to_owned()];
        cells.extend(webs.iter().map(value));
        text.push_str(&line(&cells));
    };
    row("import", &|web| times_and_memory(&web.import));
    row("check all signatures, first time", &|web| times_and_memory(&web.check));
    row("one key with its validity", &|web| times_and_memory(&web.one_key));
    row("list keys without trust", &|web| times_and_memory(&web.list));
    row("list keys with their validity", &|web| times_and_memory(&web.list_with_trust));
    row("what validity adds to the listing", &|web| {
        let added = web.list_with_trust.median() / web.list.median() - 1.0;
        format!("{:.0} %", added * 100.0)
    });
    text
}

fn per_certificate(keyring: &Growth) -> f64 {
    keyring.import.median() / keyring.certificates as f64
}

/// Returns the numbers of runs: one number if both are equal.
fn runs(gpg: &Series, keyhoard: &Series) -> String {
    match (gpg.len(), keyhoard.len()) {
        (gpg, keyhoard) if gpg == keyhoard => gpg.to_string(),
        (gpg, keyhoard) => format!("{gpg}, {keyhoard}"),
    }
}

/// Returns the median, and the shortest time in brackets.
fn times(series: &Series) -> String {
    format!("{} ({})", seconds(series.median()), seconds(series.min()))
}

fn times_and_memory(series: &Series) -> String {
    format!("{}, {}", times(series), mebibytes(series))
}

fn mebibytes(series: &Series) -> String {
    format!("{:.1} MiB", series.peak_memory() as f64 / f64::from(1 << 20))
}
