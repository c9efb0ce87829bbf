//! What trust costs on Debian's keyring.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::report::Row;
use crate::contender::{Contender, KEYRING};
use crate::series::Series;
use crate::work::Worker;

/// A key that has certified many others.
const TRUSTED_KEY: &str = "9C31503C6D866396";
/// How many of the keys that are valid because of it get full owner trust.
const INTRODUCERS: usize = 50;

/// When the trusted key had not expired yet.
const CLOCK: [&str; 2] = ["--faked-system-time", "20260101T000000!"];

/// Works that are done one after the other in a home that was just copied: what the first one keeps helps the next.
struct Experiment {
    works: &'static [(&'static str, &'static [&'static str])],
    introducers: bool,
}

const EXPERIMENTS: [Experiment; 4] = [
    Experiment {
        works: &[
            ("check all signatures, first time", &["--check-sigs"]),
            ("check all signatures, again", &["--check-sigs"]),
        ],
        introducers: false,
    },
    Experiment {
        works: &[(
            "check-trustdb, one trusted key, from nothing",
            &["--trusted-key", TRUSTED_KEY, "--yes", "--check-trustdb"],
        )],
        introducers: false,
    },
    Experiment {
        works: &[(
            "the same with 50 keys at full owner trust",
            &["--trusted-key", TRUSTED_KEY, "--yes", "--check-trustdb"],
        )],
        introducers: true,
    },
    Experiment {
        works: &[
            ("first listing under tofu+pgp", &["--trust-model", "tofu+pgp", "--list-keys"]),
            ("second listing under tofu+pgp", &["--trust-model", "tofu+pgp", "--list-keys"]),
        ],
        introducers: false,
    },
];

/// Measures trust by turns in copies of the homes that have imported the keyring, gpg's first. Only `gpg-keyhoard` does
/// everything `rounds` times, gpg `slow_rounds` times.
pub(super) fn measure(imported: &[Worker; 2], rounds: usize, slow_rounds: usize) -> Result<Vec<Row>> {
    let owner_trust = owner_trust()?;
    let mut rows = Vec::new();
    for experiment in &EXPERIMENTS {
        rows.extend(experiment.rows(imported, &owner_trust, [slow_rounds, rounds])?);
    }
    Ok(rows)
}

impl Experiment {
    fn rows(&self, imported: &[Worker; 2], owner_trust: &str, rounds: [usize; 2]) -> Result<Vec<Row>> {
        let mut costs = [(); 2].map(|()| vec![Series::default(); self.works.len()]);
        for round in 1..=rounds[0].max(rounds[1]) {
            for ((worker, costs), most) in imported.iter().zip(&mut costs).zip(rounds) {
                if round <= most {
                    eprintln!("{}: {}, {round} of {most}", self.works[0].0, worker.contender.name);
                    self.round(worker, owner_trust, costs)?;
                }
            }
        }
        let [gpg, keyhoard] = costs;
        let rows = self.works.iter().zip(gpg.into_iter().zip(keyhoard));
        Ok(rows.map(|(&(work, _), (gpg, keyhoard))| Row { work, gpg, keyhoard }).collect())
    }

    /// Does the works once, in a new copy of what the worker has imported.
    fn round(&self, worker: &Worker, owner_trust: &str, costs: &mut [Series]) -> Result<()> {
        let contender = &worker.contender;
        let home = contender.trusting_copy(worker.home())?;
        if self.introducers {
            import_owner_trust(contender, &home, owner_trust)?;
        }
        for ((_, arguments), series) in self.works.iter().zip(costs) {
            series.push(contender.cost(&home, &[&CLOCK, *arguments].concat())?);
        }
        fs::remove_dir_all(&home).with_context(|| home.display().to_string())
    }
}

fn import_owner_trust(contender: &Contender, home: &Path, owner_trust: &str) -> Result<()> {
    let file = home.join("ownertrust");
    fs::write(&file, owner_trust).with_context(|| file.display().to_string())?;
    contender.cost(home, &["--import-ownertrust", &file.display().to_string()])?;
    Ok(())
}

/// Returns full owner trust in the first keys that are valid because the trusted key has certified them.
fn owner_trust() -> Result<String> {
    let keyhoard = Contender::gpg_keyhoard()?;
    let home = keyhoard.home()?;
    keyhoard.cost(&home, &["--import", KEYRING])?;
    let trust = ["--trust-model", "pgp", "--trusted-key", TRUSTED_KEY];
    let list = ["--with-colons", "--fingerprint", "--list-keys"];
    let listing = keyhoard.output(&home, &[&CLOCK[..], &trust, &list].concat())?;
    let mut lines = listing.lines();
    let mut text = String::new();
    while let Some(line) = lines.find(|line| line.starts_with("pub:f:")) {
        let fingerprint = lines.next().and_then(|next| next.split(':').nth(9));
        let fingerprint = fingerprint.with_context(|| format!("no fingerprint behind {line}"))?;
        text.push_str(&format!("{fingerprint}:5:\n"));
        if text.lines().count() == INTRODUCERS {
            return Ok(text);
        }
    }
    bail!("{TRUSTED_KEY} makes fewer than {INTRODUCERS} keys valid")
}
