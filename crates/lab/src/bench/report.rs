//! The report as Markdown.

use anyhow::Result;
use lab::measure::Cost;
use serde::Serialize;

use super::engines::Measured;
use super::engines_report;
use super::growth::Growth;
use super::markdown::{Columns, line, table};
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
    pub(super) task: String,
    pub(super) gpg: Series,
    pub(super) keyhoard: Series,
}

impl Row {
    /// Measures a task with gpg and Keyhoard alternately, so that a disturbance of the machine affects both. `run` gets
    /// the index of the program, whose number of rounds `rounds` has.
    pub(super) fn measure(
        task: &str,
        rounds: [usize; 2],
        mut run: impl FnMut(usize) -> Result<Cost>,
    ) -> Result<Row> {
        let mut series = [Series::default(), Series::default()];
        for round in 1..=rounds[0].max(rounds[1]) {
            for (program, series) in
                series.iter_mut().enumerate().filter(|(program, _)| round <= rounds[*program])
            {
                eprintln!("{task}: {}, {round} of {}", ["gpg", "Keyhoard"][program], rounds[program]);
                series.push(run(program)?);
            }
        }
        let [gpg, keyhoard] = series;
        Ok(Row { task: task.to_owned(), gpg, keyhoard })
    }
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
    let memory = ["peak memory: gpg", keyhoard];
    comparison(["gpg", keyhoard], memory, rows, |series| [times(series), mebibytes(series)])
}

/// Returns the table of key generation, with quartiles: the search for primes takes random times.
fn keys(rows: &[Row]) -> String {
    comparison(["gpg", "keyhoard"], ["processor: gpg", "keyhoard"], rows, |series| {
        let [from, to] = series.middle_half().map(seconds);
        let spread = format!("{} ({from} to {to})", seconds(series.median()));
        [spread, seconds(series.median_processor())]
    })
}

/// Returns a table of both programs: their times, the ratio of these, and one more cell each.
fn comparison(
    heads: [&str; 2],
    more_heads: [&str; 2],
    rows: &[Row],
    cells: fn(&Series) -> [String; 2],
) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let heads = [&["work"], &heads[..], &["times as fast", "runs"], &more_heads].concat();
    let mut text = table(&heads);
    for Row { task, gpg, keyhoard } in rows {
        let ([time, more], [keyhoard_time, keyhoard_more]) = (cells(gpg), cells(keyhoard));
        let ratio = ratio(gpg.median(), keyhoard.median());
        text.push_str(&line(&[
            task.clone(),
            time,
            keyhoard_time,
            ratio,
            runs(gpg, keyhoard),
            more,
            keyhoard_more,
        ]));
    }
    text
}

fn made(keyrings: &[Growth]) -> String {
    let Some(smallest) = keyrings.first() else { return String::new() };
    let mut columns = Columns::new(keyrings, |keyring| format!("{} certificates", keyring.certificates));
    columns.row("import", |keyring| times_and_memory(&keyring.import));
    columns.row("import, per certificate", |keyring| seconds(per_certificate(keyring)));
    columns.row("the same, as a multiple of the first", |keyring| {
        format!("{:.2}", per_certificate(keyring) / per_certificate(smallest))
    });
    columns.row("import again, unchanged", |keyring| times_and_memory(&keyring.import_again));
    columns.row("list keys", |keyring| times_and_memory(&keyring.list_keys));
    columns.row("list signatures with names", |keyring| times_and_memory(&keyring.list_signatures));
    for (position, lookups) in smallest.lookups.iter().enumerate() {
        columns.row(&format!("one key by {}", lookups.kind), |keyring| {
            let lookups = &keyring.lookups[position];
            let cell = times_and_memory(&lookups.costs);
            if lookups.hits > 1 { format!("{cell}, up to {} found", lookups.hits) } else { cell }
        });
    }
    columns.text
}

fn webs(webs: &[BigWeb]) -> String {
    if webs.is_empty() {
        return String::new();
    }
    let mut columns = Columns::new(webs, |web| {
        let BigWeb { keys, certifications, introducers, valid, .. } = web;
        format!("{keys} keys, {certifications} certifications, {introducers} with owner trust, {valid} valid")
    });
    columns.row("import", |web| times_and_memory(&web.import));
    columns.row("check all signatures, first time", |web| times_and_memory(&web.check));
    columns.row("one key with its validity", |web| times_and_memory(&web.one_key));
    columns.row("list keys without trust", |web| times_and_memory(&web.list));
    columns.row("list keys with their validity", |web| times_and_memory(&web.list_with_trust));
    columns.row("what validity adds to the listing", |web| {
        let added = web.list_with_trust.median() / web.list.median() - 1.0;
        format!("{:.0} %", added * 100.0)
    });
    columns.text
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
