//! Databases that an earlier commit made open as they did then, in both engines.
//!
//! `testdata/694185c.db` and `testdata/694185c.sql` were made by the programs of commit 694185c: four imports, owner trust, a
//! disabled key, a policy for an address, a check of all signatures, and a deletion. Beside them is what these
//! programs listed of them, but for the usage of the revoked RSA key: as RFC 9580 says, it has the key flags of its user ID.

use std::fs;
use std::path::{Path, PathBuf};

use harness::{Engine, Home, Run, server};
use serde_json::Value;

harness::on_both_engines! {
    everything_is_listed_that_was_listed_then
    the_journal_is_kept_and_what_it_names_can_be_undone
    nothing_in_it_is_damaged_and_derived_rows_can_be_made_again
    an_import_goes_on_where_the_earlier_one_stopped
}

/// All signatures were made before it: those of the future do not count.
const NOW: &str = "20260301T000000";

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("all/testdata").join(name)
}

/// Returns a home whose database commit 694185c made.
fn home(engine: Engine) -> Home {
    let home = engine.home();
    let database = home.database();
    match engine {
        Engine::Sqlite => {
            fs::create_dir_all(database.parent().expect("a directory")).expect("a new directory");
            fs::copy(testdata("694185c.db"), &database).expect("a copy");
        }
        Engine::Postgres => {
            let url = database.to_str().expect("a URL");
            let (_, schema) = url.split_once("schema=").expect("a schema");
            let schema = schema.split('&').next().expect("a name");
            let dump = fs::read_to_string(testdata("694185c.sql")).expect("the dump");
            server().psql(&dump.replace("commit_694185c", schema)).expect("a dump that can be read");
        }
    }
    home
}

fn keyhoard(home: &Home, arguments: &[&str]) -> Run {
    Run::keyhoard(home).at(NOW).arg("--json").args(arguments)
}

/// Says whether a document has everything that an earlier one had; fields may have come.
fn holds(now: &Value, then: &Value) -> bool {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            then.iter().all(|(name, then)| now.get(name).is_some_and(|now| holds(now, then)))
        }
        (Value::Array(now), Value::Array(then)) => {
            now.len() == then.len() && now.iter().zip(then).all(|(now, then)| holds(now, then))
        }
        (now, then) => now == then,
    }
}

/// Compares documents with those of a file, whatever the order: the engines list what came at the same time differently.
fn assert_holds(mut now: Vec<Value>, then: &str) {
    let then = fs::read_to_string(testdata(then)).expect("what was listed then");
    let mut then: Vec<Value> = then.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(!then.is_empty(), "something was listed then");
    for documents in [&mut now, &mut then] {
        documents.sort_by_key(|document| (document["fingerprint"].to_string(), document["entry"].as_u64()));
    }
    assert_eq!(now.len(), then.len());
    for (now, then) in now.iter().zip(&then) {
        assert!(holds(now, then), "now:\n{now:#}\nthen:\n{then:#}");
    }
}

fn everything_is_listed_that_was_listed_then(engine: Engine) {
    let home = home(engine);
    let listed = keyhoard(&home, &["list", "--signatures"]).succeed().json_lines();
    assert_holds(listed, "694185c.list.jsonl");
    assert_holds(keyhoard(&home, &["tofu", "list"]).succeed().json_lines(), "694185c.tofu.jsonl");
}

fn the_journal_is_kept_and_what_it_names_can_be_undone(engine: Engine) {
    let home = home(engine);
    let mut log = keyhoard(&home, &["log"]).succeed().json_lines();
    // The upgrade of a server's tables is noted, too.
    log.retain(|entry| {
        !entry["command"].as_str().is_some_and(|command| command.starts_with("tables brought"))
    });
    assert_holds(log, "694185c.log.jsonl");
    let count = || keyhoard(&home, &["list"]).succeed().json_lines().len();
    let before = count();
    // The deletion was the last command.
    keyhoard(&home, &["undo"]).succeed();
    assert_eq!(count(), before + 1);
}

fn nothing_in_it_is_damaged_and_derived_rows_can_be_made_again(engine: Engine) {
    let home = home(engine);
    keyhoard(&home, &["doctor"]).succeed();
    let before = keyhoard(&home, &["list", "--signatures"]).succeed().stdout;
    keyhoard(&home, &["doctor", "--rebuild"]).succeed();
    keyhoard(&home, &["doctor"]).succeed();
    assert!(keyhoard(&home, &["list", "--signatures"]).succeed().stdout == before);
}

fn an_import_goes_on_where_the_earlier_one_stopped(engine: Engine) {
    let home = home(engine);
    let import = |name: &str| {
        let lines = keyhoard(&home, &["import"]).arg(testdata(name)).succeed().json_lines();
        lines.last().expect("a summary").clone()
    };
    let known = import("alice-and-bob.pgp");
    assert_eq!((&known["new"], &known["changed"]), (&0.into(), &0.into()), "{known}");
    let deleted = import("revocable-dsa-3072.pgp");
    assert_eq!(deleted["new"], 1, "{deleted}");
}

#[test]
fn owner_trust_of_a_server_before_roles_is_everybodys() {
    let home = home(Engine::Postgres);
    let listed = keyhoard(&home, &["trust", "list"]).succeed().json_lines();
    assert!(!listed.is_empty());
    let url = home.database().to_str().expect("a URL").to_owned();
    let (_, schema) = url.split_once("schema=").expect("a schema");
    let schema = schema.split('&').next().expect("a name");
    server()
        .psql(&format!(
            "CREATE ROLE {schema}_ann LOGIN; GRANT USAGE ON SCHEMA {schema} TO {schema}_ann;
            GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {schema}_ann"
        ))
        .expect("a role");
    let (_, place) = url.split_once('@').expect("a user and a place");
    let as_ann = format!("postgres://{schema}_ann@{place}");
    let seen = keyhoard(&home, &["--db", &as_ann, "trust", "list"]).succeed().json_lines();
    assert_eq!(seen, listed);
}
