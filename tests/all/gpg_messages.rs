//! Messages of gpg-keyhoard beside the real gpg: each reads what the other writes, and both say the same.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use cert::packet::{self, Tag};
use harness::{Both, CIPHERS, COMPRESSIONS, Gnupg, Home, Output, Run, assert_same, old_ciphers};

/// What makes a program work without questions.
const BATCH_OPTIONS: [&str; 6] =
    ["--batch", "--no-symkey-cache", "--pinentry-mode", "loopback", "--status-fd", "2"];
/// Alice, who has a Curve25519 subkey to encrypt to. Bob only signs.
const ALICE: &str = "51533D3D0D28361643870CC6356E432296C42478";
const TEXT: &[u8] = b"a line\nand another one\n";

/// Runs one of the programs.
fn run(both: &Both, gpg: bool, words: &[&str], stdin: &[u8]) -> Output {
    both.run_of(gpg).args(BATCH_OPTIONS).args(words).stdin(stdin).output()
}

/// Returns what a program says, but for what gpg says of smart cards and of its keybox.
fn said(done: &Output) -> String {
    let words = ["scdaemon", "CARDCTRL", "keybox", "enabled compatibility flags"];
    let is_told = |line: &&str| !words.iter().any(|word| line.contains(word));
    done.errors().split_inclusive('\n').filter(is_told).collect()
}

/// Lets gpg write a message into a file of its home.
fn message(both: &Both, name: &str, words: &[&str]) -> PathBuf {
    let done = run(both, true, &[&["-o", "-"], words].concat(), TEXT);
    assert_eq!(done.code, Some(0), "{}", done.errors());
    both.gpg.write(name, done.stdout)
}

#[test]
fn of_equally_valid_keys_with_an_address_the_one_with_the_newest_subkey_for_encryption_is_meant() {
    let maker = Home::new();
    let gpg = |now: &str, words: &[&str]| {
        let options = ["--yes", "--status-fd", "2", "--pinentry-mode", "loopback", "--passphrase", ""];
        Run::gpg_with_agent(&maker).at(now).args(options).args(words).succeed()
    };
    // The newer key has the older subkey.
    let dates = [("20200101T000000!", "20240101T000000!"), ("20210101T000000!", "20230101T000000!")];
    let keys = dates.map(|(made, subkey_made)| {
        let new = ["--quick-generate-key", "Ann <ann@example.org>", "ed25519", "sign", "never"];
        let done = gpg(made, &new).errors();
        let key = done.lines().find_map(|line| line.strip_prefix("[GNUPG:] KEY_CREATED P ")).expect("a key");
        gpg(subkey_made, &["--quick-add-key", key.trim(), "cv25519", "encr", "never"]);
        key.trim().to_owned()
    });
    // 2.2.40 takes the last one.
    for order in [[0, 1], [1, 0]] {
        let both = Both::new().with(Gnupg::V2_4);
        for key in order {
            both.import(maker.write("key", gpg(harness::NOW, &["--export", &keys[key]]).stdout));
        }
        let locate = ["--trust-model", "always", "--with-colons", "--locate-keys", "ann@example.org"];
        both.assert_same_output(locate);
        let listed = both.run(locate)[1].text();
        assert!(listed.contains(&keys[0]) && !listed.contains(&keys[1]), "{listed}");
    }
}

#[test]
fn an_expired_key_for_encryption_with_an_address_is_located_before_one_that_only_signs() {
    let maker = Home::new();
    let gpg = |words: &[&str]| {
        let options = ["--yes", "--pinentry-mode", "loopback", "--passphrase", ""];
        Run::gpg_with_agent(&maker).at("20200101T000000!").args(options).args(words).succeed()
    };
    gpg(&["--quick-generate-key", "Ann <ann@example.org>", "ed25519", "sign", "never"]);
    gpg(&["--quick-generate-key", "Ann <ann@example.org>", "rsa2048", "sign,encr", "1y"]);
    let both = Both::new().with(Gnupg::V2_4);
    both.import(maker.write("keys", gpg(&["--export"]).stdout));
    let locate = ["--trust-model", "always", "--with-colons", "--locate-keys", "ann@example.org"];
    both.assert_same_output(locate);
    let listed = both.run(locate)[1].text();
    assert!(listed.contains(":2048:1:") && !listed.contains("ed25519"), "{listed}");
}

#[test]
fn verbose_decryption_does_not_name_the_output_file() {
    let both = Both::new();
    let literal = run(&both, true, &["--set-filename", "letter", "-o", "-", "--store"], TEXT).stdout;
    let [gpg, keyhoard] =
        [true, false].map(|gpg| run(&both, gpg, &["-v", "-o", "/dev/null", "-d"], &literal));
    assert_same("-v -d", said(&gpg).as_bytes(), said(&keyhoard).as_bytes());
    assert_eq!((gpg.code, keyhoard.code), (Some(0), Some(0)));
}

#[test]
fn a_closed_output_descriptor_is_reported_where_gpg_reports_it() {
    let both = Both::with_agent();
    for length in [0, 1, 8192, 8193] {
        // A message says how long its content is where that comes from a file.
        let content = both.gpg.write("content", vec![b'x'; length]);
        let content = content.to_str().expect("a name");
        let symmetric = ["--passphrase", "words", "-z0", "-o", "-", "-c", content];
        let message = run(&both, true, &symmetric, b"").stdout;
        let words = ["--enable-special-filenames", "--passphrase", "words", "-o", "-&99", "-d"];
        let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &words, &message));
        assert_same(&length.to_string(), said(&gpg).as_bytes(), said(&keyhoard).as_bytes());
        assert_eq!(gpg.code, keyhoard.code, "{length}");
    }
}

#[test]
fn a_level_of_compression_that_does_not_exist_is_an_error_and_the_message_is_written() {
    let both = Both::with_agent();
    for level in [
        &["-z", "10"][..],
        &["-z", "-5"],
        &["-z", "-1"],
        &["-z", "10", "--compress-algo", "none"],
        &["--compress-level", "12"],
        &["--compress-level", "12", "--compress-algo", "bzip2"],
        &["--bzip2-compress-level", "0", "--compress-algo", "bzip2"],
        &["--compress-level", "0", "--bzip2-compress-level", "12", "--compress-algo", "bzip2"],
    ] {
        let symmetric = ["--passphrase", "words", "-o", "-", "-c"];
        let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &[level, &symmetric].concat(), TEXT));
        assert_same(&level.join(" "), said(&gpg).as_bytes(), said(&keyhoard).as_bytes());
        assert_eq!((gpg.code, gpg.stdout.is_empty()), (keyhoard.code, false), "{level:?}");
        let read = run(&both, false, &["--passphrase", "words", "-o", "-", "-d"], &keyhoard.stdout);
        assert_eq!((read.code, &read.stdout[..]), (Some(0), TEXT), "{level:?}");
    }
}

#[test]
fn without_the_secret_key_both_programs_name_the_recipient() {
    let both = Both::of_alice_and_bob();
    let alice = message(&both, "alice.gpg", &["-r", "alice", "-e"]);
    let certificate = run(&both, true, &["--export", ALICE], b"").stdout;
    let others = Both::with_agent().now("20260131T000000!");
    for known in [false, true] {
        if known {
            for gpg in [true, false] {
                assert_eq!(run(&others, gpg, &["--import"], &certificate).code, Some(0));
            }
        }
        let [gpg, keyhoard] =
            [true, false].map(|gpg| run(&others, gpg, &["-d", alice.to_str().expect("a name")], b""));
        // gpg looks at keys again and again.
        let lines = |done: &Output| {
            let told = |line: &&str| !line.contains("KEY_CONSIDERED") && !line.contains("KEYEXPIRED");
            said(done).lines().filter(told).collect::<Vec<_>>().join("\n")
        };
        assert_same("-d", lines(&gpg).as_bytes(), lines(&keyhoard).as_bytes());
        assert_eq!((gpg.code, keyhoard.code), (Some(2), Some(2)));
    }
}

#[test]
fn gpg_and_gpg_keyhoard_read_each_others_messages_with_every_cipher_and_compression() {
    let both = Both::of_alice_and_bob();
    let quietly = ["--pinentry-mode", "loopback", "--passphrase", ""];
    let with_rsa = Run::gpg_keyhoard(&both.keyhoard).at(both.clock()).args(quietly);
    with_rsa.args(["--quick-add-key", ALICE, "rsa2048", "encr"]).succeed();
    let secret =
        Run::gpg_keyhoard(&both.keyhoard).args(quietly).args(["--export-secret-keys", ALICE]).succeed();
    let import = Run::gpg_with_agent(&both.gpg).at(both.clock()).args(quietly).arg("--import");
    import.stdin(secret.stdout).succeed();
    // The newest subkey is the one with RSA; the other one is asked for.
    let openers: [&[&str]; 3] = [
        &["--passphrase", "x", "--s2k-count", "1024", "-c"],
        &["-r", ALICE, "-e"],
        &["-r", "79E19554CB62E173!", "-e"],
    ];
    for cipher in CIPHERS {
        // Each combination is written by one of them and read by the other.
        for (number, compression) in COMPRESSIONS.into_iter().enumerate() {
            for (opener, words) in openers.into_iter().enumerate() {
                let options = ["--expert", "--cipher-algo", cipher, "--compress-algo", compression];
                let what = format!("{cipher} {compression} {opener}");
                let gpg_writes = (number + opener) % 2 == 0;
                let written = run(&both, gpg_writes, &[&options, old_ciphers(), words].concat(), TEXT);
                assert_eq!(written.code, Some(0), "{what}: {}", written.errors());
                let read = run(&both, !gpg_writes, &["--passphrase", "x", "-d"], &written.stdout);
                assert_eq!(read.code, Some(0), "{what}: {}", read.errors());
                assert_eq!(read.stdout, TEXT, "{what}");
                assert!(read.errors().contains("[GNUPG:] GOODMDC"), "{what}");
            }
        }
    }
}

#[test]
fn a_changed_message_is_reported_and_leaves_no_file() {
    let both = Both::of_alice_and_bob();
    let good = run(&both, false, &["--passphrase", "x", "-z", "0", "-c"], TEXT).stdout;
    let path = both.keyhoard.path().join("out");
    let output = path.to_str().expect("a name");
    for at in 20..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        if at % 7 == 0 {
            let done = run(&both, false, &["--passphrase", "x", "-o", output, "-d"], &bad);
            assert_eq!(done.code, Some(2), "{at}: {}", done.errors());
            assert!(done.errors().contains("[GNUPG:] DECRYPTION_FAILED"), "{at}: {}", done.errors());
            assert!(!done.errors().contains("OKAY") && !path.exists(), "{at}");
        }
    }
    let done = run(&both, false, &["--passphrase", "x", "-o", output, "-d"], &good);
    assert_eq!((done.code, fs::read(&path).expect("a file")), (Some(0), TEXT.to_vec()));
}

#[test]
fn several_files_are_encrypted_and_decrypted_beside_their_originals() {
    let both = Both::of_alice_and_bob();
    let names = ["one", "two"].map(|name| both.keyhoard.write(name, TEXT));
    let [one, two] = [&names[0], &names[1]].map(|path| path.to_str().expect("a name"));
    let done = run(&both, false, &["-r", "alice", "--multifile", "-e", one, two], b"");
    assert_eq!(done.code, Some(0), "{}", done.errors());
    assert_eq!(done.errors().matches("[GNUPG:] FILE_DONE").count(), 2);
    names.iter().for_each(|name| fs::remove_file(name).expect("a file"));
    let encrypted = [one, two].map(|name| format!("{name}.gpg"));
    let done =
        run(&both, false, &["--decrypt-files", &encrypted[0], &encrypted[1], "/nonexistent/x.gpg"], b"");
    assert_eq!(done.code, Some(2), "{}", done.errors());
    assert!(names.iter().all(|name| fs::read(name).expect("a file") == TEXT));
}

#[test]
fn a_message_given_without_a_command_is_decrypted() {
    let both = Both::of_alice_and_bob();
    let done = run(&both, false, &["-r", "alice", "-e"], TEXT);
    let path = both.keyhoard.write("letter.gpg", done.stdout);
    let done = run(&both, false, &[path.to_str().expect("a name")], b"");
    assert_eq!(done.code, Some(0), "{}", done.errors());
    assert_eq!(fs::read(path.with_extension("")).expect("a file"), TEXT);
}

#[test]
fn a_malformed_session_key_decrypts_nothing() {
    let both = Both::of_alice_and_bob();
    let messages = [
        message(&both, "alice.gpg", &["-r", "alice", "-e"]),
        message(&both, "symmetric.gpg", &["--passphrase", "x", "-c"]),
    ];
    for message in messages {
        let message = message.to_str().expect("a name");
        let words = ["--passphrase", "x", "--override-session-key", "nonsense", "-d", message];
        let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &words, b""));
        assert_same(message, said(&gpg).as_bytes(), said(&keyhoard).as_bytes());
        assert_eq!((gpg.code, keyhoard.code, keyhoard.stdout), (Some(2), Some(2), Vec::new()));
    }
}

#[test]
fn max_output_limits_the_bytes_that_are_written() {
    let both = Both::of_alice_and_bob();
    let short = message(&both, "short.gpg", &["--passphrase", "x", "-c"]);
    let clear = message(&both, "clear", &["--passphrase", "", "-u", "alice", "--clear-sign"]);
    for (name, limit) in [(&short, "5"), (&short, "23"), (&clear, "5")] {
        let words = ["--passphrase", "x", "--max-output", limit, "-d", name.to_str().expect("a name")];
        let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &words, b""));
        let refused = |done: &Output| done.errors().contains("exceeded --max-output");
        assert_eq!(refused(&gpg), refused(&keyhoard), "{limit}");
        assert_eq!((gpg.code, gpg.stdout), (keyhoard.code, keyhoard.stdout), "{limit}");
    }
}

#[test]
fn a_key_that_its_designated_revoker_has_revoked_is_skipped_as_in_gpg() {
    const KARL: &str = "0F78DE360189BD0F7682849D7209DA07F14A20C8";
    // gpg 2.4 ends with an error after the import of such a revocation.
    let both = Both::with_agent().with(Gnupg::V2_2);
    let [karl, rita] = ["karl", "rita"].map(|name| {
        let file = format!("/../crates/engine/src/testdata/designated-revoker-{name}.asc");
        env!("CARGO_MANIFEST_DIR").to_owned() + &file
    });
    let assert_refused = |option: &str, name: &str| {
        let words = ["--trust-model", "always", option, name, "-e"];
        let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &words, TEXT));
        let lines = |done: &Output| {
            let told = |line: &&str| !line.contains("KEY_CONSIDERED");
            said(done).lines().filter(told).collect::<Vec<_>>().join("\n")
        };
        assert_same(name, lines(&gpg).as_bytes(), lines(&keyhoard).as_bytes());
        assert_eq!((gpg.code, keyhoard.code), (Some(2), Some(2)), "{option}");
    };
    both.import(&rita);
    assert_refused("--recipient-file", &karl);
    assert_refused("--hidden-recipient-file", &karl);
    both.import(&karl);
    assert_refused("--recipient", KARL);
}

#[test]
fn unwrap_removes_the_encryption_and_nothing_else() {
    let both = Both::of_alice_and_bob();
    let quietly = ["--passphrase", "x", "--trust-model", "always"];
    let messages = [
        message(&both, "both.gpg", &[&quietly[..], &["-u", "bob", "-r", "alice", "-s", "-e"]].concat()),
        message(&both, "symmetric.gpg", &["--passphrase", "x", "-z", "0", "-c"]),
        message(&both, "signed.gpg", &[&quietly[..], &["-u", "bob", "-s"]].concat()),
    ];
    for message in &messages {
        let message = message.to_str().expect("a name");
        for words in [&["--unwrap", "-d", message][..], &["--unwrap", "-a", "-d", message]] {
            let [gpg, keyhoard] =
                [true, false].map(|gpg| run(&both, gpg, &[&quietly[..], words].concat(), b""));
            assert_same(message, &gpg.stdout, &keyhoard.stdout);
            assert_same(message, said(&gpg).as_bytes(), said(&keyhoard).as_bytes());
            assert_eq!((gpg.code, keyhoard.code), (Some(0), Some(0)), "{message}");
        }
    }
    // A changed message leaves no file.
    let mut bad = fs::read(&messages[1]).expect("a file");
    let last = bad.len() - 1;
    bad[last] ^= 1;
    let path = both.keyhoard.path().join("out");
    let words = ["--passphrase", "x", "--unwrap", "-o", path.to_str().expect("a name"), "-d"];
    let done = run(&both, false, &words, &bad);
    assert!(done.code == Some(2) && !path.exists(), "{}", done.errors());
}

#[test]
fn the_hash_algorithm_of_a_signed_and_encrypted_message_is_one_that_the_recipients_prefer() {
    let both = Both::of_alice_and_bob();
    let data = both.gpg.write("data", TEXT);
    let quietly = ["--passphrase", "", "--trust-model", "always", "-o", "/dev/null"];
    let options: [&[&str]; 5] = [
        &[],
        &["--personal-digest-preferences", "SHA256"],
        &["--personal-digest-preferences", "RIPEMD160"],
        &["--digest-algo", "SHA224"],
        &["--digest-algo", "RIPEMD160"],
    ];
    for options in options {
        for users in [&["-u", "alice"][..], &["-u", "alice", "-u", "bob"]] {
            let words = [&quietly[..], options, users, &["-r", "alice", "-s", "-e"]].concat();
            let words = [&words[..], &[data.to_str().expect("a name")]].concat();
            let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &words, b""));
            assert_same(&words.join(" "), said(&gpg).as_bytes(), said(&keyhoard).as_bytes());
            assert_eq!(gpg.code, keyhoard.code);
        }
    }
}

#[test]
fn input_that_is_no_message_is_reported_as_gpg_reports_it() {
    let both = Both::of_alice_and_bob();
    let data = both.gpg.write("data", TEXT);
    let data = data.to_str().expect("a name");
    let inputs = [
        both.gpg.write("junk", b"no message at all\n".repeat(20)),
        both.gpg.write("empty", b""),
        message(&both, "keys.gpg", &["--export", "alice"]),
        message(&both, "keys.asc", &["-a", "--export", "alice"]),
        message(&both, "letter.gpg", &["--trust-model", "always", "-r", "alice", "-e", data]),
        message(&both, "alone.sig", &["--passphrase", "", "-u", "alice", "-b", data]),
        message(&both, "data.sig", &["--passphrase", "", "-u", "alice", "-b", data]),
        both.gpg.path().join("nothing"),
    ];
    for input in inputs {
        let input = input.to_str().expect("a name");
        let commands: [&[&str]; 6] = [
            &["-d", input],
            &["--list-only", "-d", input],
            &["--verify", input],
            &["--list-only", "--verify", input],
            &["--verify-files", input],
            &["--verify", input, data],
        ];
        // gpg 2.4 searches keys and messages for a detached signature.
        let is_message = input.ends_with("letter.gpg");
        let is_searched = Gnupg::usual() == Gnupg::V2_4 && (input.contains("/keys.") || is_message);
        for words in commands.into_iter().take(if is_searched { 5 } else { 6 }) {
            let [gpg, keyhoard] =
                [true, false].map(|gpg| run(&both, gpg, &[&["--passphrase", ""], words].concat(), b"other"));
            let what = words.join(" ");
            assert_same(&what, said(&gpg).as_bytes(), said(&keyhoard).as_bytes());
            assert_eq!((gpg.code, gpg.stdout), (keyhoard.code, keyhoard.stdout), "{what}");
        }
    }
}

#[test]
fn a_recipient_is_named_by_a_key_or_by_a_valid_user_id() {
    let both = Both::of_alice_and_bob();
    // Alice has revoked her user ID "Third", and Bob only signs.
    for name in ["alice", ALICE, "79E19554CB62E173!", "=Alice <alice@example.org>", "Third", "Bob", "nobody"]
    {
        same_recipient(&both, &["-r", name]);
    }
}

#[test]
fn a_disabled_key_is_a_recipient_only_by_default_recipient() {
    let both = Both::of_alice_and_bob().trusting();
    both.import_owner_trust(&format!("{ALICE}:128:\n"));
    // An address that it does not have gpg looks up in the net.
    for words in [["-r", "alice"], ["-r", ALICE], ["--default-recipient", "alice"]] {
        same_recipient(&both, &words);
    }
}

/// Lets both encrypt, and asserts that they say the same of the recipient.
fn same_recipient(both: &Both, recipient: &[&str]) {
    let data = both.gpg.write("data", TEXT);
    let data = data.to_str().expect("a name");
    for model in ["always", "pgp"] {
        let words = [&["--trust-model", model, "-o", "/dev/null"], recipient, &["-e", data]].concat();
        let [gpg, keyhoard] = [true, false].map(|gpg| run(both, gpg, &words, b""));
        let is_of_trustdb =
            |line: &&str| line.contains("trustdb") || line.contains("no ultimately trusted keys");
        let lines = |done: &Output| -> String {
            said(done).split_inclusive('\n').filter(|line| !is_of_trustdb(line)).collect()
        };
        assert_same(&words.join(" "), lines(&gpg).as_bytes(), lines(&keyhoard).as_bytes());
        assert_eq!(gpg.code, keyhoard.code, "{recipient:?}");
    }
}

/// Returns the files of a directory with their content.
fn files(directory: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry"));
    let mut files: Vec<_> = entries
        .map(|entry| (entry.file_name().into_vec(), fs::read(entry.path()).expect("a file")))
        .collect();
    files.sort();
    files
}

/// Files by name, with their content.
type Files = Vec<(Vec<u8>, Vec<u8>)>;

/// Has a program write the content of a message under the name that the message gives it; returns what it said and the
/// files that are there then.
fn written_as_named(both: &Both, gpg: bool, words: &[&str], name: &[u8]) -> (Output, Files) {
    let directory = tempfile::tempdir().expect("a directory");
    let length = u8::try_from(name.len()).expect("a name of a message");
    let message = packet::write(Tag(11), &[&[b'b', length], name, &[0; 4], TEXT].concat());
    let words = [&BATCH_OPTIONS[..], &["--use-embedded-filename"], words].concat();
    let done = both.run_of(gpg).current_dir(directory.path()).args(words).stdin(message).output();
    (done, files(directory.path()))
}

#[test]
fn a_file_has_the_name_that_gpg_makes_of_the_one_in_the_message() {
    let both = Both::new();
    let names: [&[u8]; 18] = [
        b"plain",
        b"-dash",
        b"--",
        b"-",
        b"",
        b".",
        b"..",
        b"%41 ",
        b"new\nline\r\t",
        b"\x1b[31mred\x07\x7f",
        b"nul\0byte",
        b"back\\slash",
        "\u{e9}\u{202e}\u{9b}".as_bytes(),
        b"\xff\xfe",
        b"cut\xc3",
        b"-&1",
        &[b'x'; 255],
        b"~",
    ];
    for name in names {
        for words in [&["-d"][..], &[]] {
            let [(gpg, expected), (keyhoard, found)] =
                [true, false].map(|gpg| written_as_named(&both, gpg, words, name));
            let what = format!("{words:?} {}", name.escape_ascii());
            let expected: Vec<_> =
                expected.into_iter().map(|(name, content)| (escaped_name(name), content)).collect();
            assert_eq!(expected, found, "{what}");
            assert_same(&what, as_shown(&said(&gpg)).as_bytes(), said(&keyhoard).as_bytes());
            assert_eq!((gpg.code, gpg.stdout), (keyhoard.code, keyhoard.stdout), "{what}");
        }
    }
}

#[test]
fn a_signature_by_a_key_from_the_future_cannot_be_checked() {
    let mut both = Both::of_alice_and_bob();
    let signed =
        both.run_of(true).args(["--batch", "-u", "alice", "-o", "-", "-s"]).stdin(TEXT).succeed().stdout;
    for clock in ["20250101T000000!", "20100615T120000!"] {
        both = both.now(clock);
        let [gpg, keyhoard] =
            [true, false].map(|gpg| run(&both, gpg, &["--status-fd", "1", "--verify"], &signed));
        assert_eq!((gpg.code, gpg.text()), (keyhoard.code, keyhoard.text()), "{clock}");
        if Gnupg::usual() == Gnupg::V2_4 {
            continue;
        }
        // gpg says it for each signature that it looks at on the way.
        let words = said(&gpg);
        let line = words.lines().find(|line| line.contains("in the future")).expect("gpg says so");
        assert!(said(&keyhoard).contains(line), "{clock}: {line}\n{}", said(&keyhoard));
    }
}

fn escaped_name(name: Vec<u8>) -> Vec<u8> {
    String::from_utf8(name).map_or_else(|name| name.into_bytes(), |name| escaped(&name).into_bytes())
}

/// Returns what gpg says as it is shown here: status lines are as gpg writes them.
fn as_shown(text: &str) -> String {
    let line = |line: &str| if line.starts_with("[GNUPG:]") { line.to_owned() } else { escaped(line) };
    text.split_inclusive('\n').map(line).collect()
}

/// Returns what gpg says with the characters escaped that gpg writes to terminals as they are (docs/gpg-compat.md).
fn escaped(text: &str) -> String {
    text.replace('\u{202e}', "\\xe2\\x80\\xae").replace('\u{9b}', "\\xc2\\x9b")
}

#[test]
fn an_embedded_file_name_selects_no_directory_no_descriptor_and_no_impossible_name() {
    let both = Both::new();
    let mine = |words: &[&str], name: &[u8]| written_as_named(&both, false, words, name);
    for (name, expected) in
        [(&b"../up"[..], &b"up"[..]), (b"/tmp/../etc/passwd", b"passwd"), (b"a/b", b"b"), (b"-&5", b"-&5")]
    {
        let (done, files) = mine(&["--enable-special-filenames", "-d"], name);
        assert_eq!(done.code, Some(0), "{}", done.errors());
        assert_eq!(files, [(expected.to_vec(), TEXT.to_vec())], "{}", name.escape_ascii());
    }
    // Escaped it is too long, and the content goes to where it goes without a name.
    for name in [&[b'\n'; 200][..], b"directory/"] {
        let (done, files) = mine(&["-d"], name);
        assert_eq!((done.code, &done.stdout[..], files), (Some(0), TEXT, Vec::new()), "{}", done.errors());
    }
}

#[test]
fn a_message_for_your_eyes_only_is_not_saved_to_a_file() {
    let both = Both::new();
    let (done, files) = written_as_named(&both, false, &["-d"], b"_CONSOLE");
    assert_eq!((done.code, &done.stdout[..], files), (Some(0), TEXT, Vec::new()), "{}", done.errors());
    let [gpg, keyhoard] = [true, false].map(|gpg| written_as_named(&both, gpg, &[], b"_CONSOLE"));
    assert_same("_CONSOLE", said(&gpg.0).as_bytes(), said(&keyhoard.0).as_bytes());
    assert_eq!((gpg.0.stdout, gpg.1), (keyhoard.0.stdout, keyhoard.1));
}

#[test]
fn without_a_passphrase_status_lines_report_the_failure() {
    let both = Both::of_alice_and_bob();
    let symmetric = message(&both, "symmetric.gpg", &["--passphrase", "x", "-c"]);
    let symmetric = symmetric.to_str().expect("a name");
    let commands: [&[&str]; 5] = [
        &["-o", "-", "-c"],
        &["-o", "-", "-r", "alice", "-c", "-e"],
        &["-d", symmetric],
        &["--list-packets", symmetric],
        &[symmetric],
    ];
    for mode in ["error", "cancel"] {
        for words in commands {
            let words = [&["--trust-model", "always", "--pinentry-mode", mode], words].concat();
            let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &words, TEXT));
            let what = words.join(" ");
            assert_same(&what, said(&gpg).as_bytes(), said(&keyhoard).as_bytes());
            assert_eq!((gpg.code, keyhoard.code), (Some(2), Some(2)), "{what}");
            assert_same(&what, &gpg.stdout, &keyhoard.stdout);
        }
    }
    // Without a terminal there is nobody to ask.
    let words = ["--batch", "--no-tty", "--status-fd", "2", "-o", "-", "-c"];
    let done = both.run_of(false).args(words).stdin(TEXT).output();
    assert_eq!((done.code, done.stdout.is_empty()), (Some(2), true));
    for line in ["ERROR get_passphrase 85", "CANCELED_BY_USER", "FAILURE symencrypt 33554531"] {
        assert!(done.errors().contains(&format!("[GNUPG:] {line}\n")), "{}", done.errors());
    }
}
