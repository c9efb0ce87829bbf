//! `gpg-keyhoard --import` and `--show-keys`: what they report and do equals gpg's.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;

use harness::{Both, Gnupg, Home, Keyring, Output, OwnKey, Run, Victim, alice_and_bob, assert_same};

/// Inputs that hold no keys, or none that can be taken.
#[test]
fn gpg_import_names_a_known_key_by_what_is_known_of_it() {
    let ann = OwnKey::new("Ann <ann@example.org>");
    for gnupg in Gnupg::ALL {
        let both = Both::new().with(gnupg);
        both.import(both.gpg.write("ann.pgp", ann.certificate()));
        let file = both.gpg.write("ann.rev", ann.revocation()).to_string_lossy().into_owned();
        let [gpg, keyhoard] = both.run(["--import", &file]).map(|done| {
            let told = done.errors();
            told.lines().find(|line| line.contains("revocation certificate")).map(str::to_owned)
        });
        assert!(gpg.as_ref().is_some_and(|line| line.contains("Ann <ann@example.org>")), "{gpg:?}");
        assert_eq!(keyhoard, gpg);
    }
}

#[test]
fn gpg_import_reports_inputs_without_keys_as_gpg_does() {
    let both = Both::new();
    let home = Home::new();
    let armored_message = "-----BEGIN PGP MESSAGE-----\n\n0gA=\n-----END PGP MESSAGE-----\n";
    for (name, content) in [
        ("empty", Vec::new()),
        ("text", b"nothing in here\n".to_vec()),
        ("binary", vec![0; 300]),
        ("message", armored_message.into()),
        ("cut", Keyring::Nonupload.bytes()[..1].to_vec()),
    ] {
        let file = home.write(name, content);
        both.assert_same_reports(["--import".as_ref(), file.as_os_str()]);
        both.assert_same_reports(["--show-keys".as_ref(), file.as_os_str()]);
    }
    both.assert_same_reports(["--import", "/nonexistent"]);
    both.assert_same_reports(["--show-keys", "/nonexistent"]);
}

#[test]
fn gpg_import_reports_each_of_several_inputs_as_gpg_does() {
    let both = Both::new();
    let (home, [one, other]) = two_certificates();
    let text = home.write("text", "nothing in here\n");
    let file = |path: &PathBuf| path.clone().into_os_string();
    both.assert_same_reports([
        "--import".into(),
        "/nonexistent".into(),
        file(&one),
        file(&text),
        file(&other),
    ]);
    both.assert_same_reports(["--import".into(), file(&text), file(&one)]);
    both.assert_same_reports(["--quiet".into(), "--import".into(), file(&one)]);
    both.assert_same_output(["--list-sigs"]);
}

#[test]
fn gpg_import_counts_what_merges_add_as_gpg_does() {
    let key = OwnKey::new("Merged <merged@example.org>");
    let first = key.certificate();
    key.add_user_id("20240301T000000!", "Second <second@example.org>");
    let second = key.certificate();
    let (home, both) = (Home::new(), Both::new());
    for (name, content) in [("first", &first), ("second", &second), ("first", &first)] {
        let file = home.write(name, content);
        both.assert_same_reports(["--import".as_ref(), file.as_os_str()]);
    }
    both.assert_same_output(["--with-colons", "--list-sigs"]);
}

#[test]
fn gpg_import_evaluates_a_user_id_from_the_future_again_once_its_time_has_passed() {
    let key = OwnKey::new("Future <future@example.org>");
    let first = key.certificate();
    key.add_user_id("20240301T000000!", "Second <second@example.org>");
    let second = key.certificate();
    let (home, mut both) = (Home::new(), Both::new());
    let usual = both.clock().to_owned();
    for (now, name, content) in [
        (usual.as_str(), "first", &first),
        ("20200101T000000!", "second", &second),
        (&usual, "second", &second),
    ] {
        both = both.now(now);
        let file = home.write(name, content);
        both.assert_same_reports(["--import".as_ref(), file.as_os_str()]);
    }
    both.assert_same_output(["--with-colons", "--list-sigs"]);
}

#[test]
fn gpg_import_options_do_what_they_do_in_gpg() {
    let (home, [one, other]) = two_certificates();
    let one = one.into_os_string();
    for options in [
        "merge-only",
        "import-minimal",
        "self-sigs-only",
        "no-repair-keys",
        "import-local-sigs",
        "import-show",
        "show-only",
        "import-show,import-export",
        "import-export",
        "import-minimal,import-export",
        "import-clean,import-export",
        "keep-ownertrust,fast-import,repair-pks-subkey-bug",
        "restore",
    ] {
        let both = Both::new();
        both.assert_same_reports([
            "--import-options".as_ref(),
            options.as_ref(),
            "--import".as_ref(),
            one.as_os_str(),
        ]);
        both.assert_same_output(["--with-colons", "--list-sigs"]);
        both.assert_same_reports([
            "--armor".as_ref(),
            "--import-options".as_ref(),
            options.as_ref(),
            "--import".as_ref(),
            one.as_os_str(),
        ]);
    }
    let both = Both::new();
    both.assert_same_reports(["--fast-import".as_ref(), one.as_os_str()]);
    both.assert_same_reports(["--dry-run".as_ref(), "--import".as_ref(), other.as_os_str()]);
    both.assert_same_reports(["--merge-only".as_ref(), "--import".as_ref(), other.as_os_str()]);
    both.assert_same_output(["--list-keys"]);
    drop(home);
}

#[test]
fn gpg_import_show_knows_that_a_designated_revoker_has_revoked_a_key() {
    // gpg 2.4 ends with an error after the import of such a revocation.
    let both = Both::new().with(Gnupg::V2_2);
    let [revoked, revoker] = ["karl", "rita"].map(|name| {
        let file = format!("/../crates/engine/src/testdata/designated-revoker-{name}.asc");
        env!("CARGO_MANIFEST_DIR").to_owned() + &file
    });
    let [gpg, keyhoard] = [Both::new().gpg, Both::new().keyhoard];
    let told = |run: Run| {
        let done = run.arg("--import").arg(&revoked).succeed();
        done.errors().lines().find(|line| line.contains("may be revoked")).map(str::to_owned)
    };
    let warning = told(Run::gpg_keyhoard(&keyhoard));
    assert!(warning.is_some(), "its revoker is not here");
    assert_eq!(warning, told(Run::gpg_of(Gnupg::V2_2, &gpg)));
    both.import(&revoker);
    let [_, shown] = both.run(["--import-options", "import-show", "--dry-run", "--import", &revoked]);
    assert!(shown.text().contains("[revoked: "), "{}", shown.text());
    both.assert_same_output(["--import-options", "import-show", "--import", &revoked]);
}

#[test]
fn gpg_import_notes_where_new_user_ids_came_from() {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = Home::new();
    let first = home.write("first", key.certificate());
    key.add_user_id("20240201T000000!", "Ann at home <ann@home.example>");
    let both_user_ids = home.write("second", key.certificate());
    for origin in [
        "wkd",
        "dane",
        "file",
        "ks",
        "ks,hkps://keys.example.org",
        "ks-pref,hkps://keys.example.org",
        "self",
        "url,https://example.org/a",
    ] {
        for before in [None, Some(&first)] {
            let both = Both::new();
            if let Some(file) = before {
                both.run(["--import".as_ref(), file.as_os_str()]);
            }
            let import =
                ["--key-origin".as_ref(), origin.as_ref(), "--import".as_ref(), both_user_ids.as_os_str()];
            both.run(import);
            both.assert_same_output(["--with-colons", "--with-key-origin", "--list-keys"]);
        }
    }
}

#[test]
fn gpg_import_reports_a_new_revocation_of_a_key() {
    let key = OwnKey::new("Revoked <revoked@example.org>");
    let valid = key.certificate();
    let home = Home::new();
    let revocation =
        fs::read_to_string(key.home().path().join(format!("openpgp-revocs.d/{}.rev", key.fingerprint())));
    let revocation = revocation.expect("gpg makes one").replace(":-----BEGIN", "-----BEGIN");
    let file = home.write("revocation", revocation);
    Run::gpg(key.home()).arg("--import").arg(file).succeed();
    let files = [home.write("valid", valid), home.write("revoked", key.certificate())];
    let both = Both::new();
    for file in &files {
        let [gpg, keyhoard] = both.run(["--import".as_ref(), file.as_os_str()]);
        let told = |done: &Output| {
            done.errors().lines().filter(|line| line.contains("revocation certificate")).count()
        };
        assert_eq!(told(&keyhoard), told(&gpg), "{}", keyhoard.errors());
        assert_eq!(told(&keyhoard), usize::from(*file == files[1]));
    }
}

#[test]
fn gpg_interactive_imports_ask_about_each_key_what_gpg_asks() {
    let (home, files) = two_certificates();
    for answers in ["y\ny\n", "n\nn\n", "n\ny\n", "y\n", ""] {
        let both = Both::new();
        let done = [Run::gpg(&both.gpg), Run::gpg_keyhoard(&both.keyhoard)].map(|run| {
            let line = [
                "--no-batch",
                "--no-tty",
                "--interactive",
                "--command-fd",
                "0",
                "--status-fd",
                "2",
                "--import",
            ];
            run.args(line).args(&files).stdin(answers).output()
        });
        let lines = |done: &Output| {
            let mut lines: Vec<String> = done.status_lines().lines().map(str::to_owned).collect();
            let keywords = [" IMPORT", " GET_BOOL ", " GOT_IT"];
            lines.retain(|line| keywords.iter().any(|keyword| line.contains(keyword)));
            // Results are reported when they are durable, after all questions.
            lines.sort();
            lines
        };
        assert_eq!(lines(&done[0]), lines(&done[1]), "{answers:?}");
        assert_eq!(done[0].code, done[1].code, "{answers:?}");
        both.assert_same_output(["--list-keys"]);
    }
    let unasked = Home::new();
    let done = Run::gpg_keyhoard(&unasked).args(["--interactive", "--import"]).arg(&files[0]).output();
    assert_eq!(done.code, Some(2), "{}", done.errors());
    assert_eq!(Run::gpg_keyhoard(&unasked).arg("-k").succeed().text(), "");
    let answers = unasked.write("answers", "n\ny\n");
    let line = ["--no-batch", "--interactive", "--import"];
    Run::gpg_keyhoard(&unasked).arg("--command-file").arg(answers).args(line).args(&files).succeed();
    let listed = Run::gpg_keyhoard(&unasked).args(["--with-colons", "-k"]).succeed().text();
    assert!(listed.contains("06456DD791E95791") && !listed.contains("962680C5305A9418"), "{listed}");
    drop(home);
}

#[test]
fn gpg_import_filters_select_what_gpg_selects() {
    let (home, [one, _]) = two_certificates();
    for filter in [
        "keep-uid=mbox = nobody@example.org",
        "keep-uid=uid =~ debian.org",
        "keep-uid=-c uid !~ DEBIAN && uid -n",
        "drop-sig=sig_created_d -gt 2015-01-01",
        "drop-sig=sig_algo == 1 || sig_digest_algo == 2",
        "keep-uid=uid =~ a && uid =~ e || uid =~ nothing",
    ] {
        let both = Both::new();
        both.assert_same_reports([
            "--import-filter".as_ref(),
            filter.as_ref(),
            "--import".as_ref(),
            one.as_os_str(),
        ]);
        both.assert_same_output(["--with-colons", "--list-sigs"]);
    }
    drop(home);
}

#[test]
fn gpg_import_clean_keeps_the_certifications_that_gpg_keeps() {
    let home = Home::new();
    Run::gpg(&home).arg("--import").arg(Keyring::Nonupload.path()).succeed();
    let one = "5E5C4B0E1AFD7325CF66500F962680C5305A9418";
    let file = home.write("one", Run::gpg(&home).args(["--export", one]).succeed().stdout);
    for options in ["import-clean", "import-minimal", "import-clean,no-import-clean"] {
        let both = Both::new();
        both.import(Keyring::Nonupload.path());
        both.assert_same_reports(["--delete-keys", one]);
        both.assert_same_reports([
            "--import-options".as_ref(),
            options.as_ref(),
            "--import".as_ref(),
            file.as_os_str(),
        ]);
        both.assert_same_output(["--with-colons", "--list-sigs"]);
    }
}

#[test]
fn gpg_import_of_a_revocation_needs_the_key_and_counts_once() {
    let key = OwnKey::new("Revoked <revoked@example.org>");
    // Without a trust database, which gpg does not make for "trust-model always", it ends with an error here.
    let both = Both::in_homes([(); 2].map(|()| Home::with_conf("no-auto-check-trustdb\n")));
    let home = Home::new();
    let certificate = home.write("certificate", key.certificate());
    let revocation = home.write("revocation", key.revocation());
    both.assert_same_reports(["--import".as_ref(), revocation.as_os_str()]);
    both.import(&certificate);
    both.import(&revocation);
    both.assert_same_output(["--list-sigs"]);
    both.import(&revocation);
}

#[test]
fn gpg_import_imports_the_intact_certificates_of_a_damaged_file_and_reports_the_damage() {
    let mut bytes = Keyring::Nonupload.bytes();
    let place = bytes.len() / 2;
    bytes[place..place + 2000].fill(0xff);
    let home = Home::new();
    let done = Run::gpg_keyhoard(&home).args(["--status-fd", "2", "--import"]).stdin(bytes).output();
    assert_eq!(done.code, Some(2));
    let imported = done.status_lines().matches("[GNUPG:] IMPORT_OK ").count();
    let whole = Home::new();
    let all = Run::gpg_keyhoard(&whole).args(["--status-fd", "2", "--import"]).arg(Keyring::Nonupload.path());
    let expected = all.succeed().status_lines().matches("[GNUPG:] IMPORT_OK ").count();
    // What is damaged stands in one certificate or in two that follow each other.
    assert!((expected - 2..=expected).contains(&imported), "{imported} of {expected}");
    assert!(done.errors().contains("gpg: [stdin]: "), "{}", done.errors());
}

#[test]
fn gpg_show_keys_lists_what_gpg_lists_and_makes_no_database() {
    let (home, [one, other]) = two_certificates();
    let both = Both::new();
    for options in [&[][..], &["--with-colons"], &["--with-sig-list", "--with-keygrip"], &["--fingerprint"]] {
        let files = [one.clone().into_os_string(), other.clone().into_os_string()];
        let line = options.iter().map(|option| (*option).into()).chain(["--show-keys".into()]).chain(files);
        both.assert_same_output(line.collect::<Vec<OsString>>());
    }
    assert!(!both.keyhoard.database().exists());
    drop(home);
}

#[test]
fn gpg_show_keys_lists_secret_keys_and_revocations_with_what_the_keyring_knows_of_them() {
    let here = Both::of_alice_and_bob();
    let elsewhere = Both::with_agent();
    let secret_keys = alice_and_bob();
    let public_keys = Run::gpg_keyhoard(&here.keyhoard).args(["--armor", "--export"]).succeed().stdout;
    let made = here.run_with_answers(
        "y\n1\nlost\nand found\n\ny\n",
        [
            "--no-batch",
            "--no-tty",
            "--command-fd",
            "0",
            "--pinentry-mode",
            "loopback",
            "--gen-revoke",
            "alice",
        ],
    );
    let [good, _] = made.map(|done| done.stdout);
    let mut bad = Run::gpg_keyhoard(&here.keyhoard).arg("--dearmor").stdin(good.clone()).succeed().stdout;
    *bad.last_mut().expect("a revocation is not empty") ^= 1;
    let [public_keys, good, bad] = [("public.asc", public_keys), ("good.asc", good), ("bad.pgp", bad)]
        .map(|(name, content)| here.keyhoard.write(name, content));
    let alice = Run::gpg_keyhoard(&here.keyhoard).args(["--with-colons", "-k", "alice"]).succeed().text();
    let fingerprint = alice.lines().find_map(|line| line.strip_prefix("fpr:::::::::"));
    let trust = format!("{}6:\n", fingerprint.expect("Alice is there"));
    for command in ["--import-ownertrust", "--check-trustdb"] {
        for done in here.run_with_answers(&trust, ["--trust-model", "pgp", command]) {
            assert_eq!(done.code, Some(0), "{}", done.errors());
        }
    }
    for both in [&here, &elsewhere] {
        for file in [&secret_keys, &public_keys, &good, &bad] {
            both.assert_same_output(["--show-keys".as_ref(), file.as_os_str()]);
            let with_colons = ["--trust-model", "pgp", "--with-colons", "--show-keys"];
            both.assert_same_output(with_colons.map(OsStr::new).into_iter().chain([file.as_os_str()]));
        }
        let show = ["--batch", "--import-options", "import-show", "--import"];
        both.assert_same_output(show.map(OsStr::new).into_iter().chain([good.as_os_str()]));
    }
}

#[test]
fn gpg_attribute_file_receives_the_attributes_that_gpg_writes() {
    let both = Both::new();
    both.import(Keyring::Maintainers.path());
    let [gpg, keyhoard] = [&both.gpg, &both.keyhoard].map(|home| {
        let file = home.path().join("attributes");
        let run = if home.path() == both.gpg.path() { Run::gpg(home) } else { Run::gpg_keyhoard(home) };
        let done = run
            .arg("--attribute-file")
            .arg(&file)
            .args(["--status-fd", "2", "--with-colons", "-k"])
            .succeed();
        let lines = done.status_lines();
        let lines: String =
            lines.split_inclusive('\n').filter(|line| line.starts_with("[GNUPG:] ATTRIBUTE ")).collect();
        (fs::read(file).expect("both have written it"), lines)
    });
    assert!(!gpg.0.is_empty(), "some maintainers have photographs");
    assert_same("--attribute-file", &gpg.0, &keyhoard.0);
    assert_same("--attribute-file", gpg.1.as_bytes(), keyhoard.1.as_bytes());
}

/// Returns files with one certificate each, of people with several user IDs.
fn two_certificates() -> (Home, [PathBuf; 2]) {
    let home = Home::new();
    Run::gpg(&home).arg("--import").arg(Keyring::Nonupload.path()).succeed();
    let files = ["5E5C4B0E1AFD7325CF66500F962680C5305A9418", "F6258DF2BFF9A73F5B1E15C306456DD791E95791"];
    let files = files.map(|key| home.write(key, Run::gpg(&home).args(["--export", key]).succeed().stdout));
    (home, files)
}

#[test]
fn a_revocation_without_a_certificate_revokes_its_key_although_other_certificates_claim_that_key() {
    use packet_builder::{Signature, Signed};
    let (home, ann) = (Home::new(), Victim::new());
    for certificates in [ann.claimants(20), ann.certificate.clone()] {
        Run::gpg_keyhoard(&home).arg("--import").stdin(certificates).succeed();
    }
    let revocation = Signature::new(0x20).sign(&ann.primary, &Signed::Key(&ann.primary)).bytes();
    Run::gpg_keyhoard(&home).arg("--import").stdin(revocation).succeed();
    let listing = Run::gpg_keyhoard(&home).args(["--with-colons", "-k", "ann@example.org"]).succeed().text();
    assert!(listing.contains("pub:r:"), "{listing}");
}
