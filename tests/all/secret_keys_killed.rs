//! `SIGKILL` between secret keys and their certificate: a new secret key is there before its certificate, and goes after
//! it, so that no certificate ever waits for a secret key that is lost; the doctor names what is left over.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use harness::{Home, Run};
use rusqlite::Connection;

/// Longer than any of these commands takes on a slow machine.
const TIMEOUT: Duration = Duration::from_secs(60);

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < TIMEOUT, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn generate(home: &Home, user_id: &str) -> Run {
    Run::keyhoard(home).args(["generate", "--no-passphrase", user_id])
}

fn secret_keys(home: &Home) -> usize {
    let is_key = |path: &Path| path.extension().is_some_and(|end| end == "key");
    let files = fs::read_dir(home.path().join("secret-keys")).expect("a directory").flatten();
    files.filter(|file| is_key(&file.path())).count()
}

fn certificates(home: &Home) -> i64 {
    let database = Connection::open(home.database()).expect("a database");
    database.query_row("SELECT count(*) FROM cert", [], |row| row.get(0)).expect("a number")
}

/// Asserts that the doctor names so many orphans and nothing else, and that deleting them heals it.
fn assert_orphans(home: &Home, count: usize) {
    let sick = Run::keyhoard(home).arg("doctor").output();
    assert_eq!(sick.code, Some(1), "{}", sick.errors());
    let told = sick.text();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), count, "{lines:?}");
    for line in lines {
        let (_, rest) = line.split_once("the secret key ").expect("which it is");
        let (key, _) = rest.split_once(';').expect("what to do");
        let delete = ["key", "delete", "--yes", "--secret-only", key];
        Run::keyhoard(home).args(delete).succeed();
    }
    Run::keyhoard(home).arg("doctor").succeed();
}

#[test]
fn a_generation_killed_before_its_certificate_is_stored_leaves_secret_keys_that_the_doctor_names() {
    let home = Home::new();
    generate(&home, "first@example.org").succeed();
    let database = Connection::open(home.database()).expect("a database");
    database.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
    let mut child = generate(&home, "second@example.org").spawn();
    let revocations = home.path().join("openpgp-revocs.d");
    wait_until("the certificate comes last", || fs::read_dir(&revocations).expect("there").count() == 2);
    child.kill().expect("it waits for its turn to write");
    child.wait().expect("a child of this test");
    database.execute_batch("ROLLBACK").expect("a transaction");
    assert_eq!((certificates(&home), secret_keys(&home)), (1, 4));
    assert_orphans(&home, 2);
    generate(&home, "third@example.org").succeed();
}

#[test]
fn a_deletion_killed_while_it_waits_for_the_secret_keys_has_deleted_nothing() {
    let home = Home::new();
    generate(&home, "first@example.org").succeed();
    generate(&home, "second@example.org").succeed();
    let directory = fs::File::open(home.path().join("secret-keys")).expect("a directory");
    directory.lock().expect("nobody else changes secret keys");
    let delete = ["key", "delete", "--yes", "second@example.org"];
    let mut child = Run::keyhoard(&home).args(delete).spawn();
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(child.try_wait().expect("a child of this test").is_none(), "it waits for the directory");
    child.kill().expect("it waits for the directory");
    child.wait().expect("a child of this test");
    directory.unlock().expect("it is locked");
    assert_eq!((certificates(&home), secret_keys(&home)), (2, 4));
    Run::keyhoard(&home).args(delete).succeed();
    assert_eq!((certificates(&home), secret_keys(&home)), (1, 2));
}
