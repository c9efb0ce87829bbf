//! `SIGKILL` at random moments of an import: each batch is there as a whole or not at all, the database opens at
//! once, and the same import run again completes it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

use harness::packets::{Component, sorted};
use harness::{Home, Keyring, Run, scale};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Opening a database after a crash reads its log: far below this, on the slowest machine.
const AT_ONCE: Duration = Duration::from_secs(5);
/// The most certificates that an import commits at once.
const BATCH: usize = 50_000;

#[test]
fn stress_an_import_of_one_batch_that_is_killed_leaves_all_or_nothing() {
    let keyring = Keyring::Developers.path();
    kill_imports(&keyring, scale::choose(200, 12), 0.0..1.1, |count, all| count == 0 || count == all);
}

#[test]
fn stress_an_import_of_several_batches_that_is_killed_leaves_whole_batches() {
    let home = Home::new();
    let keyring = home.path().join("made.gpg");
    let certificates = scale::choose(120_000, 55_000).to_string();
    Run::lab(&home).args(["make-keyring", &certificates, "--output"]).arg(&keyring).succeed();
    kill_imports(&keyring, scale::choose(12, 1), 0.4..1.0, |count, all| count % BATCH == 0 || count == all);
}

/// Kills `times` imports at a random moment within `window` (1 is when an undisturbed one ends), and asserts that
/// `whole` holds for the number of certificates there then, and for the number that the keyring has.
fn kill_imports(
    keyring: &Path,
    times: usize,
    window: std::ops::Range<f64>,
    whole: impl Fn(usize, usize) -> bool,
) {
    let undisturbed = Home::new();
    let start = Instant::now();
    Run::gpg_keyhoard(&undisturbed).arg("--import").arg(keyring).succeed();
    let duration = start.elapsed();
    let export = export(&undisturbed);
    let expected = sorted(&export);
    let mut chance = StdRng::seed_from_u64(scale::seed());
    let mut interrupted = 0;
    for round in 0..times {
        let home = Home::new();
        let moment = duration.mul_f64(chance.random_range(window.clone()));
        let was_killed = kill_import(&home, keyring, moment);
        let count = count_at_once(&home);
        let all = expected.len();
        assert!(whole(count, all), "round {round}, after {moment:?}: {count} of {all} certificates");
        assert!(was_killed || count == all, "round {round}: {count} of {all} after an import that succeeded");
        interrupted += usize::from(was_killed);
        complete(&home, keyring, &expected, count);
    }
    println!("seed {}: {interrupted} of {times} imports ended by SIGKILL", scale::seed());
}

/// Starts an import and kills it after `moment`; returns whether that was before its end.
fn kill_import(home: &Home, keyring: &Path, moment: Duration) -> bool {
    let mut child = Run::gpg_keyhoard(home).arg("--quiet").arg("--import").arg(keyring).spawn();
    thread::sleep(moment);
    child.kill().expect("the child is the test's own");
    let end = child.wait().expect("the child is the test's own");
    assert!(end.code().is_none_or(|code| code == 0), "the import failed: {end}");
    end.code().is_none()
}

/// Asserts that the database can be read at once, and returns how many certificates it holds.
fn count_at_once(home: &Home) -> usize {
    let start = Instant::now();
    let listing =
        Run::gpg_keyhoard(home).args(["--with-colons", "--fast-list-mode", "--list-keys"]).succeed();
    let duration = start.elapsed();
    assert!(duration < AT_ONCE, "opening the database took {duration:?}");
    listing.text().lines().filter(|line| line.starts_with("pub:")).count()
}

/// Runs the import again, and asserts that it finds what was there, adds the rest, and leaves the database sound
/// and as it would be had nothing happened.
fn complete(home: &Home, keyring: &Path, expected: &[Vec<Component<'_>>], there: usize) {
    Run::keyhoard(home).arg("doctor").succeed();
    let run = Run::gpg_keyhoard(home).args(["--status-fd", "2", "--import"]).arg(keyring).succeed();
    let result = run.status_lines();
    let unchanged = result.lines().find_map(|line| line.strip_prefix("[GNUPG:] IMPORT_RES "));
    let unchanged =
        unchanged.and_then(|fields| fields.split(' ').nth(4)).expect("an import reports its result");
    assert_eq!(unchanged, there.to_string(), "certificates found unchanged\n{result}");
    assert!(sorted(&export(home)) == expected, "the completed import differs from an undisturbed one");
    assert_eq!(left_behind(home), Vec::<PathBuf>::new(), "files left behind");
}

fn export(home: &Home) -> Vec<u8> {
    Run::gpg_keyhoard(home).arg("--export").succeed().stdout
}

/// Returns the files in the home that are neither gpg's configuration nor SQLite's.
fn left_behind(home: &Home) -> Vec<PathBuf> {
    let known = ["gpg.conf", "keyhoard.db", "keyhoard.db-wal", "keyhoard.db-shm"];
    let files = fs::read_dir(home.path()).expect("the home is readable").flatten().map(|entry| entry.path());
    files.filter(|path| !known.iter().any(|name| path.ends_with(name))).collect()
}
