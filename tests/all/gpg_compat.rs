//! `gpg-keyhoard` follows gpg 2.4.9, and 2.2.40 where that is configured; the options that only 2.4 has do what they do
//! there.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use harness::colons::records;
use harness::{Both, Gnupg, Home, NOW, Output, OwnKey, Reference, Run, alice_and_bob};

/// A key with subkeys, in Debian's keyring of members who do not upload.
fn some_key(both: &Both) -> String {
    let [listed, _] = both.run(["--with-colons", "--list-keys"]);
    let all = records(&listed.stdout);
    all.iter().find(|record| record.kind() == "fpr").expect("a key").text(10)
}

fn version(run: Run) -> Output {
    run.arg("--version").output()
}

#[test]
fn gpg_compat_is_read_from_the_configuration_and_the_environment_goes_first() {
    let home = Home::new();
    let first_line = |run: Run| version(run).text().lines().next().unwrap_or_default().to_owned();
    let new = || Run::with_default_database("gpg-keyhoard", &home).like(Gnupg::V2_4);
    assert_eq!(first_line(new()), "gpg (GnuPG) 2.4.9");
    let directory = home.path().join(".config/keyhoard");
    fs::create_dir_all(&directory).expect("a new directory");
    fs::write(directory.join("config.toml"), "compat = \"2.2\"\n").expect("a new file");
    assert_eq!(first_line(new()), "gpg (GnuPG) 2.2.40");
    assert_eq!(first_line(new().env("GPG_KEYHOARD_COMPAT", "2.4")), "gpg (GnuPG) 2.4.9");
    let wrong = version(new().env("GPG_KEYHOARD_COMPAT", "1.4"));
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.errors().contains("GPG_KEYHOARD_COMPAT: '1.4' is neither 2.2 nor 2.4"),
        "{}",
        wrong.errors()
    );
}

#[test]
fn gpg_2_2_does_not_know_the_options_of_2_4() {
    let both = Both::new().with(Gnupg::V2_2);
    both.assert_same_output(["--log-time", "--list-keys"]);
    both.assert_same_output(["--list-config", "--with-colons"]);
    both.assert_same_output(["--gpgconf-list"]);
}

#[test]
fn gpg_2_4_configuration_is_listed_as_gpg_lists_it() {
    let both = Both::new().with(Gnupg::V2_4);
    both.assert_same_output(["--gpgconf-list"]);
    both.assert_same_output(["--with-colons", "--list-config"]);
    both.assert_same_output(["--with-colons", "--list-config", "curveoid"]);
}

#[test]
fn gpg_2_4_list_options_show_what_gpg_shows() {
    let both = Both::of_version(Gnupg::V2_4, Reference::Nonupload);
    let key = some_key(&both);
    for options in [
        &["--list-sigs"][..],
        &["--list-options", "show-unusable-sigs", "--list-sigs"],
        &["--list-options", "no-sort-sigs", "--list-sigs"],
        &["--allow-weak-key-signatures", "--list-sigs"],
        &["--list-options", "show-ownertrust", "--list-keys"],
        &["--full-timestrings", "--list-sigs"],
        &["--full-timestrings", "--list-options", "show-sig-expire", "--list-sigs"],
        &["--with-v5-fingerprint", "--with-colons", "--list-keys"],
        &["--list-filter", "select=key_created < 2005-01-01", "--list-keys"],
        &["--list-filter", "select=uid =~ debian", "--with-colons", "--list-keys"],
        &["--list-filter", "select=key_size > 3072", "--with-colons", "--list-keys"],
        &["--list-filter", "select=algostr = rsa4096 && usage =~ a", "--with-colons", "--list-keys"],
        &["--list-filter", "select=disabled -f && revoked -t", "--list-keys"],
        &["--list-options", "show-pref", "--list-keys"],
        &[
            "--list-options",
            "show-pref-verbose,no-show-uid-validity",
            "--keyid-format",
            "long",
            "--list-keys",
        ],
        &["--list-options", "show-pref,show-unusable-uids", "--with-wkd-hash", "--list-keys"],
        &["--with-icao-spelling", "--list-keys"],
        &["--with-icao-spelling", "--keyid-format", "0xlong", "--fingerprint"],
        &["--with-key-screening", "--list-keys"],
        &["--with-key-screening", "--with-colons", "--list-keys"],
        &["--list-filter", "select=uid =~ nobody-has-this", "--list-keys"],
    ] {
        both.assert_same_output(options);
        both.assert_same_output(options.iter().chain([&key.as_str()]));
    }
}

#[test]
fn gpg_2_4_lists_that_a_key_is_disabled() {
    let both = Both::of_alice_and_bob_with(Gnupg::V2_4);
    both.run_of(true).args(["--trust-model", "pgp", "--check-trustdb"]).succeed();
    both.assert_same_status(["--quick-set-ownertrust", "bob", "disable"]);
    for options in [&["--list-keys"][..], &["--fingerprint", "--with-keygrip"], &["-K"]] {
        both.assert_same_output(options);
        both.assert_same_output([options, &["--list-filter", "select=disabled -t"]].concat());
    }
}

#[test]
fn gpg_2_4_exports_the_revocations_alone() {
    let key = OwnKey::new("Revoked <revoked@example.org>");
    let options = ["--export-options", "export-revocs", "--export"];
    // Without a trust database, which gpg does not make for "trust-model always", it ends with an error here.
    let homes = [(); 2].map(|()| Home::with_conf("no-auto-check-trustdb\n"));
    let both = Both::in_homes(homes).with(Gnupg::V2_4);
    let home = Home::new();
    both.import(home.write("certificate", key.certificate()));
    both.assert_same_status(options);
    both.import(home.write("revocation", key.revocation()));
    // gpg leaves out what its keybox does not say it has checked.
    let [_, exported] = both.run(options);
    let is_signature = matches!(exported.stdout.first(), Some(0x88 | 0x89 | 0xc2));
    assert!(is_signature && exported.stdout.len() > 60, "there is a revocation, and nothing else");
}

#[test]
fn gpg_2_4_sets_owner_trust_by_its_words() {
    let both = Both::of_alice_and_bob_with(Gnupg::V2_4);
    // The trust model of the homes makes no trust database.
    both.run_of(true).args(["--trust-model", "pgp", "--check-trustdb"]).succeed();
    for (name, value) in [
        ("bob", "full"),
        ("bob", "disable"),
        ("bob", "MARGINAL"),
        ("bob", "enable"),
        ("alice", "ultimate"),
        ("bob", "nonsense"),
        ("nobody", "full"),
    ] {
        both.assert_same_status(["--quick-set-ownertrust", name, value]);
        let [gpg, keyhoard] = both.run(["--export-ownertrust"]).map(|done| {
            let text = done.text();
            let mut lines: Vec<String> =
                text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        });
        assert_eq!(gpg, keyhoard, "{name} {value}");
    }
}

#[test]
fn gpg_2_4_reports_asserted_signers_and_algorithms() {
    let both = Both::of_alice_and_bob_with(Gnupg::V2_4);
    let secret = ["--pinentry-mode", "loopback", "--passphrase", "", "-u", "alice", "-b"];
    let signature = both.run_of(true).args(secret).stdin("text").succeed().stdout;
    let signature = both.gpg.write("text.sig", signature).to_string_lossy().into_owned();
    let text = both.gpg.write("text", "text").to_string_lossy().into_owned();
    let [listed, _] = both.run(["--with-colons", "--list-keys"]);
    let all = records(&listed.stdout);
    let fingerprints: Vec<String> =
        all.iter().filter(|record| record.kind() == "fpr").map(|record| record.text(10)).collect();
    let file = both.gpg.write("signers", format!("# ours\n\n{} alice\n", fingerprints[0].to_lowercase()));
    let file = file.to_string_lossy().into_owned();
    let bob = fingerprints.last().expect("a key").clone();
    for options in [
        &["--assert-signer", &fingerprints[0]][..],
        &["--assert-signer", &bob],
        &["--assert-signer", &file],
        &["--assert-pubkey-algo", "ed25519"],
        &["--assert-pubkey-algo", "rsa3072, >=ed25519"],
        &["--assert-pubkey-algo", ">rsa3072"],
        &["--proc-all-sigs"],
    ] {
        both.assert_same_status(options.iter().chain(&["--verify", &signature, &text]));
    }
}

#[test]
fn gpg_2_4_makes_the_key_that_gpg_makes_by_default() {
    for options in [&[][..], &["--no-auto-trust-new-key"]] {
        let both = Both::with_agent().with(Gnupg::V2_4).now("20260131T000000!");
        let made = [
            "--pinentry-mode",
            "loopback",
            "--passphrase",
            "",
            "--quick-generate-key",
            "New <new@example.org>",
        ];
        let [gpg, keyhoard] = both.run(options.iter().chain(&made));
        assert_eq!((gpg.code, keyhoard.code), (Some(0), Some(0)), "{}", keyhoard.errors());
        // The homes' gpg.conf lets gpg compute validity on request only.
        both.run(["--trust-model", "pgp", "--check-trustdb"]);
        let [gpg, keyhoard] =
            both.run(["--trust-model", "pgp", "--with-colons", "--list-sigs"]).map(|done| {
                let wanted = |kind: &str| matches!(kind, "pub" | "sub" | "uid" | "sig");
                let rows = |record: &harness::colons::Record<'_>| {
                    [2, 3, 4, 6, 7, 9, 11, 12, 16, 17].map(|field| record.text(field)).join(":")
                };
                records(&done.stdout)
                    .iter()
                    .filter(|record| wanted(record.kind()))
                    .map(rows)
                    .collect::<Vec<_>>()
            });
        assert_eq!(gpg, keyhoard, "{options:?}");
    }
}

#[test]
fn gpg_2_4_options_that_change_the_result_and_are_not_there_are_refused() {
    let home = Home::new();
    let options = ["--debug-ignore-expiration", "--list-keys"];
    let done = Run::gpg_keyhoard(&home).like(Gnupg::V2_4).args(options).output();
    assert_eq!(done.code, Some(2));
    assert!(
        done.errors().contains("--debug-ignore-expiration is refused: expired keys make no signatures"),
        "{}",
        done.errors()
    );
    let told = Run::gpg_keyhoard(&home).like(Gnupg::V2_4).args(["--use-keyboxd", "--list-keys"]).succeed();
    assert!(told.errors().contains("--use-keyboxd has no effect"), "{}", told.errors());
}

#[test]
fn gpg_2_4_becomes_the_user_that_chuid_names_and_says_why_it_cannot() {
    let both = Both::new().with(Gnupg::V2_4);
    let own_number = fs::metadata("/proc/self").expect("this process").uid().to_string();
    for user in ["no-such-user", "no\nuser", &own_number] {
        let [gpg, keyhoard] = both.run(["--chuid", user, "--list-keys"]);
        assert_eq!(gpg.code, keyhoard.code, "{user:?}: {}", keyhoard.errors());
        let said = |done: &Output| done.errors().lines().filter(|line| line.contains("not found")).count();
        assert_eq!(said(&gpg), said(&keyhoard), "{user:?}: {}", keyhoard.errors());
    }
    // Only the superuser becomes somebody else; nobody else may write to this home.
    let [gpg, keyhoard] = both.run(["--chuid", "nobody", "--import", "/etc/hostname"]);
    assert_eq!((gpg.code, keyhoard.code), (Some(2), Some(2)), "{}", keyhoard.errors());
    assert!(!both.keyhoard.has_database(), "{}", keyhoard.errors());
}

#[test]
fn gpg_2_4_keeps_nothing_of_the_user_that_it_was_before_chuid() {
    const NOBODY: u32 = 65534;
    let home = Home::new();
    if let Err(error) = chown(home.path(), Some(NOBODY), Some(NOBODY)) {
        let own = fs::metadata(home.path()).expect("it was made").uid();
        assert_ne!(own, 0, "the superuser cannot give a directory away: {error}");
        println!("not tested: only the superuser becomes another user");
        return;
    }
    let key =
        Both::of_alice_and_bob_with(Gnupg::V2_4).run_of(true).args(["--export", "alice"]).succeed().stdout;
    let file = home.write("key", key);
    let import =
        || Run::gpg_keyhoard(&home).like(Gnupg::V2_4).args(["--chuid", "nobody", "--import"]).arg(&file);
    fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("it is the test's own");
    let refused = import().output();
    assert_eq!(refused.code, Some(2), "the file is another user's");
    assert!(refused.errors().contains("Permission denied"), "{}", refused.errors());
    chown(&file, Some(0), Some(0)).expect("it is the test's own");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("it is the test's own");
    assert_eq!(import().output().code, Some(2), "the groups of the superuser are given up");
    chown(&file, Some(NOBODY), None).expect("it is the test's own");
    import().succeed();
    let made = fs::metadata(home.database()).expect("it was made");
    assert_eq!((made.uid(), made.gid()), (NOBODY, NOBODY));
}

#[test]
fn gpg_2_4_writes_the_time_before_messages_on_request() {
    let home = Home::new();
    Run::gpg_keyhoard(&home).arg("--import").arg(alice_and_bob()).succeed();
    let said =
        Run::gpg_keyhoard(&home).like(Gnupg::V2_4).args(["--log-time", "--list-keys", "nobody"]).output();
    let line = said.errors().lines().last().expect("a message").to_owned();
    assert!(line.ends_with(" gpg error reading key: No public key"), "{line}");
    assert!(line.as_bytes()[..4].iter().all(u8::is_ascii_digit), "{line}, {NOW}");
}

#[test]
fn gpg_2_4_reports_packets_that_do_not_belong_among_detached_signatures() {
    let both = Both::of_alice_and_bob_with(Gnupg::V2_4);
    let secret = ["--pinentry-mode", "loopback", "--passphrase", "", "-u", "alice", "-b"];
    let signature = both.run_of(true).args(secret).stdin("text").succeed().stdout;
    let text = both.gpg.write("text", "text").to_string_lossy().into_owned();
    let packet = |tag: u8, body: &[u8]| [&[0xc0 | tag, body.len() as u8], body].concat();
    for (name, packets) in [
        ("a marker", [packet(10, b"PGP"), signature.clone()]),
        ("a private packet", [signature.clone(), packet(60, b"ab")]),
        ("padding", [signature.clone(), packet(21, b"ab")]),
        ("trust", [signature.clone(), packet(12, b"ab")]),
    ] {
        let file = both.gpg.write("signatures", packets.concat()).to_string_lossy().into_owned();
        let words = ["--verify", &file, &text];
        both.assert_same_status(words);
        let [gpg, keyhoard] = both.run(words).map(|done| {
            let text = done.errors();
            text.lines().filter(|line| line.contains("not allowed in")).map(str::to_owned).collect::<Vec<_>>()
        });
        assert_eq!(keyhoard, gpg, "{name}");
    }
}

#[test]
fn gpg_reports_how_far_messages_are_read_on_request() {
    for gnupg in Gnupg::ALL {
        let both = Both::of_alice_and_bob_with(gnupg);
        let text = both.gpg.write("text", "a line\n".repeat(20_000)).to_string_lossy().into_owned();
        let secret = ["--pinentry-mode", "loopback", "--passphrase", "x", "--trust-model", "always"];
        let made = |words: &[&str]| both.run_of(true).args(secret).args(words).succeed().stdout;
        let message = both.gpg.write("message", made(&["-r", "alice", "-o", "-", "-e", &text]));
        let signature = both.gpg.write("signature", made(&["-u", "alice", "-o", "-", "-b", &text]));
        // gpg removes what it was writing when it fails, `/dev/null` too.
        let output = both.gpg.write("output", "");
        let [message, signature, output] =
            [message, signature, output].map(|file| file.to_string_lossy().into_owned());
        for words in [
            &["-r", "alice", "-e", &text][..],
            &["-c", &text],
            &["-u", "alice", "-s", &text],
            &["-u", "alice", "-b", &text],
            &["-d", &message],
            &["--verify", &signature, &text],
            &["-r", "alice", "-e"],
            &["--input-size-hint=5000000", "-r", "alice", "-e"],
            &["--input-size-hint=10", "--set-filesize", "20", "-u", "alice", "-b"],
            &["--input-size-hint=10", "-u", "alice", "-b", &text],
        ] {
            let common = ["--enable-progress-filter", "--status-fd", "2", "--yes", "-o", &output];
            let [gpg, keyhoard] = both.run(secret.iter().chain(&common).chain(words)).map(|done| {
                let lines = done.status_lines();
                let reported = lines.lines().filter(|line| line.contains("] PROGRESS "));
                reported.map(str::to_owned).collect::<Vec<_>>()
            });
            assert!(!gpg.is_empty(), "{words:?}");
            assert_eq!(keyhoard, gpg, "{words:?}");
        }
    }
}
