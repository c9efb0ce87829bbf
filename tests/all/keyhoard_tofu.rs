//! `keyhoard tofu`, and what trust on first use must not be fooled by.

use std::thread;

use harness::{Engine, Home, OwnKey, Run};
use lab::made::SharedAddresses;
use serde_json::Value;

harness::on_both_engines! {
    forged_certifications_change_nothing
    an_address_is_explained_with_its_keys_in_the_order_of_import
    a_policy_is_listed_until_it_is_forgotten
    undoing_an_import_removes_the_conflicts_that_it_caused
    the_tofu_database_of_gnupg_is_migrated_once
    many_processes_that_import_and_list_at_once_on_a_new_database_make_one_result
}

const LISTING: [&str; 4] = ["--trust-model", "tofu", "--with-colons", "-k"];

fn made(rivals: &SharedAddresses) -> Vec<u8> {
    let mut certificates = Vec::new();
    rivals.write(&mut certificates).expect("a vector takes everything");
    certificates
}

fn home_with(engine: Engine, certificates: Vec<u8>) -> Home {
    let home = engine.home_with_conf("");
    Run::gpg_keyhoard(&home).arg("--import").stdin(certificates).succeed();
    home
}

fn documents(home: &Home, arguments: &[&str]) -> Vec<Value> {
    Run::keyhoard(home).arg("--json").args(arguments).output().json_lines()
}

fn two_anns() -> [OwnKey; 2] {
    ["Ann <ann@example.org>", "Ann Other <Ann@example.org>"].map(OwnKey::new)
}

fn forged_certifications_change_nothing(engine: Engine) {
    let honest = SharedAddresses { keys: 24, addresses: 8, forged: false, seed: 5 };
    let own = [0, 1].map(|number| format!("{}:6:\n", honest.fingerprint(number))).concat();
    let listings = [honest, SharedAddresses { forged: true, ..honest }].map(|rivals| {
        let home = home_with(engine, made(&rivals));
        Run::gpg_keyhoard(&home).arg("--import-ownertrust").stdin(own.clone()).succeed();
        let listing = Run::gpg_keyhoard(&home).args(LISTING).succeed().text();
        assert_eq!(listing.matches("\npub:").count(), 24);
        listing
    });
    assert!(listings[0].contains("\nuid:q:"), "some are in conflict");
    assert!(listings[0].contains("\nuid:f:"), "some are certified by an own key");
    assert_eq!(listings[0], listings[1]);
}

fn an_address_is_explained_with_its_keys_in_the_order_of_import(engine: Engine) {
    let [first, second] = two_anns();
    let home = home_with(engine, first.certificate());
    Run::gpg_keyhoard(&home).at("20260202T000000!").arg("--import").stdin(second.certificate()).succeed();
    let explained = &documents(&home, &["tofu", "explain", "<ANN@example.org>"])[0];
    assert_eq!(explained["address"], "ann@example.org");
    let keys = explained["keys"].as_array().expect("keys");
    let fingerprints: Vec<&str> = keys.iter().filter_map(|key| key["fingerprint"].as_str()).collect();
    assert_eq!(fingerprints, [first.fingerprint(), second.fingerprint()]);
    assert_eq!(keys[0]["since"], "2026-01-01T00:00:00Z");
    assert_eq!(keys[1]["since"], "2026-02-02T00:00:00Z");
    assert!(keys.iter().all(|key| key["policy"] == "ask" && key["verified"]["messages"] == 0));
    assert_eq!(keys[0]["in_conflict_with"][0], second.fingerprint());
    let text = Run::keyhoard(&home).args(["tofu", "explain", "ann@example.org"]).succeed().text();
    assert!(text.starts_with("ann@example.org came with 2 keys.\n"), "{text}");
    assert!(text.contains(&format!("  in conflict with {}\n", first.fingerprint())), "{text}");
}

fn a_policy_is_listed_until_it_is_forgotten(engine: Engine) {
    let [first, second] = two_anns();
    let home = home_with(engine, [first.certificate(), second.certificate()].concat());
    let absent = ["tofu", "policy", "bad", "--address", "nobody@example.org", "ann@example.org"];
    let absent = Run::keyhoard(&home).args(absent).output();
    assert_eq!(absent.code, Some(1));
    assert!(absent.errors().contains("has a user ID with this address"), "{}", absent.errors());
    let decided = documents(&home, &["tofu", "policy", "good", first.fingerprint()]);
    assert_eq!((&decided[0]["before"], &decided[0]["policy"]), (&Value::from("auto"), &Value::from("good")));
    let policies = || -> Vec<[String; 2]> {
        let mut found: Vec<_> = documents(&home, &["tofu", "list"])
            .iter()
            .map(|it| ["fingerprint", "policy"].map(|name| it[name].as_str().expect("text").to_owned()))
            .collect();
        found.sort_by_key(|[fingerprint, _]| fingerprint != first.fingerprint());
        found
    };
    let [one, other] = [first.fingerprint(), second.fingerprint()].map(str::to_owned);
    let expected = |policy: &str| [[one.clone(), policy.to_owned()], [other.clone(), "ask".to_owned()]];
    assert_eq!(policies(), expected("good"));
    let forgotten = documents(&home, &["tofu", "forget", "ann@example.org"]);
    assert_eq!(forgotten[0]["keys"].as_array().map(Vec::len), Some(2));
    assert_eq!(policies(), expected("ask"));
}

fn undoing_an_import_removes_the_conflicts_that_it_caused(engine: Engine) {
    let [first, second] = two_anns();
    let home = home_with(engine, first.certificate());
    let before = Run::gpg_keyhoard(&home).args(LISTING).succeed().text();
    Run::gpg_keyhoard(&home).arg("--import").stdin(second.certificate()).succeed();
    assert!(Run::gpg_keyhoard(&home).args(LISTING).succeed().text().contains("\nuid:q:"));
    Run::keyhoard(&home).arg("undo").succeed();
    assert_eq!(Run::gpg_keyhoard(&home).args(LISTING).succeed().text(), before);
}

fn the_tofu_database_of_gnupg_is_migrated_once(engine: Engine) {
    let [ann, bob] = [OwnKey::new("Ann <ann@example.org>"), OwnKey::new("Bob <bob@example.org>")];
    let secret = ["--yes", "--pinentry-mode", "loopback", "--passphrase", ""];
    let gnupg = engine.home_with_conf("");
    Run::gpg(&gnupg).arg("--import").stdin([ann.certificate(), bob.certificate()].concat()).succeed();
    for (day, text) in
        [("20260103T000000!", "one"), ("20260103T010000!", "two"), ("20260105T000000!", "three")]
    {
        let signed = Run::gpg_with_agent(ann.home()).at(day).args(secret).arg("--sign").stdin(text).succeed();
        Run::gpg(&gnupg).at(day).args(["--trust-model", "tofu", "--verify"]).stdin(signed.stdout).succeed();
    }
    let encrypt = ["--trust-model", "tofu", "--always-trust", "--trust-model", "tofu", "--encrypt", "-r"];
    Run::gpg(&gnupg).at("20260106T000000!").args(encrypt).arg(bob.fingerprint()).stdin("secret").output();
    Run::gpg(&gnupg).args(["--tofu-policy", "good", bob.fingerprint()]).succeed();
    let informed = ["--trust-model", "tofu", "--with-tofu-info", "--with-colons", "-k"];
    let known = |listing: String| -> Vec<String> {
        // Each user ID with what is told of it; the engines list what came in one second in different orders.
        let user_ids = listing.split("\nuid:").skip(1).map(|rest| {
            let told = rest.lines().filter(|line| line.starts_with("tfs:"));
            rest.lines().take(1).chain(told).collect::<Vec<_>>().join("\n")
        });
        let mut user_ids: Vec<String> = user_ids.collect();
        user_ids.sort_unstable();
        user_ids
    };
    let expected = known(Run::gpg(&gnupg).at("20260201T000000!").args(informed).succeed().text());
    assert!(expected.iter().any(|line| line.contains("\ntfs:1:2:3:")), "{expected:?}");

    let home = engine.home_with_conf("");
    for _ in 0..2 {
        Run::keyhoard(&home).arg("migrate").arg(gnupg.path()).succeed();
        let listed = Run::gpg_keyhoard(&home).at("20260201T000000!").args(informed).succeed().text();
        assert_eq!(known(listed), expected);
    }
    let explained = &documents(&home, &["tofu", "explain", "ann@example.org"])[0]["keys"][0];
    assert_eq!(explained["verified"]["messages"], 3);
    assert_eq!(explained["verified"]["days"], 2);
    assert_eq!(explained["verified"]["last"], "2026-01-05T00:00:00Z");
}

fn many_processes_that_import_and_list_at_once_on_a_new_database_make_one_result(engine: Engine) {
    let rivals = SharedAddresses { keys: 40, addresses: 10, forged: false, seed: 8 };
    let alone = home_with(engine, made(&rivals));
    let expected = Run::gpg_keyhoard(&alone).args(LISTING).succeed().text();
    let home = engine.home_with_conf("");
    let file = home.write("rivals.pgp", made(&rivals));
    let run = |import: bool| match import {
        true => Run::gpg_keyhoard(&home).arg("--import").arg(&file).output(),
        false => Run::gpg_keyhoard(&home).args(LISTING).output(),
    };
    thread::scope(|scope| {
        let run = &run;
        let started: Vec<_> = (0..12).map(|number| scope.spawn(move || run(number % 2 == 0))).collect();
        for ended in started {
            let done = ended.join().expect("it ends");
            assert_eq!(done.code, Some(0), "{}", done.errors());
            assert!(!done.errors().contains("lock"), "{}", done.errors());
        }
    });
    assert_eq!(Run::gpg_keyhoard(&home).args(LISTING).succeed().text(), expected);
    let [one, other] = [&home, &alone].map(|home| {
        let mut bindings = documents(home, &["tofu", "list", "--all"]);
        bindings.iter_mut().for_each(|binding| drop(binding["since"].take()));
        bindings
    });
    assert_eq!(one, other);
    assert!(one.len() >= 40);
}
