//! `keyhoard migrate`: what other programs keep is taken over whole, and they never notice.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use harness::packets::{self, certificates};
use harness::{Engine, Home, Keyring, Output, OwnKey, Reference, Run, assert_same};
use rusqlite::Connection;
use serde_json::Value;

harness::on_both_engines! {
    a_dry_run_says_what_would_be_migrated_and_makes_no_database
    a_migration_can_be_repeated_and_undone
    a_listing_warns_of_a_source_that_has_changed
    decisions_made_since_a_migration_stay_and_are_reported
}

/// Everything a listing says, as records.
const LISTING: [&str; 3] = ["--with-colons", "--with-key-origin", "--list-sigs"];

fn migrate(home: &Home, source: &Path) -> Value {
    Run::keyhoard(home).args(["migrate", "--json"]).arg(source).succeed().json_lines().remove(0)
}

/// Asserts that `gpg-keyhoard` lists what was migrated into `home` as the real gpg lists its own `source`.
fn assert_lists_like_gpg(source: &Path, home: &Home) {
    let records = |done: Output| {
        let lines = done.text();
        let lines: Vec<&str> = lines.lines().filter(|line| !line.starts_with("tru:")).collect();
        assert!(!lines.is_empty(), "{}", done.errors());
        lines.join("\n").into_bytes()
    };
    let expected = records(Run::gpg(&Home::copy_of(source)).args(LISTING).output());
    assert_same("the listing", &expected, &records(Run::gpg_keyhoard(home).args(LISTING).output()));
}

/// A GnuPG home with a local signature, a certification, and two keys from elsewhere.
struct Gnupg {
    ann: OwnKey,
    bob: OwnKey,
}

impl Gnupg {
    fn new() -> Gnupg {
        let [ann, bob] = [OwnKey::new("Ann <ann@example.org>"), OwnKey::new("Bob <bob@example.org>")];
        let eve = OwnKey::new("Eve <eve@example.org>");
        let origin = ["--key-origin", "url,https://example.org/bob.pgp", "--import"];
        Run::gpg(ann.home()).at("20240102T000000!").args(origin).stdin(bob.certificate()).succeed();
        ann.import(eve.certificate());
        ann.certify_locally("20240103T000000!", bob.fingerprint());
        ann.certify("20240103T000000!", eve.fingerprint());
        Gnupg { ann, bob }
    }

    fn home(&self) -> &Path {
        self.ann.home().path()
    }

    fn keybox(&self) -> PathBuf {
        self.home().join("pubring.kbx")
    }
}

/// Names, contents and times of all files below a directory, sockets left out.
fn everything(directory: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let metadata = fs::symlink_metadata(&path).expect("a file");
        if metadata.is_dir() {
            found.extend(everything(&path));
        } else if metadata.is_file() {
            found.push((
                path.clone(),
                fs::read(&path).expect("a file"),
                metadata.modified().expect("a time"),
            ));
        }
    }
    found.sort();
    found
}

#[test]
fn a_keybox_with_debians_keys_is_listed_as_gpg_lists_it() {
    let home = Home::new();
    let source = &Reference::Nonupload.gpg(harness::Gnupg::V2_2);
    let summary = migrate(&home, &source.join("pubring.kbx"));
    assert_eq!(summary["read"], summary["new"]);
    assert_lists_like_gpg(source, &home);
}

#[test]
fn local_signatures_origins_and_the_order_are_migrated() {
    let (gnupg, home) = (Gnupg::new(), Home::new());
    assert_eq!(migrate(&home, gnupg.home())["new"], 3);
    assert_lists_like_gpg(gnupg.home(), &home);
    let bob =
        Run::keyhoard(&home).args(["show", "--json", "bob@example.org"]).succeed().json_lines().remove(0);
    assert_eq!(bob["origin"]["url"], "https://example.org/bob.pgp");
    let user_id = &bob["user_ids"][0];
    assert!(user_id["signatures"].as_array().expect("a list").iter().any(|one| one["exportable"] == false));
}

fn a_dry_run_says_what_would_be_migrated_and_makes_no_database(engine: Engine) {
    let (gnupg, home) = (Gnupg::new(), engine.home());
    let dry_run =
        || Run::keyhoard(&home).args(["migrate", "--dry-run", "--json"]).arg(gnupg.home()).succeed();
    assert_eq!(dry_run().json_lines()[0]["new"], 3);
    assert!(!home.has_database());
    migrate(&home, gnupg.home());
    assert_eq!(dry_run().json_lines()[0]["unchanged"], 3);
}

#[test]
fn the_source_is_left_as_it_is() {
    let (gnupg, home) = (Gnupg::new(), Home::new());
    let before = everything(gnupg.home());
    migrate(&home, gnupg.home());
    assert!(everything(gnupg.home()) == before);
}

fn a_migration_can_be_repeated_and_undone(engine: Engine) {
    let (gnupg, home) = (Gnupg::new(), engine.home());
    migrate(&home, gnupg.home());
    let export = || Run::keyhoard(&home).args(["export", "--local-signatures"]).output().stdout;
    let before = export();
    let again = migrate(&home, gnupg.home());
    assert_eq!((&again["new"], &again["changed"], &again["unchanged"]), (&0.into(), &0.into(), &3.into()));
    assert_eq!(export(), before);
    Run::keyhoard(&home).arg("undo").succeed();
    Run::keyhoard(&home).arg("undo").succeed();
    assert!(export().is_empty());
}

#[test]
fn additions_to_a_migrated_source_are_noticed_and_migrated() {
    let (gnupg, home) = (Gnupg::new(), Home::new());
    migrate(&home, gnupg.home());
    let check = || Run::keyhoard(&home).args(["migrate", "--check"]).output();
    assert_eq!(check().code, Some(0));
    gnupg.ann.add_user_id("20240201T000000!", "Ann at work <ann@example.com>");
    let noticed = check();
    assert_eq!(noticed.code, Some(1));
    assert!(noticed.text().contains("pubring.kbx"), "{}", noticed.text());
    let summary = migrate(&home, gnupg.home());
    assert_eq!((&summary["changed"], &summary["unchanged"]), (&1.into(), &2.into()));
    assert_eq!(check().code, Some(0));
    assert_lists_like_gpg(gnupg.home(), &home);
}

fn a_listing_warns_of_a_source_that_has_changed(engine: Engine) {
    let (gnupg, home) = (Gnupg::new(), engine.home());
    migrate(&home, gnupg.home());
    let list = |quiet: &[&str]| Run::keyhoard(&home).arg("list").args(quiet).succeed().errors();
    assert_eq!(list(&[]), "");
    gnupg.ann.add_user_id("20240201T000000!", "Ann at work <ann@example.com>");
    assert!(list(&[]).contains("keyhoard migrate"), "{}", list(&[]));
    assert_eq!(list(&["--quiet"]), "");
}

#[test]
fn a_classic_keyring_is_listed_as_gpg_lists_it() {
    let (gnupg, home) = (Gnupg::new(), Home::new());
    let old = Home::new();
    // gpg goes on with a keyring in the old format where it finds one, its notes on origins included.
    fs::write(old.path().join("pubring.gpg"), b"").expect("a file");
    let local = gnupg.ann.certificate_with_local_signatures_of(gnupg.bob.fingerprint());
    let take = ["--import-options", "import-local-sigs", "--key-origin", "wkd", "--import"];
    Run::gpg(&old).args(take).stdin(local).succeed();
    Run::gpg(&old).arg("--import").arg(Keyring::Nonupload.path()).succeed();
    assert!(!old.path().join("pubring.kbx").exists());
    migrate(&home, old.path());
    assert_lists_like_gpg(old.path(), &home);
}

#[test]
fn the_database_of_keyboxd_is_migrated() {
    let (gnupg, home) = (Gnupg::new(), Home::new());
    let database = home.path().join("pubring.db");
    write_keyboxd_database(&database, &gnupg.keybox());
    let before = fs::read(&database).expect("a file");
    assert_eq!(migrate(&home, &database)["new"], 3);
    // Listings show owner trust, which keyboxd knows nothing of.
    migrate(&home, &gnupg.home().join("trustdb.gpg"));
    assert_lists_like_gpg(gnupg.home(), &home);
    assert_eq!(fs::read(&database).expect("a file"), before);
}

/// Makes the tables of GnuPG 2.4's keyboxd and fills them from a keybox.
fn write_keyboxd_database(path: &Path, keybox: &Path) {
    let connection = Connection::open(path).expect("a new database");
    let tables = "CREATE TABLE config (name TEXT NOT NULL UNIQUE, value TEXT NOT NULL);
        INSERT INTO config VALUES ('dbversion', '1'), ('created', '20240101T000000');
        CREATE TABLE pubkey (ubid BLOB NOT NULL PRIMARY KEY, type INTEGER NOT NULL,
            ephemeral INTEGER NOT NULL DEFAULT 0, revoked INTEGER NOT NULL DEFAULT 0, keyblob BLOB NOT NULL);
        INSERT INTO pubkey VALUES (x'ff', 2, 0, 0, x'30');";
    connection.execute_batch(tables).expect("new tables");
    for (number, keyblock) in keyblocks(&fs::read(keybox).expect("a keybox")).into_iter().enumerate() {
        let insert = "INSERT INTO pubkey (ubid, type, keyblob) VALUES (?1, 1, ?2)";
        connection.execute(insert, (vec![200 - number as u8], keyblock)).expect("a row");
    }
}

/// Returns the keyblocks of a keybox's blobs.
fn keyblocks(mut keybox: &[u8]) -> Vec<Vec<u8>> {
    let number = |at: &[u8]| u32::from_be_bytes(at[..4].try_into().expect("four bytes")) as usize;
    let mut keyblocks = Vec::new();
    while !keybox.is_empty() {
        let (blob, rest) = keybox.split_at(number(keybox));
        if blob[4] == 2 {
            keyblocks.push(blob[number(&blob[8..])..][..number(&blob[12..])].to_vec());
        }
        keybox = rest;
    }
    keyblocks
}

#[test]
fn a_shared_certificate_directory_is_migrated_byte_for_byte() {
    let home = Home::new();
    let directory = home.path().join("pgp.cert.d");
    let keyring = Keyring::Nonupload.bytes();
    let mut files = BTreeMap::new();
    for certificate in certificates(&keyring) {
        let bytes = packets::bytes(&certificate);
        let shown =
            Run::gpg_keyhoard(&home).args(["--with-colons", "--show-keys"]).stdin(bytes.clone()).succeed();
        let fingerprint =
            shown.text().lines().find_map(|line| line.strip_prefix("fpr:::::::::").map(str::to_owned));
        let fingerprint = fingerprint.expect("a fingerprint").trim_end_matches(':').to_lowercase();
        let (prefix, rest) = fingerprint.split_at(2);
        fs::create_dir_all(directory.join(prefix)).expect("a directory");
        fs::write(directory.join(prefix).join(rest), &bytes).expect("a file");
        files.insert(fingerprint, bytes);
    }
    fs::write(directory.join("writelock"), b"").expect("a file");
    let before = everything(&directory);
    assert_eq!(migrate(&home, &directory)["new"], files.len());
    assert!(everything(&directory) == before);
    let exported = Run::keyhoard(&home).args(["export", "--local-signatures"]).succeed().stdout;
    assert!(exported == files.into_values().collect::<Vec<_>>().concat(), "in the order of the fingerprints");
    assert_eq!(Run::keyhoard(&home).args(["migrate", "--check"]).output().code, Some(0));
}

#[test]
fn a_relative_data_directory_does_not_count() {
    let home = Home::new();
    let key = OwnKey::new("Ann <ann@example.org>");
    let fingerprint = key.fingerprint().to_lowercase();
    let (prefix, rest) = fingerprint.split_at(2);
    let directory = home.path().join(".local/share/pgp.cert.d");
    fs::create_dir_all(directory.join(prefix)).expect("a directory");
    fs::write(directory.join(prefix).join(rest), key.certificate()).expect("a file");
    let done = Run::keyhoard(&home).env("XDG_DATA_HOME", "data").args(["migrate", "--json"]).succeed();
    assert_eq!(done.json_lines()[0]["new"], 1);
}

#[test]
fn the_intact_certificates_of_a_damaged_keybox_are_migrated_and_the_damaged_ones_reported() {
    let (gnupg, home) = (Gnupg::new(), Home::new());
    let mut keybox = fs::read(gnupg.keybox()).expect("a keybox");
    let second = 32 + u32::from_be_bytes(keybox[32..36].try_into().expect("four bytes")) as usize;
    keybox[second + 8..second + 12].fill(0xff);
    let damaged = home.write("pubring.kbx", &keybox);
    let done = Run::keyhoard(&home).args(["migrate", "--json"]).arg(&damaged).succeed();
    let summary = &done.json_lines()[0];
    assert_eq!((&summary["new"], &summary["unreadable"]), (&2.into(), &1.into()));
    assert!(done.errors().contains(&format!("at byte {second}")), "{}", done.errors());
}

#[test]
fn a_directory_without_keys_is_an_error_that_says_so() {
    let home = Home::new();
    let done = Run::keyhoard(&home).arg("migrate").arg(home.path()).output();
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("neither a GnuPG home directory"), "{}", done.errors());
}

fn decisions_made_since_a_migration_stay_and_are_reported(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let gnupg = engine.home_with_conf("");
    Run::gpg(&gnupg).arg("--import").stdin(key.certificate()).succeed();
    Run::gpg(&gnupg).arg("--import-ownertrust").stdin(format!("{}:4:\n", key.fingerprint())).succeed();
    Run::gpg(&gnupg).args(["--tofu-policy", "good", key.fingerprint()]).succeed();
    let home = engine.home_with_conf("");
    assert_eq!(migrate(&home, gnupg.path())["kept"], Value::Array(Vec::new()));
    assert_eq!(migrate(&home, gnupg.path())["kept"], Value::Array(Vec::new()), "nothing was decided here");

    Run::keyhoard(&home).args(["tofu", "policy", "bad", key.fingerprint()]).succeed();
    Run::keyhoard(&home).args(["trust", "set", "full", key.fingerprint()]).succeed();
    let kept = migrate(&home, gnupg.path())["kept"].clone();
    let told = |number: usize| ["what", "here", "there"].map(|name| kept[number][name].clone());
    assert_eq!(told(0), ["owner_trust", "full", "marginal"]);
    assert_eq!(told(1), ["policy", "bad", "good"]);
    assert_eq!(kept[1]["address"], "ann@example.org");
    let shown = Run::keyhoard(&home).args(["--json", "migrate", "--dry-run"]).arg(gnupg.path()).succeed();
    assert_eq!(shown.json_lines()[0]["kept"], kept);

    let text = Run::keyhoard(&home).arg("migrate").arg(gnupg.path()).succeed();
    assert!(text.text().contains("1  of them keep the owner trust that was set here"), "{}", text.text());
    assert!(text.text().contains("1  addresses keep the policy that was set here"), "{}", text.text());
    assert!(text.errors().contains("migrate --dry-run"), "{}", text.errors());
    let policies = Run::keyhoard(&home).args(["--json", "tofu", "list"]).succeed().json_lines();
    assert_eq!(policies[0]["policy"], "bad");
}

#[test]
fn secret_keys_left_with_gnupg_are_reported_with_their_number_their_path_and_what_to_do() {
    let ann = OwnKey::new("Ann <ann@example.org>");
    let home = Home::new();
    let agent = ann.home().path().join("private-keys-v1.d");
    for _ in 0..2 {
        let run = Run::keyhoard(&home).args(["--quiet", "migrate"]).arg(ann.home().path());
        let told = run.succeed().errors();
        assert!(told.contains(&format!("2 secret keys in {} are not here", agent.display())), "{told}");
        assert!(told.contains("migrate --secret-keys copy"), "{told}");
    }
    let left = &migrate(&home, ann.home().path())["secret_keys_left"];
    assert_eq!(left, &serde_json::json!([{ "path": agent, "keys": 2 }]));
    let words = ["--pinentry-mode", "loopback", "--passphrase", "", "--export-secret-keys"];
    let secret = Run::gpg_with_agent(ann.home()).args(words).succeed().stdout;
    Run::keyhoard(&home).arg("import").stdin(secret.clone()).succeed();
    let told = Run::keyhoard(&home).arg("migrate").arg(ann.home().path()).succeed().errors();
    assert!(!told.contains("secret key"), "{told}");

    let old = Home::new();
    fs::write(old.path().join("pubring.gpg"), ann.certificate()).expect("space");
    let secring = old.write("secring.gpg", secret);
    let told = Run::keyhoard(&Home::new()).arg("migrate").arg(old.path()).succeed().errors();
    assert!(told.contains(&format!("2 secret keys in {} are not here", secring.display())), "{told}");
    old.write(".gpg-v21-migrated", "");
    let told = Run::keyhoard(&Home::new()).arg("migrate").arg(old.path()).succeed().errors();
    assert!(!told.contains("secret key"), "{told}");
}
