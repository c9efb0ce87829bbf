//! `keyhoard db` and `copy`: databases on a PostgreSQL server, who may do what with them, and the way there and back.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use harness::{Engine, Home, Keyring, Run, server};
use serde_json::Value;

fn document(run: Run) -> Value {
    run.succeed().json_lines().pop().expect("a document")
}

fn status(home: &Home) -> Value {
    document(Run::keyhoard(home).args(["db", "status", "--json"]))
}

fn import(home: &Home, keyring: &Path) {
    Run::keyhoard(home).args(["import", "--quiet"]).arg(keyring).succeed();
}

/// Runs a statement in the schema of a home's database.
fn sql(home: &Home, sql: &str) -> String {
    let url = home.database();
    let (_, schema) = url.to_str().and_then(|url| url.split_once("schema=")).expect("a server's");
    server().psql(&format!("SET search_path = {schema}; {sql}")).expect("a statement that works")
}

#[test]
fn init_makes_a_database_once_and_says_with_how_many_partitions() {
    let home = Engine::Postgres.home();
    let missing = Run::keyhoard(&home).args(["db", "status"]).output();
    assert_eq!(missing.code, Some(2));
    assert!(missing.errors().contains("there is no database yet"), "{}", missing.errors());
    let init = |partitions| Run::keyhoard(&home).args(["db", "init", "--json", "--partitions", partitions]);
    assert_eq!(document(init("4"))["partitions"], 4);
    assert_eq!(init("2").output().code, Some(2), "it is there, with another number");
    import(&home, &Keyring::Nonupload.path());
    let status = status(&home);
    assert_eq!((&status["partitions"], &status["search_index"]), (&4.into(), &true.into()));
    assert!(status["engine"].as_str().is_some_and(|engine| engine.starts_with("PostgreSQL ")), "{status}");
    assert!(status["certificates"].as_u64() > Some(30), "{status}");
    assert_eq!(document(Run::keyhoard(&home).args(["db", "migrate", "--json"])), status);
}

#[test]
fn an_unreachable_server_is_an_error_that_does_not_show_the_password() {
    let url = "postgres://ann:xyzzy@127.0.0.1:1/keys";
    let done = Run::keyhoard(&Home::new()).args(["--db", url, "list"]).output();
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("127.0.0.1:1") && !done.errors().contains("xyzzy"), "{}", done.errors());
}

#[test]
fn the_doctor_finds_wrong_rows_on_a_server_and_rebuilds_them() {
    let home = Engine::Postgres.home();
    import(&home, &Keyring::Nonupload.path());
    Run::keyhoard(&home).arg("doctor").succeed();
    sql(
        &home,
        "DELETE FROM mail WHERE cert = (SELECT min(id) FROM cert); UPDATE self_facts SET facts = '\\x01'",
    );
    let found = Run::keyhoard(&home).arg("doctor").output();
    assert_eq!(found.code, Some(1));
    assert!(found.text().contains("self_facts does not match the packets"), "{}", found.text());
    Run::keyhoard(&home).args(["doctor", "--rebuild"]).succeed();
    Run::keyhoard(&home).arg("doctor").succeed();
}

#[test]
fn both_engines_list_find_check_and_export_the_same() {
    // In the order in which a server lists what came at the same time.
    let (keyring, first) = in_order_of_fingerprints();
    let [file, there] = [Engine::Sqlite, Engine::Postgres].map(|engine| {
        let home = engine.home_with_conf("");
        let run = |arguments: &[&str]| Run::keyhoard(&home).at("20260101T000000").args(arguments);
        run(&["import", "--quiet"]).stdin(keyring.clone()).succeed();
        run(&["trust", "set", "ultimate", &first]).succeed();
        home
    });
    for arguments in [
        &["list", "--json", "--signatures"][..],
        &["list", "debian.org"],
        &["search", "--json", "ann"],
        &["check", "--json"],
        &["who-signed", "--json", "debian.org"],
        &["signed-by", "--json", "debian.org"],
        &["export"],
        &["export", "--armor", "--minimal", "debian.org"],
        &["log", "--json"],
        &["trust", "list", "--json"],
        &["trust", "explain", "--json", &first],
        &["tofu", "list", "--json", "--all"],
        &["tofu", "explain", "--json", "@debian.org"],
        &["delete", "--yes", "--json", &first],
        &["undo", "--json"],
        &["list", "--json"],
    ] {
        let run = |home: &Home| Run::keyhoard(home).at("20260102T000000").args(arguments).output();
        let (file, there) = (run(&file), run(&there));
        assert_eq!(file.code, there.code, "{arguments:?}: {}{}", file.errors(), there.errors());
        assert!(file.stdout == there.stdout, "{arguments:?}\n{}\n{}", file.text(), there.text());
    }
    for arguments in [
        &["--with-colons", "--list-sigs"][..],
        &["--list-keys"],
        &["--trust-model", "tofu+pgp", "--with-colons", "--list-keys"],
        &["--with-colons", "--check-sigs", "debian.org"],
        &["--export-ownertrust"],
    ] {
        let run = |home: &Home| Run::gpg_keyhoard(home).args(arguments).succeed();
        let texts = [&file, &there].map(|home| without_place(&run(home).text()));
        assert_eq!(texts[0], texts[1], "{arguments:?}");
    }
}

/// The keyring, and the first of its fingerprints.
fn in_order_of_fingerprints() -> (Vec<u8>, String) {
    let home = Home::new();
    import(&home, &Keyring::Nonupload.path());
    let listing = Run::keyhoard(&home).args(["list", "--json"]).succeed().json_lines();
    let mut fingerprints: Vec<&str> = listing.iter().filter_map(|key| key["fingerprint"].as_str()).collect();
    fingerprints.sort_unstable();
    let export = |key: &&str| Run::keyhoard(&home).args(["export", key]).succeed().stdout;
    (fingerprints.iter().flat_map(export).collect(), fingerprints[0].to_owned())
}

/// Leaves out the heading, which names the database.
fn without_place(text: &str) -> String {
    let listed = text.lines().skip_while(|line| line.contains("keyhoard") || line.starts_with("---"));
    listed.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_killed_copy_continues_when_it_is_started_again() {
    const CERTIFICATES: u64 = 12_000;
    let (file, there) = (Engine::Sqlite.home(), Engine::Postgres.home());
    let keyring = file.path().join("made.pgp");
    let make = ["make-keyring", &CERTIFICATES.to_string(), "--output"];
    Run::lab(&file).args(make).arg(&keyring).succeed();
    import(&file, &keyring);
    fs::remove_file(keyring).expect("it was made");
    let copy = |from: &Home, to: &Path| {
        Run::keyhoard(from).args(["copy", "--json", "--from"]).arg(from.database()).arg("--to").arg(to)
    };
    let mut child = copy(&file, &there.database()).spawn();
    let count = || match there.has_database() {
        true => sql(&there, "SELECT count(*) FROM packets").parse().unwrap_or(0),
        false => 0_u64,
    };
    let began = Instant::now();
    while count() == 0 && began.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("the child is the test's own");
    child.wait().expect("the child is the test's own");
    let copied = count();
    assert!((1..CERTIFICATES).contains(&copied), "{copied} were copied: it was killed in the middle");

    let summary = document(copy(&file, &there.database()));
    let [new, old] = ["copied", "there"].map(|name| summary[name].as_u64().expect("a number"));
    assert!(new > 0 && old >= copied && new + old == CERTIFICATES, "{summary}");
    let back = file.path().join("back.db");
    assert_eq!(document(copy(&there, &back))["copied"], CERTIFICATES);
    Run::keyhoard(&there).args(["doctor", "--quiet"]).succeed();
}

#[test]
fn the_documented_roles_may_read_and_import_and_nothing_else() {
    let url = server().url("");
    let keyhoard = |user: &str| {
        let url = url.replacen("keyhoard@", &format!("{user}@"), 1);
        Run::with_default_database("keyhoard", &Engine::Sqlite.home()).env("KEYHOARD_DB", url)
    };
    let [first, second] = [Keyring::Nonupload, Keyring::Maintainers].map(Keyring::path);
    server().psql("CREATE ROLE owner LOGIN; GRANT CREATE ON DATABASE keyhoard TO owner").expect("a role");
    keyhoard("owner").arg("import").arg(&first).succeed();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/postgresql.md");
    let page = fs::read_to_string(page).expect("the documentation");
    let grants = page.lines().map(str::trim);
    let grants =
        grants.filter(|line| ["CREATE ROLE", "GRANT ", "REVOKE "].iter().any(|word| line.starts_with(word)));
    let grants: String = grants.collect();
    assert!(grants.contains("keyhoard_importer IN ROLE keyhoard_reader"), "{grants}");
    let login = "CREATE ROLE reader LOGIN IN ROLE keyhoard_reader; CREATE ROLE importer LOGIN IN ROLE keyhoard_importer";
    server().psql(&format!("{grants} {login}")).expect("the documented statements work");

    let refused = keyhoard("reader").arg("import").arg(&second).output();
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("permission denied"), "{}", refused.errors());
    for user in ["reader", "importer", "owner"] {
        for arguments in [
            &["list"][..],
            &["check"],
            &["export"],
            &["log"],
            &["tofu", "list", "--all"],
            &["db", "status"],
            &["doctor"],
        ] {
            let done = keyhoard(user).args(arguments).output();
            assert_eq!(done.code, Some(0), "{user} {arguments:?}: {}", done.errors());
        }
    }
    keyhoard("importer").arg("import").arg(&second).succeed();
    keyhoard("importer").arg("undo").succeed();
    keyhoard("importer").args(["delete", "--yes", "<fgrfgr@freenet.de>"]).succeed();
    let refused = keyhoard("importer").args(["doctor", "--rebuild"]).output();
    assert_eq!(refused.code, Some(2), "the tables are their owner's");
    assert!(refused.errors().contains("permission denied"), "{}", refused.errors());
    keyhoard("owner").args(["doctor", "--rebuild"]).succeed();
}
