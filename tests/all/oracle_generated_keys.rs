//! Keys made here, locked with a passphrase, in the hands of others: gpg, gpg 1.4, rnp and sq unlock them, sign and
//! decrypt with them as far as they know the algorithm, and agree on what they are.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use harness::scale::{is_full, seed};
use harness::{Home, NOW, Output, Run};

const ANN: &str = "Ann <ann@example.org>";
const PASSPHRASE: &str = "correct horse";
const TEXT: &[u8] = b"text\n";

/// The algorithms of version 4 keys that gpg and rnp read; [`BRAINPOOL`] has the others.
const ALGORITHMS: [&str; 6] = ["ed25519", "nistp256", "rsa2048", "nistp384", "nistp521", "rsa3072"];

/// Brainpool's curves, which the libraries of the crates' own comparisons lack.
const BRAINPOOL: [&str; 3] = ["brainpoolP256r1", "brainpoolP384r1", "brainpoolP512r1"];

/// Returns all algorithms, or in a sample one of each list.
fn algorithms() -> Vec<&'static str> {
    [sample(&ALGORITHMS), sample(&BRAINPOOL)].concat()
}

/// Returns all of `names`, or in a sample the one that the seed chooses.
fn sample<'a>(names: &'a [&'static str]) -> &'a [&'static str] {
    if is_full() {
        return names;
    }
    let at = seed() as usize % names.len();
    &names[at..=at]
}

/// Makes a locked key and returns its home.
fn made(algorithm: &str) -> Home {
    let home = Home::new();
    let passphrase = home.write("passphrase", PASSPHRASE);
    let generate = ["generate", "--algorithm", algorithm, ANN, "--passphrase-file"];
    Run::keyhoard(&home).at(NOW).args(generate).arg(passphrase).succeed();
    home
}

fn secret_of(home: &Home) -> Vec<u8> {
    Run::keyhoard(home).args(["key", "export", "--all", "--binary"]).succeed().stdout
}

/// Runs a command here that unlocks the key.
fn here(home: &Home, arguments: &[&str], stdin: &[u8]) -> Output {
    let run = Run::keyhoard(home).at(NOW).args(arguments).arg("--passphrase-file");
    run.arg(home.path().join("passphrase")).stdin(stdin).succeed()
}

/// A message to the key itself, signed by it.
fn message_of(home: &Home) -> Vec<u8> {
    here(home, &["encrypt", "--to", "ann@example.org", "--sign"], TEXT).stdout
}

fn assert_verifies_here(home: &Home, signed: Vec<u8>, what: &str) {
    let done = Run::keyhoard(home).arg("verify").stdin(signed).output();
    assert_eq!(done.code, Some(0), "{what}: {}", done.errors());
}

/// The fields of records that tell keys: fingerprints, keygrips, algorithms, sizes, uses and curves.
fn told(colons: &str) -> Vec<String> {
    let records = colons.lines().filter(|line| ["sec", "ssb", "fpr", "grp"].contains(&&line[..3]));
    let fields = records.map(|line| line.split(':').collect::<Vec<_>>());
    fields.map(|all| [0, 2, 3, 4, 5, 6, 9, 11, 16].map(|at| *all.get(at).unwrap_or(&"")).join(":")).collect()
}

#[test]
fn gpg_unlocks_signs_and_decrypts_with_every_algorithm() {
    for algorithm in algorithms() {
        let home = made(algorithm);
        let theirs = Home::new();
        let gpg = |passphrase: &str, arguments: &[&str], stdin: Vec<u8>| {
            let words =
                ["--pinentry-mode", "loopback", "--trust-model", "always", "--passphrase", passphrase];
            Run::gpg_with_agent(&theirs).args(words).args(arguments).stdin(stdin).output()
        };
        let imported = gpg(PASSPHRASE, &["--import"], secret_of(&home));
        assert_eq!(imported.code, Some(0), "{algorithm}: {}", imported.errors());
        let list = ["--with-colons", "--with-keygrip", "-K"];
        let ours = Run::gpg_keyhoard(&home).args(list).succeed().text();
        assert_eq!(told(&gpg("", &list, Vec::new()).text()), told(&ours), "{algorithm}");
        theirs.kill_agent();
        assert_eq!(gpg("wrong", &["--sign"], TEXT.to_vec()).code, Some(2), "{algorithm}");
        let signed = gpg(PASSPHRASE, &["--sign"], TEXT.to_vec());
        assert_verifies_here(&home, signed.stdout, algorithm);
        let read = gpg(PASSPHRASE, &["--decrypt"], message_of(&home));
        assert_eq!(read.stdout, TEXT, "{algorithm}: {}", read.errors());
        assert!(read.errors().contains("Good signature"), "{algorithm}: {}", read.errors());
        let message = gpg("", &["--recipient", "ann@example.org", "--encrypt"], TEXT.to_vec());
        assert_eq!(here(&home, &["decrypt"], &message.stdout).stdout, TEXT, "{algorithm}");
        theirs.kill_agent();
    }
}

/// Runs a program on nothing but its arguments.
fn run(program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{program} (make setup): {error}"));
    Output { stdout: output.stdout, stderr: output.stderr, code: output.status.code() }
}

/// Writes a file and returns its name.
fn file(home: &Home, name: &str, content: impl AsRef<[u8]>) -> String {
    home.write(name, content).to_string_lossy().into_owned()
}

fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[test]
fn gpg_1_unlocks_signs_and_decrypts_with_rsa() {
    let home = made("rsa2048");
    let theirs = Home::with_conf("");
    let directory = name(theirs.path());
    let gpg1 = |passphrase: &str, arguments: &[&str]| {
        let words = ["--batch", "--no-tty", "--yes", "--homedir", &directory, "--always-trust"];
        run("gpg1", &[&words[..], &["--passphrase", passphrase, "--output", "-"], arguments].concat())
    };
    let imported = gpg1("", &["--import", &file(&home, "secret", secret_of(&home))]);
    assert_eq!(imported.code, Some(0), "{}", imported.errors());
    let text = file(&home, "text", TEXT);
    assert_eq!(gpg1("wrong", &["--sign", &text]).code, Some(2));
    assert_verifies_here(&home, gpg1(PASSPHRASE, &["--sign", &text]).stdout, "gpg1");
    let read = gpg1(PASSPHRASE, &["--decrypt", &file(&home, "message", message_of(&home))]);
    assert_eq!(read.stdout, TEXT, "{}", read.errors());
}

#[test]
fn rnp_unlocks_signs_and_decrypts_with_every_algorithm() {
    for algorithm in algorithms() {
        let home = made(algorithm);
        let theirs = Home::new();
        let directory = name(theirs.path());
        let secret = file(&home, "secret", secret_of(&home));
        let imported = run("rnpkeys", &["--homedir", &directory, "--import-keys", &secret]);
        assert_eq!(imported.code, Some(0), "{algorithm}: {}", imported.errors());
        let rnp = |passphrase: &str, arguments: &[&str]| {
            let words = ["--homedir", &directory, "--password", passphrase, "--output", "-"];
            run("rnp", &[&words[..], arguments].concat())
        };
        let text = file(&home, "text", TEXT);
        let sign = ["--sign", "--userid", "ann@example.org", &text];
        assert_eq!(rnp("wrong", &sign).code, Some(1), "{algorithm}");
        assert_verifies_here(&home, rnp(PASSPHRASE, &sign).stdout, algorithm);
        let read = rnp(PASSPHRASE, &["--decrypt", &file(&home, "message", message_of(&home))]);
        assert_eq!(read.stdout, TEXT, "{algorithm}: {}", read.errors());
        let encrypted = rnp("", &["--encrypt", "--recipient", "ann@example.org", &text]);
        assert_eq!(here(&home, &["decrypt"], &encrypted.stdout).stdout, TEXT, "{algorithm}");
    }
}

#[test]
fn sq_signs_and_decrypts_with_what_it_knows() {
    // The sq of Debian's stable release knows no Brainpool curves, and asks for passphrases on the terminal only.
    for algorithm in sample(&ALGORITHMS) {
        let home = made(algorithm);
        let open = ["key", "passphrase", "--remove", "ann@example.org"];
        here(&home, &open, b"");
        let (secret, text) = (file(&home, "secret", secret_of(&home)), file(&home, "text", TEXT));
        let signed = run("sq", &["sign", "--signer-key", &secret, &text]);
        assert_verifies_here(&home, signed.stdout, algorithm);
        let message = file(&home, "message", message_of(&home));
        let words = ["decrypt", "--recipient-key", &secret, "--signer-cert", &secret, &message];
        let read = run("sq", &words);
        assert_eq!(read.stdout, TEXT, "{algorithm}: {}", read.errors());
        let encrypted = run("sq", &["encrypt", "--recipient-cert", &secret, &text]);
        assert_eq!(here(&home, &["decrypt"], &encrypted.stdout).stdout, TEXT, "{algorithm}");
        fs::remove_file(home.path().join("secret")).expect("it was written");
    }
}
