//! The end of a program's answers (`--command-fd`), beside the real gpg: whatever was asked for is cancelled.

use std::fs;

use harness::{Both, Gnupg, Home, Output, Run};

use crate::gpg_generate_key::same;

#[test]
fn where_the_answers_end_a_locked_key_signs_nothing_and_the_codes_are_gpgs() {
    const CANCELLED: &str = "33554531";
    let asked = ["--no-batch", "--no-tty", "--command-fd", "0", "--pinentry-mode", "loopback"];
    let make = ["--quick-generate-key", "Ann <ann@example.org>", "ed25519", "sign,cert", "never"];
    for gnupg in Gnupg::ALL {
        let both = Both::with_agent().with(gnupg);
        for gpg in [true, false] {
            both.run_of(gpg)
                .args(["--pinentry-mode", "loopback", "--passphrase", "abc"])
                .args(make)
                .succeed();
        }
        both.gpg.kill_agent();
        let both = both.now("20260201T000000!");
        let edit = ["--edit-key", "ann@example.org"];
        let commands: [(&str, &[&str], usize); 4] = [
            ("", &["--quick-add-uid", "ann@example.org", "Bob"], 1),
            ("adduid\nDora Dora\n\n\n", &edit, 1),
            ("addkey\n4\n2048\n0\n", &edit, usize::from(gnupg == Gnupg::V2_4)),
            ("expire\n1y\n", &edit, 0),
        ];
        for (answers, command, count) in commands {
            let [_, cancelled] = same(&both, answers, &[&asked[..], command].concat());
            let lines = cancelled.status_lines();
            assert_eq!(lines.matches(CANCELLED).count(), count, "{gnupg:?} {command:?}: {lines}");
        }
        // The exit code differs: gpg ends with 0.
        let passwd = [&asked[..], &["--status-fd", "2", "--passwd", "ann@example.org"]].concat();
        for done in both.run_with_answers("", &passwd) {
            let lines = done.status_lines();
            assert!(lines.contains(&format!("ERROR keyedit.passwd {CANCELLED}")), "{gnupg:?}: {lines}");
        }
    }
}

#[test]
fn the_end_of_the_answers_is_no_passphrase() {
    let parameters = "Key-Type: EDDSA\nKey-Curve: Ed25519\nName-Real: Ann\n%commit\n";
    for gnupg in Gnupg::ALL {
        let both = Both::with_agent().with(gnupg);
        let file = both.gpg.write("parameters", parameters);
        let file = file.to_str().expect("the test's own name");
        let words = ["--command-fd", "0", "--pinentry-mode", "loopback"];
        let run = |answers, command: &[&str]| same(&both, answers, &[&words[..], command].concat());
        // A line without its end is none.
        for answers in ["", "abc"] {
            let cancelled = run(answers, &["--batch", "--generate-key", file]);
            let told = cancelled[1].errors();
            let failures = |text: &str| -> Vec<String> {
                text.lines().filter(|line| line.contains("failed: ")).map(str::to_owned).collect()
            };
            assert_eq!(failures(&told), failures(&cancelled[0].errors()));
            assert_eq!(failures(&told).len(), 2, "{told}");
            run(answers, &["--batch", "--quick-generate-key", "Bob", "ed25519", "cert", "never"]);
        }
        assert_eq!(run("abc\n", &["--batch", "--generate-key", file])[1].code, Some(0));
        both.gpg.kill_agent();
        for answers in ["", "abc", "abc\n"] {
            let signed = [true, false].map(|gpg| {
                let sign = both.run_of(gpg).args(words).args(["--status-fd", "2", "-o", "-", "-s", file]);
                let done = sign.stdin(answers).output();
                let failure =
                    done.errors().lines().find(|line| line.contains("FAILURE sign")).map(str::to_owned);
                (done.code, failure)
            });
            assert_eq!(signed[0], signed[1], "{gnupg:?} {answers:?}");
            assert_eq!(signed[1].0 == Some(0), answers == "abc\n");
        }
    }
}

#[test]
fn the_passphrase_of_a_message_is_cancelled_missing_or_wrong_as_in_gpg() {
    const ASKED: [&str; 7] =
        ["--no-batch", "--no-tty", "--no-symkey-cache", "--pinentry-mode", "loopback", "--command-fd", "0"];
    const GIVEN: [&str; 5] = ["--no-symkey-cache", "--pinentry-mode", "loopback", "--passphrase-fd", "0"];
    // gpg 2.4 does not end a line before its status line.
    const UNENDED: &str = "gpg: gcry_kdf_derive failed: Invalid data[GNUPG:] MISSING_PASSPHRASE\n\n";
    const ENDED: &str = "[GNUPG:] MISSING_PASSPHRASE\ngpg: gcry_kdf_derive failed: Invalid data\n";
    let mut compared = 0;
    for gnupg in Gnupg::ALL {
        let both = Both::with_agent().with(gnupg);
        let file = both.gpg.write("text", "a text\n");
        let file = file.to_str().expect("the test's own name");
        let message = both.run_of(true).args(GIVEN).args(["-o", "-", "-c", file]).stdin("abc\n").succeed();
        let message = both.gpg.write("message", message.stdout);
        let message = message.to_str().expect("the test's own name");
        for options in [&ASKED[..], &GIVEN] {
            for answers in ["", "abc", "\n", "x\n", "abc\n"] {
                for words in [&["-d", message][..], &["-o", "-", "-c", file]] {
                    let [gpg, keyhoard] = [true, false].map(|gpg| {
                        let run = both.run_of(gpg).args(options).args(["--status-fd", "2"]).args(words);
                        let done = run.stdin(answers).output();
                        (done.code, done.errors().replace(UNENDED, ENDED))
                    });
                    assert_eq!(gpg, keyhoard, "{gnupg:?} {options:?} {answers:?} {words:?}");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, 40);
}

#[test]
fn a_signature_that_is_cancelled_was_begun_and_fails_as_in_gpg() {
    let asked = ["--no-batch", "--no-tty", "--command-fd", "0", "--pinentry-mode", "loopback"];
    let given = ["--pinentry-mode", "loopback", "--passphrase-fd", "0"];
    let (cancelled, refused) = (["--pinentry-mode", "cancel"], ["--pinentry-mode", "error"]);
    let mut compared = 0;
    for gnupg in Gnupg::ALL {
        let both = Both::with_agent().with(gnupg).now("20260201T000000!");
        let gpg = |passphrase: &str, words: &[&str]| {
            let options = ["--pinentry-mode", "loopback", "--passphrase", passphrase];
            both.run_of(true).args(options).args(words).succeed().stdout
        };
        gpg("abc", &["--quick-generate-key", "ann@example.org", "ed25519", "sign,cert", "never"]);
        gpg("", &["--quick-generate-key", "bob@example.org", "future-default", "default", "never"]);
        let keys = gpg("abc", &["--export-secret-keys"]);
        // With the agent's keys, too.
        let of_agent = Home::new();
        let copied = of_agent.path().join("private-keys-v1.d");
        fs::create_dir(&copied).expect("a new directory");
        for entry in fs::read_dir(both.gpg.path().join("private-keys-v1.d")).expect("keys").flatten() {
            fs::copy(entry.path(), copied.join(entry.file_name())).expect("enough space");
        }
        let ours = |home: &Home| Run::gpg_keyhoard(home).like(gnupg).at(both.clock());
        ours(&both.keyhoard).args(given).arg("--import").stdin([&b"abc\n"[..], &keys].concat()).succeed();
        ours(&of_agent).arg("--import").stdin(gpg("", &["--export"])).succeed();
        let file = both.gpg.write("text", "a text\n");
        let file = file.to_str().expect("the test's own name");
        for (options, answers) in
            [(&asked[..], ""), (&asked, "abc"), (&given, "x\n"), (&cancelled, ""), (&refused, "")]
        {
            for words in [
                &["-s"][..],
                &["-b"],
                &["--clear-sign"],
                &["-u", "ann@example.org", "-u", "bob@example.org", "-b"],
                &["-r", "bob@example.org", "-s", "-e"],
                &["--force-mdc", "-r", "bob@example.org", "-s", "-e", "-c"],
            ] {
                both.gpg.kill_agent();
                of_agent.kill_agent();
                let told =
                    [both.run_of(true), ours(&both.keyhoard), ours(&of_agent).with_agent()].map(|run| {
                        let output = both.gpg.path().join("output");
                        let run = run.args(["--trust-model", "always", "--no-symkey-cache"]).args(options);
                        let run = run.args(["--status-fd", "2", "-o"]).arg(&output).args(words).arg(file);
                        let done = run.stdin(answers).output();
                        assert!(!output.exists(), "{gnupg:?} {options:?} {words:?}: {}", done.errors());
                        (done.code, of_signing(&done))
                    });
                assert_eq!(told[0], told[1], "{gnupg:?} {options:?} {words:?}: in files");
                assert_eq!(told[0], told[2], "{gnupg:?} {options:?} {words:?}: in the agent");
                assert!(told[0].1.contains("FAILURE sign"), "{}", told[0].1);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 60);
}

/// Returns what a program says, but for the keys that it considered and what the agent asked.
fn of_signing(done: &Output) -> String {
    const OTHERS: [&str; 3] = ["] KEY_CONSIDERED ", "] PINENTRY_LAUNCHED ", "] FAILURE gpg-exit"];
    let errors = done.errors();
    let lines = errors.lines().filter(|line| !OTHERS.iter().any(|other| line.contains(other)));
    lines.map(|line| format!("{line}\n")).collect()
}
