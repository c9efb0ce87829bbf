//! The costs of trust with Debian's keyring.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::report::Row;
use crate::gpg_program::{GpgProgram, KEYRING};
use crate::series::Series;
use crate::task::ImportedHome;

/// A key that has certified many others.
const TRUSTED_KEY: &str = "9C31503C6D866396";
/// How many of the keys that are valid because of it get full owner trust.
const INTRODUCERS: usize = 50;

/// A time before the trusted key expired.
const CLOCK: [&str; 2] = ["--faked-system-time", "20260101T000000!"];

/// Tasks that run in sequence in a new copy of a home: a later one uses what an earlier one has stored.
struct Experiment {
    tasks: &'static [(&'static str, &'static [&'static str])],
    introducers: bool,
}

const EXPERIMENTS: [Experiment; 4] = [
    Experiment {
        tasks: &[
            ("check all signatures, first time", &["--check-sigs"]),
            ("check all signatures, again", &["--check-sigs"]),
        ],
        introducers: false,
    },
    Experiment {
        tasks: &[(
            "check-trustdb, one trusted key, from nothing",
            &["--trusted-key", TRUSTED_KEY, "--yes", "--check-trustdb"],
        )],
        introducers: false,
    },
    Experiment {
        tasks: &[(
            "the same with 50 keys at full owner trust",
            &["--trusted-key", TRUSTED_KEY, "--yes", "--check-trustdb"],
        )],
        introducers: true,
    },
    Experiment {
        tasks: &[
            ("first listing under tofu+pgp", &["--trust-model", "tofu+pgp", "--list-keys"]),
            ("second listing under tofu+pgp", &["--trust-model", "tofu+pgp", "--list-keys"]),
        ],
        introducers: false,
    },
];

/// Measures trust alternately in copies of the homes with the keyring: gpg `slow_rounds` times, `gpg-keyhoard` `rounds`
/// times.
pub(super) fn measure(imported: &[ImportedHome; 2], rounds: usize, slow_rounds: usize) -> Result<Vec<Row>> {
    let owner_trust = owner_trust()?;
    let mut rows = Vec::new();
    for experiment in &EXPERIMENTS {
        rows.extend(experiment.rows(imported, &owner_trust, [slow_rounds, rounds])?);
    }
    Ok(rows)
}

impl Experiment {
    fn rows(&self, imported: &[ImportedHome; 2], owner_trust: &str, rounds: [usize; 2]) -> Result<Vec<Row>> {
        let mut costs = [(); 2].map(|()| vec![Series::default(); self.tasks.len()]);
        for round in 1..=rounds[0].max(rounds[1]) {
            for ((imported_home, costs), most) in imported.iter().zip(&mut costs).zip(rounds) {
                if round <= most {
                    eprintln!("{}: {}, {round} of {most}", self.tasks[0].0, imported_home.gpg_program.name);
                    self.round(imported_home, owner_trust, costs)?;
                }
            }
        }
        let [gpg, keyhoard] = costs;
        let rows = self.tasks.iter().zip(gpg.into_iter().zip(keyhoard));
        Ok(rows.map(|(&(task, _), (gpg, keyhoard))| Row { task: task.to_owned(), gpg, keyhoard }).collect())
    }

    /// Runs the tasks once, in a new copy of the home.
    fn round(&self, imported_home: &ImportedHome, owner_trust: &str, costs: &mut [Series]) -> Result<()> {
        let gpg_program = &imported_home.gpg_program;
        let home = gpg_program.trusting_copy(&imported_home.home)?;
        if self.introducers {
            import_owner_trust(gpg_program, &home, owner_trust)?;
        }
        for ((_, arguments), series) in self.tasks.iter().zip(costs) {
            series.push(gpg_program.cost(&home, &[&CLOCK, *arguments].concat())?);
        }
        fs::remove_dir_all(&home).with_context(|| home.display().to_string())
    }
}

fn import_owner_trust(gpg_program: &GpgProgram, home: &Path, owner_trust: &str) -> Result<()> {
    let file = home.join("ownertrust");
    fs::write(&file, owner_trust).with_context(|| file.display().to_string())?;
    gpg_program.cost(home, &["--import-ownertrust", &file.display().to_string()])?;
    Ok(())
}

/// Returns full owner trust in the first keys that are valid because the trusted key has certified them.
fn owner_trust() -> Result<String> {
    let keyhoard = GpgProgram::gpg_keyhoard()?;
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
