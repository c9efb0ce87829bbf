//! What gpg-keyhoard says of the form of files, beside the real gpg: packets, armor, digests.

use std::fs;

use harness::{Both, Output, assert_same, old_ciphers};

/// What makes a program work without questions.
const BATCH_OPTIONS: [&str; 8] =
    ["--batch", "--no-symkey-cache", "--pinentry-mode", "loopback", "--passphrase", "x", "--status-fd", "2"];
const ALICE: &str = "51533D3D0D28361643870CC6356E432296C42478";
const TEXT: &[u8] = b"a line\nand another one\n";

/// Runs one of the programs.
fn run(both: &Both, gpg: bool, words: &[&str], stdin: &[u8]) -> Output {
    both.run_of(gpg).args(BATCH_OPTIONS).args(words).stdin(stdin).output()
}

/// Asserts that both write the same and exit alike.
fn same(both: &Both, words: &[&str], stdin: &[u8]) {
    let [gpg, keyhoard] = [true, false].map(|gpg| run(both, gpg, words, stdin));
    let what = words.join(" ");
    assert_same(&what, &gpg.stdout, &keyhoard.stdout);
    assert_eq!(gpg.code, keyhoard.code, "{what}: {}", keyhoard.errors());
}

#[test]
fn packets_of_keys_are_listed_as_gpg_lists_them() {
    let both = Both::of_alice_and_bob();
    for words in [&["--export"][..], &["--passphrase", "", "--export-secret-keys"]] {
        let keys = run(&both, true, words, b"").stdout;
        assert!(keys.len() > 500);
        same(&both, &["--list-packets"], &keys);
    }
    let keyring = fs::read("/usr/share/keyrings/debian-nonupload.gpg").expect("Debian's keys");
    same(&both, &["--list-packets"], &keyring);
}

#[test]
fn packets_of_encrypted_messages_are_listed_if_they_can_be_decrypted() {
    let both = Both::of_alice_and_bob();
    let letter = both.gpg.write("letter", TEXT);
    let letter = letter.to_str().expect("a name");
    // Of content whose length its packet does not say, gpg shows nothing that follows; files have one.
    for words in [
        &["--passphrase", "", "-u", "alice", "-s"][..],
        &["--passphrase", "", "-u", "alice", "-u", "bob", "-b"],
        &["--passphrase", "", "-u", "bob", "-z", "0", "-a", "-s"],
        &["--passphrase", "", "-u", "bob", "-r", "alice", "-s", "-e"],
        &["--passphrase", "", "-R", "alice", "-e"],
        &["-c"],
        &["--cipher-algo", "3DES", "--compress-algo", "bzip2", "-c"],
        &["-r", "alice", "-c", "-e", "-a"],
    ] {
        let message = run(&both, true, &[old_ciphers(), words, &["-o", "-", letter]].concat(), b"");
        assert_eq!(message.code, Some(0), "{}", message.errors());
        same(&both, &["--passphrase", "x", "--list-packets"], &message.stdout);
    }
    let long = run(&both, true, &["-z", "0", "-c"], &TEXT.repeat(2000)).stdout;
    same(&both, &["--list-packets"], &long);
    let cut = run(&both, false, &["--list-packets"], &long[..long.len() / 2]);
    assert_eq!(cut.code, Some(2), "{}", cut.errors());
}

#[test]
fn input_without_packets_is_reported() {
    let both = Both::of_alice_and_bob();
    for stdin in [&b""[..], b"no packets\n"] {
        same(&both, &["--list-packets"], stdin);
        same(&both, &["--dearmor"], stdin);
    }
}

/// gpg shows the text itself as a packet, we do not; what it says of the end is told alike.
#[test]
fn clear_text_that_ends_before_its_signature_is_reported() {
    let both = Both::new();
    let text = b"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\na line\n-----BEGIN PGP SIGN";
    for cut in [47, 50, text.len() - 1] {
        let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &["--list-packets"], &text[..cut]));
        assert_eq!((keyhoard.code, keyhoard.status_lines()), (gpg.code, gpg.status_lines()), "{cut}");
        assert_eq!(keyhoard.text(), "");
        assert!(!keyhoard.errors().contains("Unknown system error"), "{}", keyhoard.errors());
    }
}

#[test]
fn enarmor_and_dearmor_convert_files_as_gpg_does() {
    let both = Both::of_alice_and_bob();
    let keys = run(&both, false, &["--export", ALICE], b"").stdout;
    for bytes in [&keys[..], TEXT, &[0; 48]] {
        same(&both, &["--enarmor"], bytes);
        let armored = run(&both, false, &["--enarmor"], bytes).stdout;
        same(&both, &["--dearmor"], &armored);
        assert_eq!(run(&both, false, &["--dearmor"], &armored).stdout, bytes);
    }
    same(&both, &["--dearmor"], &run(&both, false, &["--export", "-a"], b"").stdout);
    // Without a name for the output, it is made of that of the input.
    let file = both.keyhoard.write("keys", &keys);
    let name = file.to_str().expect("a name");
    assert_eq!(run(&both, false, &["--enarmor", name], b"").code, Some(0));
    let armored = format!("{name}.asc");
    assert_eq!(run(&both, false, &["--dearmor", &armored], b"").code, Some(0));
    assert_eq!(fs::read(format!("{armored}.gpg")).expect("a file"), keys);
    assert_eq!(run(&both, false, &["--enarmor", name], b"").code, Some(2));
}

#[test]
fn digests_of_files_are_printed_as_gpg_prints_them() {
    let both = Both::of_alice_and_bob();
    let names = ["short", "a name of a file that is longer than forty bytes are"];
    let files = names.map(|name| both.gpg.write(name, TEXT).to_str().expect("a name").to_owned());
    for name in ["MD5", "SHA1", "ripemd160", "SHA224", "sha256", "SHA384", "SHA512", "*"] {
        for colons in [&[][..], &["--with-colons"]] {
            same(&both, &[colons, &["--print-md", name]].concat(), TEXT);
            same(&both, &[colons, &["--print-md", name, &files[0], "/nonexistent", &files[1]]].concat(), b"");
        }
    }
    same(&both, &["--print-mds", &files[1]], b"");
    same(&both, &["--print-md", "H8"], TEXT);
    same(&both, &["--print-md"], TEXT);
}
