//! Imports and lookups in made keyrings of growing size.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use lab::made::MadeKeyring;
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::files::make_keyring;
use crate::gpg_program::GpgProgram;
use crate::series::Series;

/// The default of `make-keyring`.
const SEED: u64 = 1;
/// The largest keyring, in certificates, whose import is repeated.
const MAX_REPEATED_SIZE: u64 = 100_000;

/// The costs of a made keyring.
#[derive(Debug, Serialize)]
pub(super) struct Growth {
    pub(super) certificates: u64,
    pub(super) bytes: u64,
    pub(super) import: Series,
    pub(super) import_again: Series,
    pub(super) list_keys: Series,
    pub(super) list_signatures: Series,
    pub(super) lookups: Vec<Lookups>,
}

/// Lookups of one kind, each for another certificate.
#[derive(Debug, Serialize)]
pub(super) struct Lookups {
    pub(super) kind: &'static str,
    pub(super) costs: Series,
    /// The most certificates that one of them found.
    pub(super) hits: usize,
}

/// Measures `gpg-keyhoard` with a made keyring of this size.
pub(super) fn measure(certificates: u64, rounds: usize, lookups: usize) -> Result<Growth> {
    let made = MadeKeyring { certificates, seed: SEED };
    let keyring = make(certificates)?;
    let keyhoard = GpgProgram::gpg_keyhoard()?;
    let import = ["--import", &keyring.path().display().to_string()];
    let (mut imports, mut again) = (Series::default(), Series::default());
    let mut home = keyhoard.home()?;
    for round in 0..if certificates <= MAX_REPEATED_SIZE { rounds } else { 1 } {
        if round > 0 {
            home = keyhoard.home()?;
        }
        eprintln!("{certificates} certificates: import, {}", round + 1);
        imports.push(keyhoard.cost(&home, &import)?);
        again.push(keyhoard.cost(&home, &import)?);
    }
    let list = |option: &str| -> Result<Series> {
        eprintln!("{certificates} certificates: {option}");
        Series::of(1, || keyhoard.cost(&home, &[option]))
    };
    Ok(Growth {
        certificates,
        bytes: keyring.path().metadata()?.len(),
        import: imports,
        import_again: again,
        list_keys: list("--list-keys")?,
        list_signatures: list("--list-sigs")?,
        lookups: look_up(&keyhoard, &home, made, lookups)?,
    })
}

/// Makes the keyring of this size.
pub(super) fn make(certificates: u64) -> Result<NamedTempFile> {
    eprintln!("{certificates} certificates: making the keyring");
    let file = NamedTempFile::with_prefix("keyhoard-lab-").context("making a temporary file")?;
    make_keyring(certificates, file.path())?;
    Ok(file)
}

fn look_up(keyhoard: &GpgProgram, home: &Path, made: MadeKeyring, count: usize) -> Result<Vec<Lookups>> {
    ["key ID", "mail address", "substring"]
        .into_iter()
        .map(|kind| {
            eprintln!("{} certificates: lookups by {kind}", made.certificates);
            let mut lookups = Lookups { kind, costs: Series::default(), hits: 0 };
            for position in 0..count as u64 {
                // Distributed evenly over the keyring.
                let certificate = made.certificate(position * made.certificates / count as u64);
                lookups.add(
                    keyhoard,
                    home,
                    match kind {
                        "key ID" => certificate.key_id(),
                        "mail address" => format!("<{}>", certificate.mail()),
                        _ => certificate.surname().to_owned(),
                    },
                )?;
            }
            Ok(lookups)
        })
        .collect()
}

impl Lookups {
    /// Looks up a name twice: to count the results, and to measure.
    fn add(&mut self, keyhoard: &GpgProgram, home: &Path, name: String) -> Result<()> {
        let listing = keyhoard.output(home, &["--with-colons", "--list-keys", &name])?;
        let hits = listing.lines().filter(|line| line.starts_with("pub:")).count();
        ensure!(hits > 0, "{name} is in the keyring and was not found");
        self.hits = self.hits.max(hits);
        self.costs.push(keyhoard.cost(home, &["--list-keys", &name])?);
        Ok(())
    }
}
