//! Commands of gpg that need a few lines each, beside the real gpg: `--store`, `--gen-random`, `--export-ssh-key`,
//! `--generate-designated-revocation`; and what wrong descriptors and files are reported as.

use harness::{Both, Gnupg, Output, Run, assert_same};

const PROGRAM: [&str; 8] =
    ["--pinentry-mode", "loopback", "--passphrase", "", "--status-fd", "2", "--command-fd", "0"];

fn exits(done: &[Output; 2]) -> [Option<i32>; 2] {
    done.each_ref().map(|done| done.code)
}

#[test]
fn a_stored_message_is_read_by_both() {
    let both = Both::with_agent();
    for gpg in [true, false] {
        let stored = both.run_of(gpg).args(["--store", "-o", "-"]).stdin("a text\n").output();
        assert_eq!(stored.code, Some(0), "{}", stored.errors());
        let file = both.gpg.write("stored", &stored.stdout);
        for other in [true, false] {
            let read = both.run_of(other).arg("-d").arg(&file).output();
            assert_same("--store", b"a text\n", &read.stdout);
        }
    }
}

#[test]
fn without_a_daemon_for_cards_there_is_no_card_support() {
    let none = ["disable-scdaemon\n", "scdaemon-program /nonexistent\n"];
    for (gnupg, configuration) in Gnupg::ALL.into_iter().flat_map(|gnupg| none.map(|none| (gnupg, none))) {
        let both = Both::with_agent().with(gnupg);
        both.gpg.write("gpg-agent.conf", configuration);
        for command in [&["--card-status"][..], &["--with-colons", "--card-status"], &["--change-pin"]] {
            let words = || ["--status-fd", "2", "--command-fd", "0"].iter().chain(command);
            let [gpg, ours] = [
                Run::gpg_of_with_agent(gnupg, &both.gpg),
                Run::gpg_keyhoard(&both.gpg).like(gnupg).with_agent(),
            ]
            .map(|run| run.args(words()).output());
            let what = format!("{gnupg:?} {configuration} {command:?}");
            assert!(gpg.status_lines().contains("CARDCTRL 6"), "{what}: {}", gpg.errors());
            assert_same(&what, gpg.status_lines().as_bytes(), ours.status_lines().as_bytes());
            assert_same(&what, &gpg.stdout, &ours.stdout);
            assert_eq!(gpg.code, ours.code, "{what}: {}", ours.errors());
        }
    }
}

#[test]
fn random_bytes_are_as_many_as_asked_for() {
    let both = Both::new();
    for (words, length) in [(["--gen-random", "0", "200"], 200), (["--gen-random", "2", "1"], 1)] {
        for done in both.run(words) {
            assert_eq!((done.code, done.stdout.len()), (Some(0), length));
        }
        let armored = ["--armor"].iter().chain(&words).copied().collect::<Vec<_>>();
        let [gpg, keyhoard] = both.run(armored).map(|done| done.stdout.len());
        assert_eq!(gpg, keyhoard);
    }
    assert_eq!(exits(&both.run(["--gen-random", "3", "1"])), [Some(2), Some(2)]);
    assert_eq!(exits(&both.run(["--gen-prime", "1", "100"])), [Some(2), Some(2)]);
    assert_eq!(exits(&both.run(["--rebuild-keydb-caches"])), [Some(0), Some(0)]);
}

#[test]
fn keys_for_authentication_are_written_as_openssh_writes_them() {
    let mut both = Both::of_alice_and_bob();
    for key in ["0D877A59B81A5B94!", "bob", "6CE68E4314718A26!", "79E19554CB62E173!", "nobody"] {
        let [gpg, keyhoard] = both.run(["--export-ssh-key", key]);
        assert_same(key, &gpg.stdout, &keyhoard.stdout);
        assert_eq!(gpg.code, keyhoard.code, "{key}: {}", keyhoard.errors());
    }
    both = both.now("20260201T000000!");
    let arguments: Vec<&str> = PROGRAM.iter().chain(&["--edit-key", "alice"]).copied().collect();
    both.run_with_answers("key 1\nchange-usage\n=a\nsave\n", arguments);
    both.assert_same_output(["--export-ssh-key", "alice"]);
}

#[test]
fn a_designated_revoker_revokes() {
    let mut both = Both::of_alice_and_bob().now("20260201T000000!");
    let named: Vec<&str> = PROGRAM.iter().chain(&["--edit-key", "alice"]).copied().collect();
    both.run_with_answers("addrevoker\nbob\ny\nsave\n", named);
    both = both.now("20260202T000000!");
    let words = ["--no-batch", "--no-tty", "--generate-designated-revocation", "alice"];
    let arguments: Vec<&str> = PROGRAM.iter().chain(&words).copied().collect();
    let [gpg, keyhoard] = both.run_with_answers("y\n1\nlost\n\ny\n", arguments);
    assert_eq!((gpg.code, keyhoard.code), (Some(0), Some(0)), "{}", keyhoard.errors());
    // gpg adds a user ID at the end.
    let text = keyhoard.text();
    let ours = text.split("\n=").next().unwrap_or_default();
    assert!(ours.len() > 500 && gpg.text().starts_with(ours), "{text}");
    let file = both.gpg.write("revocation.asc", &gpg.stdout);
    both.run_of(false).arg("--import").arg(&file).output();
    let listed =
        Run::gpg_keyhoard(&both.keyhoard).at("20260203T000000!").args(["--list-keys", "alice"]).output();
    assert!(String::from_utf8_lossy(&listed.stdout).contains("revoked"), "{}", listed.errors());
}

#[test]
fn descriptors_that_are_not_open_and_files_that_cannot_be_are_told_with_the_systems_code() {
    let both = Both::new();
    for option in ["--command-fd", "--override-session-key-fd"] {
        let [gpg, keyhoard] = both.run(["--status-fd", "2", option, "99", "--list-keys"]);
        assert_same(option, gpg.status_lines().as_bytes(), keyhoard.status_lines().as_bytes());
        assert_eq!(gpg.code, keyhoard.code);
    }
    for file in ["/dev/null/foo", "/nonexistent/foo"] {
        let words = [
            "--yes",
            "--status-fd",
            "2",
            "--passphrase",
            "x",
            "--pinentry-mode",
            "loopback",
            "-o",
            file,
            "-c",
        ];
        let [gpg, keyhoard] = [true, false].map(|gpg| both.run_of(gpg).args(words).stdin("x").output());
        let failure = |done: &Output| {
            let lines = done.status_lines();
            lines.lines().find(|line| line.contains("FAILURE")).map(str::to_owned)
        };
        assert_eq!(failure(&gpg), failure(&keyhoard), "{file}");
    }
}

#[test]
fn a_log_on_standard_error_is_stamped() {
    for gnupg in Gnupg::ALL {
        for done in Both::new().with(gnupg).run(["--log-file", "-", "--list-keys", "nobody"]) {
            let errors = done.errors();
            let line =
                errors.lines().find(|line| line.contains("error reading key")).unwrap_or_default().to_owned();
            assert!(line.starts_with("20") && line.contains(" gpg["), "{errors}");
        }
    }
}

#[test]
fn a_log_file_stands_in_the_working_directory_and_2_4_writes_it_without_batch_too() {
    for (gnupg, words, is_written) in [
        (Gnupg::V2_2, &["--batch"][..], true),
        (Gnupg::V2_2, &["--no-batch"], false),
        (Gnupg::V2_4, &["--batch"], true),
        (Gnupg::V2_4, &["--no-batch"], true),
    ] {
        let both = Both::new().with(gnupg);
        for (gpg, home) in [(true, &both.gpg), (false, &both.keyhoard)] {
            let directory = home.path().join("work");
            std::fs::create_dir(&directory).expect("a new directory");
            let run = both.run_of(gpg).current_dir(&directory).args(words);
            let done = run.args(["--log-file", "log", "--list-keys", "nobody"]).output();
            let log = std::fs::read_to_string(directory.join("log")).unwrap_or_default();
            assert_eq!(log.contains("error reading key"), is_written, "{gnupg:?} {words:?}: {log}");
            assert_eq!(done.errors().contains("error reading key"), !is_written, "{gnupg:?} {words:?}");
        }
    }
}
