//! `keyhoard encrypt` and `keyhoard decrypt`: messages that gpg, gpg1 and sq read, theirs, and what is refused.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use cert::packet::Packets;
use harness::{CIPHERS, COMPRESSIONS, Engine, Gnupg, Home, Output, OwnKey, Run, Victim};
use packet_builder::{Certificate, Key, MADE, Packet, Signature, Signed, Subpacket, bytes};
use secret::file::FileKeys;
use secret::{Role, SecretKey, SecretKeys};

harness::on_both_engines! {
    the_recipients_secret_key_decrypts_the_message_and_hidden_recipients_are_not_named
    a_mail_address_is_a_recipient_only_if_one_valid_certificate_has_it
    anything_but_a_fingerprint_selects_only_a_fully_valid_certificate
    a_certificate_that_claims_a_key_does_not_get_its_messages
}

/// Text that compresses, longer than one part of a packet.
fn text() -> Vec<u8> {
    (0..20_000).flat_map(|line: u32| format!("line {line} of {}\n", line % 977).into_bytes()).collect()
}

fn password_file(home: &Home) -> PathBuf {
    home.write("password", "open sesame\n")
}

/// Encrypts with the password of [`password_file`].
fn encrypted(home: &Home, content: &[u8], arguments: &[&str]) -> Vec<u8> {
    let run = Run::keyhoard(home).args(["encrypt", "--password-file"]).arg(password_file(home));
    run.args(arguments).stdin(content).succeed().stdout
}

fn decrypt(home: &Home, message: &[u8], arguments: &[&str]) -> Output {
    let run = Run::keyhoard(home).args(["decrypt", "--password-file"]).arg(password_file(home));
    run.args(arguments).stdin(message).output()
}

#[track_caller]
fn decrypted(home: &Home, message: &[u8]) -> Vec<u8> {
    let done = decrypt(home, message, &[]);
    assert_eq!(done.code, Some(0), "{}", done.errors());
    done.stdout
}

/// Runs another program with the password on its standard input.
fn with_password(program: &str, home: &Home, arguments: &[&str], file: &Path) -> Vec<u8> {
    let mut command =
        Command::new(if program == "gpg" { Gnupg::V2_2.program(program) } else { program.into() });
    command
        .args(["--batch", "--homedir"])
        .arg(home.path())
        .arg("--no-permission-warning")
        .args(["-q", "--passphrase-file"]);
    command.arg(password_file(home)).args(arguments).arg(file);
    if program == "gpg" {
        command.env("GNUPGHOME", home.path());
    }
    let output = command.output().expect("the program is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    output.stdout
}

const GPG: [&str; 2] = ["--pinentry-mode", "loopback"];

#[test]
fn gpg_reads_every_cipher_with_every_compression_and_is_read() {
    let home = Home::new();
    let plain = text();
    for cipher in CIPHERS {
        for compression in COMPRESSIONS {
            let message = encrypted(
                &home,
                &plain,
                &["--cipher", cipher, "--compress", compression, "--allow-old-cipher"],
            );
            let file = home.write("message", &message);
            let read = with_password("gpg", &home, &[&GPG[..], &["--decrypt"]].concat(), &file);
            assert!(read == plain, "gpg, {cipher}, {compression}");
            let file = home.write("plain", &plain);
            let options = [
                "--cipher-algo",
                cipher,
                "--compress-algo",
                compression,
                "--s2k-count",
                "65536",
                "-o",
                "-",
                "-c",
            ];
            let message = with_password("gpg", &home, &[&GPG[..], &options].concat(), &file);
            assert!(decrypted(&home, &message) == plain, "from gpg, {cipher}, {compression}");
        }
    }
}

#[test]
fn gpg_1_reads_every_cipher_and_is_read() {
    let home = Home::new();
    let plain = text();
    for cipher in CIPHERS {
        let message =
            encrypted(&home, &plain, &["--cipher", cipher, "--compress", "zlib", "--allow-old-cipher"]);
        let file = home.write("message", &message);
        assert!(with_password("gpg1", &home, &["--decrypt"], &file) == plain, "{cipher}");
        let file = home.write("plain", &plain);
        let options = ["--cipher-algo", cipher, "--s2k-digest-algo", "SHA1", "--force-mdc", "-o", "-", "-c"];
        let message = with_password("gpg1", &home, &options, &file);
        assert!(decrypted(&home, &message) == plain, "{cipher}");
    }
}

#[test]
fn every_protection_is_decrypted_from_a_pipe_and_from_a_file() {
    let home = Home::new();
    let plain = text();
    for mode in ["none", "ocb", "gcm", "eax", "gnupg-ocb"] {
        for armor in ["--armor", "--binary"] {
            let message = encrypted(&home, &plain, &["--aead", mode, armor]);
            assert_eq!(message.starts_with(b"-----BEGIN PGP MESSAGE-----\n"), armor == "--armor");
            assert!(decrypted(&home, &message) == plain, "{mode}");
            let file = home.path().join("content");
            let done = decrypt(&home, &message, &["--json", "--force", "--output", &file.to_string_lossy()]);
            assert_eq!(done.code, Some(0), "{}", done.errors());
            assert!(fs::read(&file).expect("a file") == plain, "{mode}");
            let told: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
            assert_eq!(told["octets"], plain.len());
        }
    }
}

#[test]
fn a_changed_or_truncated_message_leaves_the_file_as_it_was_and_gives_a_pipe_nothing() {
    let home = Home::new();
    let message = encrypted(&home, &text(), &[]);
    let file = home.write("content", "precious");
    let mut changed = message.clone();
    changed[message.len() / 2] ^= 1;
    for message in [&changed[..], &message[..message.len() - 1], &message[..1000]] {
        let done = decrypt(&home, message, &["--force", "--output", &file.to_string_lossy()]);
        assert_eq!(done.code, Some(2), "{}", done.errors());
        assert_eq!(fs::read(&file).expect("a file"), b"precious");
        let done = decrypt(&home, message, &[]);
        assert_eq!((done.code, done.stdout.len()), (Some(2), 0), "{}", done.errors());
    }
    let done = decrypt(&home, &changed, &["--stream-unverified"]);
    assert!(done.code == Some(2) && !done.stdout.is_empty());
    assert!(done.errors().contains("changed"), "{}", done.errors());
}

#[test]
fn more_than_12_mebibytes_without_check_go_to_a_pipe_only_when_that_is_asked_for() {
    let home = Home::new();
    let plain = vec![b'x'; 13 << 20];
    let message = encrypted(&home, &plain, &["--compress", "zlib"]);
    let done = decrypt(&home, &message, &[]);
    assert!(done.code == Some(2) && done.stdout.is_empty(), "{}", done.errors());
    assert!(done.errors().contains("--stream-unverified"), "{}", done.errors());
    assert!(decrypt(&home, &message, &["--stream-unverified"]).stdout == plain);
    let message = encrypted(&home, &plain, &["--aead", "ocb"]);
    assert!(decrypted(&home, &message) == plain);
}

#[test]
fn a_wrong_password_and_what_is_no_message_are_errors() {
    let home = Home::new();
    let message = encrypted(&home, b"text", &[]);
    let wrong = home.write("wrong", "open barley\n");
    let done = Run::keyhoard(&home).args(["decrypt", "--password-file"]).arg(wrong).stdin(message).output();
    assert_eq!((done.code, done.stdout.len()), (Some(2), 0));
    assert!(done.errors().contains("wrong password"), "{}", done.errors());
    for input in [&b""[..], b"text", b"-----BEGIN PGP MESSAGE-----\n\n"] {
        let done = decrypt(&home, input, &[]);
        assert_eq!(done.code, Some(2));
        assert!(done.errors().contains("no OpenPGP message"), "{}", done.errors());
    }
}

#[test]
fn ciphers_with_small_blocks_are_used_only_when_that_is_asked_for() {
    let home = Home::new();
    let run = Run::keyhoard(&home)
        .args(["encrypt", "--cipher", "3des", "--password-file"])
        .arg(password_file(&home));
    let done = run.stdin("text").output();
    assert_eq!((done.code, done.stdout.len()), (Some(2), 0));
    assert!(done.errors().contains("--allow-old-cipher"), "{}", done.errors());
}

#[test]
fn a_shown_session_key_decrypts_the_message() {
    let home = Home::new();
    let message = encrypted(&home, b"text", &["--aead", "gcm"]);
    let shown = decrypt(&home, &message, &["--show-session-key"]).errors();
    let key = shown.lines().find_map(|line| line.split_once("session key: ")).expect("a session key").1;
    let decrypt = |key: &str| {
        let file = home.write("session-key", format!("{key}\n"));
        Run::keyhoard(&home).args(["decrypt", "--session-key-file"]).arg(file).stdin(message.clone()).output()
    };
    let done = decrypt(key);
    assert_eq!((done.code, &done.stdout[..]), (Some(0), &b"text"[..]), "{}", done.errors());
    let other = format!("9:{}", "0".repeat(64));
    let done = decrypt(&other);
    assert_eq!((done.code, done.stdout.len()), (Some(2), 0));
}

#[test]
fn a_device_given_as_output_stays_a_device() {
    let home = Home::new();
    let message = encrypted(&home, b"text", &[]);
    let done = decrypt(&home, &message, &["--output", "/dev/stdout"]);
    assert_eq!((done.code, &done.stdout[..]), (Some(0), &b"text"[..]), "{}", done.errors());
    assert_eq!(decrypt(&home, &message, &["--output", "/dev/null"]).code, Some(0));
    assert!(!fs::metadata("/dev/null").expect("a device").is_file());
}

/// A key of gpg's, with the certificate in a database of ours.
fn key_in(home: &Home, user_id: &str) -> OwnKey {
    let key = OwnKey::new(user_id);
    Run::keyhoard(home).args(["import", "--quiet"]).stdin(key.certificate()).succeed();
    key
}

fn decrypted_by(key: &OwnKey, message: &[u8]) -> Vec<u8> {
    Run::gpg_with_agent(key.home()).args(["--quiet", "--decrypt"]).stdin(message).succeed().stdout
}

fn the_recipients_secret_key_decrypts_the_message_and_hidden_recipients_are_not_named(engine: Engine) {
    let home = engine.home();
    let (ann, ben) = (key_in(&home, "Ann <ann@example.org>"), key_in(&home, "Ben <ben@example.org>"));
    let run =
        Run::keyhoard(&home).args(["encrypt", "--to", ann.fingerprint(), "--to-hidden", ben.fingerprint()]);
    let message = run.stdin(text()).succeed().stdout;
    assert!(decrypted_by(&ann, &message) == text());
    assert!(decrypted_by(&ben, &message) == text());
    let packets =
        Run::gpg(&engine.home()).args(["--list-only", "--list-packets"]).stdin(message).output().stdout;
    let packets = String::from_utf8_lossy(&packets);
    assert_eq!(packets.matches("pubkey enc packet").count(), 2, "{packets}");
    assert_eq!(packets.matches("keyid 0000000000000000").count(), 1, "{packets}");
}

#[test]
fn a_session_key_that_does_not_fit_does_not_hide_the_one_that_does() {
    let home = Home::new();
    let (_, fingerprint) = secret_key_in(&home, "future-default");
    let run = || Run::keyhoard(&home).args(["--faked-system-time", "20260101T000000"]);
    let encrypt = |text: &str| {
        run().args(["encrypt", "--aead", "none", "--to", &fingerprint]).stdin(text).succeed().stdout
    };
    let [other, message] = ["other", "text"].map(encrypt);
    let span = Packets::new(&other).next().expect("a packet").expect("for a recipient").span;
    let done = run().arg("decrypt").stdin([&other[..span.end as usize], &message].concat()).output();
    assert_eq!((done.code, &done.stdout[..]), (Some(0), &b"text"[..]), "{}", done.errors());
}

#[test]
fn the_certificates_of_a_file_are_recipients_without_a_database() {
    let home = Home::new();
    let key = OwnKey::new("Ann <ann@example.org>");
    let file = home.write("ann.pgp", key.certificate());
    let message =
        Run::keyhoard(&home).args(["encrypt", "--to-file"]).arg(file).stdin(text()).succeed().stdout;
    assert!(decrypted_by(&key, &message) == text());
    assert!(!home.database().exists());
    let file = home.write("nothing.pgp", "");
    let done = Run::keyhoard(&home).args(["encrypt", "--to-file"]).arg(file).stdin("text").output();
    assert_eq!((done.code, done.stdout.len()), (Some(1), 0));
}

fn a_mail_address_is_a_recipient_only_if_one_valid_certificate_has_it(engine: Engine) {
    let home = engine.home();
    let ann = key_in(&home, "Ann <ann@example.org>");
    let encrypt =
        |arguments: &[&str]| Run::keyhoard(&home).arg("encrypt").args(arguments).stdin("text").output();
    let done = encrypt(&["--to", "ann@example.org"]);
    assert_eq!((done.code, done.stdout.len()), (Some(1), 0));
    assert!(done.errors().contains(ann.fingerprint()), "{}", done.errors());
    assert_eq!(encrypt(&["--to", "ann@example.org", "--trust-model", "always"]).code, Some(0));
    let trusted = ["--to", "ann@example.org", "--trusted-key", ann.fingerprint()];
    assert_eq!(encrypt(&trusted).code, Some(0));
    let other = key_in(&home, "Another Ann <ann@example.org>");
    let done = encrypt(&["--to", "ann@example.org", "--trust-model", "always"]);
    assert_eq!((done.code, done.stdout.len()), (Some(1), 0));
    assert!(done.errors().contains(ann.fingerprint()) && done.errors().contains(other.fingerprint()));
    let done = encrypt(&["--to", "nobody@example.org"]);
    assert_eq!((done.code, done.stdout.len()), (Some(1), 0));
    assert!(done.errors().contains("not found"), "{}", done.errors());
}

fn anything_but_a_fingerprint_selects_only_a_fully_valid_certificate(engine: Engine) {
    let home = engine.home();
    let ann = key_in(&home, "Ann Example <ann@example.org>");
    let fingerprint = ann.fingerprint();
    let long_id = &fingerprint[24..];
    let names = [
        "Ann",
        "*example",
        "=Ann Example <ann@example.org>",
        "Ann Example <ann@example.org>",
        "<ann@example.org>",
        " ann@example.org",
        "ann@example.org ",
        "@nn@example.org",
        "nn@example.org",
        long_id,
        &fingerprint[32..],
        &format!("0x{long_id}!"),
    ];
    let encrypt = |option: &str, name: &str, more: &[&str]| {
        Run::keyhoard(&home).args(["encrypt", option, name]).args(more).stdin("text").output()
    };
    let trusted = ["--trusted-key", fingerprint];
    for name in names {
        for option in ["--to", "--to-hidden"] {
            let done = encrypt(option, name, &[]);
            assert_eq!((done.code, done.stdout.len()), (Some(1), 0), "{option} {name}");
            assert!(done.errors().contains(fingerprint), "{option} {name}: {}", done.errors());
        }
        assert_eq!(encrypt("--to", name, &["--trust-model", "always"]).code, Some(0), "{name}");
        // A part of an address is somebody else's whole one.
        let expected = if name == "nn@example.org" { 1 } else { 0 };
        assert_eq!(encrypt("--to", name, &trusted).code, Some(expected), "{name}");
    }
    let spaced: Vec<&str> = (0..10).map(|at| &fingerprint[4 * at..4 * at + 4]).collect();
    for name in
        [fingerprint, &format!("0x{fingerprint}"), &[spaced[..5].join(" "), spaced[5..].join(" ")].join("  ")]
    {
        assert_eq!(encrypt("--to", name, &[]).code, Some(0), "{name}");
    }
}

/// Makes a key that is not locked, hands its secret to a database of ours, and returns gpg's home and the fingerprint.
fn secret_key_in(home: &Home, algorithm: &str) -> (Home, String) {
    let gpg = Home::new();
    let run = |arguments: &[&str]| {
        let run = Run::gpg_with_agent(&gpg).args(["--passphrase", "", "--pinentry-mode", "loopback"]);
        run.args(arguments).succeed().stdout
    };
    run(&["--quick-generate-key", "Key <key@example.org>", algorithm, "default", "never"]);
    let listing = String::from_utf8(run(&["--with-colons", "--list-keys"])).expect("text");
    let fingerprint = listing.lines().find_map(|line| line.strip_prefix("fpr:::::::::")).expect("a key");
    let fingerprint = fingerprint.trim_end_matches(':').to_owned();
    if algorithm.starts_with("rsa") {
        run(&["--quick-add-key", &fingerprint, algorithm, "encr", "never"]);
    }
    let secret = run(&["--export-secret-keys", &fingerprint]);
    Run::keyhoard(home).args(["import", "--quiet"]).stdin(secret.clone()).succeed();
    let keys = FileKeys::beside(&home.database());
    for packet in Packets::new(&secret).map(|packet| packet.expect("gpg writes packets")) {
        if let Some(role) = Role::of(packet.tag) {
            keys.store(&SecretKey::parse(role, packet.body).expect("a secret key")).expect("a new file");
        }
    }
    (gpg, fingerprint)
}

#[test]
fn messages_of_other_programs_to_our_keys_are_decrypted() {
    for algorithm in ["rsa2048", "future-default"] {
        let home = Home::new();
        let (gpg, fingerprint) = secret_key_in(&home, algorithm);
        let read = |message: Vec<u8>| {
            let run = Run::keyhoard(&home).args(["--faked-system-time", "20260101T000000", "decrypt"]);
            run.stdin(message).succeed().stdout
        };
        for (cipher, compression) in CIPHERS.into_iter().zip(COMPRESSIONS.into_iter().cycle()) {
            let options =
                ["--cipher-algo", cipher, "--compress-algo", compression, "--trust-model", "always"];
            for recipient in ["-r", "-R"] {
                let run = Run::gpg(&gpg).args(options).args([recipient, &fingerprint, "--encrypt"]);
                let message = run.stdin(text()).succeed().stdout;
                assert!(read(message) == text(), "from gpg, {algorithm}, {cipher}, {compression}");
            }
            let options =
                ["--cipher", cipher, "--compress", compression, "--allow-old-cipher", "--to", &fingerprint];
            let run = Run::keyhoard(&home).args(["--faked-system-time", "20260101T000000", "encrypt"]);
            let message = run.args(options).stdin(text()).succeed().stdout;
            let by_gpg =
                Run::gpg_with_agent(&gpg).args(["--quiet", "--decrypt"]).stdin(message.clone()).succeed();
            assert!(by_gpg.stdout == text(), "to gpg, {algorithm}, {cipher}, {compression}");
            assert!(read(message) == text());
        }
        let certificate = Run::gpg(&gpg).args(["--export", &fingerprint]).succeed().stdout;
        let certificate = gpg.write("certificate", certificate);
        let plain = gpg.write("plain", text());
        let sq =
            Command::new("sq").args(["encrypt", "--recipient-cert"]).arg(&certificate).arg(&plain).output();
        let sq = sq.expect("sq is installed");
        assert!(sq.status.success(), "{}", String::from_utf8_lossy(&sq.stderr));
        assert!(read(sq.stdout) == text(), "from sq, {algorithm}");
    }
}

#[test]
fn a_message_to_somebody_else_is_an_error() {
    let home = Home::new();
    let ann = key_in(&home, "Ann <ann@example.org>");
    let message =
        Run::keyhoard(&home).args(["encrypt", "--to", ann.fingerprint()]).stdin("text").succeed().stdout;
    let done = Run::keyhoard(&home).arg("decrypt").stdin(message).output();
    assert_eq!((done.code, done.stdout.len()), (Some(2), 0));
    assert!(done.errors().contains("no password or secret key"), "{}", done.errors());
}

#[test]
fn encrypting_without_a_recipient_is_an_error() {
    let done = Run::keyhoard(&Home::new()).arg("encrypt").stdin("text").output();
    assert_eq!((done.code, done.stdout.len()), (Some(2), 0));
}

#[test]
fn a_key_that_its_designated_revoker_has_revoked_is_not_encrypted_to() {
    let home = Home::new();
    let encrypt = || {
        let words = ["encrypt", "--to", "karl@example.org", "--trust-model", "always"];
        Run::keyhoard(&home).args(words).stdin("text").output()
    };
    Run::keyhoard(&home).arg("import").arg(certificate("karl")).succeed();
    assert_eq!(encrypt().code, Some(0), "nobody can tell without the revoker's key");
    Run::keyhoard(&home).arg("import").arg(certificate("rita")).succeed();
    let refused = encrypt();
    assert_eq!((refused.code, &refused.stdout[..]), (Some(1), &b""[..]));
    assert!(refused.errors().contains("no key to encrypt to"), "{}", refused.errors());
}

#[test]
fn a_key_from_a_file_that_its_designated_revoker_has_revoked_is_not_encrypted_to() {
    let home = Home::new();
    let encrypt =
        |file: &Path| Run::keyhoard(&home).args(["encrypt", "--to-file"]).arg(file).stdin("text").output();
    let assert_refused = |file: &Path| {
        let refused = encrypt(file);
        assert_eq!((refused.code, &refused.stdout[..]), (Some(1), &b""[..]), "{}", refused.errors());
        assert!(refused.errors().contains("no key to encrypt to"), "{}", refused.errors());
    };
    let [karl, rita] = ["karl", "rita"].map(certificate);
    assert_eq!(encrypt(&karl).code, Some(0), "nobody can tell without the revoker's key");
    let both = [&karl, &rita].map(|path| fs::read(path).expect("it is there")).concat();
    assert_refused(&home.write("both.asc", both));
    Run::keyhoard(&home).arg("import").arg(&rita).succeed();
    assert_refused(&karl);
}

/// Karl named Rita as his revoker, and she revoked his key.
fn certificate(name: &str) -> PathBuf {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/engine/src/testdata");
    Path::new(directory).join(format!("designated-revoker-{name}.asc"))
}

#[test]
fn each_of_several_passwords_decrypts_the_message_from_every_source() {
    let home = Home::new();
    let program = home.write("asked", "#!/bin/sh\necho third\n");
    fs::set_permissions(&program, Permissions::from_mode(0o700)).expect("own file");
    let file = |name: &str| home.write(name, format!("{name}\n")).to_string_lossy().into_owned();
    let content = file("content");
    for aead in ["none", "ocb"] {
        let files = ["--password-file", &file("first"), "--password-file", &file("second")];
        let run = Run::keyhoard(&home).args(["encrypt", "--aead", aead, "--password", "--password-fd", "0"]);
        let run = run.args(files).arg(&content).env("KEYHOARD_PASSPHRASE_PROGRAM", &program);
        let message = run.stdin("fourth\n").succeed().stdout;
        for password in ["first", "second", "third", "fourth"] {
            let run = Run::keyhoard(&home).args(["decrypt", "--password-file", &file(password)]);
            assert_eq!(run.stdin(message.clone()).succeed().stdout, b"content\n", "{aead} {password}");
        }
        let run = Run::keyhoard(&home).args(["decrypt", "--password-file", &file("fifth")]);
        assert_eq!(run.stdin(message).output().code, Some(2), "{aead}");
    }
    let run = Run::keyhoard(&home).args(["encrypt", "--password-file", &file("first"), "--password-file"]);
    let done = run.arg(home.write("empty", "")).arg(&content).output();
    assert_eq!((done.code, done.stdout.len()), (Some(2), 0));
}

#[test]
fn name_and_time_put_a_files_name_and_time_into_messages() {
    let home = Home::new();
    Run::keyhoard(&home).args(["generate", "--quiet", "--no-passphrase", "Ann <ann@example.org>"]).succeed();
    let said = ["--name", "letter.txt", "--time", "20250102T030405", "--compress", "zlib", "--level", "9"];
    let content = home.path().join("content");
    for (options, expected) in
        [(&said[..], "created 1735787045, name=\"letter.txt\""), (&[], "created 0, name=\"\"")]
    {
        let message = Run::keyhoard(&home).arg("sign").args(options).stdin("text").succeed().stdout;
        let packets = Run::gpg(&home).arg("--list-packets").stdin(message).output().text();
        assert!(packets.contains(expected), "{packets}");
        assert_eq!(packets.contains(":compressed packet: algo=2"), !options.is_empty(), "{packets}");
    }
    let run = Run::keyhoard(&home).args(["encrypt", "--to", "ann@example.org"]).args(said);
    let message = run.stdin("text").succeed().stdout;
    let run = Run::keyhoard(&home).args(["decrypt", "--json", "--output"]).arg(content);
    let told = run.stdin(message).succeed().json_lines();
    assert_eq!((&told[0]["name"], &told[0]["time"]), (&"letter.txt".into(), &"2025-01-02T03:04:05Z".into()));
    for refused in [["--detached", "--name", "a"], ["--clear", "--time", "1"], ["--detached", "--level", "1"]]
    {
        let done = Run::keyhoard(&home).arg("sign").args(refused).stdin("text").output();
        assert_eq!((done.code, done.stdout.len()), (Some(2), 0), "{refused:?}");
    }
}

#[test]
fn an_unreadable_input_is_named_and_nothing_is_written() {
    let home = Home::new();
    let directory = home.path().to_string_lossy().into_owned();
    let letter = home.write("letter.txt", "no message").to_string_lossy().into_owned();
    let password = password_file(&home).to_string_lossy().into_owned();
    let with_password = |command: &str, file: &str| {
        Run::keyhoard(&home).args([command, "--password-file", &password, file]).output()
    };
    for command in ["encrypt", "decrypt"] {
        let done = with_password(command, &directory);
        assert_eq!((done.code, &done.stdout[..]), (Some(2), &b""[..]), "{command}");
        assert!(done.errors().contains(&format!("{directory}: is a directory")), "{}", done.errors());
    }
    for done in [with_password("decrypt", &letter), Run::keyhoard(&home).args(["verify", &letter]).output()] {
        assert!(done.errors().contains(&format!("{letter}: no OpenPGP message found")), "{}", done.errors());
    }
}

#[test]
fn a_message_whose_content_cannot_be_written_is_not_reported_as_decrypted() {
    let home = Home::new();
    let message = encrypted(&home, b"text", &[]);
    let full = decrypt(&home, &message, &["--output", "/dev/full"]);
    assert_eq!(full.code, Some(2));
    assert!(!full.errors().contains("content written to"), "{}", full.errors());
    assert!(full.errors().contains("/dev/full: No space left on device"), "{}", full.errors());
}

fn a_certificate_that_claims_a_key_does_not_get_its_messages(engine: Engine) {
    let ann = Victim::new();
    let wanted: String = ann.encryption.key_id().iter().map(|byte| format!("{byte:02X}")).collect();
    for is_first in [true, false] {
        let home = engine.home();
        let mut certificates = [ann.claimants(20), ann.certificate.clone()];
        if is_first {
            certificates.reverse();
        }
        for certificates in certificates {
            Run::keyhoard(&home).args(["import", "--quiet"]).stdin(certificates).succeed();
        }
        let is_for_ann = |message: Vec<u8>| {
            let packets = Run::gpg_keyhoard(&home).arg("--list-packets").stdin(message).output().text();
            assert!(packets.contains(&format!("keyid {wanted}")), "{packets}");
        };
        for name in [ann.primary.fingerprint_text(), ann.encryption.fingerprint_text()] {
            is_for_ann(Run::keyhoard(&home).args(["encrypt", "--to", &name]).stdin("text").succeed().stdout);
        }
        let key_id: String = ann.primary.key_id().iter().map(|byte| format!("{byte:02X}")).collect();
        for name in
            [ann.primary.fingerprint_text(), ann.encryption.fingerprint_text(), key_id, wanted.clone()]
        {
            let encrypt = ["--trust-model", "always", "-r", &name, "-o", "-", "-e"];
            is_for_ann(Run::gpg_keyhoard(&home).args(encrypt).stdin("text").succeed().stdout);
        }
        // Of a subkey that nobody encrypts to nobody can tell whose it is.
        let encrypt = ["--trust-model", "always", "-r", &ann.subkey.fingerprint_text(), "-o", "-", "-e"];
        let done = Run::gpg_keyhoard(&home).args(encrypt).stdin("text").output();
        assert_eq!((done.code, done.stdout.len()), (Some(2), 0), "{}", done.errors());
    }
}

/// Imports a key with its secret part, which signs and encrypts.
fn import_secret(home: &Home, key: &Key, user_id: &str) {
    let certificate = Certificate::with_flags(key, user_id, 15);
    let secret = [vec![key.secret_packet(5)], certificate.packets[1..].to_vec()].concat();
    Run::keyhoard(home).arg("import").stdin(bytes(&secret)).succeed();
}

/// Decrypts a message, and returns its only signature.
fn signature_in(home: &Home, message: Vec<u8>) -> serde_json::Value {
    let file = home.path().join("content");
    let _ = fs::remove_file(&file);
    let run = Run::keyhoard(home).args(["--json", "decrypt", "--output"]).arg(&file).stdin(message);
    let done = run.succeed().json_lines();
    assert_eq!(fs::read(&file).expect("it was written"), b"a text\n");
    done[0]["signatures"][0].clone()
}

#[test]
fn a_signature_in_a_message_has_the_digest_that_its_recipients_prefer_and_is_for_them_only() {
    let home = Home::new();
    let (ann, bob) = (Key::ed25519("ann"), Key::rsa2048());
    // The same numbers with another creation time: a key that opens what is encrypted to Bob, of another certificate.
    let carol = Key::rsa2048().created(MADE - 1);
    import_secret(&home, &ann, "Ann <ann@example.org>");
    import_secret(&home, &carol, "Carol <carol@example.org>");
    let user_id = &b"Bob <bob@example.org>"[..];
    let prefers = |digests: &[u8]| {
        let signature = Signature::new(0x13).with(Subpacket::key_flags(15)).with(Subpacket::new(21, digests));
        bytes(&[bob.packet(), Packet::user_id(user_id), signature.sign(&bob, &Signed::UserId(&bob, user_id))])
    };
    Run::keyhoard(&home).arg("import").stdin(prefers(&[10])).succeed();
    let (ann, to_bob) = (ann.fingerprint_text(), bob.fingerprint_text());
    let message = |to: &str, options: &[&str]| {
        let encrypt =
            Run::keyhoard(&home).args(["encrypt", "--sign", "--by", &ann, to, &to_bob]).args(options);
        let mut message = encrypt.stdin("a text\n").succeed().stdout;
        if let Some(at) = message.windows(8).position(|window| window == bob.key_id()) {
            message[at..at + 8].fill(0);
        }
        message
    };
    let signature = signature_in(&home, message("--to", &[]));
    assert_eq!((&signature["standing"], &signature["digest"]), (&"not-intended".into(), &"SHA512".into()));
    let signature = signature_in(&home, message("--to", &["--digest", "sha256"]));
    assert_eq!(signature["digest"], "SHA256");
    let signature = signature_in(&home, message("--to-hidden", &[]));
    assert_eq!(signature["standing"], "good", "a hidden recipient is not named");
    import_secret(&home, &bob, "Bob <bob@example.org>");
    let encrypt = Run::keyhoard(&home).args(["encrypt", "--sign", "--by", &ann, "--to", &to_bob]);
    let signature = signature_in(&home, encrypt.stdin("a text\n").succeed().stdout);
    assert_eq!(signature["standing"], "good");
}

#[test]
fn where_no_primary_secret_key_tells_whose_key_opened_a_message_its_signature_must_be_for_all_who_claim_it() {
    let home = Home::new();
    let ann = Key::ed25519("ann");
    import_secret(&home, &ann, "Ann <ann@example.org>");
    let (bob, carol, shared) = (Key::ed25519("bob"), Key::ed25519("carol"), Key::rsa2048());
    let certificate = |owner: &Key, user_id: &'static [u8], secret: bool| {
        let (own, bound) = match secret {
            true => (
                Packet::new(5, [owner.body(), b"\xff\x00\x65\x00GNU\x01".to_vec()].concat()),
                shared.secret_packet(7),
            ),
            false => (owner.packet(), shared.subkey_packet()),
        };
        let binding =
            Signature::new(0x13).with(Subpacket::key_flags(3)).sign(owner, &Signed::UserId(owner, user_id));
        let subkey =
            Signature::new(0x18).with(Subpacket::key_flags(12)).sign(owner, &Signed::Subkey(owner, &shared));
        bytes(&[own, Packet::user_id(user_id), binding, bound, subkey])
    };
    let import = |bytes: Vec<u8>| Run::keyhoard(&home).arg("import").stdin(bytes).succeed();
    import(certificate(&bob, b"Bob <bob@example.org>", true));
    let message = |to: &str| {
        let encrypt =
            Run::keyhoard(&home).args(["encrypt", "--sign", "--by", &ann.fingerprint_text(), "--to", to]);
        encrypt.stdin("a text\n").succeed().stdout
    };
    let for_bob = message(&bob.fingerprint_text());
    assert_eq!(signature_in(&home, for_bob.clone())["standing"], "good", "Bob alone claims the key");
    import(certificate(&carol, b"Carol <carol@example.org>", false));
    let for_carol = message(&carol.fingerprint_text());
    for message in [for_bob, for_carol] {
        assert_eq!(signature_in(&home, message)["standing"], "not-intended", "Bob and Carol claim the key");
    }
}
