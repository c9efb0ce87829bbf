//! `--trusted-key` with commands that write: what gpg 2.4 remembers of it.

use std::fs;

use harness::{Both, Engine, Gnupg, Home, Output, Run, alice_and_bob, colons};

harness::on_both_engines! {
    owner_trust_by_an_option_is_in_no_export_and_its_source_is_told
    what_an_option_gave_can_be_undone_and_the_users_word_replaces_it
}

const ALICE: &str = "51533D3D0D28361643870CC6356E432296C42478";
const BOB: &str = "F40E36336BCA57689109B8336CE68E4314718A26";
const NOW: &str = "20260201T000000";

/// gpg-keyhoard as gpg 2.4, with a trust model that the homes of tests do not have.
fn gpg(home: &Home, words: &[&str]) -> Run {
    Run::gpg_keyhoard(home).like(Gnupg::V2_4).at(NOW).args(["--trust-model", "pgp"]).args(words)
}

fn said(done: &Output) -> Vec<String> {
    let errors = done.errors();
    let own = errors.lines().filter(|line| line.contains("trusted key") || line.contains("as ultimately"));
    own.map(str::to_owned).collect()
}

/// Returns owner trust and validity of the keys in a listing.
fn trusts(done: &Output) -> Vec<String> {
    let records = colons::records(&done.stdout);
    let keys = records.iter().filter(|record| record.kind() == "pub");
    keys.map(|record| format!("{} {} {}", record.text(5), record.text(2), record.text(9))).collect()
}

#[test]
fn a_command_that_writes_remembers_trusted_keys_as_gpg_does_until_another_names_others() {
    const MISSING: &str = "0123456789ABCDEF0123456789ABCDEF01234567";
    let (mut remembered, mut compared) = (0, 0);
    for gnupg in [Gnupg::V2_4, Gnupg::V2_2] {
        let both = Both::of_alice_and_bob_with(gnupg).now(&format!("{NOW}!"));
        // gpg looks into its trust database for this command, whatever the file says.
        let file = both.gpg.write("nothing", "").to_string_lossy().into_owned();
        let file = file.as_str();
        // gpg stores what it changed in its trust database when it checks that.
        let options = ["--trust-model", "pgp", "--auto-check-trustdb"];
        let list = ["--with-colons", "--list-keys"];
        let steps: [&[&str]; 10] = [
            &["--trusted-key", ALICE, "--import-ownertrust", file],
            &["--trusted-key", ALICE, "--import-ownertrust", file],
            &["--import-ownertrust", file],
            &["--trusted-key", BOB, "--trusted-key", MISSING, "--import-ownertrust", file],
            &["--trusted-key", BOB, "--trusted-key", &ALICE[24..], "--import-ownertrust", file],
            &["--trust-model", "always", "--trusted-key", "none", "--import-ownertrust", file],
            &["--trust-model", "direct", "--trusted-key", BOB, "--import-ownertrust", file],
            &["--trusted-key", "none", "--import-ownertrust", file],
            &["--trusted-key", ALICE, "--quick-set-ownertrust", BOB, "full"],
            &["--trusted-key", BOB, "--quick-set-ownertrust", ALICE, "marginal"],
        ];
        // gpg 2.2 knows no `none` and no --quick-set-ownertrust, and keeps validity.
        let steps = if gnupg == Gnupg::V2_4 { &steps[..] } else { &steps[2..3] };
        for (step, words) in steps.iter().enumerate() {
            let [gpg, keyhoard] = both.run(options.iter().chain(*words));
            let told = format!("{gnupg:?}, step {step}: {} {}", gpg.errors(), keyhoard.errors());
            assert_eq!(said(&gpg), said(&keyhoard), "{told}");
            assert_eq!((gpg.code, keyhoard.code), (Some(0), Some(0)), "{told}");
            let [gpg, keyhoard] = both.run(options.iter().chain(&list)).map(|done| trusts(&done));
            assert_eq!(gpg, keyhoard, "{told}");
            remembered += keyhoard.iter().filter(|line| line.ends_with(" u u")).count();
            let exported = both.run(["--export-ownertrust"]).map(|done| {
                let text = done.text();
                text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
            });
            assert_eq!(exported[0], exported[1], "{told}");
            compared += 1;
        }
    }
    assert_eq!((compared, remembered), (11, 12));
}

#[test]
fn an_import_makes_the_key_ultimately_trusted_that_it_brings_and_the_option_names() {
    // gpg keeps no owner trust of a key that was not there, but its validity.
    let both = Both::with_agent().with(Gnupg::V2_4).now(&format!("{NOW}!"));
    let file = alice_and_bob();
    let file = file.to_str().expect("a path in ASCII");
    let options =
        ["--trust-model", "pgp", "--auto-check-trustdb", "--pinentry-mode", "loopback", "--passphrase", ""];
    let import = ["--trusted-key", ALICE, "--import", file];
    let [gpg, keyhoard] = both.run(options.iter().chain(&import));
    assert_eq!((gpg.code, keyhoard.code), (Some(0), Some(0)), "{}", keyhoard.errors());
    assert_eq!(said(&gpg), said(&keyhoard));
    let validity = |done: Output| {
        let records = colons::records(&done.stdout);
        let users = records.iter().filter(|record| record.kind() == "uid");
        users.map(|record| format!("{} {}", record.text(2), record.text(10))).collect::<Vec<_>>()
    };
    let [gpg, keyhoard] = both.run(options.iter().chain(&["--with-colons", "--list-keys"])).map(validity);
    assert_eq!(gpg, keyhoard);
    assert!(keyhoard.iter().any(|line| line.starts_with("u Alice")), "{keyhoard:?}");
    let [gpg, keyhoard] = both.run_with_answers("text", options.iter().chain(&["-r", ALICE, "--encrypt"]));
    assert_eq!((gpg.code, keyhoard.code), (Some(0), Some(0)), "{}", keyhoard.errors());
    let exported = both.run(["--export-ownertrust"]).map(|done| {
        let text = done.text();
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(exported, [Vec::<String>::new(), Vec::new()]);
}

#[test]
fn a_command_that_only_reads_counts_what_it_names_and_changes_nothing() {
    let both = Both::of_alice_and_bob_with(Gnupg::V2_4).now(&format!("{NOW}!"));
    let run = |words: &[&str]| both.run_of(false).args(["--trust-model", "pgp"]).args(words).succeed();
    let list = ["--with-colons", "--list-keys"];
    let listed = |words: &[&str]| trusts(&run(&[words, &list].concat())).join(" ");
    let file = alice_and_bob();
    run(&["--trusted-key", ALICE, "--import", file.to_str().expect("a path in ASCII")]);
    let remembered = listed(&[]);
    assert_eq!(remembered.matches(" u u").count(), 1, "{remembered}");
    assert_eq!(listed(&["--trusted-key", "none"]).matches(" u").count(), 0);
    let other = listed(&["--trusted-key", BOB]);
    assert!(other.contains(&format!("{} u u", &BOB[24..])) && other.matches(" u u").count() == 1, "{other}");
    assert_eq!(listed(&[]), remembered);
    let checked = run(&["--trusted-key", BOB, "--check-trustdb"]).errors();
    assert!(checked.contains("1u"), "{checked}");
    assert_eq!(listed(&[]), remembered);
}

fn owner_trust_by_an_option_is_in_no_export_and_its_source_is_told(engine: Engine) {
    let home = engine.home();
    let gpg = |words: &[&str]| gpg(&home, words);
    let keyhoard = |words: &[&str]| Run::keyhoard(&home).at(NOW).args(words);
    gpg(&["--import"]).arg(alice_and_bob()).succeed();
    gpg(&["--trusted-key", ALICE, "--quick-set-ownertrust", BOB, "marginal"]).succeed();

    let exported = gpg(&["--export-ownertrust"]).succeed().text();
    assert!(exported.contains(&format!("{BOB}:4:")) && !exported.contains(ALICE), "{exported}");
    let exported = keyhoard(&["trust", "exchange", "export"]).succeed().text();
    assert_eq!(exported, format!("{BOB}:4:\n"));
    let gnupg_home = home.path().join("written");
    keyhoard(&["export", "--to-gnupg"]).arg(&gnupg_home).succeed();
    let trusted = fs::read(gnupg_home.join("trustdb.gpg")).expect("the file is there");
    let holds = |key: &str| trusted.windows(20).any(|bytes| hex(bytes) == key);
    assert!(holds(BOB) && !holds(ALICE));

    let records = gpg(&["--list-trustdb"]).succeed().text();
    let record =
        |key: &str| records.lines().find(|line| line.contains(&format!("trust {key}"))).map(str::to_owned);
    assert!(record(ALICE).is_some_and(|line| line.contains("ot=6") && line.ends_with("f=01")), "{records}");
    assert!(record(BOB).is_some_and(|line| line.contains("ot=4") && line.ends_with("f=00")), "{records}");

    let listed = keyhoard(&["trust", "list"]).succeed().text();
    let line = |key: &str| listed.lines().find(|line| line.contains(key)).unwrap_or_default().to_owned();
    assert!(line(ALICE).contains("[by gpg's --trusted-key]") && !line(BOB).contains("[by"), "{listed}");
    for key in keyhoard(&["--json", "trust", "list"]).succeed().json_lines() {
        assert_eq!(key["by_option"], key["fingerprint"] == ALICE, "{key}");
    }
    let explained = keyhoard(&["trust", "explain", ALICE]).succeed().text();
    assert!(explained.contains("since --trusted-key names it"), "{explained}");
}

fn what_an_option_gave_can_be_undone_and_the_users_word_replaces_it(engine: Engine) {
    let home = engine.home();
    let gpg = |words: &[&str]| gpg(&home, words);
    let keyhoard = |words: &[&str]| Run::keyhoard(&home).at(NOW).args(words);
    let remember = || gpg(&["--trusted-key", ALICE, "--import"]).arg(alice_and_bob()).succeed();
    let listed = || -> Vec<(bool, bool)> {
        let lines = keyhoard(&["--json", "trust", "list"]).output().json_lines();
        lines.iter().map(|key| (key["by_option"] == true, key["disabled"] == true)).collect()
    };
    gpg(&["--import"]).arg(alice_and_bob()).succeed();
    remember();
    assert_eq!(listed(), [(true, false)]);
    let entries = keyhoard(&["--json", "log"]).succeed().json_lines();
    let entry = entries.iter().find(|entry| entry["command"] == "gpg-keyhoard --trusted-key");
    let entry = entry.expect("an entry")["entry"].to_string();
    let changed = keyhoard(&["log", &entry]).succeed().text();
    assert!(changed.contains("ultimate by --trusted-key, was unknown"), "{changed}");
    keyhoard(&["undo", &entry]).succeed();
    assert_eq!(listed(), []);

    remember();
    gpg(&["--quick-set-ownertrust", ALICE, "disable"]).succeed();
    assert_eq!(listed(), [(true, true)], "disabling does not make it the user's");
    gpg(&["--trusted-key", "none", "--import"]).arg(alice_and_bob()).succeed();
    assert_eq!(listed(), [(false, true)], "the key stays disabled");
    gpg(&["--quick-set-ownertrust", ALICE, "enable"]).succeed();
    remember();
    gpg(&["--quick-set-ownertrust", ALICE, "ultimate"]).succeed();
    gpg(&["--trusted-key", "none", "--import"]).arg(alice_and_bob()).succeed();
    assert_eq!(listed(), [(false, false)], "the user's word lasts");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

#[test]
fn the_fingerprint_of_a_version_5_key_names_it_as_in_gpg() {
    let both = Both::with_agent().with(Gnupg::V2_4).now(&format!("{NOW}!"));
    let options = ["--batch", "--pinentry-mode", "loopback", "--passphrase", "", "--compliance", "gnupg"];
    let maker = Home::new();
    let make = |words: &[&str]| {
        Run::gpg_keyhoard(&maker).like(Gnupg::V2_4).at(NOW).args(options).args(words).succeed()
    };
    make(&["--quick-generate-key", "v5@example.org", "ed448", "sign,cert", "never"]);
    let certificate = make(&["--export"]).stdout;
    let listed = make(&["--with-colons", "-k"]);
    let records = colons::records(&listed.stdout);
    let key = records.iter().find(|record| record.kind() == "fpr").expect("a fingerprint").text(10);
    assert_eq!(key.len(), 64);
    let file = both.gpg.write("certificate", certificate);
    both.assert_same_reports(["--import".as_ref(), file.as_os_str()]);
    let nothing = both.gpg.write("nothing", "").to_string_lossy().into_owned();
    let list = ["--trust-model", "pgp", "--auto-check-trustdb", "--with-colons", "-k"];
    let [gpg, keyhoard] =
        [true, false].map(|gpg| trusts(&both.run_of(gpg).args(list).args(["--trusted-key", &key]).succeed()));
    assert_eq!(gpg, keyhoard);
    assert_eq!(keyhoard, [format!("{} u u", &key[..16])]);
    let [gpg, keyhoard] = [true, false].map(|gpg| {
        let remember = ["--trust-model", "pgp", "--trusted-key", &key, "--import-ownertrust", &nothing];
        both.run_of(gpg).args(remember).succeed();
        trusts(&both.run_of(gpg).args(list).succeed())
    });
    assert_eq!(gpg, keyhoard);
    assert_eq!(keyhoard, [format!("{} u u", &key[..16])]);
}
