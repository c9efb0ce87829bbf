//! The life of a key in gpg-keyhoard beside the real gpg: the same commands make the same packets, since Ed25519 and RSA
//! leave no choice, and fail alike.

use std::collections::BTreeSet;
use std::path::Path;

use harness::{Both, Gnupg, Home, Output, Run, assert_same};

const ALICE: &str = "51533D3D0D28361643870CC6356E432296C42478";
const BOB: &str = "F40E36336BCA57689109B8336CE68E4314718A26";
const SIGNING: &str = "6D99D72BC918488168D85B540D877A59B81A5B94";
/// What makes a program work without questions, on keys without a passphrase.
const BATCH_OPTIONS: [&str; 5] = ["--batch", "--pinentry-mode", "loopback", "--passphrase", ""];

/// Runs a command in both; what they write, their status lines and their exits are the same.
fn same(both: &Both, words: &[&str]) {
    both.assert_same_status(BATCH_OPTIONS.iter().chain(words));
}

/// The packets of a home, each with the component it stands under.
fn packets(export: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    for certificate in harness::packets::certificates(export) {
        for component in harness::packets::components(&certificate) {
            let name = component.body;
            found.extend(component.signatures.iter().map(|signature| [name, b"\0", signature].concat()));
        }
    }
    found
}

/// Asserts that both have the same signatures. (A local certification that a full one replaces is still here.)
fn same_packets(both: &Both) {
    let export = ["--export-options", "export-local-sigs", "--export"];
    let [gpg, keyhoard] = both.run(export).map(|done| packets(&done.stdout));
    assert!(gpg.len() > 4, "gpg exports its signatures");
    let missing = gpg.difference(&keyhoard).count();
    assert_eq!(missing, 0, "of {} signatures", gpg.len());
    let is_local = |packet: &[u8]| packet.windows(3).any(|subpacket| subpacket == [2, 4, 0]);
    assert!(keyhoard.difference(&gpg).all(|packet| is_local(packet)), "what gpg replaced is still here");
}

#[test]
fn quick_commands_make_the_packets_that_gpg_makes() {
    let mut both = Both::of_alice_and_bob();
    let steps: &[(&str, &[&str])] = &[
        ("20260201T000000!", &["--quick-add-uid", ALICE, "  New One <new@example.org> "]),
        ("20260202T000000!", &["--quick-set-primary-uid", "alice", "Alice <alice@example.org>"]),
        ("20260203T000000!", &["--quick-revoke-uid", ALICE, "New One <new@example.org>"]),
        ("20260204T000000!", &["--quick-set-expire", ALICE, "1y"]),
        ("20260205T000000!", &["--quick-set-expire", ALICE, "2027-01-01", SIGNING]),
        ("20260206T000000!", &["--quick-set-expire", ALICE, "0", "*"]),
        ("20260207T000000!", &["-u", "bob", "--quick-lsign-key", ALICE, "Second"]),
        ("20260208T000000!", &["-u", "bob", "--quick-sign-key", ALICE]),
        ("20260208T120000!", &["--quick-add-uid", BOB, "Robert"]),
        (
            "20260209T000000!",
            &[
                "-u",
                ALICE,
                "--default-cert-level",
                "2",
                "--default-cert-expire",
                "1y",
                "--quick-lsign-key",
                BOB,
                "Robert",
            ],
        ),
        ("20260210T000000!", &["--quick-revoke-sig", ALICE, "bob"]),
        ("20260211T000000!", &["--quick-revoke-sig", BOB, ALICE, "=Bob <bob@example.org>"]),
        ("20260212T000000!", &["--quick-set-expire", ALICE, "never"]),
    ];
    for (time, words) in steps {
        both = both.now(time);
        same(&both, words);
        same_packets(&both);
    }
}

/// The signatures of a key, as a listing for programs has them, but for their order: gpg puts a new one in the place of the old
/// one.
fn listed_signatures(done: &Output) -> Vec<String> {
    let text = done.text();
    let mut found: Vec<String> = Vec::new();
    let mut component = String::new();
    for line in text.lines() {
        match line.split(':').next() {
            Some("pub" | "uid" | "sub") => component = line.split(':').nth(9).unwrap_or_default().to_owned(),
            Some("sig" | "rev") => found.push(format!("{component} {line}")),
            _ => {}
        }
    }
    found.sort();
    found
}

#[test]
fn a_self_signature_that_an_edit_replaces_is_listed_no_more_until_it_is_imported_again() {
    for gnupg in Gnupg::ALL {
        let mut both = Both::of_alice_and_bob_with(gnupg);
        let same_listing = |both: &Both| {
            let listed = both.run(["--with-colons", "--list-sigs", ALICE]);
            let [gpg, keyhoard] = listed.map(|done| listed_signatures(&done));
            assert_eq!(gpg, keyhoard, "{gnupg:?}");
            gpg.len()
        };
        let signed =
            both.run_of(false).args(BATCH_OPTIONS).args(["-u", ALICE, "--sign"]).stdin("text").succeed();
        let message = both.gpg.write("message", signed.stdout);
        let message = message.to_str().expect("the test's own name").to_owned();
        let [former, _] = both.run(["--export", ALICE]);
        let file = both.gpg.write("former.pgp", former.stdout);
        let before = same_listing(&both);
        let edits: [&[&str]; 4] = [
            &["--quick-set-expire", ALICE, "1y"],
            &["--quick-set-expire", ALICE, "2y", "*"],
            &["--quick-set-primary-uid", ALICE, "Alice <alice@example.org>"],
            &["--quick-set-expire", ALICE, "3y"],
        ];
        for (day, words) in edits.iter().enumerate() {
            both = both.now(&format!("202602{:02}T000000!", day + 1));
            same(&both, words);
            assert_eq!(same_listing(&both), before, "{gnupg:?}: {words:?}");
            // What was signed before the edit verifies still.
            both.assert_same_status(["--verify", &message]);
        }
        both.import(&file);
        assert!(same_listing(&both) > before, "{gnupg:?}");
    }
}

#[test]
fn a_replaced_self_signature_is_kept_for_keyhoard_and_an_undo_shows_it_again() {
    let both = Both::of_alice_and_bob_with(Gnupg::V2_4).now("20260201T000000!");
    let home = &both.keyhoard;
    let listed =
        |words: &[&str]| both.run_of(false).args(["--with-colons"]).args(words).arg(ALICE).succeed().text();
    let keyhoard = |words: &[&str]| Run::keyhoard(home).at("20260202T000000").args(words).succeed();
    let all = || harness::packets::certificates(&keyhoard(&["export", ALICE]).stdout).concat().len();
    let (before, stored) = (listed(&["--list-sigs"]), all());
    let edit = |words: &[&str]| both.run_of(false).args(BATCH_OPTIONS).args(words).succeed();
    edit(&["--quick-set-expire", ALICE, "1y"]);
    let after = listed(&["--list-sigs"]);
    assert_ne!(before, after);
    assert!(all() > stored, "keyhoard has both");
    keyhoard(&["undo", "--including-revocations"]);
    assert_eq!(listed(&["--list-sigs"]), before);
    assert_eq!(all(), stored);
    // The same in an edit of several steps.
    let answers = "expire\n1y\nsetpref\ny\nsave\n";
    let words = ["--status-fd", "2", "--command-fd", "0", "--edit-key", ALICE];
    both.run_of(false).args(BATCH_OPTIONS).args(words).stdin(answers).succeed();
    assert_ne!(listed(&["--list-sigs"]), before);
    keyhoard(&["undo", "--including-revocations"]);
    assert_eq!(listed(&["--list-sigs"]), before);
}

#[test]
fn options_add_the_subpackets_to_certifications_that_gpg_adds() {
    let mut both = Both::of_alice_and_bob();
    let certify = ["-u", "bob", "--quick-sign-key", ALICE];
    let notations = [
        "--cert-notation",
        "!n@example.org=%S over %f",
        "--cert-notation",
        "m@example.org=%k %s %g %p %% %x",
        "--cert-policy-url",
        "https://example.org/%K",
        "--cert-policy-url",
        "!https://example.org/second",
    ];
    let steps: &[(&str, &[&str])] = &[
        ("20260201T000000!", &[&notations[..], &certify].concat()),
        ("20260202T000000!", &["--cert-digest-algo", "SHA512", "--quick-add-uid", BOB, "Robert"]),
        ("20260203T000000!", &["--cert-digest-algo", "SHA384", "--quick-set-expire", ALICE, "1y"]),
        ("20260204T000000!", &["--cert-digest-algo", "SHA384", "-u", ALICE, "--quick-sign-key", BOB]),
        (
            "20260205T000000!",
            &["--default-preference-list", "S9 S8 H10 Z1 no-mdc", "--quick-add-uid", BOB, "Rob"],
        ),
        (
            "20260206T000000!",
            &["--default-preference-list", "S7 H8 Z0 ks-modify", "--quick-add-uid", BOB, "R"],
        ),
        ("20260206T010000!", &["--default-preference-list", "none", "--quick-add-uid", BOB, "Without"]),
        (
            "20260207T000000!",
            &["--default-keyserver-url", "hkp://k.example.org", "--quick-add-uid", BOB, "Bobby"],
        ),
    ];
    for (time, words) in steps {
        both = both.now(time);
        same(&both, words);
        same_packets(&both);
    }
    same(&both, &["--cert-notation", "no-domain=x", "-u", "bob", "--quick-sign-key", ALICE]);
    same(&both, &["--cert-policy-url", "", "-u", "bob", "--quick-sign-key", ALICE]);
}

#[test]
fn without_a_named_user_id_photographs_are_certified_and_revoked_too() {
    let mut both = Both::of_alice_and_bob();
    // Bob with a photograph of himself, which gpg 2.2.40 added.
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("all/testdata/bob-with-photograph.pgp");
    both.assert_same_reports(
        BATCH_OPTIONS.iter().map(AsRef::as_ref).chain(["--import".as_ref(), file.as_os_str()]),
    );
    let steps: &[(&str, &[&str])] = &[
        ("20260201T000000!", &["-u", ALICE, "--quick-lsign-key", BOB, "Bob"]),
        ("20260202T000000!", &["-u", ALICE, "--quick-sign-key", BOB]),
        ("20260203T000000!", &["-u", ALICE, "--quick-sign-key", BOB]),
        ("20260204T000000!", &["--quick-revoke-sig", BOB, ALICE]),
    ];
    for (time, words) in steps {
        both = both.now(time);
        same(&both, words);
        same_packets(&both);
    }
}

#[test]
fn status_lines_name_the_key_whose_passphrase_is_asked_for() {
    let both = Both::of_alice_and_bob();
    let lock = [
        "--pinentry-mode",
        "loopback",
        "--command-fd",
        "0",
        "--status-fd",
        "2",
        "--change-passphrase",
        ALICE,
    ];
    Run::gpg_keyhoard(&both.keyhoard).at(both.clock()).args(lock).stdin("right\nright\n").succeed();
    let lock = ["--pinentry-mode", "loopback", "--passphrase-fd", "0", "--batch"];
    // The agent asks for old and new passphrases of each key, which a program cannot tell apart: a locked key is
    // imported.
    let locked =
        Run::gpg_keyhoard(&both.keyhoard).at(both.clock()).args(["--export-secret-keys", ALICE]).succeed();
    let delete = ["--batch", "--yes", "--delete-secret-and-public-keys", ALICE];
    Run::gpg_with_agent(&both.gpg).at(both.clock()).args(delete).succeed();
    let file = both.gpg.write("locked", locked.stdout);
    Run::gpg_with_agent(&both.gpg)
        .at(both.clock())
        .args(lock)
        .arg("--import")
        .arg(file)
        .stdin("right\n")
        .succeed();
    let add = [
        "--pinentry-mode",
        "loopback",
        "--command-fd",
        "0",
        "--status-fd",
        "2",
        "--quick-add-uid",
        ALICE,
        "New",
    ];
    both.gpg.kill_agent();
    let [theirs, ours] = both.run_with_answers("right\n", add).map(|done| {
        let lines = done.status_lines();
        let told = |line: &&str| !line.contains("KEY_CONSIDERED");
        lines.lines().filter(told).map(|line| format!("{line}\n")).collect::<String>()
    });
    assert!(theirs.contains("NEED_PASSPHRASE"), "{theirs}");
    assert_same("--quick-add-uid", theirs.as_bytes(), ours.as_bytes());
}

#[test]
fn user_ids_are_named_by_their_hash_in_colon_listings() {
    let mut both = Both::of_alice_and_bob_with(Gnupg::V2_4).now("20260201T000000!");
    same(&both, &["--quick-add-uid", ALICE, "New"]);
    let listed = both.run(["--with-colons", "--list-keys", ALICE]);
    let listed = listed[0].text();
    let hash = |name: &str| {
        let fields = listed.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let found = fields.filter(|fields| fields[0] == "uid").find(|fields| fields[9].contains(name));
        found.expect("she has it")[7].to_owned()
    };
    both = both.now("20260202T000000!");
    same(&both, &["--quick-set-primary-uid", ALICE, &hash("New")]);
    same(&both, &["--quick-revoke-uid", ALICE, &hash("Second").to_lowercase()]);
    same(&both, &["--quick-set-primary-uid", ALICE, &hash("New")[1..]]);
    both.assert_same_output(["--with-colons", "--list-keys", ALICE]);
}

#[test]
fn quick_commands_fail_where_gpgs_fail() {
    Gnupg::ALL.into_iter().for_each(quick_commands_fail);
}

fn quick_commands_fail(gnupg: Gnupg) {
    let both = Both::of_alice_and_bob_with(gnupg);
    same(&both, &["--quick-add-uid", ALICE, "New One"]);
    let failures: &[&[&str]] = &[
        &["--quick-add-uid", ALICE, "Alice <alice@example.org>"],
        &["--quick-add-uid", "nobody", "Alice"],
        &["--quick-add-uid", ALICE, " "],
        &["--quick-add-uid", ALICE],
        &["--quick-revoke-uid", ALICE, "no such"],
        &["--quick-revoke-uid", "nobody", "no such"],
        &["--quick-revoke-uid", BOB, "Bob <bob@example.org>"],
        &["--quick-set-primary-uid", ALICE, "no such"],
        &["--quick-set-primary-uid", ALICE, "Third"],
        &["--quick-set-primary-uid", ALICE, "Alice Second <second@example.org>"],
        &["--quick-set-expire", "alice", "1y"],
        &["--quick-set-expire", ALICE, "bla"],
        &["--quick-set-expire", SIGNING, "1y"],
        &["--quick-set-expire", ALICE],
        &["--quick-set-expire", ALICE, "1y", "bla"],
        &["--quick-set-expire", ALICE, "1y", ALICE],
        &["--quick-set-expire", "1111111111111111111111111111111111111111", "0"],
        &["--quick-sign-key", "alice"],
        &["--quick-sign-key", ALICE, "no such"],
        &["-u", "bob", "--quick-sign-key", ALICE, "alice"],
        &["-u", "nobody", "--quick-sign-key", ALICE],
        &["-u", "alice", "--quick-sign-key", BOB],
        &["--quick-sign-key"],
        &["--quick-revoke-sig", ALICE, "nobody"],
        &["--quick-revoke-sig", "nobody", "bob"],
        &["--quick-revoke-sig", ALICE],
        &["--quick-add-key", "alice"],
        &["--quick-add-key", ALICE, "bla"],
        &["--quick-add-key", ALICE, "rsa2048", "bla"],
        &["--quick-add-key", ALICE, "ed25519", "encr"],
        &["--quick-add-key", ALICE, "rsa2048", "default", "xx"],
        &["--generate-revocation", ALICE],
        &["--generate-revocation"],
    ];
    for words in failures {
        same(&both, words);
    }
}

#[test]
fn a_new_subkey_follows_its_use_and_programs_are_told_if_there_is_none_as_by_gpg_2_4() {
    let both = Both::of_alice_and_bob_with(Gnupg::V2_4);
    for words in [&["bla"][..], &["default", "cert"], &["default", "encr,auth"], &["ed25519", "encr"]] {
        same(&both, &[&["--quick-add-key", ALICE], words].concat());
    }
    for words in [["default", "sign"], ["future-default", "auth"], ["-", "encr"]] {
        for done in both.run([&BATCH_OPTIONS[..], &["--quick-add-key", ALICE], &words].concat()) {
            assert_eq!(done.code, Some(0), "{words:?}: {}", done.errors());
        }
    }
    // Algorithm, use and curve of each subkey.
    let [gpg, keyhoard] = both.run(["--with-colons", "--list-keys", ALICE]).map(|done| -> BTreeSet<String> {
        let columns = |line: &str| {
            let fields: Vec<&str> = line.split(':').collect();
            [fields[3], fields[11], fields[16]].join(" ")
        };
        done.text().lines().filter(|line| line.starts_with("sub:")).map(columns).collect()
    });
    assert_eq!(gpg, keyhoard);
    assert!(keyhoard.contains("22 a ed25519"), "{keyhoard:?}");
}

#[test]
fn gpg_imports_edited_keys_and_lists_them_as_gpg_keyhoard_does() {
    let both = Both::of_alice_and_bob();
    let keyhoard = |words: &[&str]| {
        Run::gpg_keyhoard(&both.keyhoard).at("20260301T000000!").args(BATCH_OPTIONS).args(words).succeed()
    };
    keyhoard(&["--quick-add-uid", ALICE, "New One"]);
    keyhoard(&["--quick-add-key", ALICE, "ed25519", "sign", "1y"]);
    keyhoard(&["--quick-add-key", ALICE, "rsa2048", "sign,encr"]);
    keyhoard(&["-u", "bob", "--quick-sign-key", ALICE]);
    let export = keyhoard(&["--export"]).stdout;
    let home = Home::new();
    Run::gpg(&home).at("20260301T000000!").arg("--import").stdin(export).succeed();
    let words = ["--with-colons", "--with-fingerprint", "--with-fingerprint", "--list-keys"];
    let listing = |run: Run| run.at("20260302T000000!").args(words).succeed().stdout;
    let keys = |listing: Vec<u8>| {
        let text = String::from_utf8(listing).expect("colon listings are text");
        text.lines()
            .filter(|line| !line.starts_with("tru"))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let [gpg, here] = [Run::gpg(&home), Run::gpg_keyhoard(&both.keyhoard)].map(|run| keys(listing(run)));
    assert_eq!(gpg.matches("\nsub:").count(), 4);
    assert_same("--list-keys", gpg.as_bytes(), here.as_bytes());
    let checked =
        Run::gpg(&home).at("20260302T000000!").args(["--with-colons", "--check-sigs"]).succeed().text();
    assert!(!checked.contains("sig:-") && !checked.contains("sig:%"), "{checked}");
}

#[test]
fn generate_revocation_asks_the_questions_that_gpg_asks() {
    let both = Both::of_alice_and_bob().now("20260301T000000!");
    let asked = ["--no-tty", "--command-fd", "0", "--status-fd", "2", "--pinentry-mode", "loopback"];
    let words = asked.iter().chain(&["--passphrase", "", "--generate-revocation", ALICE]);
    for answers in ["y\n1\nbecause\nof that\n\ny\n", "y\n7\n\n\nn\n0\n\ny\n", "y\n3\n\ny\n", "n\n", "y\nq\n"]
    {
        let [gpg, keyhoard] = both.run_with_answers(answers, words.clone());
        assert_eq!(gpg.code, keyhoard.code, "{answers:?}");
        assert_same(answers, &gpg.stdout, &keyhoard.stdout);
        let asked = |done: &Output| {
            let lines = done.errors();
            lines.lines().filter(|line| line.starts_with("[GNUPG:]")).collect::<Vec<_>>().join("\n")
        };
        assert_same(answers, asked(&gpg).as_bytes(), asked(&keyhoard).as_bytes());
    }
}

#[test]
fn a_new_subkey_is_locked_with_the_passphrase_of_the_command() {
    let quietly = |passphrase| ["--pinentry-mode", "loopback", "--passphrase", passphrase];
    for gnupg in Gnupg::ALL {
        let both = Both::of_alice_and_bob_with(gnupg);
        for gpg in [true, false] {
            let run = || both.run_of(gpg).args(["--trust-model", "always"]);
            run().args(quietly("abc")).args(["--quick-add-key", ALICE, "cv25519", "encr"]).succeed();
            let message = run().args(["-r", "alice", "-e"]).stdin("text").succeed().stdout;
            let home = if gpg { &both.gpg } else { &both.keyhoard };
            home.kill_agent();
            let read = |passphrase| run().args(quietly(passphrase)).arg("-d").stdin(message.clone()).output();
            assert_eq!(read("bad").code, Some(2), "{gnupg:?} {gpg}");
            assert_eq!(read("abc").text(), "text", "{gnupg:?} {gpg}");
        }
    }
}

#[test]
fn names_of_curves_are_read_in_any_case_where_gpg_does() {
    let mut made = 0;
    for gnupg in Gnupg::ALL {
        let both = Both::with_agent().with(gnupg).now("20260201T000000!");
        both.run_of(false)
            .args(BATCH_OPTIONS)
            .args(["--quick-generate-key", "a", "ed25519", "cert"])
            .succeed();
        let keys = both.run_of(false).args(BATCH_OPTIONS).arg("--export-secret-keys").succeed().stdout;
        both.run_of(true).args(BATCH_OPTIONS).arg("--import").stdin(keys).succeed();
        let listed = both.run_of(false).args(["--with-colons", "-k"]).succeed().text();
        let key = listed.lines().find_map(|line| line.strip_prefix("fpr:::::::::")).expect("a key");
        let key = key.trim_end_matches(':');
        let same_exit = |words: &[&str], input: &str| {
            let options = ["--compliance", "gnupg", "--yes"];
            let [gpg, keyhoard] = [true, false].map(|gpg| {
                let run = both.run_of(gpg).args(BATCH_OPTIONS).args(options);
                run.args(words).stdin(input).output()
            });
            assert_eq!(gpg.code, keyhoard.code, "{gnupg:?} {words:?} {input}: {}", keyhoard.errors());
            usize::from(gpg.code == Some(0))
        };
        for name in [
            "ED25519",
            "Ed25519",
            "CV25519",
            "Cv25519",
            "curve25519",
            "Curve25519",
            "NISTP256",
            "nist p-256",
            "NIST P-256",
            "secp256r1",
            "1.2.840.10045.3.1.7",
            "BrainpoolP256R1",
            "brainpoolP256r1",
            "x25519",
            "foo",
        ] {
            made += same_exit(&["--quick-add-key", key, name], "");
            made += same_exit(&["--quick-generate-key", name, name], "");
            let keys = match name {
                "ED25519" | "Ed25519" => format!("Key-Type: EDDSA\nKey-Curve: {name}\n"),
                _ => {
                    format!("Key-Type: EDDSA\nKey-Curve: Ed25519\nSubkey-Type: ECDH\nSubkey-Curve: {name}\n")
                }
            };
            made += same_exit(&["--generate-key"], &format!("{keys}Name-Real: {name}\n%no-protection\n"));
        }
    }
    assert_eq!(made, 43);
}
