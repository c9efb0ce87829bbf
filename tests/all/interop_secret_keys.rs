//! Secret keys between Keyhoard and others: the real gpg, gpg 1.4, sq and rnp.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use harness::{Gnupg, Home, Output, Run};
use serde_json::Value;

const ANN: &str = "Ann <ann@example.org>";

/// A home of gpg's with an agent, which ends with it.
struct Gpg(Home);

impl Gpg {
    fn new() -> Self {
        Self(Home::new())
    }

    fn run(&self, passphrase: &str, arguments: &[&str], stdin: Vec<u8>) -> Output {
        let secret = ["--yes", "--pinentry-mode", "loopback", "--passphrase", passphrase];
        Run::gpg_with_agent(&self.0).args(secret).args(arguments).stdin(stdin).output()
    }

    fn succeed(&self, passphrase: &str, arguments: &[&str]) -> Vec<u8> {
        let done = self.run(passphrase, arguments, Vec::new());
        assert_eq!(done.code, Some(0), "gpg {arguments:?}: {}", done.errors());
        done.stdout
    }

    /// Says whether gpg can sign with the passphrase, after its agent has forgotten every other.
    fn signs(&self, passphrase: &str) -> bool {
        // An agent that is told to end still answers for a moment, and then fails.
        let reload = ["--homedir", &self.0.path().to_string_lossy(), "--reload", "gpg-agent"];
        let _ = Command::new(Gnupg::V2_2.program("gpgconf")).args(reload).status();
        self.run(passphrase, &["--sign"], b"text".to_vec()).code == Some(0)
    }
}

impl Drop for Gpg {
    fn drop(&mut self) {
        self.0.kill_agent();
    }
}

fn import(home: &Home, secret: Vec<u8>) {
    let done = Run::keyhoard(home).args(["import", "--json"]).stdin(secret).succeed();
    let lines = done.json_lines();
    let summary = lines.last().expect("a summary");
    assert_eq!(summary["secret_new"], 1, "{}", done.errors());
}

fn export(home: &Home, arguments: &[&str]) -> Vec<u8> {
    Run::keyhoard(home).args(["key", "export", "--all", "--binary"]).args(arguments).succeed().stdout
}

/// Changes the passphrase of all keys; an empty old one means that they have none.
fn relock(home: &Home, from: &str, to: &str) {
    let (from, to) = (home.write("from", format!("{from}\n")), home.write("to", format!("{to}\n")));
    let current = ["--passphrase-file", &from.to_string_lossy()];
    let new = ["--new-passphrase-file", &to.to_string_lossy()];
    Run::keyhoard(home).args(["key", "passphrase", "example.org"]).args(current).args(new).succeed();
}

fn listed(home: &Home, field: &str) -> Vec<String> {
    let lines = Run::keyhoard(home).args(["key", "list", "--json"]).succeed().json_lines();
    lines.iter().map(|key| key[field].as_str().expect("text").to_owned()).collect()
}

/// What `gpg --with-colons -K` says in a record's last field that is not empty.
fn of_gpg(gpg: &Gpg, record: &str) -> Vec<String> {
    let arguments = ["--with-colons", "--with-keygrip", "-K"];
    let text = String::from_utf8_lossy(&gpg.succeed("", &arguments)).into_owned();
    let lines = text.lines().filter_map(|line| line.strip_prefix(record));
    lines.map(|line| line.trim_matches(':').to_owned()).collect()
}

#[test]
fn gpg_and_keyhoard_unlock_each_others_secret_keys_of_every_algorithm() {
    let algorithms = [
        ("ed25519", "cv25519"),
        ("rsa2048", "rsa2048"),
        ("nistp256", "nistp256"),
        ("nistp521", "nistp384"),
        ("brainpoolP256r1", "brainpoolP512r1"),
        ("dsa2048", "rsa2048"),
    ];
    for (primary, subkey) in algorithms {
        let theirs = Gpg::new();
        theirs.succeed("gpg's own", &["--quick-generate-key", ANN, primary, "default", "never"]);
        let fingerprint = of_gpg(&theirs, "fpr").remove(0);
        theirs.succeed("gpg's own", &["--quick-add-key", &fingerprint, subkey, "encrypt", "never"]);
        let home = Home::new();
        import(&home, theirs.succeed("gpg's own", &["--export-secret-keys"]));
        assert_eq!(listed(&home, "fingerprint"), of_gpg(&theirs, "fpr"), "{primary}");
        assert_eq!(listed(&home, "keygrip"), of_gpg(&theirs, "grp"), "{primary}");
        assert_eq!(listed(&home, "protection"), ["passphrase", "passphrase"], "{primary}");
        relock(&home, "gpg's own", "ours");
        let again = Gpg::new();
        let taken = again.run("ours", &["--import"], export(&home, &[]));
        assert_eq!(taken.code, Some(0), "{primary}: {}", taken.errors());
        assert_eq!(of_gpg(&again, "grp"), of_gpg(&theirs, "grp"), "{primary}");
        assert!(!again.signs("gpg's own"), "{primary}: an old passphrase");
        assert!(again.signs("ours"), "{primary}");
    }
}

#[test]
fn gpg_imports_exported_subkeys_without_their_primary_secret_key() {
    let theirs = Gpg::new();
    theirs.succeed("", &["--quick-generate-key", ANN, "ed25519", "default", "never"]);
    let fingerprint = of_gpg(&theirs, "fpr").remove(0);
    theirs.succeed("", &["--quick-add-key", &fingerprint, "ed25519", "sign", "never"]);
    let home = Home::new();
    import(&home, theirs.succeed("", &["--export-secret-keys"]));
    let exported = export(&home, &["--subkeys-only"]);
    assert_eq!(exported, theirs.succeed("", &["--export-secret-subkeys"]), "byte for byte what gpg exports");
    let laptop = Gpg::new();
    assert_eq!(laptop.run("", &["--import"], exported).code, Some(0));
    let listing = String::from_utf8_lossy(&laptop.succeed("", &["-K"])).into_owned();
    assert!(listing.contains("sec#"), "{listing}");
    assert!(laptop.signs(""));
}

/// Runs gpg 1.4 in a home.
fn gpg1(home: &Path, arguments: &[&str], stdin: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    use std::io::Write;
    let mut child = Command::new("gpg1")
        .args(["--batch", "--no-tty", "--yes", "--homedir"])
        .arg(home)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("gpg1 (make setup)");
    child.stdin.take().expect("a pipe").write_all(stdin).expect("gpg1 reads its input");
    let output = child.wait_with_output().expect("a child can be waited for");
    (output.status.code(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

const OLD_KEY: &str = "Key-Type: RSA\nKey-Length: 2048\nSubkey-Type: RSA\nSubkey-Length: 2048\nName-Real: Ann\n\
                       Name-Email: ann@example.org\nExpire-Date: 0\nPassphrase: old\n%commit\n";

#[test]
fn keyhoard_and_gpg_1_unlock_each_others_secret_keys_with_every_protection() {
    let protections: [&[&str]; 14] = [
        &["--s2k-cipher-algo", "IDEA"],
        &["--s2k-cipher-algo", "3DES"],
        &["--s2k-cipher-algo", "CAST5"],
        &["--s2k-cipher-algo", "BLOWFISH"],
        &["--s2k-cipher-algo", "AES"],
        &["--s2k-cipher-algo", "AES192", "--s2k-digest-algo", "SHA512"],
        &["--s2k-cipher-algo", "AES256", "--s2k-digest-algo", "RIPEMD160"],
        &["--s2k-cipher-algo", "TWOFISH", "--s2k-digest-algo", "SHA1"],
        &["--s2k-cipher-algo", "CAMELLIA128"],
        &["--s2k-cipher-algo", "CAMELLIA192"],
        &["--s2k-cipher-algo", "CAMELLIA256"],
        &["--s2k-mode", "0"],
        &["--s2k-mode", "1"],
        &["--simple-sk-checksum"],
    ];
    for protection in protections {
        let theirs = Home::with_conf("");
        let generate = [protection, &["--quick-random", "--gen-key"]].concat();
        let (code, _, errors) = gpg1(theirs.path(), &generate, OLD_KEY.as_bytes());
        assert_eq!(code, Some(0), "{protection:?}: {errors}");
        let (_, secret, _) = gpg1(theirs.path(), &["--export-secret-keys"], b"");
        let home = Home::new();
        import(&home, secret);
        assert_eq!(listed(&home, "protection"), ["passphrase", "passphrase"], "{protection:?}");
        relock(&home, "old", "new");
        let again = Home::with_conf("");
        let (code, _, errors) = gpg1(again.path(), &["--import"], &export(&home, &[]));
        assert_eq!(code, Some(0), "{protection:?}: {errors}");
        for (passphrase, expected) in [("old", Some(2)), ("new", Some(0))] {
            let file = again.write("message", "text");
            let sign = ["--passphrase", passphrase, "--output", "-", "--sign", &file.to_string_lossy()];
            assert_eq!(gpg1(again.path(), &sign, b"").0, expected, "{protection:?} {passphrase}");
        }
    }
}

#[test]
fn secret_keys_locked_by_gpg_1_with_any_cipher_and_digest_go_into_the_agent_and_sign_there() {
    let ciphers = ["IDEA", "3DES", "CAST5", "BLOWFISH", "AES192", "TWOFISH", "CAMELLIA128", "CAMELLIA256"];
    let ciphers = ciphers.map(|cipher| ("--s2k-cipher-algo", cipher));
    let digests = ["RIPEMD160", "SHA224", "SHA512"].map(|digest| ("--s2k-digest-algo", digest));
    for (option, cipher) in ciphers.into_iter().chain(digests) {
        let theirs = Home::with_conf("");
        let generate = [option, cipher, "--quick-random", "--gen-key"];
        let (code, _, errors) = gpg1(theirs.path(), &generate, OLD_KEY.as_bytes());
        assert_eq!(code, Some(0), "{cipher}: {errors}");
        let (_, secret, _) = gpg1(theirs.path(), &["--export-secret-keys"], b"");
        let home = Gpg::new();
        // gpg 1 knows the real time only.
        let ours = || Run::gpg_keyhoard(&home.0).with_agent().at("20380101T000000!");
        ours().arg("--import").stdin(secret).succeed();
        assert!(!home.0.path().join("secret-keys").exists(), "{cipher}: the keys are in files");
        for (passphrase, code) in [("wrong", Some(2)), ("old", Some(0))] {
            let sign = ["--pinentry-mode", "loopback", "--passphrase", passphrase, "--sign"];
            let signed = ours().args(sign).stdin("text").output();
            assert_eq!(signed.code, code, "{cipher}: {}", signed.errors());
        }
        let certificate = ours().arg("--export").succeed().stdout;
        let theirs = || Run::gpg_with_agent(&home.0).at("20380101T000000!");
        theirs().arg("--import").stdin(certificate).succeed();
        let sign = ["--pinentry-mode", "loopback", "--passphrase", "old", "--sign"];
        let signed = theirs().args(sign).stdin("text").succeed().stdout;
        ours().arg("--verify").stdin(signed).succeed();
    }
}

fn sq(arguments: &[&str]) -> Output {
    let output = Command::new("sq").args(arguments).stdin(Stdio::null()).output().expect("sq (make setup)");
    Output { stdout: output.stdout, stderr: output.stderr, code: output.status.code() }
}

#[test]
fn sq_and_keyhoard_read_each_others_secret_keys() {
    let home = Home::new();
    let theirs = home.path().join("sq.pgp");
    let generated = sq(&["key", "generate", "--userid", ANN, "--export", &theirs.to_string_lossy()]);
    assert_eq!(generated.code, Some(0), "{}", generated.errors());
    import(&home, fs::read(&theirs).expect("sq has written it"));
    let protections = listed(&home, "protection");
    assert!(protections.len() > 1 && protections.iter().all(|word| word == "none"), "{protections:?}");
    let ours = home.write("ours.pgp", export(&home, &[]));
    let text = home.write("text", "text");
    let signed = sq(&["sign", "--signer-key", &ours.to_string_lossy(), &text.to_string_lossy()]);
    assert_eq!(signed.code, Some(0), "{}", signed.errors());
    relock(&home, "", "words");
    let locked = home.write("locked.pgp", export(&home, &[]));
    let inspected = sq(&["inspect", &locked.to_string_lossy()]).text();
    assert_eq!(inspected.matches("Secret key: Encrypted").count(), protections.len(), "{inspected}");
}

/// Runs a program of rnp's in a home.
fn rnp(program: &str, home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.arg("--homedir").arg(home).args(arguments).stdin(Stdio::null());
    let output = command.output().expect("rnp (make setup)");
    Output { stdout: output.stdout, stderr: output.stderr, code: output.status.code() }
}

#[test]
fn rnp_and_keyhoard_unlock_each_others_secret_keys() {
    let (theirs, home, again) = (Home::new(), Home::new(), Home::new());
    let file = theirs.path().join("rnp.sec");
    let generate = ["--generate-key", "--userid", ANN, "--password", "old"];
    let export = ["--export-key", "--secret", "ann@example.org", "--output", &file.to_string_lossy()];
    for arguments in [&generate[..], &export] {
        let done = rnp("rnpkeys", theirs.path(), arguments);
        assert_eq!(done.code, Some(0), "{}", done.errors());
    }
    import(&home, fs::read(&file).expect("rnp has written it"));
    relock(&home, "old", "new");
    let ours = again.write("ours.sec", self::export(&home, &[]));
    let imported = rnp("rnpkeys", again.path(), &["--import-keys", &ours.to_string_lossy()]);
    assert_eq!(imported.code, Some(0), "{}", imported.errors());
    let text = again.write("text", "text");
    for (passphrase, expected) in [("old", Some(1)), ("new", Some(0))] {
        let sign =
            ["--sign", "--userid", "ann@example.org", "--password", passphrase, &text.to_string_lossy()];
        assert_eq!(rnp("rnp", again.path(), &sign).code, expected, "{passphrase}");
    }
}

#[test]
fn a_key_on_a_card_is_listed_and_exported_as_such() {
    let theirs = Gpg::new();
    theirs.succeed("", &["--quick-generate-key", ANN, "ed25519", "default", "never"]);
    let public = theirs.succeed("", &["--export"]);
    // The same certificate with gpg's mark of a card in the place of the secret.
    let body = &public[2..2 + usize::from(public[1])];
    let secret = [body, b"\xff\x00\x65\x00GNU\x02\x06\xd2\x76\x00\x01\x24\x01"].concat();
    let on_card = [&[0x94, secret.len() as u8], &secret[..], &public[2 + body.len()..]].concat();
    let home = Home::new();
    import(&home, on_card.clone());
    let lines = Run::keyhoard(&home).args(["key", "list", "--json"]).succeed().json_lines();
    assert_eq!(
        (&lines[0]["protection"], &lines[0]["card"]),
        (&Value::from("card"), &Value::from("D27600012401"))
    );
    assert_eq!(export(&home, &[]), on_card);
    import(&home, theirs.succeed("", &["--export-secret-keys"]));
    assert_eq!(listed(&home, "protection"), ["none"], "a secret replaces the mark");
}
