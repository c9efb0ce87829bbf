//! Signatures of gpg-keyhoard over content beside the real gpg: each verifies what the other makes, and both say the
//! same.

use std::path::PathBuf;
use std::process::Command;

use harness::{Both, Engine, Gnupg, Output, Run, SIGNED_TEXT, Victim, assert_same, detached, signing_keys};
use packet_builder::{Certificate, Key, Signature, Signed, Subpacket};

harness::on_both_engines! {
    the_maker_of_a_signature_does_not_depend_on_certificates_that_claim_its_key
}

/// What makes a program work without questions.
const BATCH_OPTIONS: [&str; 7] =
    ["--batch", "--pinentry-mode", "loopback", "--passphrase", "", "--status-fd", "2"];
/// Alice, who signs with a subkey of Ed25519. Bob signs with a primary key of RSA.
const ALICE: &str = "51533D3D0D28361643870CC6356E432296C42478";
const TEXT: &[u8] = b"- a line\nFrom here to the end \nand another one\n";

/// Runs one of the programs.
fn run(both: &Both, gpg: bool, words: &[&str], stdin: &[u8]) -> Output {
    both.run_of(gpg).args(BATCH_OPTIONS).args(words).stdin(stdin).output()
}

/// Returns what a program says, but for what gpg says of cards and of its databases.
fn said(done: &Output) -> String {
    let words = ["scdaemon", "CARDCTRL", "keybox", "KEYEXPIRED", "trustdb", "enabled compatibility flags"];
    // gpg 2.4 writes the validity of further user IDs without their names under trust on first use.
    let is_nameless = |line: &str| line.starts_with(" [") || line.contains(" aka ");
    let is_told = |line: &&str| !words.iter().any(|word| line.contains(word)) && !is_nameless(line);
    done.errors().split_inclusive('\n').filter(is_told).collect()
}

/// Asserts that both say the same, write the same content and exit alike.
fn same(both: &Both, words: &[&str], stdin: &[u8], same_output: bool) {
    same_but_for("nothing", both, words, stdin, same_output);
}

/// Asserts that under trust on first use both say the same, but for how often gpg looks at keys.
fn same_on_first_use(both: &Both, words: &[&str]) {
    same_but_for("KEY_CONSIDERED", both, words, b"", true);
}

fn same_but_for(ignored: &str, both: &Both, words: &[&str], stdin: &[u8], same_output: bool) {
    let [gpg, keyhoard] = [true, false].map(|gpg| run(both, gpg, words, stdin));
    let what = words.join(" ");
    let [expected, found] = [&gpg, &keyhoard].map(|done| -> String {
        said(done).split_inclusive('\n').filter(|line| !line.contains(ignored)).collect()
    });
    assert_same(&what, expected.as_bytes(), found.as_bytes());
    assert_eq!(gpg.code, keyhoard.code, "{what}");
    if same_output {
        assert_same(&what, &gpg.stdout, &keyhoard.stdout);
    }
}

/// Lets one of them sign into a file.
fn signed(both: &Both, gpg: bool, name: &str, words: &[&str]) -> PathBuf {
    let done = run(both, gpg, &[&["-o", "-"], words].concat(), TEXT);
    assert_eq!(done.code, Some(0), "{}", done.errors());
    both.gpg.write(&format!("{name}-{gpg}"), done.stdout)
}

#[test]
fn a_signature_by_an_expired_or_missing_key_is_reported_as_gpg_reports_it() {
    let both = Both::of_alice_and_bob();
    let data = both.gpg.write("data", TEXT);
    let signature = signed(&both, false, "detached", &["-u", "alice", "-b"]);
    let words = ["--verify", signature.to_str().expect("a name"), data.to_str().expect("a name")];
    let both = both.now("20260801T000000!");
    same(&both, &words, b"", true);
    let strangers = Both::with_agent();
    same(&strangers, &words, b"", true);
}

#[test]
fn a_signed_and_encrypted_message_is_decrypted_and_verified() {
    let both = Both::of_alice_and_bob();
    for gpg in [true, false] {
        let message = signed(&both, gpg, "message", &["-u", "bob", "-r", "alice", "-s", "-e"]);
        same(&both, &["-d", message.to_str().expect("a name")], b"", true);
    }
}

#[test]
fn zeros_behind_a_compressed_message_are_passed_over_as_by_gpg() {
    let both = Both::of_alice_and_bob();
    for gpg in [true, false] {
        let message = signed(&both, gpg, "message", &["-u", "bob", "-s"]);
        let longer = [std::fs::read(&message).expect("it was written"), vec![0; 128]].concat();
        std::fs::write(&message, longer).expect("it is the test's own");
        for command in ["--verify", "--decrypt"] {
            same(&both, &[command, message.to_str().expect("a name")], b"", true);
        }
    }
}

/// Returns what a program says from the first bytes of the content on, but for how often it looks at keys.
fn end(done: &Output) -> String {
    let said = said(done);
    let lines = said.split_inclusive('\n').skip_while(|line| !line.contains("PLAINTEXT"));
    lines.filter(|line| !line.contains("KEY_CONSIDERED")).collect()
}

#[test]
fn bytes_that_are_no_packet_behind_a_message_are_reported_as_by_gpg_and_change_nothing_of_it() {
    for gnupg in [Gnupg::V2_4, Gnupg::V2_2] {
        let both = Both::of_alice_and_bob_with(gnupg);
        for kind in [
            &["-u", "bob", "-z", "0", "-s"][..],
            &["-z", "0", "--store"],
            &["-r", "alice", "-e"],
            &["-r", "alice", "-z", "0", "-e"],
            &["-u", "bob", "-r", "alice", "-s", "-e"],
            &["-u", "bob", "-r", "alice", "-z", "0", "-s", "-e"],
        ] {
            let words = [&["--trust-model", "always"], kind].concat();
            let message = signed(&both, true, "message", &words);
            let whole = std::fs::read(&message).expect("it was written");
            for behind in [&[0][..], &[0; 2], &[0; 128], b"some text\n"] {
                std::fs::write(&message, [&whole[..], behind].concat()).expect("it is the test's own");
                let words = ["--decrypt", message.to_str().expect("a name")];
                let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &words, b""));
                let what = format!("{gnupg:?} {kind:?} {}", behind.escape_ascii());
                assert_same(&what, end(&gpg).as_bytes(), end(&keyhoard).as_bytes());
                assert_eq!((gpg.code, gpg.stdout), (keyhoard.code, keyhoard.stdout), "{what}");
                if kind.contains(&"-s") && !kind.contains(&"-e") {
                    same(&both, &["--verify", message.to_str().expect("a name")], b"", true);
                }
            }
        }
    }
}

#[test]
fn git_signs_and_verifies_with_gpg_keyhoard() {
    let both = Both::of_alice_and_bob();
    let home = both.keyhoard.path();
    let repository = home.join("repository");
    let program = Run::program_path("gpg-keyhoard");
    let git = |words: &[&str]| {
        let output = Command::new("git")
            .current_dir(home)
            .env_clear()
            .envs([("PATH", std::env::var_os("PATH").unwrap_or_default())])
            .env("HOME", home)
            .env("GNUPGHOME", home)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .arg("-c")
            .arg(format!("gpg.program={}", program.display()))
            .args(["-c", "user.name=Alice", "-c", "user.email=alice@example.org"])
            .args(["-c", &format!("user.signingkey={ALICE}"), "-C"])
            .arg(&repository)
            .args(words)
            .output();
        let output = output.expect("git is there");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {words:?}: {said}");
        said
    };
    both.keyhoard.write("gpg.conf", "faked-system-time 20260131T000000!\n");
    std::fs::create_dir(&repository).expect("a directory");
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-S", "-m", "Begin"]);
    git(&["tag", "-s", "-m", "One", "one"]);
    assert!(git(&["verify-commit", "HEAD"]).contains("Good signature from \"Alice"));
    assert!(git(&["verify-tag", "one"]).contains("Good signature from \"Alice"));
}

#[test]
fn a_changed_byte_in_clear_text_is_good_only_where_gpg_says_so() {
    let both = Both::of_alice_and_bob();
    let text = run(&both, false, &["-u", "alice", "--clear-sign"], TEXT).stdout;
    let signature = b"-----BEGIN PGP SIGNATURE";
    let armor = text.windows(signature.len()).position(|part| part == signature).expect("a signature");
    // Behind the signature's last line and in its armor nothing is signed; gpg says the same of both.
    for at in (0..armor + 150).step_by(9).chain(35..48) {
        let mut bad = text.clone();
        bad[at] ^= 0x02;
        let done = run(&both, false, &["--verify"], &bad);
        if done.errors().contains("GOODSIG") {
            assert!(run(&both, true, &["--verify"], &bad).errors().contains("GOODSIG"), "{at}");
        } else {
            assert_ne!(done.code, Some(0), "{at}: {}", done.errors());
        }
    }
}

#[test]
fn clear_text_has_to_name_the_digest_of_its_signature() {
    let both = Both::of_alice_and_bob();
    let text = signed(&both, false, "clear", &["-u", "alice", "--digest-algo", "sha256", "--clear-sign"]);
    let text = String::from_utf8(std::fs::read(text).expect("a file")).expect("text");
    for header in ["Hash: SHA512\n", "", "Hash: SHA512, SHA256\n"] {
        let text = text.replacen("Hash: SHA256\n", header, 1);
        same(&both, &["--verify"], text.as_bytes(), true);
        same(&both, &["-d"], text.as_bytes(), true);
    }
    for header in ["Hash: FOO, SHA256\n", "Hash: SHA256, FOO\n"] {
        // gpg ends the headers there, and writes an empty line.
        let text = text.replacen("Hash: SHA256\n", header, 1);
        same(&both, &["--verify"], text.as_bytes(), true);
        same(&both, &["-d"], text.as_bytes(), false);
    }
}

#[test]
fn clear_text_with_a_malformed_hash_header_is_verified_by_neither_program() {
    let both = Both::of_alice_and_bob();
    let text = signed(&both, false, "clear", &["-u", "alice", "--digest-algo", "sha256", "--clear-sign"]);
    let text = String::from_utf8(std::fs::read(text).expect("a file")).expect("text");
    for header in [
        "Hash: SHA256 You owe me\n",
        "Hash: SHA256\x0b\x0bYou owe me\n",
        "Hash: SHA256\u{a0}\n",
        "Hash:\n",
        "Hash:SHA256\n",
        "hash: SHA256\n",
        "Comment: You owe me\n",
        "Hash: SHA256\nComment: You owe me\n",
        "Hash: SHA256\n SHA512\n",
        "Hash: SHA256\nYou owe me\n",
        "You owe me\n",
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n",
    ] {
        let text = text.replacen("Hash: SHA256\n", header, 1);
        for words in [&["--verify"][..], &["-d"], &[]] {
            for done in [true, false].map(|gpg| run(&both, gpg, words, text.as_bytes())) {
                let is_refused = done.code != Some(0) && !done.errors().contains("GOODSIG");
                assert!(is_refused, "{words:?} {header:?}: {}", done.errors());
            }
        }
    }
    // What gpg verifies behind a complaint is not verified here.
    let text = text.replacen("Hash: SHA256\n\n", "Hash: SHA256\n\x0c\n", 1);
    let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &["--verify"], text.as_bytes()));
    assert_eq!((gpg.code, keyhoard.code), (Some(2), Some(2)));
    assert!(!keyhoard.errors().contains("GOODSIG"), "{}", keyhoard.errors());
}

#[test]
fn clear_text_is_written_as_it_was_signed() {
    let both = Both::of_alice_and_bob();
    let texts: [&[u8]; 9] = [
        b"a\rb\n",
        b"a\r\r\nb\r\n\rc \t\r",
        b"no end",
        b"",
        b"\n\n",
        b"\0a\0b\r\0c\r\n",
        b"- -\n-----BEGIN PGP SIGNATURE-----\nFrom\n",
        b"\x0b\x0c\x85 \xc2\xa0\n",
        &[b'x'; 19_000],
    ];
    for text in texts {
        for gpg in [true, false] {
            let made = run(&both, gpg, &["-u", "alice", "--clear-sign"], text).stdout;
            same(&both, &["-d"], &made, true);
            let [content, other] = [true, false].map(|judge| {
                let file = both.gpg.path().join("content");
                let words = ["--yes", "-o", file.to_str().expect("a name"), "--verify"];
                let done = run(&both, judge, &words, &made);
                assert!(done.errors().contains("GOODSIG"), "{}: {}", text.escape_ascii(), done.errors());
                std::fs::read(file).expect("content")
            });
            assert_same(&text.escape_ascii().to_string(), &content, &other);
            let own =
                Run::keyhoard(&both.keyhoard).args(["verify", "--faked-system-time", "20260131T000000"]);
            let own = own.args(["-o", "-"]).stdin(made).output();
            // Good, and the owner of the key is not verified.
            assert_eq!(own.code, Some(4), "{}", own.errors());
            assert_same("keyhoard", &content, &own.stdout);
        }
    }
}

#[test]
fn the_default_key_is_reported_and_signs() {
    let both = Both::of_alice_and_bob();
    let data = both.gpg.write("data", TEXT);
    let data = data.to_str().expect("a name");
    for names in [&["bob"][..], &["bob", "alice"], &["nobody"], &["alice", "nobody"]] {
        let mut words = vec!["-o", "/dev/null", "-b", data];
        names.iter().for_each(|name| words.splice(0..0, ["--default-key", name]).for_each(drop));
        same(&both, &words, b"", true);
    }
    for words in [
        &["--default-recipient-self", "--default-key", "alice"][..],
        &["--default-recipient-self"],
        &["--default-recipient-self", "--default-key", "bob"],
        &["--default-recipient", "nobody"],
        &["--default-recipient", "alice", "--encrypt-to-default-key", "--default-key", "alice"],
    ] {
        let words = [&["--trust-model", "always", "-o", "/dev/null", "-e"], words].concat();
        same(&both, &[&words[..], &[data]].concat(), b"", true);
    }
}

#[test]
fn verify_files_verifies_each_file() {
    let both = Both::of_alice_and_bob();
    let message = signed(&both, true, "message", &["-u", "alice", "-s"]);
    let clear = signed(&both, true, "clear", &["-u", "bob", "--clear-sign"]);
    let detached = signed(&both, true, "detached", &["-u", "bob", "-b"]);
    let names = [&message, &detached, &clear].map(|path| path.to_str().expect("a name"));
    same(&both, &["--verify-files", names[0], names[1], "/nonexistent", names[2]], b"", true);
    same(&both, &["--multifile", "--verify"], format!("{}\n{}\n", names[0], names[2]).as_bytes(), true);
    // A signature that holds its content says nothing about the file beside it.
    let beside = both.gpg.write("beside", b"other content");
    let signature = both.gpg.write("beside.sig", std::fs::read(message).expect("a file"));
    let words = ["--verify", signature.to_str().expect("a name")];
    assert!(run(&both, false, &words, b"").errors().contains("was NOT verified!"), "{}", beside.display());
    same(&both, &words, b"", true);
    same(&both, &[&["--list-only"], &words[..]].concat(), b"", true);
    // Another file's bad signature does not change that.
    let changed =
        String::from_utf8(std::fs::read(clear).expect("a file")).expect("text").replace("the end", "the END");
    let changed = both.gpg.write("changed", changed);
    same(&both, &["--verify-files", changed.to_str().expect("a name"), words[1]], b"", true);
}

#[test]
fn trust_on_first_use_counts_messages_and_reports_them() {
    let both = Both::of_alice_and_bob();
    let letters = [TEXT, b"another letter\n", b"a third one\n"];
    for (number, letter) in letters.into_iter().enumerate() {
        let name = format!("letter-{number}");
        let user = ["alice", "alice", "bob"][number];
        let done = run(&both, true, &["-o", "-", "-u", user, "-s"], letter);
        let path = both.gpg.write(&name, done.stdout);
        let path = path.to_str().expect("a name");
        for model in ["tofu", "tofu+pgp"] {
            same_on_first_use(&both, &["--trust-model", model, "--verify", path]);
        }
        same_on_first_use(&both, &["--trust-model", "tofu", "-d", path]);
    }
}

#[test]
fn trust_on_first_use_warns_of_forgery_until_as_many_messages_were_seen_as_gpg_wants() {
    let both = Both::of_alice_and_bob();
    for number in 0..9 {
        let done =
            run(&both, true, &["-o", "-", "-u", "alice", "-s"], format!("letter {number}\n").as_bytes());
        let path = both.gpg.write(&format!("letter-{number}"), done.stdout);
        same_on_first_use(&both, &["--trust-model", "tofu", "--verify", path.to_str().expect("a name")]);
    }
}

#[test]
fn trust_on_first_use_reports_recipients_as_it_reports_signers() {
    let both = Both::of_alice_and_bob();
    let encrypt = |words: &[&str], ignored: &str| {
        let words = [&["-o", "-", "-e"], words].concat();
        same_but_for(ignored, &both, &words, TEXT, false);
    };
    // gpg meets the key, and looks at it more often.
    encrypt(&["--trust-model", "tofu", "-r", "alice"], "KEY_CONSIDERED");
    for model in ["tofu", "tofu+pgp"] {
        encrypt(&["--trust-model", model, "-r", "alice@example.org"], "KEY_CONSIDERED");
        encrypt(&["--trust-model", model, "--verbose", "-R", "alice"], "using subkey");
    }
    for policy in ["good", "bad", "unknown"] {
        for gpg in [true, false] {
            run(&both, gpg, &["--tofu-policy", policy, "alice@example.org"], b"");
        }
        encrypt(&["--trust-model", "tofu", "-r", "bob", "-r", "alice"], "KEY_CONSIDERED");
    }
}

#[test]
fn trust_on_first_use_counts_messages_that_were_encrypted() {
    let both = Both::of_alice_and_bob();
    for model in ["tofu", "tofu+pgp", "always"] {
        for gpg in [true, false] {
            run(&both, gpg, &["--tofu-policy", "good", "alice@example.org"], b"");
            let words = ["--trust-model", model, "-o", "-", "-r", "alice", "-e"];
            assert_eq!(run(&both, gpg, &words, TEXT).code, Some(0), "{model}, gpg: {gpg}");
        }
        let words = ["--trust-model", "tofu", "--with-tofu-info", "--with-colons", "-k", "alice"];
        let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &words, b"").text());
        let known = |listing: &str| -> Vec<String> {
            let lines = listing.lines().filter(|line| line.starts_with("tfs:"));
            lines.map(str::to_owned).collect()
        };
        assert!(!known(&gpg).is_empty());
        assert_eq!(known(&keyhoard), known(&gpg), "{model}");
    }
}

#[test]
fn known_notation_makes_a_critical_notation_acceptable() {
    let both = Both::of_alice_and_bob();
    let notations = ["--sig-notation", "!a@example.org=one", "--sig-notation", "!b@example.org=two"];
    let message = signed(&both, true, "message", &[&["-u", "alice"], &notations[..], &["-s"]].concat());
    let message = message.to_str().expect("a name");
    let [a, b] = ["a", "b"].map(|name| format!("{name}@example.org"));
    let both_known = ["--known-notation", &a, "--known-notation", &b];
    for known in [&[][..], &["--known-notation", &a], &both_known] {
        let words = [known, &["--verify", message]].concat();
        let codes = [true, false].map(|gpg| {
            let done = run(&both, gpg, &words, b"");
            (done.code, done.errors().contains("GOODSIG"))
        });
        assert_eq!(codes[0], codes[1], "{known:?}");
        assert_eq!(codes[0].1, known.len() == 4, "{known:?}");
    }
}

#[test]
fn verify_options_select_what_is_reported_of_a_signature() {
    let both = Both::of_alice_and_bob();
    let words = ["--sig-notation", "a@example.org=one", "--sig-policy-url", "https://example.org/", "-s"];
    let message = signed(&both, true, "message", &[&["-u", "alice"], &words[..]].concat());
    for options in [
        "show-notations",
        "show-std-notations,no-show-policy-urls",
        "no-show-uid-validity,show-unusable-uids",
        "show-primary-uid-only",
    ] {
        let words = ["--verify-options", options, "--verify", message.to_str().expect("a name")];
        same(&both, &words, b"", true);
    }
}

#[test]
fn input_that_is_no_detached_signature_verifies_no_file() {
    let both = Both::of_alice_and_bob();
    let data = both.gpg.write("data", TEXT);
    let data = data.to_str().expect("a name");
    let forms: [&[&str]; 3] = [&["-s"], &["--clear-sign"], &["-r", "alice", "--trust-model", "always", "-e"]];
    for (number, form) in forms.into_iter().enumerate() {
        let name = signed(&both, true, &format!("message-{number}"), &[&["-u", "alice"], form].concat());
        let words = ["--verify", name.to_str().expect("a name"), data];
        // gpg 2.4 searches a message for a detached signature.
        match Gnupg::usual() {
            Gnupg::V2_2 => same(&both, &words, b"", true),
            Gnupg::V2_4 => {
                assert_eq!([true, false].map(|gpg| run(&both, gpg, &words, b"").code), [Some(2); 2])
            }
        }
    }
    // Without the name of the file nothing is verified in a batch, but decryption looks for it.
    let signature = run(&both, true, &["-u", "alice", "-o", "-", "-b", data], b"").stdout;
    let signature = both.gpg.write("data.sig", signature);
    same(&both, &["--verify", signature.to_str().expect("a name")], b"", true);
    same(&both, &["-d", signature.to_str().expect("a name")], b"", true);
}

#[test]
fn local_user_selects_the_signing_key_that_gpg_selects() {
    let both = Both::of_alice_and_bob();
    let data = both.gpg.write("data", TEXT);
    let data = data.to_str().expect("a name");
    // Alice's primary key only certifies, and she encrypts with another subkey.
    let (whole, primary, signs, encrypts) = (
        ALICE.to_owned(),
        format!("{ALICE}!"),
        "0D877A59B81A5B94!".to_owned(),
        "79E19554CB62E173!".to_owned(),
    );
    let names: [&[&str]; 8] = [
        &["alice"],
        &[&whole],
        &[&primary],
        &[&signs],
        &[&encrypts],
        &["alice", &whole, "bob", "bob"],
        &["alice", "nobody"],
        &["nobody", "alice"],
    ];
    for names in names {
        let users: Vec<&str> = names.iter().flat_map(|name| ["-u", name]).collect();
        same(&both, &[&users[..], &["-o", "/dev/null", "-b", data]].concat(), b"", true);
    }
    for name in [&whole, &primary, &signs] {
        same(&both, &["--default-key", name, "-o", "/dev/null", "-b", data], b"", true);
    }
    // When her subkeys have ended nobody else signs for her.
    let both = both.now("20260801T000000!");
    for words in [["-u", "alice"], ["--default-key", "alice"], ["-u", &whole]] {
        let [gpg, keyhoard] = [true, false]
            .map(|gpg| run(&both, gpg, &[&words[..], &["-o", "/dev/null", "-b", data]].concat(), b""));
        assert_eq!((gpg.code, keyhoard.code), (Some(2), Some(2)), "{words:?}");
        assert!(keyhoard.errors().contains("Unusable secret key"), "{}", keyhoard.errors());
    }
}

#[test]
fn special_file_names_select_descriptors() {
    let both = Both::of_alice_and_bob();
    let special = ["--enable-special-filenames", "-u", "alice", "--yes"];
    for form in [&["-s"][..], &["-b"], &["--clear-sign"], &["-o", "-&1", "-s"]] {
        let words = [&special[..], form, &["--", "-&0"]].concat();
        let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &words, TEXT));
        assert_same(&words.join(" "), said(&gpg).as_bytes(), said(&keyhoard).as_bytes());
        for (gpg, message) in [(true, keyhoard.stdout), (false, gpg.stdout)] {
            let beside = both.gpg.write("data", TEXT);
            let data: &[&str] = if form == ["-b"] { &[beside.to_str().expect("a name")] } else { &[] };
            let words = [&["--enable-special-filenames", "--verify", "--", "-&0"], data].concat();
            let done = run(&both, gpg, &words, &message);
            assert_eq!(done.code, Some(0), "{}", done.errors());
        }
    }
}

#[test]
fn options_add_subpackets_to_signatures_in_gpgs_order() {
    let both = Both::of_alice_and_bob();
    let options: [&[&str]; 9] = [
        &["-u", "alice"],
        &["-u", ALICE],
        &["-u", "second@example.org"],
        &["-u", ALICE, "--sender", "one@example.org", "--sender", "Two <two@example.org>"],
        &["-u", "alice", "--sender", "two@example.org"],
        &["-u", "alice", "--disable-signer-uid"],
        &[
            "-u",
            "alice",
            "-N",
            "a@example.org=b",
            "--sig-policy-url",
            "https://example.org",
            "--default-sig-expire",
            "3d",
        ],
        &["-u", "bob", "--personal-digest-preferences", "SHA384 SHA512"],
        &["-u", "alice", "--personal-digest-preferences", "SHA1 SHA512"],
    ];
    for options in options {
        let says = |gpg: bool| -> String {
            let signature = run(&both, gpg, &[options, &["-o", "-", "-b"]].concat(), TEXT).stdout;
            let packets = run(&both, true, &["--list-packets"], &signature).text();
            let is_said = |line: &&str| line.contains("subpkt") || line.contains("digest algo");
            // What the digest begins with depends on nothing else.
            packets.split_inclusive('\n').filter(is_said).collect()
        };
        assert_same(&options.join(" "), says(true).as_bytes(), says(false).as_bytes());
    }
    same(&both, &["--sender", "nobody", "-u", "alice", "-b"], TEXT, true);
}

#[test]
fn armor_has_the_headers_that_are_asked_for() {
    let both = Both::of_alice_and_bob();
    let options: [&[&str]; 5] = [
        &["--comment", "one", "--comment", "two\nlines"],
        &["--emit-version", "--comment", "one"],
        &["--emit-version", "--emit-version", "--emit-version", "--emit-version"],
        &["--comment", "one", "--default-comment"],
        &["--emit-version", "--no-emit-version", "--comment", ""],
    ];
    for options in options {
        same(&both, &[options, &["--enarmor"]].concat(), TEXT, true);
        same(&both, &[options, &["-a", "--export", "alice"]].concat(), b"", true);
        for form in ["-ab", "-as", "--clear-sign"] {
            let headers = |gpg: bool| -> Vec<u8> {
                let text = run(&both, gpg, &[options, &["-u", "alice", form]].concat(), TEXT).stdout;
                let text = String::from_utf8(text).expect("text");
                let armor = text.rsplit("-----BEGIN PGP ").next().expect("a last part");
                armor.split("\n\n").next().expect("a first part").as_bytes().to_vec()
            };
            assert_same(form, &headers(true), &headers(false));
        }
    }
}

#[test]
fn keys_in_conflict_are_reported_with_a_signature() {
    let both = Both::of_alice_and_bob();
    let others = Both::with_agent().now("20260131T000000!");
    run(&others, true, &["--quick-generate-key", "Eve <bob@example.org>", "ed25519", "sign"], b"");
    let certificate = run(&others, true, &["--export"], b"").stdout;
    let message = run(&others, true, &["-s", "-o", "-"], TEXT).stdout;
    let by_eve = both.gpg.write("by-eve", message);
    let by_bob = signed(&both, true, "by-bob", &["-u", "bob", "-s"]);
    for gpg in [true, false] {
        assert_eq!(run(&both, gpg, &["--import"], &certificate).code, Some(0));
    }
    // gpg learns of an address when it first meets it.
    for (path, gpg) in [(&by_bob, true), (&by_eve, true), (&by_bob, false), (&by_eve, false)] {
        run(&both, gpg, &["--trust-model", "tofu", "--verify", path.to_str().expect("a name")], b"");
    }
    for path in [&by_bob, &by_eve] {
        same_on_first_use(&both, &["--trust-model", "tofu", "--verify", path.to_str().expect("a name")]);
    }
}

#[test]
fn detached_signatures_in_several_blocks_of_armor_all_count() {
    let both = Both::of_alice_and_bob();
    let data = both.gpg.write("data", TEXT);
    let data = data.to_str().expect("a name");
    let [alice, bob, bad] = [("alice", TEXT), ("bob", TEXT), ("bob", b"another text")]
        .map(|(user, text)| run(&both, true, &["-u", user, "-a", "-o", "-", "-b"], text).stdout);
    // Good signatures of keys whose owners are not verified end keyhoard with 4.
    for (blocks, code, keyhoards) in [([&alice, &bob], 0, 4), ([&alice, &bad], 1, 1)] {
        let joined = blocks.map(Vec::as_slice).join(&b"and\n"[..]);
        let signatures = both.gpg.write("data.asc", &joined);
        let signatures = signatures.to_str().expect("a name");
        same(&both, &["--verify", signatures, data], b"", true);
        same(&both, &["--list-packets", signatures], b"", true);
        same(&both, &["-o", "-", "--dearmor", signatures], b"", true);
        let own = Run::keyhoard(&both.keyhoard).args(["verify", signatures, data]).output();
        assert_eq!(run(&both, false, &["--verify", signatures, data], b"").code, Some(code));
        assert_eq!(own.code, Some(keyhoards), "{}", own.errors());
    }
}

#[test]
fn carriage_returns_at_line_ends_are_signed_as_gpg_signs_them() {
    let both = Both::of_alice_and_bob();
    let texts: [&[u8]; 5] = [b"a\r\r\nb\n", b"a\r\r", b"a\r", b"a\rb\r\n", b"a \r\r\r\n\r\n\rb"];
    for text in texts {
        let data = both.gpg.write("data", text);
        let data = data.to_str().expect("a name");
        for form in [&["-t", "-b"][..], &["-t", "-s"], &["--clear-sign"]] {
            for gpg in [true, false] {
                let made = run(&both, gpg, &[&["-u", "alice", "-o", "-"], form].concat(), text).stdout;
                let made = both.gpg.write("data.sig", made);
                let made = made.to_str().expect("a name");
                let files: &[&str] = if form.contains(&"-b") { &[made, data] } else { &[made] };
                for judge in [true, false] {
                    let done = run(&both, judge, &[&["--verify"], files].concat(), b"");
                    assert_eq!(done.code, Some(0), "{text:?} {form:?} {gpg} {judge} {}", done.errors());
                }
            }
        }
    }
}

/// Writes a detached signature and what it is over; returns the words that verify it.
fn files(both: &Both, signature: &[u8]) -> [String; 3] {
    let paths = [both.gpg.write("made.sig", signature), both.gpg.write("made", SIGNED_TEXT)];
    let [signature, data] = paths.map(|path| path.to_str().expect("a name").to_owned());
    ["--verify".to_owned(), signature, data]
}

#[test]
fn a_signature_needs_a_key_with_the_signing_flag_and_a_subkey_with_a_back_signature() {
    let both = Both::new();
    for case in signing_keys() {
        let name = &case.name;
        both.import(both.gpg.write("certificate", &case.certificate));
        let words = files(&both, &case.signature());
        let words = [&words[0][..], &words[1], &words[2]];
        let done = run(&both, false, &words, b"");
        let said = done.errors();
        let is_good = said.contains("GOODSIG") && said.contains("VALIDSIG");
        assert_eq!((is_good, done.code == Some(0)), (case.is_accepted, case.is_accepted), "{name}: {said}");
        assert_eq!(said.contains("ERRSIG"), !case.is_accepted, "{name}: {said}");
        if case.agrees_with_gpg {
            same(&both, &words, b"", true);
        } else {
            assert!(run(&both, true, &words, b"").errors().contains("GOODSIG"), "{name}: as in gpg now");
        }
        // A signature that is bad as well is told in the same way.
        let other = both.gpg.write("other", "another text\n");
        if case.agrees_with_gpg {
            same(&both, &[words[0], words[1], other.to_str().expect("a name")], b"", true);
        }
    }
}

#[test]
fn weak_digest_applies_to_back_signatures() {
    let both = Both::new();
    let case = signing_keys().into_iter().find(|case| case.name.starts_with("SHA-1")).expect("a case");
    both.import(both.gpg.write("certificate", &case.certificate));
    let words = files(&both, &case.signature());
    let weak = ["--weak-digest", "SHA1", &words[0], &words[1], &words[2]];
    same(&both, &weak, b"", true);
    assert!(run(&both, false, &weak, b"").errors().contains("ERRSIG"));
}

#[test]
fn a_signature_outside_of_the_lifetime_of_its_key_is_treated_as_in_gpg() {
    let both = Both::new();
    let [certifying, ended] = [("certifies only", 1), ("ends", 3)].map(|(name, flags)| {
        let key = Key::ed25519(name);
        let mut certificate = Certificate { packets: vec![key.packet()] };
        let own =
            Signature::by(&key, 0x13).with(Subpacket::key_flags(flags)).with(Subpacket::key_expires(5000));
        certificate.add(packet_builder::Packet::user_id(name));
        certificate.add(own.sign(&key, &Signed::UserId(&key, name.as_bytes())));
        both.import(both.gpg.write("certificate", certificate.bytes()));
        key
    });
    let revoked = Key::ed25519("revoked");
    let mut certificate = Certificate::new(&revoked, "revoked");
    certificate.packets.insert(1, Signature::by(&revoked, 0x20).sign(&revoked, &Signed::Key(&revoked)));
    both.import(both.gpg.write("certificate", certificate.bytes()));
    let made = packet_builder::MADE;
    for key in [&certifying, &ended, &revoked] {
        for (time, hash) in
            [(made - 1, 8), (made - 200_000, 8), (made - 1, 1), (made, 8), (made, 1), (made + 5001, 8)]
        {
            let signature = Signature::by(key, 0).at(time).hash(packet_builder::Hash(hash));
            let words = files(&both, &signature.sign(key, &Signed::Bytes(SIGNED_TEXT)).bytes());
            // How often gpg tells a program that a key has ended depends on how often it looks.
            same_but_for("KEYEXPIRED", &both, &[&words[0], &words[1], &words[2]], b"", true);
        }
    }
}

#[test]
fn programs_are_told_of_a_second_content() {
    let both = Both::new();
    let message = b"\xcb\x0bb\0\0\0\0\0first\xcb\x0cb\0\0\0\0\0second";
    for command in ["--verify", "--decrypt"] {
        for gpg in [true, false] {
            let done = run(&both, gpg, &[command], message);
            let errors = done.errors();
            let [told, no_data] =
                ["ERROR proc_pkt.plaintext 89_BAD_DATA\n", "NODATA"].map(|line| errors.find(line));
            let told = told.unwrap_or_else(|| panic!("{command}: {errors}"));
            assert!(no_data.is_none_or(|no_data| told < no_data), "{command}: {errors}");
            assert_ne!(done.code, Some(0), "{command}");
            assert!(!done.stdout.ends_with(b"second"), "{command}");
        }
    }
}

#[test]
fn a_key_without_key_flags_signs() {
    let both = Both::with_agent();
    let key = Key::ed25519("no flags");
    let own = Signature::by(&key, 0x13).sign(&key, &Signed::UserId(&key, b"no flags"));
    let user_id = packet_builder::Packet::user_id("no flags");
    let file =
        both.gpg.write("key", Certificate { packets: vec![key.secret_packet(5), user_id, own] }.bytes());
    let file = file.to_str().expect("a path in ASCII");
    for gpg in [true, false] {
        assert_eq!(run(&both, gpg, &["--import", file], b"").code, Some(0));
        for choice in [&["-u", "no flags"][..], &[]] {
            let message = signed(&both, gpg, "no-flags", &[choice, &["--sign"]].concat());
            assert_eq!(
                run(&both, true, &["--verify", message.to_str().expect("a path in ASCII")], b"").code,
                Some(0)
            );
        }
    }
}

fn the_maker_of_a_signature_does_not_depend_on_certificates_that_claim_its_key(engine: Engine) {
    let ann = Victim::new();
    for count in [1, 8, 20, 1000] {
        for is_first in [true, false] {
            let home = engine.home();
            let import = |bytes: &[u8]| {
                Run::gpg_keyhoard(&home).arg("--import").stdin(bytes).succeed();
            };
            let others = ann.claimants(count);
            let order = [&others[..], &ann.certificate];
            order.iter().rev().cycle().skip(usize::from(is_first)).take(2).for_each(|bytes| import(bytes));
            for key in [&ann.primary, &ann.subkey] {
                let signature = home.write("made.sig", detached(key, SIGNED_TEXT));
                let data = home.write("made", SIGNED_TEXT);
                let verify = Run::gpg_keyhoard(&home).args(["--status-fd", "2", "--verify"]);
                let done = verify.arg(&signature).arg(&data).output();
                let said = done.errors();
                let valid = said.lines().find(|line| line.contains("VALIDSIG")).unwrap_or_default();
                assert!(valid.ends_with(&ann.primary.fingerprint_text()), "{count}, {is_first}: {said}");
                assert!(said.contains("Good signature from \"Ann"), "{said}");
                assert_eq!(done.code, Some(0));
            }
        }
    }
}

#[test]
fn trust_on_first_use_does_not_count_a_signature_that_its_key_may_not_make() {
    let both = Both::new();
    let cases = signing_keys();
    let case = cases.iter().find(|case| case.name.contains("primary key with flags 0x01")).expect("a case");
    both.import(both.gpg.write("certificate", &case.certificate));
    let words = files(&both, &case.signature());
    let verify = ["--trust-model", "tofu", &words[0], &words[1], &words[2]];
    assert!(run(&both, false, &verify, b"").errors().contains("ERRSIG"));
    let list = ["--trust-model", "tofu", "--with-tofu-info", "--with-colons", "-k", &case.primary];
    let listing = run(&both, false, &list, b"").text();
    let counted = listing.lines().find(|line| line.starts_with("tfs:")).expect("a line for the binding");
    assert_eq!(counted.split(':').nth(3), Some("0"), "{listing}");
}
