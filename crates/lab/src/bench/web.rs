//! The costs of validity in a big web of trust: of one key, and of all keys.

use anyhow::{Context, Result};
use lab::made::Web;
use serde::Serialize;
use tempfile::TempDir;

use crate::files::run_in_child;
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
    let directory =
        TempDir::with_prefix("keyhoard-lab-").context("making a directory for temporary files")?;
    let [keyring, owner_trust] =
        ["web.pgp", "ownertrust"].map(|name| directory.path().join(name).display().to_string());
    eprintln!("making a web of {keys} keys");
    let numbers = [keys, CERTIFICATIONS, INTRODUCERS, SEED].map(|number| number.to_string());
    let options = ["--certifications", &numbers[1], "--introducers", &numbers[2], "--seed", &numbers[3]];
    let files = ["--output", &keyring, "--owner-trust", &owner_trust];
    run_in_child(&[&["make-web", &numbers[0]][..], &options, &files].concat())?;
    let keyhoard = GpgProgram::gpg_keyhoard()?;
    let home = keyhoard.home()?;
    let run = |arguments: &[&str]| -> Result<Series> {
        eprintln!("web of {keys} keys: {}", arguments.join(" "));
        Series::of(1, || keyhoard.cost(&home, arguments))
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
