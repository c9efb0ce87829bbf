//! Peak memory does not grow with the keyring.

use std::ffi::OsString;
use std::path::Path;

use harness::{Home, Keyring, Run, scale};

/// The most memory that any command may take.
const LIMIT: u64 = 96 << 20;
/// The first commands of [`commands`] are imports. They fill buffers of a fixed size, which a small keyring leaves empty.
const IMPORTS: usize = 2;

fn commands(keyring: &Path) -> [Vec<OsString>; 6] {
    let import = vec!["--import".into(), keyring.into()];
    let [keys, signatures, export] = ["--list-keys", "--list-sigs", "--export"].map(|it| vec![it.into()]);
    let one_key = vec!["--list-keys".into(), "<tytso@debian.org>".into()];
    [import.clone(), import, keys, signatures, export, one_key]
}

/// Runs the commands, and returns the peak memory of each, which must be below the limit.
fn peaks(keyring: &Path) -> [u64; 6] {
    let home = Home::new();
    commands(keyring).map(|command| {
        let (done, cost) = Run::gpg_keyhoard(&home).args(&command).measured();
        let is_missing_key =
            command.len() == 2 && done.code == Some(2) && done.errors().contains("No public key");
        assert!(done.code == Some(0) || is_missing_key, "{command:?}: {}", done.errors());
        assert!(cost.peak_memory < LIMIT, "{command:?}: {cost:?}");
        cost.peak_memory
    })
}

#[test]
fn every_command_on_the_developers_keyring_stays_below_96_mib() {
    peaks(&Keyring::Developers.path());
}

#[test]
fn a_keyring_four_times_as_large_costs_less_than_a_quarter_of_the_difference() {
    let home = Home::new();
    let certificates = scale::choose(50_000, 3_000);
    let [small, large] = [certificates, 4 * certificates].map(|count: usize| {
        let keyring = home.path().join(format!("{count}.gpg"));
        Run::lab(&home).args(["make-keyring", &count.to_string(), "--output"]).arg(&keyring).succeed();
        let size = std::fs::metadata(&keyring).expect("it was made").len();
        (size, peaks(&keyring))
    });
    let allowed = (large.0 - small.0) / 4;
    assert!(allowed > 1 << 20, "the keyrings are too small to tell: {small:?}, {large:?}");
    let skipped = scale::choose(0, IMPORTS);
    for (command, (small, large)) in small.1.iter().zip(large.1).enumerate().skip(skipped) {
        assert!(large < small + allowed, "command {command}: {small} and {large} bytes, {allowed} allowed");
    }
}
