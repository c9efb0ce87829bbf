//! The costs of validity in a big web of trust: of one key, and of all keys.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use lab::made::Web;
use serde::Serialize;
use tempfile::TempDir;

use crate::gpg_program::GpgProgram;
use crate::series::Series;

/// Ten certifications for each key, a hundred keys with owner trust.
const CERTIFICATIONS: u64 = 10;
const INTRODUCERS: u64 = 100;
const SEED: u64 = 1;

/// The costs of a made web.
#[derive(Debug, Serialize)]
pub(super) struct BigWeb {
    pub(super) keys: u64,
    pub(super) certifications: u64,
    pub(super) introducers: u64,
    pub(super) import: Series,
    /// Checking all signatures for the first time.
    pub(super) check: Series,
    /// Listings of one key with its validity, each time of a different key.
    pub(super) one_key: Series,
    /// The listing of all keys without trust.
    pub(super) list: Series,
    /// The listing of all keys with their validity.
    pub(super) list_with_trust: Series,
    /// How many keys are fully or ultimately valid.
    pub(super) valid: usize,
}

/// Measures `gpg-keyhoard` with a made web of so many keys.
pub(super) fn measure(keys: u64, rounds: usize, lookups: usize) -> Result<BigWeb> {
    let web = Web { keys, certifications: CERTIFICATIONS, introducers: INTRODUCERS, seed: SEED };
    let files = TempDir::with_prefix("keyhoard-lab-").context("making a directory for temporary files")?;
    let [keyring, owner_trust] =
        ["web.pgp", "ownertrust"].map(|name| files.path().join(name).display().to_string());
    make(&web, &keyring, &owner_trust)?;
    let keyhoard = GpgProgram::gpg_keyhoard()?;
    let home = keyhoard.home()?;
    let run = |arguments: &[&str]| -> Result<Series> {
        eprintln!("web of {keys} keys: {}", arguments.join(" "));
        let mut series = Series::default();
        series.push(keyhoard.cost(&home, arguments)?);
        Ok(series)
    };
    let import = run(&["--allow-non-selfsigned-uid", "--import", &keyring])?;
    run(&["--import-ownertrust", &owner_trust])?;
    let check = run(&["--check-sigs"])?;
    let mut one_key = Series::default();
    for lookup in 0..lookups as u64 {
        let fingerprint = web.fingerprint(lookup * keys / lookups as u64);
        one_key.push(keyhoard.cost(&home, &[WITH_TRUST, &["--list-keys", &fingerprint]].concat())?);
    }
    let (mut list, mut list_with_trust) = (Series::default(), Series::default());
    for round in 1..=rounds {
        eprintln!("web of {keys} keys: listings, {round} of {rounds}");
        list.push(keyhoard.cost(&home, &[WITHOUT_TRUST, &["--list-keys"]].concat())?);
        list_with_trust.push(keyhoard.cost(&home, &[WITH_TRUST, &["--list-keys"]].concat())?);
    }
    let listing = keyhoard.output(&home, &[WITH_TRUST, &["--list-keys"]].concat())?;
    let is_valid = |line: &&str| line.starts_with("pub:f:") || line.starts_with("pub:u:");
    Ok(BigWeb {
        keys,
        certifications: keys * CERTIFICATIONS,
        introducers: INTRODUCERS,
        import,
        check,
        one_key,
        list,
        list_with_trust,
        valid: listing.lines().filter(is_valid).count(),
    })
}

const WITH_TRUST: &[&str] = &["--with-colons", "--trust-model", "pgp"];
const WITHOUT_TRUST: &[&str] = &["--with-colons", "--trust-model", "always"];

/// Makes the web in a child process: the peak memory of this one would count as that of the programs it measures.
fn make(web: &Web, keyring: &str, owner_trust: &str) -> Result<()> {
    eprintln!("making a web of {} keys", web.keys);
    let numbers = [web.keys, web.certifications, web.introducers, web.seed].map(|number| number.to_string());
    let [keys, certifications, introducers, seed] = &numbers;
    let program = std::env::current_exe().context("finding this program")?;
    let status = Command::new(program)
        .args(["make-web", keys, "--certifications", certifications, "--introducers", introducers])
        .args(["--seed", seed, "--output", keyring, "--owner-trust", owner_trust])
        .status()
        .context("making a web")?;
    ensure!(status.success(), "making a web failed: {status}");
    Ok(())
}
