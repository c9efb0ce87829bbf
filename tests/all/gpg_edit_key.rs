//! `--edit-key` beside the real gpg: with the same answers both ask the same questions, write the same status lines and
//! records, and make the same packets, since Ed25519 and RSA leave no choice.

use std::collections::BTreeSet;

use harness::{Both, Gnupg, Output, Run, Terminal, assert_same, mask};

const ALICE: &str = "51533D3D0D28361643870CC6356E432296C42478";
const BOB: &str = "F40E36336BCA57689109B8336CE68E4314718A26";

/// What makes a program answer all questions, on keys without a passphrase.
const PROGRAM: [&str; 8] =
    ["--pinentry-mode", "loopback", "--passphrase", "", "--status-fd", "2", "--command-fd", "0"];

/// One run: the clock, the words after the options, and the answers.
struct Step {
    now: &'static str,
    words: &'static [&'static str],
    answers: &'static str,
}

const fn step(now: &'static str, words: &'static [&'static str], answers: &'static str) -> Step {
    Step { now, words, answers }
}

/// Runs the steps beside each of gpg's versions, and asserts after each that both have said the same and have the same packets.
fn same(steps: &[Step]) {
    Gnupg::ALL.into_iter().for_each(|gnupg| same_in(Both::of_alice_and_bob_with(gnupg), steps));
}

fn same_in(mut both: Both, steps: &[Step]) {
    for Step { now, words, answers } in steps {
        both = both.now(now);
        let arguments: Vec<&str> = PROGRAM.iter().chain(*words).copied().collect();
        let [gpg, keyhoard] = both.run_with_answers(answers, arguments);
        let what = format!("{} with {answers:?}", words.join(" "));
        let [expected, found] = [&gpg, &keyhoard].map(|done| statuses(done, &[]));
        assert_same(&what, expected.as_bytes(), found.as_bytes());
        assert_same(&what, &mask(&gpg.stdout, &both.gpg), &mask(&keyhoard.stdout, &both.keyhoard));
        assert_eq!(gpg.code, keyhoard.code, "{what}: {}", keyhoard.errors());
        same_packets(&both, &what);
    }
}

/// The status lines that count: which keys gpg looks up on the way is its own affair.
fn statuses(done: &Output, ignored: &[&str]) -> String {
    const OWN: [&str; 4] = ["KEY_CONSIDERED", "KEYEXPIRED", "INQUIRE_MAXLEN", "PINENTRY_LAUNCHED"];
    let counts = |line: &&str| {
        line.split(' ').nth(1).is_none_or(|keyword| !OWN.contains(&keyword) && !ignored.contains(&keyword))
    };
    done.status_lines().split_inclusive('\n').filter(counts).collect()
}

/// The packets of a home, each with the component it stands under.
fn packets(export: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    for certificate in harness::packets::certificates(export) {
        for component in harness::packets::components(&certificate) {
            let name = component.body;
            found.insert(name.to_vec());
            found.extend(component.signatures.iter().map(|signature| [name, b"\0", signature].concat()));
        }
    }
    found
}

/// Asserts that both homes have the same user IDs, keys and signatures.
fn same_packets(both: &Both, what: &str) {
    let export = ["--export-options", "export-local-sigs", "--export"];
    let [gpg, keyhoard] = both.run(export).map(|done| packets(&done.stdout));
    assert!(gpg.len() > 4, "gpg exports its signatures");
    assert_eq!(gpg.difference(&keyhoard).count(), 0, "{what}: packets are missing");
    assert_eq!(keyhoard.difference(&gpg).count(), 0, "{what}: what gpg replaced is still here");
    // What a trust database says of itself does not count: there is none here.
    let [gpg, keyhoard] = both.run(["--with-colons", "--list-keys"]).map(|done| {
        let text = done.text();
        text.split_inclusive('\n').filter(|line| !line.starts_with("tru:")).collect::<String>()
    });
    assert_same(what, gpg.as_bytes(), keyhoard.as_bytes());
}

/// Lets gpg make the trust database that it stores owner trust in; the trust model of the homes makes none.
fn with_trust_database(both: Both) -> Both {
    both.run_of(true).args(["--trust-model", "pgp", "--check-trustdb"]).succeed();
    both
}

#[test]
fn a_key_is_shown_and_its_parts_are_selected() {
    same(&[
        step(
            "20260201T000000!",
            &["--edit-key", "alice"],
            "list\nuid 1\nkey 1\n2\nuid *\nkey *\nuid 0\nkey 0\nquit\n",
        ),
        step(
            "20260201T000000!",
            &["--with-colons", "--edit-key", ALICE],
            "uid 2\nuid 7\nuid *\nkey 1\n1\nquit\n",
        ),
        step(
            "20260201T000000!",
            &["--with-colons", "--edit-key", BOB],
            "fpr\ngrip\npref\nshowpref\ncheck\nq\n",
        ),
        step(
            "20260201T000000!",
            &["--with-colons", "--edit-key", "alice"],
            "key 0D877A59B81A5B94\nkey 12345678\nhelp\n# no command\nfoo\nQUIT\n",
        ),
        step("20260201T000000!", &["--edit-key", "nobody"], ""),
        step("20260201T000000!", &["--edit-key", "alice", "uid 1", "list"], ""),
    ]);
}

#[test]
fn user_ids_come_and_go() {
    same(&[
        step(
            "20260201T000000!",
            &["--with-colons", "--edit-key", "alice"],
            "adduid\nNew Alice\nnew@example.org\nwork\nsave\n",
        ),
        step(
            "20260202T000000!",
            &["--with-colons", "--edit-key", "alice"],
            "adduid\nNew Alice\nnew@example.org\nwork\nquit\n",
        ),
        step("20260203T000000!", &["--with-colons", "--edit-key", "alice"], "uid 2\nprimary\nsave\n"),
        step(
            "20260204T000000!",
            &["--with-colons", "--edit-key", "alice"],
            "uid 3\nrevuid\ny\n4\ngone\n\ny\nquit\ny\n",
        ),
        step(
            "20260205T000000!",
            &["--with-colons", "--edit-key", "alice"],
            "deluid\nuid 2\ndeluid\ny\nsave\n",
        ),
        step(
            "20260206T000000!",
            &["--with-colons", "--edit-key", "bob"],
            "uid 1\ndeluid\nrevuid\ny\n0\n\ny\nquit\nn\n",
        ),
    ]);
}

#[test]
fn subkeys_end_and_are_revoked_and_removed() {
    same(&[
        step("20260201T000000!", &["--edit-key", "alice"], "expire\n3y\nsave\n"),
        step("20260202T000000!", &["--edit-key", "alice"], "key 1\nexpire\nnever\nkey 2\nquit\ny\n"),
        step(
            "20260203T000000!",
            &["--edit-key", "alice", "key 2", "revkey", "save"],
            "y\n3\nold\nvery\n\ny\n",
        ),
        step(
            "20260204T000000!",
            &["--with-colons", "--edit-key", "alice"],
            "delkey\nkey 2\ndelkey\ny\nsave\n",
        ),
        step("20260205T000000!", &["--edit-key", "bob"], "change-usage\na\nq\ncross-certify\nsave\n"),
        step("20260206T000000!", &["--edit-key", "alice"], "key 1\nchange-usage\n=a\nsave\n"),
        step("20260207T000000!", &["--edit-key", "bob"], "revkey\ny\n1\n\nn\n2\n\ny\nsave\n"),
    ]);
}

#[test]
fn a_new_subkey_is_told_and_bound() {
    let both = Both::of_alice_and_bob().now("20260201T000000!");
    let arguments: Vec<&str> = PROGRAM.iter().chain(&["--expert", "--edit-key", "alice"]).copied().collect();
    let runs = both.run_with_answers("addkey\n1\n10\n1\n1y\naddkey\n12\n1\n0\nsave\n", arguments);
    let [gpg, keyhoard] = runs.each_ref().map(|done| {
        assert_eq!(done.code, Some(0), "{}", done.errors());
        let words = |line: &str| line.split(' ').take(3).collect::<Vec<_>>().join(" ");
        statuses(done, &["PROGRESS"]).lines().map(words).collect::<Vec<_>>()
    });
    assert_eq!(gpg, keyhoard);
    let [gpg, keyhoard] = both.run(["--list-keys", "alice"]).map(|done| {
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        text.lines().filter(|line| line.starts_with("sub")).map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(gpg, keyhoard);
    assert_eq!(gpg.len(), 4);
}

/// The keygrips of Alice's primary key and of Bob's.
const ALICE_GRIP: &str = "3894C3C87F7D6428F9FF4DE171FD26F39E2AB46F";
const BOB_GRIP: &str = "EE1896F6DFB4A0ED04A6C4ED4FEDAEB1CF3583C7";

#[test]
fn an_existing_key_becomes_a_subkey_whether_it_is_in_the_certificate_or_not() {
    const EXPERT: [&str; 3] = ["--expert", "--edit-key", "alice"];
    for gnupg in Gnupg::ALL {
        let mut both = Both::of_alice_and_bob_with(gnupg);
        let nobody = "0".repeat(40);
        for (day, answers) in [
            // No keygrip, one of no key, Bob's.
            ("20260201", format!("addkey\n13\n\nfoo\n{nobody}\n{BOB_GRIP}\nq\n0\nsave\n")),
            // Once more, and the primary key's own.
            ("20260202", format!("addkey\nkeygrip\n&{BOB_GRIP}\n=e\n1y\nsave\n")),
            ("20260203", format!("addkey\n13\n{}\na\nq\n2w\nsave\n", ALICE_GRIP.to_lowercase())),
            ("20260204", format!("addkey\n13\n{ALICE_GRIP}\nq\n0\nquit\nn\ny\n")),
        ] {
            let now = format!("{day}T000000!");
            both = both.now(&now);
            let arguments: Vec<&str> = PROGRAM.iter().chain(&EXPERT).copied().collect();
            let [gpg, keyhoard] = both.run_with_answers(&answers, arguments);
            let [expected, found] = [&gpg, &keyhoard].map(|done| statuses(done, &[]));
            assert_same(&answers, expected.as_bytes(), found.as_bytes());
            assert!(found.contains("KEY_CREATED S "), "{found}");
            assert_eq!((gpg.code, keyhoard.code), (Some(0), Some(0)), "{}", keyhoard.errors());
            same_packets(&both, &answers);
        }
        let listed = both.run(["--with-colons", "--list-secret-keys", "alice"]).map(|done| {
            let text = done.text();
            let counts = |line: &&str| ["ssb:", "fpr:", "grp:"].iter().any(|kind| line.starts_with(kind));
            text.lines().filter(counts).map(|line| line.to_owned() + "\n").collect::<String>()
        });
        assert_same("secret keys", listed[0].as_bytes(), listed[1].as_bytes());
    }
}

#[test]
fn an_existing_key_is_offered_to_experts_only_and_one_of_a_card_to_everybody() {
    for gnupg in Gnupg::ALL {
        for (options, answers) in [
            (&["--edit-key", "bob"][..], "addkey\n13\nkeygrip\nfoo\n6\n"),
            // There is no card: the kind is asked for again.
            (&["--edit-key", "bob"], "addkey\n14\ncardkey\n6\n"),
            (&["--expert", "--edit-key", "bob"], "addkey\n14\n13\n"),
        ] {
            let both = Both::of_alice_and_bob_with(gnupg);
            let arguments: Vec<&str> = PROGRAM.iter().chain(options).copied().collect();
            // Where the answers end, gpg goes on for some questions.
            let asked = answers.lines().count() + 1;
            let [gpg, keyhoard] = both.run_with_answers(answers, arguments).map(|done| {
                let told = statuses(&done, &[]);
                let questions = told.split_inclusive('\n').filter(|line| line.contains("GET_LINE"));
                questions.take(asked).collect::<String>()
            });
            assert_same(answers, gpg.as_bytes(), keyhoard.as_bytes());
            assert!(gpg.matches("GET_LINE keygen.").count() > 2, "{gpg}");
        }
    }
}

#[test]
fn a_key_that_is_a_subkey_already_is_bound_once_more_if_it_is_added_in_the_second_of_its_making() {
    // gpg has the same packet twice then.
    let both = Both::of_alice_and_bob().now("20260201T000000!");
    for _ in 0..2 {
        let run = both.run_of(false).args(PROGRAM).args(["--expert", "--edit-key", "alice"]);
        run.stdin(format!("addkey\n13\n{BOB_GRIP}\n=e\n0\nsave\n")).succeed();
    }
    let listed = both.run_of(false).args(["--with-colons", "--list-keys", "alice"]).succeed().text();
    assert_eq!(listed.lines().filter(|line| line.starts_with("sub:")).count(), 3, "{listed}");
}

#[test]
fn certifications_are_made_after_questions() {
    same(&[
        step("20260201T000000!", &["-u", "bob", "--edit-key", "alice"], "sign\nn\nquit\n"),
        step(
            "20260202T000000!",
            &["-u", "bob", "--ask-cert-level", "--no-batch", "--no-tty", "--edit-key", "alice"],
            "uid 1\nsign\n7\n2\nn\nsign\n3\ny\nsave\n",
        ),
        step("20260203T000000!", &["-u", "bob", "--edit-key", "alice"], "uid 2\nlsign\ny\nsave\n"),
        step("20260204T000000!", &["-u", "bob", "--edit-key", "alice"], "uid 2\nsign\ny\ny\nsave\n"),
        step("20260205T000000!", &["-u", "alice", "--edit-key", "bob"], "tnrsign\nsave\n"),
        step(
            "20260206T000000!",
            &["-u", "alice", "--expert", "--edit-key", "bob"],
            "ltsign\ny\n3\n1\n0\n2\nexample.org\ny\nxsign\nsave\n",
        ),
        step("20260207T000000!", &["-u", "alice", "--yes", "--edit-key", "alice"], "uid 1\nsign\nsave\n"),
        step(
            "20260208T000000!",
            &["-u", "bob", "--ask-cert-expire", "--force-sign-key", "--edit-key", "alice"],
            "uid 1\nsign\nn\n2w\ny\nsave\n",
        ),
    ]);
}

#[test]
fn a_key_is_certified_by_one_command() {
    same(&[
        step("20260201T000000!", &["-u", "bob", "--lsign-key", "alice"], "y\ny\n"),
        step("20260202T000000!", &["-u", "bob", "--sign-key", "alice"], "y\ny\ny\ny\n"),
        step("20260203T000000!", &["-u", "bob", "--sign-key", "nobody"], ""),
    ]);
}

#[test]
fn certifications_are_revoked_and_signatures_removed() {
    same(&[
        step("20260201T000000!", &["--edit-key", "bob"], "revsig\nn\ny\ny\n4\nno more\n\ny\nsave\n"),
        step("20260202T000000!", &["--with-colons", "--edit-key", "bob"], "revsig\nn\nn\nquit\n"),
        step("20260204T000000!", &["--edit-key", "bob", "clean", "save"], ""),
        step("20260205T000000!", &["--edit-key", "bob", "minimize", "save"], ""),
        step("20260206T000000!", &["--edit-key", "alice", "uid 1", "minimize", "save"], ""),
    ]);
}

#[test]
fn signatures_are_removed_one_by_one() {
    same(&[
        step(
            "20260201T000000!",
            &["--with-colons", "--edit-key", "bob"],
            "delsig\nuid 1\ndelsig\nn\nn\ndelsig\ny\nn\ny\nsave\n",
        ),
        step("20260202T000000!", &["--with-colons", "--edit-key", "bob"], "uid 1\ndelsig\nn\nquit\n"),
    ]);
}

#[test]
fn preferences_keyservers_and_notations_are_set() {
    same(&[
        step(
            "20260201T000000!",
            &["--with-colons", "--edit-key", "alice"],
            "uid 1\nsetpref AES256 SHA512 ZLIB no-mdc ks-modify\ny\nsave\n",
        ),
        step(
            "20260202T000000!",
            &["--with-colons", "--edit-key", "alice"],
            "setpref\nn\nsetpref S9 foo\nn\nquit\n",
        ),
        step(
            "20260203T000000!",
            &["--edit-key", "alice"],
            "uid 1\nkeyserver hkps://keys.example.org\nkeyserver none\nn\nsave\n",
        ),
        step(
            "20260204T000000!",
            &["--edit-key", "alice"],
            "uid 1\nkeyserver\nkeys\nkeyserver\nhttps://other.example.org\ny\nsave\n",
        ),
        step("20260205T000000!", &["--edit-key", "bob"], "notation a@example.org=one\nsave\n"),
        step("20260206T000000!", &["--edit-key", "bob"], "notation\nb@example.org=two\nsave\n"),
        step(
            "20260207T000000!",
            &["--edit-key", "bob"],
            "notation -a@example.org\nn\nnotation -a@example.org\ny\nsave\n",
        ),
        step("20260208T000000!", &["--edit-key", "bob"], "notation b@example.org=two\nsave\n"),
        step("20260208T010000!", &["--edit-key", "bob"], "notation none\ny\nsave\n"),
        step("20260209T000000!", &["--edit-key", "bob", "setpref", "save"], "y\n"),
    ]);
}

#[test]
fn owner_trust_is_set_at_once() {
    let steps = [
        step("20260201T000000!", &["--edit-key", "alice"], "trust\n7\n5\nn\n5\ny\nquit\n"),
        step("20260202T000000!", &["--with-colons", "--edit-key", "alice"], "trust\nm\nquit\n"),
        step("20260203T000000!", &["--with-colons", "--edit-key", "bob"], "disable\nlist\ntrust\n4\nquit\n"),
        step("20260204T000000!", &["--edit-key", "bob", "enable", "quit"], ""),
    ];
    for gnupg in Gnupg::ALL {
        same_in(with_trust_database(Both::of_alice_and_bob_with(gnupg)), &steps);
    }
}

#[test]
fn a_designated_revoker_is_named() {
    same(&[
        step(
            "20260201T000000!",
            &["--edit-key", "alice"],
            "addrevoker\nnobody\nalice\nbob\nn\nbob\ny\nsave\n",
        ),
        step("20260202T000000!", &["--with-colons", "--edit-key", "alice"], "addrevoker\nbob\n\n\nquit\n"),
        step(
            "20260203T000000!",
            &["--with-colons", "--edit-key", "bob"],
            "addrevoker sensitive\nalice\ny\nsave\n",
        ),
    ]);
}

#[test]
fn photographs_are_added_and_revoked() {
    let both = Both::of_alice_and_bob();
    let photograph = both.gpg.write("alice.jpg", [&[0xff, 0xd8][..], &[7; 300]].concat());
    let text = both.gpg.write("alice.txt", b"no picture");
    let add = format!("addphoto {}\n{}\nsave\n", text.display(), photograph.display());
    let mut both = both.now("20260201T000000!");
    let colons = &["--with-colons", "--edit-key", "alice"][..];
    for (now, words, answers) in [
        ("20260201T000000!", colons, add.as_str()),
        // Without the record of a user ID that was revoked in this session: gpg still shows its preferences.
        ("20260202T000000!", &["--edit-key", "alice"][..], "uid 4\nrevuid\ny\n4\n\ny\nsave\n"),
        ("20260203T000000!", colons, "addphoto\n\nshowphoto\nexpire\n1y\nsave\n"),
    ] {
        both = both.now(now);
        let arguments: Vec<&str> = PROGRAM.iter().chain(words).copied().collect();
        let [gpg, keyhoard] = both.run_with_answers(answers, arguments);
        let [expected, found] = [&gpg, &keyhoard].map(|done| statuses(done, &[]));
        assert_same(answers, expected.as_bytes(), found.as_bytes());
        assert_same(answers, &gpg.stdout, &keyhoard.stdout);
        same_packets(&both, answers);
    }
}

#[test]
fn commands_that_need_a_secret_key_say_so() {
    same(&[
        step("20260201T000000!", &["--edit-key", "alice", "bogus", "save"], ""),
        step("20260201T000000!", &["--dry-run", "--edit-key", "bob", "uid 1", "primary", "save"], ""),
    ]);
    let both = Both::of_alice_and_bob().now("20260201T000000!");
    both.run(["--batch", "--yes", "--delete-secret-keys", BOB]);
    let words = ["--edit-key", "bob"];
    let arguments: Vec<&str> = PROGRAM.iter().chain(&words).copied().collect();
    let [gpg, keyhoard] = both.run_with_answers("adduid\nexpire\nsetpref\npasswd\nhelp\nquit\n", arguments);
    assert_same("no secret key", statuses(&gpg, &[]).as_bytes(), statuses(&keyhoard, &[]).as_bytes());
    assert_eq!((gpg.code, keyhoard.code), (Some(0), Some(0)));
}

#[test]
fn in_batch_mode_without_commands_nothing_is_asked() {
    let both = Both::of_alice_and_bob();
    let [gpg, keyhoard] = both.run(["--edit-key", "alice"]);
    assert_eq!((gpg.code, keyhoard.code), (Some(2), Some(2)));
    assert!(keyhoard.errors().contains("can't do this in batch mode"), "{}", keyhoard.errors());
}

#[test]
fn the_help_of_the_editor_lists_gpgs_commands() {
    for gnupg in Gnupg::ALL {
        let both = Both::of_alice_and_bob_with(gnupg);
        let [gpg, keyhoard] = [
            (gnupg.program("gpg"), &both.gpg),
            (Run::program_path("gpg-keyhoard"), &both.keyhoard),
        ]
        .map(|(program, home)| {
            let (program, compat, home) = (program.display(), gnupg.compat(), home.path().display());
            let command = format!(
                "GPG_KEYHOARD_COMPAT={compat} {program} --homedir {home} --no-autostart --edit-key alice"
            );
            let mut terminal = Terminal::new(&both.keyhoard, &command);
            terminal.answer("gpg> ", b"help\n");
            terminal.answer("gpg> ", b"quit\n");
            let (_, shown) = terminal.end();
            let from = shown.find("quit ").expect("the first command");
            let words = shown[from..].lines().take_while(|line| !line.trim().is_empty());
            words.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect::<BTreeSet<_>>()
        });
        assert_eq!(gpg, keyhoard, "{gnupg:?}");
        assert!(gpg.len() > 20, "{gpg:?}");
    }
}

#[test]
fn gpg_2_4_asks_the_same_questions() {
    let mut both = with_trust_database(Both::of_alice_and_bob_with(Gnupg::V2_4));
    for (now, answers) in [
        ("20260201T000000!", "adduid\nNew Alice\nnew@example.org\nwork\nuid 1\nuid 2\nlist\nsave\n"),
        ("20260202T000000!", "expire\n1y\nquit\ny\n"),
        ("20260203T000000!", "uid 2\nrevuid\ny\n4\n\ny\nquit\ny\n"),
        ("20260204T000000!", "trust\n4\nquit\n"),
        ("20260205T000000!", "addrevoker\nbob\ny\nsave\n"),
        ("20260206T000000!", "addrevoker\nbob\nn\n\nquit\n"),
        ("20260207T000000!", "keytotpm\nn\nkeytotpm\ny\nkey 1\nkey 2\nkeytotpm\nquit\n"),
    ] {
        both = both.now(now);
        let arguments: Vec<&str> =
            PROGRAM.iter().chain(&["--with-colons", "--edit-key", "alice"]).copied().collect();
        let [gpg, keyhoard] = both.run_with_answers(answers, arguments);
        assert_same(answers, statuses(&gpg, &[]).as_bytes(), statuses(&keyhoard, &[]).as_bytes());
        assert_eq!(gpg.code, keyhoard.code, "{answers:?}");
    }
}
