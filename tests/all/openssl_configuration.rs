//! OpenSSL reads no configuration, and is not even started where it is not needed.

use std::path::Path;

use harness::{CIPHERS, Home, NOW, Run};

/// With this configuration OpenSSL has no algorithms at all.
const HOSTILE: &str = "openssl_conf = start\n[start]\nproviders = providers\n[providers]\nnull = null\n\
                       [null]\nactivate = 1\n";

const ANN: &str = "Ann <ann@example.org>";

#[test]
fn a_configuration_of_openssl_has_no_effect() {
    let home = Home::new();
    let configuration = home.write("openssl.cnf", HOSTILE);
    let run = |arguments: &[&str], stdin: Vec<u8>| {
        let run = Run::keyhoard(&home).at(NOW).env("OPENSSL_CONF", &configuration);
        run.args(arguments).stdin(stdin).succeed().stdout
    };
    run(&["generate", "--algorithm", "brainpoolP384r1", ANN, "--no-passphrase"], Vec::new());
    let signed = run(&["sign"], b"text\n".to_vec());
    assert_eq!(run(&["verify", "--output", "-"], signed), b"text\n");
    let encrypted = run(&["encrypt", "--to", "ann@example.org"], b"secret\n".to_vec());
    assert_eq!(run(&["decrypt"], encrypted), b"secret\n");
}

/// A key on Curve25519 is read without OpenSSL, so that its first use is the decryption of the session key.
#[test]
fn a_configuration_of_openssl_has_no_effect_on_a_key_that_is_read_without_it() {
    let home = Home::new();
    let configuration = home.write("openssl.cnf", HOSTILE);
    let run = |arguments: &[&str], stdin: &[u8]| {
        let run = Run::keyhoard(&home).at(NOW).env("OPENSSL_CONF", &configuration);
        run.args(arguments).stdin(stdin).succeed().stdout
    };
    run(&["generate", "--algorithm", "curve25519", ANN, "--no-passphrase"], b"");
    let encrypted = run(&["encrypt", "--to", "ann@example.org"], b"secret\n");
    assert_eq!(run(&["decrypt"], &encrypted), b"secret\n");
}

#[test]
fn a_configuration_of_openssl_has_no_effect_on_ciphers() {
    let home = Home::new();
    let password = home.write("password", "open sesame\n");
    let configuration = home.write("openssl.cnf", HOSTILE);
    let run = |arguments: &[&str], stdin: &[u8]| {
        let run = Run::keyhoard(&home).env("OPENSSL_CONF", &configuration).args(arguments);
        run.arg("--password-file").arg(&password).stdin(stdin).succeed().stdout
    };
    for (cipher, mode) in CIPHERS.map(|cipher| (cipher, "none")).into_iter().chain([("AES256", "ocb")]) {
        let encrypt = ["encrypt", "--cipher", cipher, "--aead", mode, "--allow-old-cipher"];
        assert_eq!(run(&["decrypt"], &run(&encrypt, b"secret\n")), b"secret\n", "{cipher}, {mode}");
    }
}

#[test]
fn the_version_is_told_without_openssl() {
    let home = Home::new();
    for name in ["keyhoard", "gpg-keyhoard", "gpgv-keyhoard"] {
        let trace = home.path().join(format!("{name}.trace"));
        let program = Run::program_path(name);
        let traced =
            Run::new(Path::new("strace"), home.path()).args(["-f", "-e", "trace=openat,getrandom", "-o"]);
        let traced = traced.arg(&trace).arg(&program).arg("--version").succeed();
        assert!(traced.text().contains("keyhoard"), "{}", traced.text());
        let calls = std::fs::read_to_string(&trace).expect("a trace");
        assert!(calls.contains("openat("), "{name}: nothing was traced: {calls}");
        assert!(!calls.contains("openssl"), "{name}: {calls}");
    }
}
