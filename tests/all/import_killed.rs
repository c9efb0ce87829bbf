//! `SIGKILL` at random moments of an import: what is left is the beginning of an undisturbed import, with everything
//! that was reported, every certificate complete, and a journal that agrees. The database opens at once, and the same
//! import run again completes it.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

use harness::packets::{certificates, sorted};
use harness::{Home, Keyring, Run, scale};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rusqlite::{Connection, OpenFlags};

/// The most certificates that an import commits at once.
const BATCH: usize = 50_000;

#[test]
fn stress_an_import_of_one_batch_that_is_killed_leaves_all_or_nothing() {
    kill_imports(&Keyring::Developers.path(), 1, scale::choose(200, 12));
}

#[test]
fn stress_an_import_of_several_batches_that_is_killed_leaves_whole_batches() {
    let home = Home::new();
    let keyring = home.path().join("made.gpg");
    let certificates: usize = scale::choose(120_000, 55_000);
    let make = ["make-keyring", &certificates.to_string(), "--output"];
    Run::lab(&home).args(make).arg(&keyring).succeed();
    kill_imports(&keyring, certificates.div_ceil(BATCH), scale::choose(12, 1));
}

/// Kills imports at random moments until `times` of them were still running, and asserts what each leaves. Of several
/// batches at least one killed import has left some.
///
/// The first batch always has the same certificates, since it has no deadline. How many the later ones have depends on
/// the time that they take, so that the numbers of the undisturbed import say nothing about the others.
fn kill_imports(keyring: &Path, batches: usize, times: usize) {
    let undisturbed = Home::new();
    let commits = watch_import(&undisturbed, keyring);
    let committed: Vec<usize> = commits.iter().map(|(_, count)| *count).collect();
    let export = export(&undisturbed);
    let all = certificates(&export).len();
    assert!(committed.len() > batches && committed.ends_with(&[all]), "committed {committed:?} of {all}");
    assert!(committed.windows(2).all(|pair| pair[1] - pair[0] <= BATCH), "committed {committed:?}");
    let first = committed[1];
    let (begin, end) = (commits[usize::from(batches > 1)].0, commits[commits.len() - 1].0);
    let mut rng = StdRng::seed_from_u64(scale::seed());
    let (mut interrupted, mut in_part) = (0, 0);
    // How long this import takes now, beside the undisturbed one: the machine may have other work to do.
    let mut pace = 1.0;
    for attempt in 0.. {
        if interrupted >= times && (batches == 1 || in_part > 0) {
            println!(
                "{interrupted} of {attempt} imports ended by SIGKILL, {in_part} of them between batches"
            );
            break;
        }
        assert!(
            attempt < 2 * times + 10,
            "only {interrupted} of {attempt} imports ended by SIGKILL, {in_part} of them between batches"
        );
        let home = Home::new();
        let moment = rng.random_range(begin..=end).mul_f64(pace);
        let (was_killed, reported) = kill_import(&home, keyring, moment);
        assert_unlocked(&home);
        let count = count_after_crash(&home, end);
        let when = format!("attempt {attempt}, after {moment:?}");
        assert!(count == 0 || count >= first, "{when}: {count}, in the first batch of {first}");
        assert!(count >= reported, "{when}: {count}, but {reported} were reported");
        assert_is_beginning(&home, &export, count, &when);
        assert!(
            was_killed || count == all,
            "attempt {attempt}: {count} of {all} after an import that succeeded"
        );
        interrupted += usize::from(was_killed);
        in_part += usize::from(0 < count && count < all);
        if !was_killed {
            pace *= 0.9;
        } else if batches > 1 && count == 0 {
            pace *= 1.1;
        }
        complete(&home, keyring, &export, count);
    }
}

/// Imports undisturbed; returns every number of certificates that a reader saw meanwhile, from 0 on, and after how
/// long. The last one is that of the end.
fn watch_import(home: &Home, keyring: &Path) -> Vec<(Duration, usize)> {
    let start = Instant::now();
    let mut child = Run::gpg_keyhoard(home).arg("--quiet").arg("--import").arg(keyring).spawn();
    let mut seen = vec![(Duration::ZERO, 0)];
    let end = loop {
        if let Some(end) = child.try_wait().expect("the child is the test's own") {
            break end;
        }
        seen.extend(count(home).map(|count| (start.elapsed(), count)));
        thread::sleep(Duration::from_millis(10));
    };
    assert!(end.success(), "{end}");
    seen.extend(count(home).map(|count| (start.elapsed(), count)));
    seen.dedup_by_key(|(_, count)| *count);
    seen
}

/// Reads how many certificates there are, unless there is no database yet.
fn count(home: &Home) -> Option<usize> {
    let connection = Connection::open_with_flags(home.database(), OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    let count: i64 = connection.query_row("SELECT count(*) FROM cert", (), |row| row.get(0)).ok()?;
    usize::try_from(count).ok()
}

/// Starts an import and kills it after `moment`; returns whether that was before its end, and how many certificates it
/// had reported as imported.
fn kill_import(home: &Home, keyring: &Path, moment: Duration) -> (bool, usize) {
    let run = Run::gpg_keyhoard(home).args(["--quiet", "--status-fd", "1", "--import"]).arg(keyring);
    let mut child = run.spawn();
    let mut status = child.stdout.take().expect("it is a pipe");
    let reader = thread::spawn(move || {
        let mut lines = Vec::new();
        status.read_to_end(&mut lines).map(|_| lines)
    });
    thread::sleep(moment);
    child.kill().expect("the child is the test's own");
    let end = child.wait().expect("the child is the test's own");
    assert!(end.code().is_none_or(|code| code == 0), "the import failed: {end}");
    let lines = reader.join().expect("reading does not panic").expect("a pipe can be read");
    let lines = String::from_utf8_lossy(&lines);
    let reported = lines.lines().filter(|line| line.starts_with("[GNUPG:] IMPORT_OK ")).count();
    (end.code().is_none(), reported)
}

/// Asserts that the certificates are the first ones of the undisturbed import, each of them complete, and that the
/// journal has a change for each.
fn assert_is_beginning(home: &Home, undisturbed: &[u8], count: usize, when: &str) {
    if count == 0 {
        return;
    }
    let left = export(home);
    assert!(undisturbed.starts_with(&left), "{when}: not the beginning of an undisturbed import");
    assert_eq!(certificates(&left).len(), count, "{when}");
    let entries = Run::keyhoard(home).args(["log", "--json"]).succeed().json_lines();
    let [entry] = &entries[..] else { panic!("{when}: {entries:?}") };
    assert_eq!((&entry["added"], &entry["merged"]), (&count.into(), &0.into()), "{when}: {entry}");
    let changes = Run::keyhoard(home).args(["log", "--json", &entry["entry"].to_string()]).succeed();
    assert_eq!(changes.json_lines().len(), count, "{when}: changes of the journal");
}

/// Asserts that the killed import has left no lock on the database's files that the next program would wait for
/// (proc_locks(5)).
fn assert_unlocked(home: &Home) {
    let locks = fs::read_to_string("/proc/locks").expect("Linux lists the locks");
    for entry in fs::read_dir(home.path()).expect("the home is readable").flatten() {
        let inode = format!(":{}", entry.metadata().expect("nobody deletes it").ino());
        let is_locked = locks.split_whitespace().any(|field| field.ends_with(&inode));
        assert!(!is_locked, "{:?} is locked:\n{locks}", entry.file_name());
    }
}

/// Asserts that opening the database costs little beside an undisturbed import, which took `import`; returns how many
/// certificates it holds.
fn count_after_crash(home: &Home, import: Duration) -> usize {
    let (answer, opening) = Run::gpg_keyhoard(home).args(["--list-keys", "=nobody"]).measured();
    assert_eq!(answer.code, Some(2), "{}", answer.errors());
    let import = import.as_secs_f64();
    // Reading the log takes a small part of that time.
    assert!(
        opening.processor() < import / 2.0,
        "opening the database cost {opening:?}, the import {import} seconds"
    );
    let listing =
        Run::gpg_keyhoard(home).args(["--with-colons", "--fast-list-mode", "--list-keys"]).succeed();
    listing.text().lines().filter(|line| line.starts_with("pub:")).count()
}

/// Runs the import again, and asserts that it finds what was there, adds the rest, and leaves the database sound
/// and as it would be had nothing happened.
fn complete(home: &Home, keyring: &Path, undisturbed: &[u8], there: usize) {
    let doctor = Run::keyhoard(home).arg("doctor").output();
    // An import that is killed before it has made the tables leaves no database.
    let is_missing = there == 0 && doctor.errors().contains("there is no database yet");
    assert!(is_missing || doctor.code == Some(0), "{}", doctor.errors());
    let run = Run::gpg_keyhoard(home).args(["--status-fd", "2", "--import"]).arg(keyring).succeed();
    let result = run.status_lines();
    let unchanged = result.lines().find_map(|line| line.strip_prefix("[GNUPG:] IMPORT_RES "));
    let unchanged =
        unchanged.and_then(|fields| fields.split(' ').nth(4)).expect("an import reports its result");
    assert_eq!(unchanged, there.to_string(), "certificates found unchanged\n{result}");
    assert!(
        sorted(&export(home)) == sorted(undisturbed),
        "the completed import differs from an undisturbed one"
    );
    Run::keyhoard(home).arg("doctor").succeed();
    assert_eq!(left_behind(home), Vec::<PathBuf>::new(), "files left behind");
}

fn export(home: &Home) -> Vec<u8> {
    Run::gpg_keyhoard(home).arg("--export").succeed().stdout
}

/// Returns the files in the home that are neither gpg's configuration nor SQLite's.
fn left_behind(home: &Home) -> Vec<PathBuf> {
    let known = ["gpg.conf", "trustdb.gpg", "keyhoard.db", "keyhoard.db-wal", "keyhoard.db-shm"];
    let files = fs::read_dir(home.path()).expect("the home is readable").flatten().map(|entry| entry.path());
    files.filter(|path| !known.iter().any(|name| path.ends_with(name))).collect()
}
