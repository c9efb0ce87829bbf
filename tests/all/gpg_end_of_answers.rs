//! The end of a program's answers (`--command-fd`), beside the real gpg: whatever was asked for is cancelled.

use harness::{Both, Gnupg};

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
